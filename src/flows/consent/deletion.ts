import type { Bank } from '../../bank/ports/bank.ts';
import type { Open } from '../../store/ports/flows.ts';
import { isNotKnown, notKnownThere } from '../not-known.ts';
import { lackingResource } from '../payment/status.ts';

/**
 * Deletes a consent at the bank, and records that the bank has taken it. Nothing else changes.
 *
 * @param bank as `bankFor` gives it for this consent
 * @returns the bank's word for its status from now on. Null: the bank has no such call
 * @throws Psd2Error if nothing shows that it has ended at the bank: as the bank refuses, or `outcome_unknown` or `certificate` if the bank
 *   does not know it
 */
export async function deleteAtBank(
  open: Open<'consent'>,
  bank: Pick<Bank, 'consents' | 'certificate'>,
): Promise<string | null> {
  const { flow, resourceId, transactionId, isDeletionTaken: wasTaken } = open.current;
  if (resourceId === null) throw lackingResource(flow);
  const { consents } = bank;
  if (!consents.delete) return null;
  const bankStatus = await consents
    .delete(resourceId, transactionId, { wasTaken })
    .catch((error: unknown) => {
      throw isNotKnown(error) ? notKnownThere(open.current, bank, error) : error;
    });
  if (!wasTaken) await open.record({ type: 'delete-taken', bankStatus });
  return bankStatus;
}

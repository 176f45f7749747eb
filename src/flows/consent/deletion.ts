import type { Bank } from '../../bank/ports/bank.ts';
import type { ConsentEnd } from '../../bank/ports/customer.ts';
import type { Consent } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import type { Open } from '../../store/ports/flows.ts';
import { isNotKnown, notKnownThere } from '../not-known.ts';
import { lackingResource } from '../payment/status.ts';
import type { FlowPorts } from '../ports.ts';
import { isInterruption, isRefusal, isTrouble, isUnsaidOf } from '../refusals.ts';
import { askUntil, type ScaRequest, timedOut } from '../sca.ts';
import { isOnlyAStop, onlyAsking, stillOpen } from '../still-open.ts';

/** The bank as the end of a consent needs it. */
type EndingBank = Pick<Bank, 'consents' | 'certificate' | 'sca'>;

/**
 * Deletes a consent at the bank, and records that the bank has taken it. Nothing else changes.
 *
 * @param bank as `bankFor` gives it for this consent
 * @param customer sends the customer to the bank if they must authorise the end. Absent: nobody is sent
 * @returns the bank's word for its status from now on. Null: the bank has no such call
 * @throws Psd2Error if nothing shows that it has ended at the bank: as the bank refuses, or `outcome_unknown` or `certificate` if the bank
 *   does not know it; `still_open` if the customer can still authorise the end, `not_authorised` if they do not
 */
export async function deleteAtBank(
  open: Open<'consent'>,
  bank: EndingBank,
  customer?: Pick<FlowPorts, 'customer' | 'world'>,
): Promise<string | null> {
  const { flow, resourceId, transactionId, isDeletionTaken: wasTaken } = open.current;
  if (resourceId === null) throw lackingResource(flow);
  const { consents } = bank;
  if (!consents.delete) return null;
  const { bankStatus, authorise, wasThere } = await consents
    .delete(resourceId, transactionId, { wasTaken })
    .catch((error: unknown) => {
      throw isNotKnown(error) ? notKnownThere(open.current, bank, error) : error;
    });
  const word = authorise ? await awaitEnd(open.current, bank, authorise, customer) : null;
  if (!wasTaken) await open.record({ type: 'delete-taken', bankStatus: word ?? bankStatus });
  return word ?? (wasThere ? lastWordOf(open.current, bank, bankStatus) : bankStatus);
}

/** The bank's word for a consent that it has just ended: it may have ended before, and otherwise. */
async function lastWordOf(
  { resourceId, transactionId }: Consent,
  { consents }: EndingBank,
  usual: string,
): Promise<string> {
  if (resourceId === null) return usual;
  const status = await consents.status?.(resourceId, transactionId).catch((error: unknown) => {
    if (isInterruption(error)) throw error;
    return undefined;
  });
  return status !== undefined && ENDED_BEFORE.includes(status.means) ? status.consentStatus : usual;
}

/**
 * Sends the customer to authorise the end of a consent, and waits until the bank says that it has ended, or that they have authorised
 * that.
 *
 * @returns the bank's word for its status. Null: it has said so of the authorisation alone
 */
async function awaitEnd(
  consent: Consent,
  bank: EndingBank,
  { page, links }: NonNullable<ConsentEnd['authorise']>,
  ports: Pick<FlowPorts, 'customer' | 'world'> | undefined,
): Promise<string | null> {
  if (!ports) throw endIsOpen(consent, WANTS_CUSTOMER);
  const { customer, world } = ports;
  try {
    if (page !== null) await customer.sendBrowser(page);
    const asking = askUntil(world, customer.scaTimeoutMs, () => askForEnd(consent, bank, links));
    const ended = await customer.whileWaiting(
      'Waiting for the customer to end the consent',
      asking,
      customer.scaTimeoutMs,
    );
    if (ended) return ended.bankStatus;
    throw timedOut(customer, requestOf(consent));
  } catch (error) {
    if (!isOnlyAStop(error) || error.code === 'not_authorised') throw error;
    throw isTrouble(error) ? notSaid(consent, error) : endIsOpen(consent, error);
  }
}

const WANTS_CUSTOMER = 'The bank wants the customer to authorise the end of the consent.';

/** Asks the bank once. @returns null if the consent has not ended. @throws Psd2Error `not_authorised` */
async function askForEnd(
  { flow, resourceId, transactionId }: Consent,
  { consents, sca }: EndingBank,
  links: NonNullable<ConsentEnd['authorise']>['links'],
): Promise<{ bankStatus: string | null } | null> {
  if (resourceId === null) throw lackingResource(flow);
  const progress = await sca
    .progress?.(resourceId, links, transactionId, 'an end')
    .catch((error: unknown) => {
      if (isRefusal(error)) return null;
      throw error;
    });
  if (progress?.means === 'done') return { bankStatus: null };
  if (progress?.means === 'failed')
    throw new Psd2Error('not_authorised', 'The customer did not authorise the end of the consent', {
      hint: 'It stays in force. Ask for its end again with:',
      next: [['consent', 'delete', flow]],
      flow,
      transactionId,
    });
  const status = await consents.status?.(resourceId, transactionId, 'an end');
  const hasEnded = status !== undefined && ENDED.includes(status.means);
  return hasEnded ? { bankStatus: status.consentStatus } : null;
}

/** What the bank's words for an end mean that was not ours. */
const ENDED_BEFORE: readonly string[] = ['revoked', 'rejected', 'expired'];
const ENDED: readonly string[] = ['ended by us', ...ENDED_BEFORE];

function requestOf({ transactionId }: Consent): ScaRequest {
  return { doing: 'authorise the end of the consent', whenLate: {}, transactionId };
}

/** The error if the customer can still authorise the end. @param why psd2 has stopped */
function endIsOpen(consent: Consent, why: Psd2Error | string): Psd2Error {
  return stillOpen(consent, why, { what: 'deletion', ask: [onlyAsking(consent)] });
}

/** The error if the bank could not be asked whether the consent has ended. */
function notSaid(consent: Consent, why: Psd2Error): Psd2Error {
  const says = `${isUnsaidOf('consent', why)}: ${why.message}`;
  const { flow, transactionId } = consent;
  return why.restated('outcome_unknown', says).with({
    hint: 'Ask the bank again with:',
    next: [onlyAsking(consent)],
    flow,
    transactionId,
  });
}

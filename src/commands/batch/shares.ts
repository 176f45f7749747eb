import type { BankInterface } from '../../bank/ports/bank.ts';
import type { BulkTerms } from '../../bank/ports/bulk.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { type Share, sharesOf } from '../../flows/batch.ts';
import { payBulk } from './pay-bulk.ts';
import { payLine } from './pay-line.ts';
import type { LinePayment } from './prepare-line.ts';
import { isBeforeAll, type KnownLine } from './rows.ts';

// How the customers authorise the lines of a batch: each alone, or many at once.

export const WAYS = ['single', 'bulk'] as const;
export type As = (typeof WAYS)[number];

/** How a run pays. */
export interface Way {
  /** Also one line alone goes as a bulk payment. */
  isBulkOnly: boolean;
  /** Null: each line is a payment of its own. */
  bulk: BulkTerms | null;
}

/** How a run pays: as the operator chose, else with the fewest SCAs. @throws Psd2Error `usage` for what the bank does not have */
export function wayOf({ bulk }: Pick<BankInterface, 'bulk'>, as: As | undefined): Way {
  if (as === 'single') return { isBulkOnly: false, bulk: null };
  if (as === 'bulk' && !bulk)
    throw new Psd2Error('usage', 'This bank has no bulk payments', {
      hint: 'psd2 has sent nothing. Leave out --as.',
    });
  return { isBulkOnly: as === 'bulk', bulk: bulk ?? null };
}

/** Whether a line may be paid in a bulk payment. */
export function mayJoin(line: BatchLine, bulk: BulkTerms | null): boolean {
  return bulk !== null && !line.urgent && bulk.takes(line);
}

/**
 * What the run pays at once.
 *
 * @param known all lines, with the transfers of earlier runs
 * @param chosen in the order in which they are paid
 * @throws Psd2Error `usage` if the operator wants bulk payments and the bank has none for such a line
 */
export function sharesIn(
  known: readonly KnownLine[],
  chosen: readonly BatchLine[],
  { bulk, isBulkOnly }: Way,
): Share[] {
  const single = new Set(
    known.flatMap(({ line, transfer }) => (transfer && isAlone(transfer) ? [line.line] : [])),
  );
  const other = isBulkOnly ? chosen.find((line) => !mayJoin(line, bulk)) : undefined;
  if (other)
    throw new Psd2Error('usage', `This bank has no bulk payments for payment ${other.line}`, {
      hint: 'psd2 has sent nothing. Leave out --as.',
    });
  return sharesOf(chosen, (line) => !single.has(line.line) && mayJoin(line, bulk), bulk?.maxEntries ?? null);
}

/** Whether a transfer of an earlier run is a payment of its own. */
function isAlone(transfer: NonNullable<KnownLine['transfer']>): boolean {
  return !isBeforeAll(transfer) && (transfer.initiation !== null || transfer.commits === 'on execute');
}

/** Pays a share: one line alone, or a bulk payment. @throws Psd2Error what stopped it */
export async function payShare(payment: LinePayment, share: Share, { isBulkOnly }: Way): Promise<void> {
  if (share.length > 1 || isBulkOnly || (await hasBulk(payment, share[0]))) return payBulk(payment, share);
  return payLine(payment, share[0]);
}

/** Whether an earlier run has put a line into a bulk payment. */
async function hasBulk({ batches, flows, batch }: LinePayment, { line }: BatchLine): Promise<boolean> {
  const flow = (await batches.find(batch)).flows.get(line);
  const transfer = flow === undefined ? undefined : await flows.find('transfer', flow);
  return transfer !== undefined && !isBeforeAll(transfer) && !isAlone(transfer);
}

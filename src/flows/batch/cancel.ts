import type { Batch, Person } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isBanksToCancel, isOpen } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { isInterruption } from '../refusals.ts';
import { basketWithoutLink, mayGoIntoBasket } from './basket.ts';
import type { KnownBatch, KnownLine } from './known-lines.ts';
import { isBeforeAll } from './outcome.ts';
import type { BatchStore, Payer } from './ports.ts';

/** Cancels the lines for which nothing was sent. @returns the batch after that, and whether there are any */
export function cancelUnsent(
  { batches }: Pick<BatchStore, 'batches'>,
  { batch, lines: all, known }: KnownBatch,
  person: Person,
): Promise<{ batch: Batch; recorded: boolean }> {
  // Transfers that ended before anything of them was sent, by their lines.
  const begunInVain = new Map(
    known.flatMap(({ line, transfer }) =>
      transfer && isBeforeAll(transfer) ? [[line.line, transfer.flow] as const] : [],
    ),
  );
  return batches.change(batch.batch, (now) => {
    const lines = all
      .map(({ line }) => line)
      .filter((line) => !now.refused.has(line) && !now.cancelled.has(line))
      .filter((line) => now.flows.get(line) === begunInVain.get(line));
    return lines.length === 0 ? null : { type: 'lines-cancelled', lines, ...person };
  });
}

/**
 * Cancels the payments that nobody has a link for, because there is no signing basket. What the bank does not cancel stays as it is.
 *
 * @param cannotCancel called with what stopped psd2 from cancelling a payment. It goes on with the others
 * @returns whether there are any
 */
export async function cancelWithoutBasket(
  { flows, tidy }: Pick<BatchStore, 'flows' | 'tidy'>,
  known: readonly KnownLine[],
  payerOf: (line: Pick<BatchLine, 'customer'>) => Promise<Pick<Payer, 'cancelAtBank'>>,
  cannotCancel: (line: BatchLine, why: Psd2Error) => void,
): Promise<boolean> {
  let isAny = false;
  for (const { line, transfer } of known) {
    if (!transfer || !(await lacksBasket(flows, transfer))) continue;
    isAny = true;
    try {
      const payer = await payerOf({ customer: transfer.order.customerId });
      await flows.resume('transfer', transfer.flow, async (open) => {
        if (!(await lacksBasket(flows, open.current))) return;
        try {
          if (isBanksToCancel(open.current)) await payer.cancelAtBank(open);
          else if (isOpen(open.current)) await open.record({ type: 'cancelled' });
        } finally {
          await tidy(open.current);
        }
      });
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      cannotCancel(line, error);
    }
  }
  return isAny;
}

/** Whether the bank has a payment that was to go into a signing basket, and nobody has a link to authorise it. */
async function lacksBasket(flows: Flows, transfer: Transfer): Promise<boolean> {
  if (!transfer.initiation?.forBasket || !transfer.verification) return false;
  return transfer.bulk === null
    ? mayGoIntoBasket(transfer)
    : (await basketWithoutLink(flows, transfer)) !== null;
}

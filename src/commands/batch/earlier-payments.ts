import type { BatchLine } from '../../domain/batch/line.ts';
import { addDays, type IsoDate } from '../../domain/calendar.ts';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import { comparableReference } from '../../domain/order/sepa-text.ts';
import type { Flows } from '../../store/ports/flows.ts';

/** How long ago the same payment is a warning. */
const RECENT_DAYS = 30;

/** Finds the earlier transfers that a payment of a file may repeat. */
export interface EarlierPayments {
  /** The transfer that has the line's reference; undefined if there is none. */
  withReference(line: BatchLine): string | undefined;
  /** The transfer of the last 30 days to the same payee, of the same amount; undefined if there is none. */
  same(line: BatchLine): string | undefined;
}

/**
 * Reads all transfers of a profile, apart from those that definitely failed.
 *
 * @param today the day at the bank
 * @param onDamaged called for each transfer that cannot be read
 * @throws Psd2Error `config` if the store cannot be read
 */
export async function readEarlierPayments(
  flows: Flows,
  today: IsoDate,
  onDamaged: (problem: Error) => void,
): Promise<EarlierPayments> {
  const references = new Map<string, string>();
  const payments = new Map<string, string>();
  const since = addDays(today, -RECENT_DAYS);
  for await (const transfer of flows.list('transfer', { onDamaged })) {
    const { flow, order, createdAt } = transfer;
    if (isPlainlyFailed(transfer)) continue;
    if (order.reference !== null) references.set(comparableReference(order.reference), flow);
    if (createdAt.slice(0, 10) >= since) payments.set(keyOf({ ...order, iban: order.to }), flow);
  }
  return {
    withReference: ({ reference }) =>
      reference === null ? undefined : references.get(comparableReference(reference)),
    same: (line) => payments.get(keyOf(line)),
  };
}

/** The day does not count: an invoice that is paid twice is seldom paid twice on one day. */
function keyOf({ iban, amount }: Pick<BatchLine, 'iban' | 'amount'>): string {
  return `${iban} ${amount}`;
}

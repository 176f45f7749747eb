import type { Batch } from '../../domain/batch/batch.ts';
import { orderedForm } from '../../domain/batch/content.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { addDays, bankDay, type IsoDate } from '../../domain/calendar.ts';
import { isPlainlyFailed, standingOf } from '../../domain/flow-states.ts';
import { comparableReference } from '../../domain/order/sepa-text.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { unlessDamaged } from '../../store/batch/refusals.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { isBeforeAll } from './known-lines.ts';

/** How long ago the same payment still counts. */
const RECENT_DAYS = 30;

/** Finds the earlier transfers and the stored batches that a file may repeat. */
export interface EarlierPayments {
  /** The transfer that has the line's reference; undefined if there is none. */
  withReference(line: BatchLine): string | undefined;
  /** The transfer of the last 30 days to the same payee, of the same amount; undefined if there is none. */
  same(line: BatchLine): string | undefined;
  /** A line of a batch that orders the same, and is not over or was paid in the last 30 days; undefined if there is none. */
  sameLine(line: BatchLine): { batch: string; line: number } | undefined;
  /** The batch whose lines order the same, unless none of them was or can be paid. @param ordered the hash of what they order */
  sameContent(ordered: string): string | undefined;
  /** The ids of all batches. */
  batches: ReadonlySet<string>;
}

/**
 * Reads all transfers of a profile, apart from those that definitely failed, and the batches.
 *
 * @param today the day at the bank
 * @param onDamaged called for each transfer and batch that cannot be read
 * @throws Psd2Error `config` if the store cannot be read
 */
export async function readEarlierPayments(
  { flows, batches }: { flows: Pick<Flows, 'list'>; batches: Pick<Batches, 'list' | 'lines'> },
  today: IsoDate,
  onDamaged: (problem: Error) => void,
): Promise<EarlierPayments> {
  const since = addDays(today, -RECENT_DAYS);
  const references = new Map<string, string>();
  const payments = new Map<string, string>();
  const lines = new Map<string, { batch: string; line: number }>();
  /** The batches of which something was or can be paid. */
  const live = new Set<string>();
  /** The lines that have a transfer, by batch. */
  const begun = new Map<string, Set<number>>();
  for await (const transfer of flows.list('transfer', { onDamaged })) {
    const { flow, order, createdAt } = transfer;
    const place = order.batch;
    if (place && !isBeforeAll(transfer))
      begun.set(place.batch, (begun.get(place.batch) ?? new Set()).add(place.line));
    if (isPlainlyFailed(transfer)) continue;
    if (order.reference !== null) references.set(comparableReference(order.reference), flow);
    if (dayAtBank(createdAt) >= since) payments.set(paymentKey({ ...order, iban: order.to }), flow);
    if (!place) continue;
    live.add(place.batch);
    if (isRecent(transfer, since)) lines.set(orderedForm({ ...order, iban: order.to }), place);
  }
  const contents = new Map<string, string>();
  const ids = new Set<string>();
  const damaged = (problem: Error, batch: string) => {
    ids.add(batch);
    onDamaged(problem);
  };
  for await (const batch of batches.list(damaged)) {
    const { batch: id } = batch;
    ids.add(id);
    const isWaiting = waitingIn(batch, begun.get(id));
    const mayWait = Array.from({ length: batch.count }, (_, index) => index + 1).some(isWaiting);
    if (mayWait) live.add(id);
    if (!live.has(id)) continue;
    contents.set(batch.ordered, id);
    const stored = mayWait && (await unlessDamaged(id, damaged, () => batches.lines(batch)));
    for (const line of stored || [])
      if (isWaiting(line.line)) lines.set(orderedForm(line), { batch: id, line: line.line });
  }
  return {
    withReference: ({ reference }) =>
      reference === null ? undefined : references.get(comparableReference(reference)),
    same: (line) => payments.get(paymentKey(line)),
    sameLine: (line) => lines.get(orderedForm(line)),
    sameContent: (ordered) => contents.get(ordered),
    batches: ids,
  };
}

/** Whether a transfer is not over, or was paid lately. */
function isRecent(transfer: Transfer, since: IsoDate): boolean {
  const { updatedAt, order } = transfer;
  return standingOf(transfer) !== 'done' || dayAtBank(updatedAt) >= since || order.executionDate >= since;
}

/** The day at the bank of a time in a journal. */
function dayAtBank(time: string): IsoDate {
  return bankDay(new Date(time));
}

/** Whether a line of a batch has no transfer yet, and a run may begin one. */
function waitingIn({ rejection, pseudonymised, refused, cancelled }: Batch, begun: Set<number> | undefined) {
  const isOver = rejection !== null || pseudonymised.size > 0;
  return (line: number) => !isOver && !begun?.has(line) && !refused.has(line) && !cancelled.has(line);
}

/** The day does not count: an invoice that is paid twice is seldom paid twice on one day. */
function paymentKey({ iban, amount }: Pick<BatchLine, 'iban' | 'amount'>): string {
  return `${iban} ${amount}`;
}

import { type Batch, referenceOfLine } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isAccepted, isOver, standingOf } from '../../domain/flow-states.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Going } from './way.ts';

/**
 * What became of a line, for exit codes and counts: `paid`; `accepted` by the bank, which may still reject it; `not paid`, for sure; `refused`, which is the bank's word for one
 * delivery, so its reference stays taken; `unknown`; `awaited`, because its customer has not decided; `unfinished`, because psd2 has
 * not come to its end.
 */
export type LineOutcome = 'paid' | 'accepted' | 'not paid' | 'refused' | 'unknown' | 'awaited' | 'unfinished';

/** Whether nothing more becomes of a line by itself, unless the bank takes back what it has accepted. */
export function hasEnded(outcome: LineOutcome): boolean {
  return ['paid', 'accepted', 'not paid', 'refused'].includes(outcome);
}

/** The reference under which a line is paid. */
export function referenceOf(batch: Batch, { line, reference }: BatchLine): string {
  return reference ?? referenceOfLine(batch, line);
}

/** The kept result of the payee check of a line; null if there was none. */
export function keptCheck({ payees }: Batch, { line }: BatchLine): PayeeCheck | null {
  const kept = payees.find((each) => each.line === line);
  return kept ? { result: kept.result, name: kept.name, problem: kept.problem } : null;
}

/** What became of a line. @param transfer the last one that was to pay it */
export function outcomeOf(batch: Batch, { line }: BatchLine, transfer: Transfer | undefined): LineOutcome {
  if (!transfer || isBeforeAll(transfer))
    return batch.cancelled.has(line) || batch.refused.has(line) ? 'not paid' : 'unfinished';
  switch (standingOf(transfer)) {
    case 'done':
      if (transfer.state === 'executed' && needsSettlement(transfer.order)) return 'unknown';
      return isAccepted(transfer) ? 'accepted' : 'paid';
    case 'refused':
      return 'not paid';
    case 'sent':
      if (transfer.state === 'failed') return 'refused';
      return transfer.state === 'authorizing' ? 'awaited' : 'unknown';
    case 'open':
      return transfer.state === 'authorizing' || transfer.state === 'verified' ? 'awaited' : 'unfinished';
  }
}

/** Whether a transfer ended before anything of it was sent. Another one may pay its line. */
export function isBeforeAll({ state, reached }: Transfer): boolean {
  return state === 'cancelled' && !reached;
}

/** Whether a run can still do something for a transfer. */
export function canGoOn(transfer: Transfer): boolean {
  if (isBeforeAll(transfer) || standingOf(transfer) === 'sent') return true;
  if (transfer.state !== 'executed' && transfer.state !== 'ordered') return !isOver(transfer);
  return isAccepted(transfer) || needsSettlement(transfer.order);
}

/** The lines that go with an operation and have a transfer. */
export function linesIn({ bulks, flows }: Batch, group: string): Going[] {
  return [...new Set(bulks.get(group))].flatMap((line) => {
    const flow = flows.get(line);
    return flow === undefined ? [] : [{ line: { line }, flow, checked: null }];
  });
}

/** Says whose login gave the tokens for calls about a transfer: that of its signing basket, if it goes with one. */
export async function withLogin(
  flows: Pick<Flows, 'find'>,
  transfer: Transfer,
): Promise<Transfer & { authorisedBy?: string }> {
  if (transfer.bulk === null) return transfer;
  const { transactionId } = await flows.find('operation', transfer.bulk);
  return { ...transfer, authorisedBy: transactionId };
}

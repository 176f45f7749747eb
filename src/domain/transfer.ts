import type * as z from 'zod/mini';
import { bankDay, type IsoDate, nextBankDay } from './calendar.ts';
import type { transferEvent } from './events.ts';
import { isAccepted } from './flow-states.ts';
import { applyOperationEvent, type Operation } from './operation.ts';

/** What the operator ordered. */
export type TransferOrder = Extract<TransferEvent, { type: 'created' }>['order'];

/** A bank transfer: the operation `moneyTransfer`. */
export type Transfer = Operation<TransferOrder>;
export type TransferEvent = z.infer<typeof transferEvent>;

/** The transfer after `event`: see {@link applyOperationEvent}. */
export function applyTransferEvent(
  transfer: Transfer | undefined,
  event: TransferEvent,
  at: string,
): Transfer {
  const next = applyOperationEvent('transfer', transfer, event, at);
  // If a person says that an instant transfer was executed, psd2 does not ask for its settlement any more.
  const isSettled = event.type === 'resolved' && event.outcome === 'executed' && needsSettlement(next.order);
  if (transfer && endsAfterFirstDay(transfer, next, at)) return { ...next, state: 'ended' };
  return isSettled ? { ...next, state: 'settled' } : next;
}

/** Whether an operation's name is that of bank transfers, in any case. Only `psd2 transfer` makes bank transfers. */
export function isMoneyTransfer(operation: string): boolean {
  return operation.toLowerCase() === 'moneytransfer';
}

/**
 * Whether the bank has accepted a transfer, and has not said by the next bank day that it is final. A standing order is never
 * final.
 */
export function isOverdue(transfer: Transfer, today: IsoDate): boolean {
  const { updatedAt, order } = transfer;
  const accepted = bankDay(new Date(updatedAt));
  const begins = order.executionDate > accepted ? order.executionDate : accepted;
  return isAccepted(transfer) && !order.standing && today >= nextBankDay(begins);
}

/** Whether the bank may soon reject a transfer that it has accepted. */
export function mayBeRejected(transfer: Transfer, today: IsoDate): boolean {
  return isAccepted(transfer) && !transfer.order.standing && !isOverdue(transfer, today);
}

/** Whether the bank has an execution status for the order. Only instant transfers that are executed at once have one. */
export function needsSettlement(order: Pick<TransferOrder, 'instant' | 'futureDated'>): boolean {
  return order.instant && !order.futureDated;
}

/** Whether the bank took a transfer for a later day with its answer to `execute`, which is the last that it says of it. */
export function isForLater({ state, commits, order, resolution }: Transfer): boolean {
  return state === 'executed' && commits === 'on execute' && order.futureDated && resolution === null;
}

/**
 * Whether the bank has rejected or cancelled a standing order after its first day, so that payments may have been made. Before that day
 * none was.
 *
 * @param before the bank's word
 * @param after it, if it were any other transfer
 * @param at when psd2 wrote the word down, ISO 8601
 */
function endsAfterFirstDay(before: Transfer, after: Transfer, at: string): boolean {
  const { order, commits, resolution } = after;
  if (!order.standing || commits !== 'by the customer' || resolution !== null) return false;
  const isEnd = after.state === 'cancelled' || (after.state === 'failed' && after.executionStatus === 'KO');
  if (!isEnd) return false;
  if (before.state === 'ended') return true;
  return mayBeAccepted(before, after, at) && bankDay(new Date(at)) >= order.executionDate;
}

/** Whether the bank has accepted it. If psd2 has not asked for a day since its customer authorised it, the bank may have. */
function mayBeAccepted({ state, updatedAt }: Transfer, { scaStatus }: Transfer, at: string): boolean {
  if (state === 'ordered' || state === 'executed') return true;
  const isAuthorised = state === 'authorized' || scaStatus === 'finalised' || scaStatus === 'exempted';
  const isDaysAgo = bankDay(new Date(updatedAt)) < bankDay(new Date(at));
  return isAuthorised && isDaysAgo && ['authorizing', 'authorized', 'unknown'].includes(state);
}

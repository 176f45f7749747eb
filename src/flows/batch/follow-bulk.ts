import type { EntryState } from '../../bank/ports/bulk.ts';
import { because, ranked } from '../../domain/bank-reason.ts';
import { isAccepted, isOver, standingOf } from '../../domain/flow-states.ts';
import type { Operation, OrderTarget, StepEvent } from '../../domain/operation.ts';
import { isNews } from '../../domain/payment-answers.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { BankWord } from '../resolve.ts';

// The transfers of a bulk payment. The bulk payment is an operation with a journal of its own, which announces what is sent. Each
// transfer keeps its line's reference, and follows it.

/** What the name of the operation of a bulk payment is. */
export const BULK_PAYMENT = 'bulk-payments';

/** Whether the bank has rejected some of the transfers of a bulk payment, so that each must be asked about. */
export function isPartial({ state, transactionStatus }: Operation<OrderTarget>): boolean {
  return (state === 'executed' || state === 'settled') && transactionStatus === 'PART';
}

/** Whether the end of its bulk payment says nothing new of a transfer. */
function saysNothingNew(transfer: Transfer, bulk: Operation<OrderTarget>): boolean {
  if (transfer.state !== 'executed' && transfer.state !== 'ordered') return false;
  if (needsSettlement(transfer.order) && bulk.state !== 'executed') return false;
  return !isAccepted(transfer) || (bulk.state === transfer.state && !bulk.isFinal);
}

/**
 * The events of a transfer that follow from what became of its bulk payment. Empty if there is nothing new.
 *
 * @param entry what became of this transfer, if only some were paid. Undefined: nobody knows
 */
export function followBulk(
  transfer: Transfer,
  bulk: Operation<OrderTarget>,
  entry: EntryState | undefined,
): StepEvent[] {
  const becomes = whatFollows(transfer, bulk, entry);
  const isNamed = transfer.bulk === bulk.flow && transfer.order.from === null && transfer.debtor === null;
  if (!isNamed || bulk.debtor === null) return becomes;
  return [...becomes, { type: 'debtor-named', account: bulk.debtor }];
}

/** What the journal of its bulk payment already has of the bank about a transfer. Undefined: nothing that shows that it was paid. */
export function wordOfBulk(transfer: Transfer, bulk: GenericOperation): BankWord<StepEvent> | undefined {
  const events = bulk.order.operation === BULK_PAYMENT ? followBulk(transfer, bulk, undefined) : [];
  if (!events.some(({ type }) => type === 'executed' || type === 'ordered')) return undefined;
  return { sentences: [`The bank has executed the bulk payment ${bulk.flow}.`], events, outcome: 'executed' };
}

function whatFollows(
  transfer: Transfer,
  bulk: Operation<OrderTarget>,
  entry: EntryState | undefined,
): StepEvent[] {
  if (transfer.bulk !== bulk.flow) return [];
  const isKept = standingOf(transfer) === 'kept';
  // A customer had the link when the bank cancelled the bulk payment.
  if (isKept && bulk.state === 'cancelled') return bulk.linkUntil === null ? [{ type: 'link-over' }] : [];
  if (!isKept && isOver(transfer) && !transfer.refusedUnconfirmed) return [];
  if (saysNothingNew(transfer, bulk)) return [];
  const words: BankWords = {
    bank: {
      transactionStatus: entry?.transactionStatus ?? bulk.transactionStatus,
      scaStatus: bulk.scaStatus,
    },
  };
  switch (bulk.state) {
    case 'ordered':
      return [{ type: 'ordered', ...words }];
    case 'executed':
    case 'settled': {
      const isSettled = bulk.state === 'settled';
      return isPartial(bulk)
        ? followPart(transfer, entry, words)
        : paid(transfer, isSettled, bulk.isFinal || isSettled, words);
    }
    case 'cancelled':
      return cancelledWith(bulk, words);
    case 'rejected':
    case 'expired': {
      const status = bulk.state === 'rejected' ? 'NOT_AUTHORIZED' : 'EXPIRED';
      const bankStatus = bulk.authorizationStatus ?? status;
      return [{ type: 'authorization', status, bankStatus, ...words, ...whyOf(bulk) }];
    }
    case 'failed':
      return followFailure(transfer, bulk, entry, words);
    case 'authorizing':
      return becoming(transfer, 'authorizing', { type: 'sca-started' });
    case 'authorized':
    case 'executing':
    case 'unknown':
      return becoming(transfer, 'unknown', { type: 'execute-unanswered', ...whyOf(bulk) });
    case 'ended':
      // A bulk payment is no standing order.
      return [];
    case 'verified':
      // The bank has it, and somebody can still authorise it.
      return bulk.mayExecuteWithoutUs ? becoming(transfer, 'authorizing', { type: 'sca-started' }) : [];
    case 'created':
      return bulk.mayExecuteWithoutUs ? becoming(transfer, 'unknown', { type: 'execute-unanswered' }) : [];
  }
}

/** What follows for a transfer whose bulk payment was cancelled: a customer may have the link of all. */
function cancelledWith(bulk: Operation<OrderTarget>, words: BankWords): StepEvent[] {
  if (!bulk.reached) return [{ type: 'bulk-left' }, { type: 'cancelled' }];
  const { linkUntil } = bulk;
  return [{ type: 'cancelled', ...words, ...whyOf(bulk), ...(linkUntil !== null && { linkUntil }) }];
}

/** The bank's own words, as an event keeps them. */
interface BankWords {
  bank: { transactionStatus: string | null; scaStatus: string | null };
}

/** What follows for a transfer if the bank has paid only some of the bulk payment. */
function followPart(transfer: Transfer, entry: EntryState | undefined, words: BankWords): StepEvent[] {
  if (entry?.means === 'paid') return paid(transfer, true, entry.isFinal ?? false, words);
  if (entry?.means === 'duplicate') return asDuplicate(transfer, entry, words);
  if (entry?.means === 'refused' && transfer.isDuplicate) return [];
  if (entry?.means === 'refused')
    return [
      {
        type: 'settlement',
        status: 'KO',
        description: entry.transactionStatus,
        ...because(entry.reasons),
        ...words,
      },
    ];
  return isAccepted(transfer) ? [] : becoming(transfer, 'unknown', { type: 'execute-unanswered' });
}

/** What follows for a transfer that the bank has rejected because it has another one like it. */
function asDuplicate(transfer: Transfer, { reasons }: EntryState, words: BankWords): StepEvent[] {
  const event = { type: 'execute-unanswered', isDuplicate: true, ...because(reasons), ...words } as const;
  return isNews(transfer, event) ? [event] : [];
}

/** What follows for a transfer if its bulk payment has failed. */
function followFailure(
  transfer: Transfer,
  bulk: Operation<OrderTarget>,
  entry: EntryState | undefined,
  words: BankWords,
): StepEvent[] {
  const why = whyOf(bulk, entry);
  // What a person says of all is true of each.
  if (bulk.resolution) {
    const { outcome, by, note } = bulk.resolution;
    return [{ type: 'resolved', outcome, by, note }];
  }
  // Nothing but a refusal says that nobody was paid: the references stay taken.
  if (bulk.refusedUnconfirmed)
    return transfer.refusedUnconfirmed
      ? []
      : [{ type: 'execute-refused', description: 'The bank refused it', ...why }];
  if (bulk.executionStatus !== 'KO') return [{ type: 'verify-refused', ...why }];
  if (entry?.means === 'duplicate') return asDuplicate(transfer, entry, words);
  if (transfer.isDuplicate) return [];
  // The bank says that it has rejected the whole, and that it has not rejected this one.
  if (entry && entry.means !== 'refused')
    return becoming(transfer, 'unknown', { type: 'execute-unanswered' });
  return [{ type: 'settlement', status: 'KO', description: bulk.transactionStatus, ...why, ...words }];
}

/** What follows for a transfer that is paid. */
function paid({ order }: Transfer, isSettled: boolean, isFinal: boolean, words: BankWords): StepEvent[] {
  const executed = { type: 'executed', cro: null, ...words, ...(isFinal && { isFinal }) } as const;
  if (!isSettled || !needsSettlement(order)) return [executed];
  return [executed, { type: 'settlement', status: 'OK', description: null, ...words }];
}

/** Why a transfer is not paid, or nobody knows: what the bank says of it, then of the whole. What it says of others is not about this one. */
export function whyOf(bulk: Operation<OrderTarget>, entry?: EntryState): ReturnType<typeof because> {
  const own = entry?.means === 'refused' ? (entry.reasons ?? []) : [];
  const ofAll = bulk.reasons.filter(({ level }) => level !== 'payment');
  const description = bulk.reasons.length === 0 ? bulk.executionStatusDescription : null;
  return { ...(description !== null && { description }), ...because(ranked([...own, ...ofAll])) };
}

/** The event that brings a transfer into a state. Empty if it is in it already. */
export function becoming({ state }: Transfer, wanted: Transfer['state'], event: StepEvent): StepEvent[] {
  return state === wanted ? [] : [event];
}

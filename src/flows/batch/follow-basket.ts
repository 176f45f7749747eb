import { isAccepted, isOver } from '../../domain/flow-states.ts';
import type { Operation, OrderTarget, StepEvent } from '../../domain/operation.ts';
import { isNews } from '../../domain/payment-answers.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { becoming, whyOf } from './follow-bulk.ts';

// The transfers of a signing basket. The bank has each as a payment of its own, with its own status. The basket is an operation with
// a journal of its own: the customer authorises it once, and that authorises all of them.

/** What the name of the operation of a signing basket is. */
export const SIGNING_BASKET = 'signing-baskets';

/** What the state of a basket means for its payments. */
export type BasketMeans =
  | 'not sent'
  /** The bank has no such basket, or has rejected one whose link nobody has, or psd2 has given up one whose link nobody has. Its payments can be authorised otherwise. */
  | 'none'
  | 'with the customer'
  | 'authorised'
  | 'not authorised'
  | 'unknown';

export function basketMeaning(basket: Operation<OrderTarget>): BasketMeans {
  switch (basket.state) {
    case 'created':
      return basket.mayExecuteWithoutUs ? 'unknown' : 'not sent';
    case 'verified':
      return basket.mayExecuteWithoutUs ? 'with the customer' : 'not sent';
    case 'authorizing':
      return 'with the customer';
    case 'ordered':
    case 'executed':
    case 'settled':
      return 'authorised';
    case 'cancelled':
      return 'none';
    case 'failed':
      if (basket.refusedUnconfirmed) return 'unknown';
      // One that the bank has rejected before anybody had its link says nothing of its payments.
      if (basket.executionStatus === 'KO') return basket.linkIsOut ? 'not authorised' : 'none';
      return basket.resolution ? 'not authorised' : 'none';
    case 'rejected':
    case 'expired':
    case 'ended':
      return 'not authorised';
    case 'authorized':
    case 'executing':
    case 'unknown':
      return 'unknown';
  }
}

/** Whether the bank has deleted a basket, so that a customer may have its link. */
function isDeleted({ state, isCancellationTaken }: Operation<OrderTarget>): boolean {
  return state === 'cancelled' && isCancellationTaken;
}

/** Whether nobody has the link of a basket: the bank has not answered it, or has refused it, or psd2 has sent the customer nowhere yet. */
export function isWithoutLink(basket: Operation<OrderTarget>): boolean {
  if (basket.state === 'verified') return !basket.linkIsOut;
  return basket.verification === null && ['not sent', 'unknown'].includes(basketMeaning(basket));
}

/** What the bank says of one payment of a basket, and whether nobody has authorised it. */
export interface PaymentSaid {
  event: StepEvent;
  isUnauthorised?: boolean;
}

/**
 * The events of a transfer that follow from what became of its basket, and from the bank's own word for the transfer. Empty if there
 * is nothing new.
 *
 * @param bankStatus null: the bank has not answered
 */
export function followBasket(
  transfer: Transfer,
  basket: Operation<OrderTarget>,
  bankStatus: PaymentSaid | null,
): StepEvent[] {
  if (!isOpenIn(transfer, basket)) return [];
  const means = basketMeaning(basket);
  if (means === 'not sent') return [];
  const event = bankStatus?.event;
  if (isMade(transfer)) return event && isNews(transfer, event) ? [event] : [];
  if (event?.type === 'execute-unanswered') return isNews(transfer, event) ? [event] : [];
  if (event && event.type !== 'authorization') return [event];
  switch (means) {
    case 'none':
      if (!isDeleted(basket)) return [{ type: 'bulk-left' }];
      return [{ type: 'basket-deleted', ...(basket.linkUntil !== null && { linkUntil: basket.linkUntil }) }];
    case 'with the customer':
      return becoming(transfer, 'authorizing', { type: 'sca-started' });
    case 'authorised':
      return [];
    case 'not authorised':
      // The authorisation has failed, and after that the bank has not accepted the payment: it never runs.
      return event && bankStatus?.isUnauthorised
        ? [{ ...event, status: 'NOT_AUTHORIZED' }]
        : becoming(transfer, 'unknown', { type: 'execute-unanswered' });
    case 'unknown':
      return becoming(transfer, 'unknown', { type: 'execute-unanswered', ...whyOf(basket) });
  }
}

/** Whether it is not known yet what becomes of a transfer of a basket. */
export function isOpenIn(transfer: Transfer, { flow }: Pick<Operation<OrderTarget>, 'flow'>): boolean {
  if (transfer.bulk !== flow || (isOver(transfer) && !transfer.refusedUnconfirmed)) return false;
  return !isMade(transfer) || isAccepted(transfer) || needsSettlement(transfer.order);
}

function isMade({ state }: Transfer): boolean {
  return state === 'executed' || state === 'ordered';
}

import type { Bank } from '../../bank.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { lacksTokenOf } from '../oauth/access-token.ts';
import { DoorRefusal } from '../refusal.ts';
import { readQuery } from '../strict/query.ts';
import type { DoorPayment } from './payment.ts';
import { productInPath } from './payment-request.ts';

/**
 * The payment in the path of a call.
 *
 * @throws DoorRefusal `PRODUCT_UNKNOWN`, `RESOURCE_UNKNOWN`, `TOKEN_INVALID`
 */
export function paymentInPath(bank: Bank, call: DoorCall): DoorPayment {
  readQuery(call.request, []);
  const { service, product } = productInPath(bank, call);
  const payment = bank.door.payments.find(inPath(call, 'paymentId'));
  if (payment?.service !== service || payment.product !== product) {
    throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not know this payment', '', {
      path: 'paymentId',
    });
  }
  // Who has logged in with a basket has done so with its payments.
  const basket = bank.door.baskets.withPayment(payment.id);
  const isOfBasket = basket !== undefined && call.grant?.paymentId === basket.id;
  checkGrant(call, payment.debtor.customer.customerId, isOfBasket ? basket.id : payment.id);
  if (lacksTokenOf(bank, call.grant, [payment.id, ...(basket ? [basket.id] : [])]))
    throw new DoorRefusal('TOKEN_INVALID', 'The call needs the access token of this payment');
  return payment;
}

/**
 * Checks that the access token of a call is for a customer's payment.
 *
 * @param paymentId undefined if the payment does not exist yet
 * @throws DoorRefusal `TOKEN_INVALID`
 */
export function checkGrant({ grant }: DoorCall, customerId: string, paymentId: string | undefined): void {
  if (!grant) return;
  const isOthers = grant.customerId !== undefined && grant.customerId !== customerId;
  const isForOther =
    grant.consentId !== undefined || (grant.paymentId !== undefined && grant.paymentId !== paymentId);
  if (isOthers || isForOther)
    throw new DoorRefusal('TOKEN_INVALID', 'The access token is not for this payment');
}

import type { Bank } from '../bank.ts';
import type { DoorBasket } from './baskets/baskets.ts';
import { type ConsentKind, type DoorConsent, kindOfConsent } from './consents/consent.ts';
import { type DoorCall, inPath } from './door-call.ts';
import { doorOf } from './door-state.ts';
import { lacksTokenOf } from './oauth/access-token.ts';
import type { DoorPayment } from './payments/payment.ts';
import { productInPath } from './payments/payment-request.ts';
import { DoorRefusal } from './refusal.ts';
import { readQuery } from './strict/query.ts';

/**
 * The payment in the path of a call.
 *
 * @throws DoorRefusal `PRODUCT_UNKNOWN`, `RESOURCE_UNKNOWN`, `TOKEN_INVALID`
 */
export function paymentInPath(bank: Bank, call: DoorCall): DoorPayment {
  readQuery(call.request, []);
  const { service, product } = productInPath(bank, call);
  const payment = doorOf(bank).payments.find(inPath(call, 'paymentId'));
  if (payment?.service !== service || payment.product !== product)
    throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not know this payment', '', {
      path: 'paymentId',
    });
  // Who has logged in with a basket has done so with its payments.
  const basket = doorOf(bank).baskets.withPayment(payment.id);
  const isOfBasket = basket !== undefined && call.grant?.paymentId === basket.id;
  checkGrant(call, payment.debtor?.customer.customerId, isOfBasket ? basket.id : payment.id);
  if (lacksTokenOf(bank, call.grant, [payment.id, ...(basket ? [basket.id] : [])]))
    throw new DoorRefusal('TOKEN_INVALID', 'The call needs the access token of this payment');
  return payment;
}

/**
 * Checks that the access token of a call is for a customer's payment.
 *
 * @param customerId undefined if the customer has not chosen the account yet
 * @param paymentId undefined if the payment does not exist yet
 * @throws DoorRefusal `TOKEN_INVALID`
 */
export function checkGrant(
  { grant }: DoorCall,
  customerId: string | undefined,
  paymentId: string | undefined,
): void {
  if (!grant) return;
  const isOthers = grant.customerId !== undefined && grant.customerId !== (customerId ?? grant.customerId);
  const isForOther =
    grant.consentId !== undefined || (grant.paymentId !== undefined && grant.paymentId !== paymentId);
  if (isOthers || isForOther)
    throw new DoorRefusal('TOKEN_INVALID', 'The access token is not for this payment');
}

/** The consent in the path of a call. @throws DoorRefusal `CONSENT_UNKNOWN` */
export function consentInPath(bank: Bank, call: DoorCall, kind: ConsentKind): DoorConsent {
  readQuery(call.request, []);
  const consent = doorOf(bank).consents.find(inPath(call, 'consentId'));
  if (consent && kindOfConsent(consent) === kind) return consent;
  throw new DoorRefusal('CONSENT_UNKNOWN', 'The bank does not know this consent');
}

/** The basket in the path of a call. @throws DoorRefusal `RESOURCE_UNKNOWN`, `TOKEN_INVALID` */
export function basketInPath(bank: Bank, call: DoorCall): DoorBasket {
  readQuery(call.request, []);
  const basket = doorOf(bank).baskets.find(inPath(call, 'basketId'));
  if (!basket) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not know this signing basket');
  if (lacksTokenOf(bank, call.grant, [basket.id]))
    throw new DoorRefusal('TOKEN_INVALID', 'The call needs the access token of this signing basket');
  return basket;
}

import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { basketInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import { endAuthorisations } from '../payments/cancel.ts';
import { isReceived } from '../payments/payment-status.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { subjectOfBasket } from '../sca/authorisations.ts';
import { approachHeader } from '../sca/sca-answer.ts';
import { readScaWish } from '../sca/sca-wish.ts';
import { askForSca } from '../sca/start-sca.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';
import type { DoorBasket } from './baskets.ts';

const basketBody = z.strictObject({ paymentIds: z.array(z.string()).check(z.minLength(1)) });

/** `POST /signing-baskets`. The sandbox puts payments into a basket, no consents. */
export function createSigningBasket(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const { paymentIds } = readBody(call.request, basketBody);
  const door = doorOf(bank);
  const payments = paymentIds.map((id, index) => {
    const path = `paymentIds[${index}]`;
    const payment = door.payments.find(id);
    if (!payment)
      throw unexpected('RESOURCE_UNKNOWN', path, 'The bank does not know this payment', 'a paymentId', id);
    const isTaken = door.baskets.withPayment(id) !== undefined || paymentIds.indexOf(id) !== index;
    if (!isTaken && isReceived(bank, payment)) return payment;
    throw new DoorRefusal('REFERENCE_STATUS_INVALID', 'The payment does not wait for a basket', '', { path });
  });
  if (new Set(payments.flatMap(({ debtor }) => debtor?.customer.customerId ?? [])).size > 1)
    throw new DoorRefusal('REFERENCE_MIX_INVALID', 'The payments are of several customers', '', {
      path: 'paymentIds',
    });
  const wish = readScaWish(bank, call);
  const basket = door.baskets.add(payments);
  const values = { basketId: basket.id };
  const self = linkTo(bank, 'getSigningBasket', values);
  const sca = askForSca(bank, call, subjectOfBasket(basket), wish);
  return {
    status: 201,
    headers: { Location: self.href, ...approachHeader(sca) },
    body: {
      transactionStatus: basketStatus(bank, basket),
      basketId: basket.id,
      _links: { ...sca.links, self, status: linkTo(bank, 'getSigningBasketStatus', values) },
      ...sca.fields,
    },
  };
}

/** `GET /signing-baskets/{basketId}` */
export function getSigningBasket(bank: Bank, call: DoorCall): DoorAnswer {
  const basket = basketInPath(bank, call);
  return {
    status: 200,
    body: { payments: basket.payments.map(({ id }) => id), transactionStatus: basketStatus(bank, basket) },
  };
}

/** `GET /signing-baskets/{basketId}/status` */
export function getSigningBasketStatus(bank: Bank, call: DoorCall): DoorAnswer {
  return { status: 200, body: { transactionStatus: basketStatus(bank, basketInPath(bank, call)) } };
}

/** `DELETE /signing-baskets/{basketId}`. Its payments stay, and can be authorised alone. */
export function deleteSigningBasket(bank: Bank, call: DoorCall): DoorAnswer {
  const basket = basketInPath(bank, call);
  // "As long as no (partial) authorisation has yet been applied" (NextGenPSD2, "Delete the signing basket").
  if (basket.authorised || doorOf(bank).authorisations.approvedBy(subjectOfBasket(basket)).length > 0)
    throw new DoorRefusal('STATUS_INVALID', 'A customer has authorised the basket');
  basket.deleted = true;
  endAuthorisations(bank, subjectOfBasket(basket));
  return { status: 204 };
}

/** Of the basket, not of its payments (NextGenPSD2, `transactionStatus_SBS`). */
function basketStatus(bank: Bank, basket: DoorBasket): 'RCVD' | 'ACTC' | 'RJCT' | 'CANC' {
  if (basket.deleted) return 'CANC';
  if (basket.authorised) return 'ACTC';
  return doorOf(bank).authorisations.haveFailed(subjectOfBasket(basket)) ? 'RJCT' : 'RCVD';
}

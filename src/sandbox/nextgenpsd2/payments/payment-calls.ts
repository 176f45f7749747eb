import type { Bank } from '../../bank.ts';
import { holds } from '../../customers/customers.ts';
import { find } from '../../faults/spoil.ts';
import { header } from '../../strict/headers.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { checkGrant, paymentInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import { amountOf } from '../readings/account-view.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { approachHeader } from '../sca/sca-answer.ts';
import { cancellationWish, readScaWish, type ScaWish } from '../sca/sca-wish.ts';
import { askForSca, offerSca } from '../sca/start-sca.ts';
import { bodyForm, XML } from '../strict/headers.ts';
import { readQuery } from '../strict/query.ts';
import { cancelNow } from './cancel.ts';
import { type DoorPayment, newPayment, pathOfPayment, subjectOf } from './payment.ts';
import { readInitiation } from './payment-request.ts';
import { isCancellable, orderStatus, pain002Of, transactionStatus } from './payment-status.ts';
import { authorisePayment } from './run-payments.ts';

/** How late the variation `executes-late` is. */
const LATE_MINUTES = 60;

/** `POST /{payment-service}/{payment-product}` */
export function initiatePayment(bank: Bank, call: DoorCall): DoorAnswer {
  return doorOf(bank).repeated.answer(call.request, () => initiated(bank, call));
}

function initiated(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const initiation = readInitiation(bank, call);
  const { debtor } = initiation;
  checkGrant(call, debtor?.customer.customerId, undefined);
  const wish = readScaWish(bank, call);
  const named = bank.customers.byUser(wish.psuId ?? '');
  if (named && debtor && !holds(named, debtor.product)) {
    const expected = `an account of ${wish.psuId}`;
    const { iban } = debtor.product;
    throw unexpected(
      'FORMAT_ERROR',
      'debtorAccount.iban',
      "The account is not the customer's",
      expected,
      iban,
    );
  }
  const requestId = header(call.request, 'x-request-id') ?? '';
  const about = { createdAt: bank.now(), requestId, lateMs: latenessOf(bank, call) };
  const payment = doorOf(bank).payments.keep(newPayment(initiation, about));
  bank.calls.tellChange();
  // Without SCA nobody chooses the account.
  return debtor && isExempted(bank, call) ? exempted(bank, payment) : waiting(bank, call, payment, wish);
}

/** The customer has to authorise it. */
function waiting(bank: Bank, call: DoorCall, payment: DoorPayment, wish: ScaWish): DoorAnswer {
  const sca = askForSca(bank, call, subjectOf(payment, 'payment'), wish);
  return created(bank, payment, {
    headers: approachHeader(sca),
    links: sca.links,
    fields: { ...(sca.scaStatus && { scaStatus: sca.scaStatus }), ...sca.fields },
  });
}

/** The bank executes it at once: it needs no SCA (RTS (EU) 2018/389, articles 10 to 18). */
function exempted(bank: Bank, payment: DoorPayment): DoorAnswer {
  authorisePayment(bank, payment);
  return created(bank, payment, { headers: {}, links: {}, fields: { scaStatus: 'exempted' } });
}

function created(
  bank: Bank,
  payment: DoorPayment,
  {
    headers,
    links,
    fields,
  }: { headers: Record<string, string>; links: object; fields: Record<string, unknown> },
): DoorAnswer {
  const values = pathOfPayment(payment);
  const self = linkTo(bank, 'getPaymentInformation', values);
  const fee = payment.orders.reduce((total, { commissions }) => total + commissions, 0);
  return {
    status: 201,
    headers: { Location: self.href, ...headers },
    body: {
      transactionStatus: transactionStatus(bank, payment),
      paymentId: payment.id,
      transactionFees: amountOf(fee),
      transactionFeeIndicator: true,
      ...fields,
      _links: { ...links, self, status: linkTo(bank, 'getPaymentInitiationStatus', values) },
    },
  };
}

function isExempted({ rules }: Bank, { faults }: DoorCall): boolean {
  return rules.variations.includes('no-sca') || find(faults, 'no-sca') !== undefined;
}

function latenessOf({ rules }: Bank, { faults }: DoorCall): number {
  const usual = rules.variations.includes('executes-late') ? LATE_MINUTES : 0;
  return (find(faults, 'executes-late')?.value ?? usual) * 60_000;
}

/** `GET /{payment-service}/{payment-product}/{paymentId}`. Each entry of a bulk has its own state. */
export function getPaymentInformation(bank: Bank, call: DoorCall): DoorAnswer {
  const payment = paymentInPath(bank, call);
  const { body, debtor, authorisedAt } = payment;
  const isChosen = body.debtorAccount === undefined && debtor && authorisedAt;
  const entries =
    payment.service === 'bulk-payments' && Array.isArray(body.payments)
      ? body.payments.map((entry: object, index) => ({
          ...entry,
          transactionStatus: orderStatus(bank, payment, index),
        }))
      : undefined;
  return {
    status: 200,
    body: {
      ...body,
      ...(isChosen && { debtorAccount: { iban: debtor.product.iban } }),
      ...(entries && { payments: entries }),
      transactionStatus: transactionStatus(bank, payment),
    },
  };
}

/** `GET /{payment-service}/{payment-product}/{paymentId}/status`: of what came in XML a pain.002, if the call wants XML. */
export function getPaymentInitiationStatus(bank: Bank, call: DoorCall): DoorAnswer {
  const payment = paymentInPath(bank, call);
  if (bodyForm(bank.rules.description, call.operation) !== 'json' && header(call.request, 'accept') === XML)
    return { status: 200, body: pain002Of(bank, payment) };
  return { status: 200, body: { transactionStatus: transactionStatus(bank, payment) } };
}

/** `DELETE /{payment-service}/{payment-product}/{paymentId}`, as `payments.cancel` says. */
export function cancelPayment(bank: Bank, call: DoorCall): DoorAnswer {
  const payment = paymentInPath(bank, call);
  const { cancel: rule } = bank.rules.description.payments;
  const cancel = typeof rule === 'string' ? rule : (rule[payment.service] ?? 'authorised');
  if (cancel === 'none' || !isCancellable(bank, payment))
    throw new DoorRefusal(
      'CANCELLATION_INVALID',
      'The payment cannot be cancelled',
      cancel === 'none' ? 'The bank cancels no payments.' : `It is ${transactionStatus(bank, payment)}.`,
    );
  if (find(call.faults, 'link-stays')) payment.linksStay = true;
  if (cancel === 'direct') {
    cancelNow(bank, payment);
    bank.calls.tellChange();
    return { status: 204 };
  }
  const subject = subjectOf(payment, 'cancellation');
  const { approach, links, fields } = offerSca(bank, call, subject, cancellationWish(bank, call));
  return {
    status: 202,
    headers: approachHeader({ approach }),
    body: { transactionStatus: transactionStatus(bank, payment), ...fields, _links: links },
  };
}

import type { Bank } from '../../bank.ts';
import { holds } from '../../customers/customers.ts';
import type { Customer } from '../../customers/seed-customers.ts';
import { planOf } from '../../operations/plan.ts';
import type { DoorBasket } from '../baskets/baskets.ts';
import { type DoorConsent, grantsFor } from '../consents/consent.ts';
import { consentStatus, doorOf } from '../door-state.ts';
import { cancelNow, isOutliving } from '../payments/cancel.ts';
import type { DoorPayment } from '../payments/payment.ts';
import { isCancellable, isReceived } from '../payments/payment-status.ts';
import { authorisePayment } from '../payments/run-payments.ts';
import { type Authorisation, type ScaSubject, subjectOfConsent } from './authorisations.ts';

/** What a customer is asked to authorise. */
export type Asked =
  | { kind: 'consent'; consent: DoorConsent }
  | { kind: 'payment' | 'cancellation'; payment: DoorPayment }
  | { kind: 'basket'; basket: DoorBasket };

/** What an authorisation is about. Undefined: the bank does not have it. */
export function askedOf(bank: Bank, { kind, id }: ScaSubject): Asked | undefined {
  const door = doorOf(bank);
  switch (kind) {
    case 'consent':
    case 'funds-consent': {
      const consent = door.consents.find(id);
      return consent && { kind: 'consent', consent };
    }
    case 'payment':
    case 'cancellation': {
      const payment = door.payments.find(id);
      return payment && { kind, payment };
    }
    case 'basket': {
      const basket = door.baskets.find(id);
      return basket && { kind, basket };
    }
  }
}

/** The payments that a customer is asked for. */
export function paymentsIn(matter: Asked): readonly DoorPayment[] {
  if (matter.kind === 'consent') return [];
  return matter.kind === 'basket' ? matter.basket.payments : [matter.payment];
}

/** Whether an authorisation still has an effect. */
export function isWaiting(bank: Bank, matter: Asked): boolean {
  switch (matter.kind) {
    case 'consent':
      return ['received', 'partiallyAuthorised'].includes(consentStatus(bank, matter.consent));
    case 'payment':
      return isReceived(bank, matter.payment) || isOutliving(matter.payment);
    case 'cancellation':
      return isCancellable(bank, matter.payment);
    case 'basket':
      return !matter.basket.deleted && !matter.basket.authorised;
  }
}

/** Whether a customer has the accounts that it is about. @param chosen product ids, if the customer chooses them */
export function isCustomers(
  matter: Asked,
  customer: Customer,
  chosen: readonly string[] | undefined,
): boolean {
  if (matter.kind === 'consent') return grantsFor(matter.consent, customer, chosen) !== undefined;
  return paymentsIn(matter).every(({ debtor }) => !debtor || holds(customer, debtor.product));
}

/**
 * The customer chooses the account of what names none. A payment to that account stays without one.
 *
 * @param chosen its product id; undefined: the first account
 * @throws RangeError if the customer has no such account
 */
export function chooseDebtor(matter: Asked, customer: Customer, chosen: string | undefined): void {
  const open = paymentsIn(matter).filter(({ debtor }) => debtor === undefined);
  if (open.length === 0) return;
  const product = payingAccounts(customer).find(
    ({ productId }) => chosen === undefined || productId === chosen,
  );
  if (!product) throw new RangeError(`${customer.user} has no such account to pay from`);
  for (const payment of open) payment.debtor = { customer, product };
}

/** The accounts that a customer can pay from. */
export function payingAccounts({ products }: Customer): Customer['products'] {
  return products.filter(({ kind }) => kind !== 'card');
}

/** How the SCA ends that a payee's name plans, whatever the customer decides. */
export function plannedSca(matter: Asked): ReturnType<typeof planOf>['sca'] {
  if (matter.kind === 'consent') return undefined;
  return paymentsIn(matter)
    .flatMap(({ orders }) => orders)
    .map(({ beneficiaryName }) => planOf(beneficiaryName).sca)
    .find((sca) => sca !== undefined);
}

/** Who must authorise it: all holders of each account that it is about. */
interface Holders {
  /** The ids of those who have. */
  approved: string[];
  /** The ids of the others. */
  missing: string[];
}

/** Who has authorised it, and who must, too. @param by one of them, with the accounts that they choose */
export function holdersIn(
  bank: Bank,
  matter: Asked,
  { customerId, chosen }: NonNullable<Authorisation['approvedBy']>,
): Holders {
  const { customers } = bank;
  const customer = customers.find(customerId);
  const granted =
    matter.kind === 'consent' && customer ? grantsFor(matter.consent, customer, chosen) : undefined;
  const products = granted
    ? (customer?.products.filter(({ productId }) => granted.has(productId)) ?? [])
    : paymentsIn(matter).flatMap(({ debtor }) => debtor?.product ?? []);
  const approvals = doorOf(bank).authorisations.approvedBy(subjectIn(matter));
  const holders = [...new Set(products.flatMap((product) => customers.holdersOf(product)))];
  return {
    approved: holders.filter((id) => approvals.includes(id)),
    missing: holders.filter((id) => !approvals.includes(id)),
  };
}

/** Whether nobody has yet done what it asks for, or prevented it: cheaper to say than {@link isWaiting}. */
export function isUndone(matter: Asked): boolean {
  switch (matter.kind) {
    case 'consent':
      return matter.consent.status === 'received';
    case 'payment':
      return matter.payment.authorisedAt === undefined && !matter.payment.cancelled;
    case 'cancellation':
      return !matter.payment.cancelled;
    case 'basket':
      return !matter.basket.deleted && !matter.basket.authorised;
  }
}

function subjectIn(matter: Asked): Pick<ScaSubject, 'kind' | 'id'> {
  if (matter.kind === 'consent') return subjectOfConsent(matter.consent);
  return { kind: matter.kind, id: matter.kind === 'basket' ? matter.basket.id : matter.payment.id };
}

/** Does what a customer has authorised, once all holders of a company account have. */
export function carryOut(bank: Bank, matter: Asked, by: NonNullable<Authorisation['approvedBy']>): void {
  if (holdersIn(bank, matter, by).missing.length > 0) return;
  const { customerId, chosen } = by;
  switch (matter.kind) {
    case 'consent': {
      const customer = bank.customers.find(customerId);
      if (customer) doorOf(bank).consents.give(matter.consent, customer, chosen);
      return;
    }
    case 'payment':
      if (matter.payment.cancelled) matter.payment.outlived = true;
      authorisePayment(bank, matter.payment);
      return;
    case 'cancellation':
      cancelNow(bank, matter.payment);
      return;
    case 'basket':
      matter.basket.authorised = true;
      for (const payment of matter.basket.payments) {
        if (isReceived(bank, payment)) authorisePayment(bank, payment);
      }
  }
}

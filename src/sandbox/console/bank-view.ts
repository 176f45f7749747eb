import type { Bank } from '../bank.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { decimal } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Doors } from '../server/pipeline.ts';
import { paymentsTogether } from './payments-together.ts';

/** The maximum numbers of flows, payments and transactions that the console shows. */
const MAX_FLOWS = 100;
const MAX_PAYMENTS = 1_000;
const MAX_ENTRIES = 50;

/** What customers have to decide, and what they gave and paid: at each door, newest first. */
export function flowsOf(bank: Bank, doors: Doors) {
  const owners = [...doors].flatMap(([name, { owner }]) => (owner ? [[name, owner] as const] : []));
  return {
    /** The users that have a button to log in. */
    users: bank.customers.seeded.map(({ user }) => user),
    together: paymentsTogether(owners.flatMap(([, owner]) => owner.paid(MAX_PAYMENTS))),
    doors: Object.fromEntries(owners.map(([name, owner]) => [name, owner.flows(MAX_FLOWS)])),
  };
}

/** The accounts of one customer. Default: of the seeded customers. */
export function accountsOf(bank: Bank, user: string | undefined) {
  const one = user === undefined ? undefined : bank.customers.byUser(user);
  const customers: readonly Customer[] = user === undefined ? bank.customers.seeded : one ? [one] : [];
  const now = bank.now();
  return customers.map(({ user: name, firstName, lastName, customerId, products }) => ({
    user: name,
    name: `${firstName} ${lastName}`,
    customerId,
    products: products.map((product) => {
      const { booked, available } = bank.ledger.balance(product, now);
      return {
        productId: product.productId,
        kind: product.kind,
        name: product.name,
        iban: product.iban,
        booked: decimal(booked),
        available: decimal(available),
      };
    }),
  }));
}

/** The newest entries of an account, pending ones first. Undefined if the bank has no such account. */
export function ledgerOf(bank: Bank, productId: string) {
  const found = bank.customers.byProduct(productId);
  if (!found) return undefined;
  const whole = { from: undefined, to: undefined };
  const { booked, pending } = bank.ledger.entries(found.product, whole, bank.now());
  const view =
    (state: string) =>
    ({ amount, bookingDay, shortDescription, extendedDescription, transferReference }: Entry) => ({
      state,
      day: bookingDay,
      amount: decimal(amount),
      text: `${shortDescription} ${extendedDescription}`,
      reference: transferReference,
    });
  return {
    productId,
    count: booked.count + pending.length,
    entries: [
      ...pending.slice(0, MAX_ENTRIES).map(view('pending')),
      ...booked.slice(0, MAX_ENTRIES).map(view('booked')),
    ],
  };
}

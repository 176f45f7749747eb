import { accountIban } from '../customers/italian-iban.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { account } from '../customers/seed-customers.ts';
import { DOORS } from '../doors.ts';
import { bookingInstant } from '../ledger/bank-time.ts';
import type { Cents } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import type { SeededCustomer } from '../rules.ts';
import { BadSeed } from './seed-fields.ts';
import type { SeedCustomer } from './seed-schema.ts';

/** Long after any test: a pending transaction of a seed is not booked by time. */
const NEVER = new Date('9999-01-01T00:00:00Z');
const FIRST_ID = 6_000_001;

/** The bank's customers, as far as a new one must differ from them. */
export interface KnownCustomers {
  find(customerId: string): Customer | undefined;
  byUser(user: string): Customer | undefined;
  byProduct(productId: string): { customer: Customer } | undefined;
}

/**
 * Makes the customers of a seed, each one different from those before.
 *
 * @throws BadSeed
 */
export function seedOf(customers: readonly SeedCustomer[], earlier: KnownCustomers): SeededCustomer[] {
  const made: SeededCustomer[] = [];
  const all: KnownCustomers = {
    find: (id) => earlier.find(id) ?? made.find(({ customer }) => customer.customerId === id)?.customer,
    byUser: (user) => earlier.byUser(user) ?? made.find(({ customer }) => customer.user === user)?.customer,
    byProduct: (id) => earlier.byProduct(id) ?? made.find(({ customer }) => hasProduct(customer, id)),
  };
  for (const [index, customer] of customers.entries())
    made.push(seededCustomer(customer, all, `customers[${index}]`));
  return made;
}

/**
 * Makes one customer.
 *
 * @param path of the customer, for messages
 * @throws BadSeed if another customer has the user, the id or a product
 */
export function seededCustomer(record: SeedCustomer, earlier: KnownCustomers, path: string): SeededCustomer {
  const { user, firstName = capital(user), lastName = 'Sandbox' } = record;
  if (earlier.byUser(user)) throw new BadSeed(`${path}.user: the bank already has a customer ${user}`);
  const customerId = record.customerId ?? freeId(earlier);
  if (earlier.find(customerId))
    throw new BadSeed(`${path}.customerId: the bank already has a customer ${customerId}`);
  const accounts = record.accounts ?? [{ kind: 'current' as const, opening: '1000.00' }];
  const ids = accounts.map(
    ({ productId, kind }, index) => productId ?? madeId(customerId, kind, index, path),
  );
  const current = ids[accounts.findIndex(({ kind }) => kind === 'current')];
  const products = accounts.map((one, index) => {
    const at = `${path}.accounts[${index}]`;
    const id = ids[index] ?? '';
    if (earlier.byProduct(id) || ids.indexOf(id) !== index)
      throw new BadSeed(`${at}.productId: the bank already has an account ${id}`);
    return product(one, id, accountIban(digits(one.kind === 'card' ? (current ?? id) : id)));
  });
  const customer: Customer = {
    customerId,
    user,
    password: `${user}-sandbox`,
    firstName,
    lastName,
    monthly: { salary: 0, rent: 0, saving: 0 },
    products,
  };
  for (const { seed } of DOORS.values()) seed?.check?.(record, customer, path);
  return { customer, record };
}

function product(
  { kind, name = '', opening, creditLimit, transactions = [] }: NonNullable<SeedCustomer['accounts']>[number],
  productId: string,
  iban: string,
): Product {
  return account(kind, {
    productId,
    name,
    iban,
    opening: cents(opening),
    creditLimit: cents(creditLimit),
    history: transactions.map(seededEntry).toSorted((a, b) => a.enteredAt.getTime() - b.enteredAt.getTime()),
  });
}

type SeedAccount = NonNullable<SeedCustomer['accounts']>[number];

function seededEntry(transaction: NonNullable<SeedAccount['transactions']>[number]): Entry {
  const { day, amount, description, valueDay = day, code = '43', pending = false } = transaction;
  return {
    amount: cents(amount),
    enteredAt: bookingInstant(day),
    bookedFrom: pending ? NEVER : bookingInstant(day),
    bookingDay: day,
    valueDay,
    code,
    shortDescription: description,
    extendedDescription: description,
    transferReference: '',
    isFee: false,
    preAuthorized: pending,
  };
}

function hasProduct({ products }: Customer, id: string): boolean {
  return products.some(({ productId }) => productId === id);
}

/** `-12.30` as -1230. The schema has checked the form. */
function cents(amount = '0.00'): Cents {
  return Number(amount.replace('.', ''));
}

function capital(user: string): string {
  return user.slice(0, 1).toUpperCase() + user.slice(1);
}

function freeId(earlier: KnownCustomers): string {
  let id = FIRST_ID;
  while (earlier.find(String(id))) id += 1;
  return String(id);
}

function madeId(customerId: string, kind: SeedAccount['kind'], index: number, path: string): string {
  if (index > 9) throw new BadSeed(`${path}.accounts[${index}].productId is missing: only ten can be made`);
  return `${kind === 'card' ? '01' : '00'}${customerId}${index}`;
}

/** An account number for an IBAN: letters of a product id become digits. */
function digits(productId: string): string {
  return productId.replace(/\D/g, (letter) => String(letter.charCodeAt(0) % 10));
}

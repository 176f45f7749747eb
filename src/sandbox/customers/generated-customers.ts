import { seededRandom } from '../seeded-random.ts';
import { accountIban } from './italian-iban.ts';
import { account, type Customer, type Product } from './seed-customers.ts';

/** The maximum number of generated customers. Customer ids limit it. */
const MAX_CUSTOMERS = 999_999;

/** The default number of transactions on an account of a generated customer. */
const TRANSACTIONS = 120;

const FIRST_ID = 5_000_000;

const firstNames = [
  'Ada',
  'Bice',
  'Dario',
  'Elio',
  'Fiora',
  'Gino',
  'Ines',
  'Livia',
  'Nico',
  'Olga',
] as const;
const lastNames = ['Bassi', 'Corsi', 'Donati', 'Ferri', 'Galli', 'Leoni', 'Marini', 'Neri', 'Riva'] as const;

/**
 * Generates a customer from a number, from 1. The same number always gives the same customer, so none has to be stored.
 *
 * @param transactions the number of transactions on each account
 */
export function generateCustomer(number: number, transactions = TRANSACTIONS): Customer {
  if (last?.number !== number || last.transactions !== transactions)
    last = { number, transactions, customer: makeCustomer(number, transactions) };
  return last.customer;
}

/** The one that was generated last: each call asks for the same customer some ten times. */
let last: { number: number; transactions: number; customer: Customer } | undefined;

function makeCustomer(number: number, transactions: number): Customer {
  const customerId = String(FIRST_ID + number);
  const user = `customer-${String(number).padStart(6, '0')}`;
  const random = seededRandom(user);
  const current = `00${customerId}0`;
  const make = (kind: Product['kind'], productId: string, iban = accountIban(productId)): Product =>
    account(kind, {
      productId,
      name: '',
      iban,
      opening: kind === 'card' ? 0 : random.between(10_000_00, 90_000_00),
      creditLimit: kind === 'card' ? 10_000_00 : 0,
      generatedTransactions: transactions,
    });
  return {
    customerId,
    user,
    password: generatedPassword(user),
    firstName: random.pick(firstNames),
    lastName: random.pick(lastNames),
    monthly: { salary: 0, rent: 0, saving: 0 },
    products: [
      make('current', current),
      make('savings', `00${customerId}8`),
      make('card', `01${customerId}5`, accountIban(current)),
    ],
  };
}

/** The password of a generated customer. */
export function generatedPassword(user: string): string {
  return `${user}-sandbox`;
}

/** The number of the generated customer with this id. Undefined if no generated customer can have it. */
export function numberOfId(customerId: string): number | undefined {
  const number = /^\d{7}$/.test(customerId) ? Number(customerId) - FIRST_ID : 0;
  return number >= 1 && number <= MAX_CUSTOMERS ? number : undefined;
}

/** The number of the generated customer with this user name. Undefined if no generated customer can have it. */
export function numberOfUser(user: string): number | undefined {
  const digits = /^customer-(\d{6})$/.exec(user)?.[1];
  return digits === undefined || Number(digits) === 0 ? undefined : Number(digits);
}

/** The number of the generated customer with this product. Undefined if no generated customer can have it. */
export function numberOfProduct(productId: string): number | undefined {
  const customerId = /^0[01](\d{7})[058]$/.exec(productId)?.[1];
  return customerId === undefined ? undefined : numberOfId(customerId);
}

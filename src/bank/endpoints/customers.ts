import type { BookedRow } from '../../domain/booked-ids.ts';
import { bankLocalTime } from '../../domain/calendar.ts';
import type { Money } from '../../domain/decimal.ts';
import { accountsAnswer, balanceAnswer, customerIdAnswer } from '../../wire/customers.ts';
import type { Bank } from '../call/bank.ts';
import type { BankCall } from '../call/exchange.ts';
import { pathSegment } from './path-segment.ts';

/** An account, card or deposit of a customer. Two products can share an IBAN. */
export interface Account {
  productId: string;
  iban: string | null;
  currency: string;
  name: string | null;
  productCode: string | null;
  productDescription: string | null;
}

export interface Balance {
  productId: string;
  accountBalance: Money | null;
  availableBalance: Money | null;
  accountAvailability: Money | null;
  accountAvailableCredit: Money | null;
  /** ISO 8601: a time with zone, a day if the bank gave no hour, or null. */
  asOf: string | null;
}

/** A row of the transaction list. `index` restarts with every query, so it is not an id. */
export interface Transaction extends BookedRow {
  index: string;
  status: 'booked' | 'pending';
  feeCharge: boolean | null;
}

/** The id of the token's customer (`customerid-info`). @throws Psd2Error */
export async function fetchCustomerId(
  bank: Bank,
  transactionId: string,
  how: Pick<BankCall, 'bearer' | 'interruptible'> = {},
): Promise<string> {
  const { data } = await bank.call(
    { method: 'GET', path: '/private/customers/customerid-info', transactionId, ...how },
    customerIdAnswer,
  );
  return data.customerid;
}

/** The currency of an account. The bank may give it with the account or with the balance. */
export function currencyOf({ currency }: Account, accountBalance: Money | null): string {
  return currency || accountBalance?.currency || 'EUR';
}

/** The customer's accounts (interface specification, "Account record"). @throws Psd2Error */
export async function fetchAccounts(
  bank: Bank,
  customerId: string,
  transactionId: string,
): Promise<Account[]> {
  const { data } = await bank.call(
    { method: 'GET', path: `${customerPath(customerId)}/accounts`, transactionId },
    accountsAnswer,
  );
  return data.accounts.map((account) => ({
    productId: account.accountId,
    iban: account.iban || null,
    currency: account.currency,
    name: account.name || null,
    productCode: account.product?.code || null,
    productDescription: account.product?.description || null,
  }));
}

/** The balance of one product. @throws Psd2Error */
export async function fetchBalance(
  bank: Bank,
  customerId: string,
  productId: string,
  transactionId: string,
): Promise<Balance> {
  const { data } = await bank.call(
    { method: 'GET', path: `${productPath(customerId, productId)}/balance/retrieve`, transactionId },
    balanceAnswer,
  );
  const { date, hour, ...amounts } = data;
  return {
    productId,
    ...amounts,
    asOf: date && (/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(hour) ? bankLocalTime(date, hour) : date),
  };
}

/** The path of a customer's resources. */
export function customerPath(customerId: string): string {
  return `/private/customers/${pathSegment(customerId)}`;
}

/** The path of a product's resources. */
export function productPath(customerId: string, productId: string): string {
  return `${customerPath(customerId)}/products/${pathSegment(productId)}`;
}

import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import { bankDay } from '../../ledger/bank-time.ts';
import { type Cents, decimal } from '../../ledger/cents.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { Href } from '../links.ts';

/** An amount of the standard. */
export function amountOf(cents: Cents): { currency: 'EUR'; amount: string } {
  return { currency: 'EUR', amount: decimal(cents) };
}

/** The code of each kind of account (ISO 20022, `ExternalCashAccountType1Code`). */
export const CASH_ACCOUNT_TYPES: Record<Product['kind'], string> = {
  current: 'CACC',
  savings: 'SVGS',
  card: 'CARD',
};

/** The number of a card as the bank shows it. */
export function maskedPanOf({ productId }: Product): string {
  return `525412xxxxxx${productId.slice(-4)}`;
}

/** The whole number of a card, which only its customer and the bank know. */
export function panOf(product: Product): string {
  return maskedPanOf(product).replaceAll('x', '0');
}

/** How answers name an account (NextGenPSD2, `accountReference`). */
export function referenceOf(product: Product): Record<string, string> {
  return product.kind === 'card'
    ? { maskedPan: maskedPanOf(product), currency: 'EUR' }
    : { iban: product.iban, currency: 'EUR' };
}

/**
 * The details of an account or a card (NextGenPSD2, `accountDetails` and `cardAccountDetails`).
 *
 * @param more its id, and the owner and the balances, if the consent shows them
 */
export function accountDetails(
  product: Product,
  more: { id: string; owner: Customer | undefined; balances: unknown; links: Record<string, Href> },
): Record<string, unknown> {
  const { kind, description, name } = product;
  return {
    resourceId: more.id,
    ...referenceOf(product),
    ...(kind === 'card' && { creditLimit: amountOf(product.creditLimit) }),
    ...(kind !== 'card' && { cashAccountType: CASH_ACCOUNT_TYPES[kind] }),
    name: description,
    ...(name !== '' && { displayName: name }),
    product: product.code,
    ...(more.owner && { ownerName: `${more.owner.firstName} ${more.owner.lastName}` }),
    status: 'enabled',
    usage: 'PRIV',
    ...(more.balances !== undefined && { balances: more.balances }),
    _links: more.links,
  };
}

/**
 * The balances of an account: the booked and the available one, under the names that the bank file has first. The available one
 * comes first, so that a client has to look at the names.
 */
export function balanceList(
  product: Product,
  { booked, available }: Balance,
  { accounts }: BankDescription,
  now: Date,
): Record<string, unknown>[] {
  const isCard = product.kind === 'card';
  return [
    {
      balanceType: accounts.balances.available[0],
      balanceAmount: amountOf(available + product.creditLimit),
      ...(isCard && { creditLimitIncluded: true }),
      lastChangeDateTime: now.toISOString(),
    },
    {
      balanceType: accounts.balances.booked[0],
      balanceAmount: amountOf(booked),
      ...(isCard && { creditLimitIncluded: false }),
      referenceDate: bankDay(now),
    },
  ];
}

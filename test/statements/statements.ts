import { accountHistory, type Booking } from '../../src/domain/account-history.ts';
import type { Statement } from '../../src/statements/statement.ts';
import { decimalOf, range } from '../domain/bookings.ts';

/** Returns a statement of an account whose current balance is 1000.00. */
export function statementOf(
  bookings: Booking[],
  [from, to]: [string, string] = ['2026-01-01', '2026-03-31'],
  account: Partial<Statement> = {},
): Statement {
  return {
    productId: '0010482620',
    iban: 'IT89F0999001600000010482620',
    currency: 'EUR',
    name: 'Conto di casa',
    productCode: 'AZIM',
    history: accountHistory(bookings, decimalOf(100_000), range(from, to)),
    createdAt: '2026-11-21T11:05:00+01:00',
    ...account,
  };
}

/** Returns the balances of a statement that has them. */
export function balancesOf({ history: { opening, closing } }: Statement) {
  if (opening === null || closing === null) throw new TypeError('The statement has no balances');
  return { opening, closing };
}

import { accountHistory, type Booking } from '../../src/domain/account-history.ts';
import type { Statement } from '../../src/statements/statement.ts';
import { booking, decimalOf, range } from '../domain/bookings.ts';

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
    noBalance: null,
    creditLimitIncluded: null,
    certainFrom: null,
    doubt: null,
    productCode: 'AZIM',
    history: accountHistory(bookings, decimalOf(100_000), range(from, to)),
    foreign: [],
    contradictions: [],
    createdAt: '2026-11-21T11:05:00+01:00',
    ...account,
  };
}

/** Returns the balances of a statement that has them. */
export function balancesOf({ history: { opening, closing } }: Statement) {
  if (opening === null || closing === null) throw new TypeError('The statement has no balances');
  return { opening, closing };
}

/** Three bookings, newest first: a payment with a code and without a value date, a fee, and a transfer that came in. */
export const EXAMPLE: Booking[] = [
  {
    ...booking('2026-02-03', '-1234.500', 'PAGAMENTO POS', "L'ARTE & CO <1> DEL 03.02.2026"),
    id: 'c3',
    valueDate: null,
    code: '43',
  },
  { ...booking('2026-02-02', '-1.00', 'COMMISSIONI', ' '), id: 'b2', feeCharge: true },
  { ...booking('2026-01-31', '20.00', 'BONIFICO', 'STIPENDIO'), id: 'a1', transferReference: 'TRN-1' },
];

/** What a bank can say of a row, beside what every bank says: a card payment abroad by direct debit. */
export const TOLD: Booking = {
  ...booking('2026-02-04', '-92.40', 'Musterladen', 'Rechnung 1'),
  id: 'd4',
  code: 'CCRD',
  transferReference: 'E2E-77',
  transactionId: 'T1',
  endToEndId: 'E2E-77',
  counterpartyName: 'Musterladen',
  counterpartyIban: 'DE02 1001 0010 9307 1186 03',
  remittance: 'Rechnung 1',
  remittanceStructured: 'RF18539007547034',
  bankTransactionCode: 'PMNT-CCRD-POSD',
  ultimateDebtor: 'Anna Muster',
  ultimateCreditor: 'Musterladen Nord',
  mandateId: 'M-1',
  creditorId: 'DE98ZZZ09999999999',
  purposeCode: 'GDDS',
  originalAmount: decimalOf(10_000),
  originalCurrency: 'USD',
  exchangeRate: decimalOf(92),
  feeAmount: decimalOf(40),
  feeCurrency: 'EUR',
};

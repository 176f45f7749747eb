import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { seedCustomers } from '../../../../src/sandbox/customers/seed-customers.ts';
import type { Entry } from '../../../../src/sandbox/ledger/entry.ts';
import {
  asTheBankWrites,
  cardTransactionOf,
  numberOfReference,
  referenceOfNumber,
  transactionOf,
} from '../../../../src/sandbox/nextgenpsd2/readings/transaction-view.ts';
import { bankOf } from '../refused.ts';

const entry = (changes: Partial<Entry> = {}): Entry => ({
  ...{ amount: -1250, code: '99', shortDescription: 'KIND', extendedDescription: 'ABOUT' },
  // In Rome, it was made on the next day.
  ...{ enteredAt: new Date('2026-11-19T23:30:00Z'), bookedFrom: new Date('2026-11-21T08:00:00Z') },
  ...{ bookingDay: '2026-11-21', valueDay: '2026-11-22', transferReference: '' },
  ...{ isFee: false, preAuthorized: false, ...changes },
});

test.each([
  [0, '000000000'],
  [7, '000000007'],
  [123_456_789, '123456789'],
])('the number %i is the reference %s, with and without its letter', (number, reference) => {
  expect(referenceOfNumber(number)).toBe(reference);
  expect([numberOfReference(reference), numberOfReference(`T${reference}`)]).toEqual([number, number]);
});

test.each([
  '',
  'T',
  '00000001',
  '0000000001',
  'X000000001',
  'TT000000001',
  '000000001T',
  '00000000a',
  ' 000000001',
])('"%s" is no reference', (reference) => {
  expect(numberOfReference(reference)).toBeUndefined();
});

describe('a row of an account', () => {
  const PLAIN = {
    transactionAmount: { currency: 'EUR', amount: '-12.50' },
    ...{ remittanceInformationUnstructured: 'ABOUT', additionalInformation: 'KIND' },
    proprietaryBankTransactionCode: '99',
  };

  test('that is booked has ids and its days, and a pending one the day on which it was made', () => {
    expect(transactionOf(entry(), 7)).toEqual({
      ...{ transactionId: 'T000000007', entryReference: '000000007', bookingDate: '2026-11-21' },
      ...{ valueDate: '2026-11-22', ...PLAIN },
    });
    expect(transactionOf(entry(), undefined)).toEqual({ valueDate: '2026-11-20', ...PLAIN });
  });

  test.each<[code: string, isoCode: string | undefined]>([
    ['16', 'ACMT-MCOP-CHRG'],
    ['18', 'ACMT-MCOP-INTR'],
    ['26', 'PMNT-ICDT-ESCT'],
    ['27', 'PMNT-RCDT-SALA'],
    ['43', 'PMNT-CCRD-POSD'],
    ['48', 'PMNT-RCDT-ESCT'],
    ['50', 'PMNT-RDDT-ESDD'],
    ['99', undefined],
  ])('with the code %s has the code of the standard %s', (code, isoCode) => {
    const { bankTransactionCode, proprietaryBankTransactionCode } = transactionOf(entry({ code }), 1);
    expect([bankTransactionCode, proprietaryBankTransactionCode]).toEqual([isoCode, code]);
  });

  test.each<[changes: Partial<Entry>, fields: Record<string, unknown>]>([
    [{ transferReference: 'E2E' }, { endToEndId: 'E2E' }],
    [{ transferReference: '' }, { endToEndId: undefined }],
    [{ amount: 5 }, { transactionAmount: { currency: 'EUR', amount: '0.05' } }],
    [{ extendedDescription: 'x'.repeat(140) }, { remittanceInformationUnstructured: 'x'.repeat(140) }],
    [{ extendedDescription: `${'x'.repeat(140)}y` }, { remittanceInformationUnstructured: 'x'.repeat(140) }],
    // The shop of a card payment, whose text ends with the day once it is booked.
    [{ code: '43', extendedDescription: 'BAR ROMA DEL 09.11.2026' }, { creditorName: 'BAR ROMA' }],
    [{ code: '43', extendedDescription: 'BAR ROMA' }, { creditorName: 'BAR ROMA' }],
    [{ code: '43', extendedDescription: 'BAR DEL MARE DEL 31.12.2026' }, { creditorName: 'BAR DEL MARE' }],
    [{ code: '43', extendedDescription: 'BAR DEL 9.11.2026' }, { creditorName: 'BAR DEL 9.11.2026' }],
    [{ code: '43', extendedDescription: 'A DEL 09.11.2026 B' }, { creditorName: 'A DEL 09.11.2026 B' }],
    [{ code: '26', extendedDescription: 'BAR ROMA DEL 09.11.2026' }, { creditorName: undefined }],
  ])('of %j has %j', (changes, fields) => {
    const row = transactionOf(entry(changes), 1);
    for (const [name, value] of Object.entries(fields)) expect(row[name]).toEqual(value);
    expect(Object.values(row)).not.toContain(undefined);
  });
});

describe('a row as the bank writes it', () => {
  const [product = expect.unreachable()] = seedCustomers[0]?.products ?? [];
  const row = { bookingDate: '2026-11-20', valueDate: '2026-07-01', transactionAmount: 'as it was' };
  const written = (accounts: BankFile['accounts'], changes: Partial<Entry> = {}, plain: object = row) =>
    asTheBankWrites(bankOf({ accounts }), product, { ...plain }, entry(changes));

  test('is the same at most banks', () => {
    expect(written({})).toEqual(row);
  });

  test.each([
    [-1250, '12.50', 'debtorAccount'],
    [-1, '0.01', 'debtorAccount'],
    [0, '0.00', 'creditorAccount'],
    [1, '0.01', 'creditorAccount'],
    [1250, '12.50', 'creditorAccount'],
  ])('without a sign, an amount of %i cents is %s, and the account is the %s', (cents, amount, side) => {
    expect(written({ amounts: 'unsigned' }, { amount: cents })).toEqual({
      ...{ ...row, transactionAmount: { currency: 'EUR', amount } },
      [side]: { iban: product.iban },
    });
  });

  test.each([
    ['UTC', '2026-11-20T00:00:00Z', '2026-07-01T00:00:00Z'],
    ['Europe/Rome', '2026-11-19T23:00:00Z', '2026-06-30T22:00:00Z'],
    ['America/New_York', '2026-11-20T05:00:00Z', '2026-07-01T04:00:00Z'],
    // Half an hour, and a quarter, on both sides.
    ['Asia/Kolkata', '2026-11-19T18:30:00Z', '2026-06-30T18:30:00Z'],
    ['Asia/Kathmandu', '2026-11-19T18:15:00Z', '2026-06-30T18:15:00Z'],
    ['America/St_Johns', '2026-11-20T03:30:00Z', '2026-07-01T02:30:00Z'],
  ])('in %s, its days begin at %s and %s', (zone, bookingDate, valueDate) => {
    expect(written({ zone })).toEqual({ ...row, bookingDate, valueDate });
    expect(written({ zone, amounts: 'unsigned' })).toMatchObject({ bookingDate, valueDate });
    // A pending row has no day of booking.
    expect(written({ zone }, {}, { valueDate: '2026-07-01' })).toEqual({ valueDate });
  });
});

test('a row of a card has the days of purchase and of booking', () => {
  const card = seedCustomers[0]?.products.find(({ kind }) => kind === 'card') ?? expect.unreachable();
  const common = {
    ...{ transactionDate: '2026-11-20', transactionAmount: { currency: 'EUR', amount: '-12.50' } },
    ...{ maskedPAN: `525412xxxxxx${card.productId.slice(-4)}`, transactionDetails: 'ABOUT' },
    proprietaryBankTransactionCode: '99',
  };
  expect(cardTransactionOf(card, entry(), 7)).toEqual({
    ...{ cardTransactionId: 'T000000007', bookingDate: '2026-11-21', valueDate: '2026-11-22' },
    ...{ ...common, invoiced: true },
  });
  expect(cardTransactionOf(card, entry(), undefined)).toEqual({ ...common, invoiced: false });
});

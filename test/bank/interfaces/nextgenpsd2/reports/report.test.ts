import { expect, it } from 'vitest';
import {
  filledRow,
  type ReportRow,
  reportDay,
  signedAmount,
} from '../../../../../src/bank/interfaces/nextgenpsd2/reports/report.ts';

// What the formats of reports share: amounts without a sign, days, and fields that are missing.

const refuse = (what: string): never => {
  throw new TypeError(what);
};
/** @returns what it gives, or why it is refused */
function given<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    return error instanceof TypeError ? `refused: ${error.message}` : 'failed';
  }
}
const noAmount = (text: string) => `refused: The amount ${JSON.stringify(text)} is not a decimal number`;

it.each<[string | undefined, credit: string, debit: string]>([
  ['12.50', '12.50', '-12.50'],
  ['0.01', '0.01', '-0.01'],
  ['0.00', '0.00', '0.00'],
  ['0', '0', '0'],
  ['-1.00', noAmount('-1.00'), noAmount('-1.00')],
  ['x', noAmount('x'), noAmount('x')],
  ['', noAmount(''), noAmount('')],
  [undefined, noAmount(''), noAmount('')],
  ['x'.repeat(41), noAmount('x'.repeat(40)), noAmount('x'.repeat(40))],
])('%j is %s as a credit and %s as a debit', (text, credit, debit) => {
  expect([false, true].map((isDebit) => given(() => signedAmount(text, isDebit, refuse)))).toEqual([
    credit,
    debit,
  ]);
});

it.each<[string | undefined, string, string | undefined]>([
  ['2026-11-30', 'Europe/Berlin', '2026-11-30'],
  ['2026-11-30T23:30:00Z', 'Europe/Berlin', '2026-12-01'],
  ['2026-11-30T23:30:00Z', 'Europe/London', '2026-11-30'],
  ['', 'Europe/Berlin', undefined],
  [undefined, 'Europe/Berlin', undefined],
  ['2026-02-32', 'Europe/Berlin', 'refused: "2026-02-32" is not a day'],
  ['y'.repeat(41), 'Europe/Berlin', `refused: "${'y'.repeat(40)}" is not a day`],
])('%j in %s is the day %s', (text, zone, day) => {
  expect(given(() => reportDay(text, zone, refuse))).toBe(day);
});

it('a row has no fields that are missing or empty, and keeps what is false or null', () => {
  const transactionAmount = { amount: '1.00', currency: 'EUR' };
  const row: ReportRow = { transactionAmount, a: 'x', b: '', c: undefined, d: false, e: null, f: 0 };
  expect(filledRow(row)).toStrictEqual({ transactionAmount, a: 'x', d: false, e: null, f: 0 });
});

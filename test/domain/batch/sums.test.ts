import { describe, expect, it } from 'vitest';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { findRepeats, samePayment } from '../../../src/domain/batch/repeats.ts';
import { addUp, sumsOf } from '../../../src/domain/batch/totals.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { batchLine } from './lines.ts';

// What the lines of a batch are together: how much is paid, and what may be paid twice.

const TODAY = parseDate('--date', '2026-11-24');
const LATER = parseDate('--date', '2026-12-01');
const amount = parsePaymentAmount;
const ibanOf = parseSepaIban('DE89370400440532013000');

describe('what repeats', () => {
  /** The problems of each line. */
  function problemsOf(...changes: Partial<BatchLine>[]) {
    const repeats = findRepeats(TODAY);
    return changes.map((change, index) => {
      const line = index + 1;
      return repeats.add(
        batchLine({ line, place: `line ${line + 1}`, amount: amount(`${line}`), ...change }),
      );
    });
  }
  const reference = (text: string, first: number, line: number) => ({
    ...{ severity: 'error', line, place: `line ${line + 1}` },
    message: `The reference "${text}" is that of payment ${first} too`,
  });
  const payment = (first: number, line: number) => ({
    ...{ severity: 'warning', line, place: `line ${line + 1}` },
    message: `Payment ${first} has the same payee, amount and day`,
  });

  it('a reference is an error, and each later line names the first', () => {
    const lines = [{ reference: 'R 1' }, { reference: 'R-2' }, { reference: ' r  1' }, { reference: 'R 1' }];
    expect(problemsOf(...lines)).toEqual([[], [], [reference(' r  1', 1, 3)], [reference('R 1', 1, 4)]]);
  });

  it('no reference is none', () => {
    expect(problemsOf({}, {})).toEqual([[], []]);
  });

  it('a payment is a warning', () => {
    const same = { amount: amount('5') };
    expect(problemsOf({}, same, same, same)).toEqual([[], [], [payment(2, 3)], [payment(2, 4)]]);
  });

  it('both at once', () => {
    const same = { amount: amount('5'), reference: 'R-1' };
    expect(problemsOf(same, same)).toEqual([[], [reference('R-1', 1, 2), payment(1, 2)]]);
  });

  it('a payment without a day is one of today', () => {
    const same = { amount: amount('5') };
    const [, today, later] = problemsOf(
      same,
      { ...same, executionDate: TODAY },
      { ...same, executionDate: LATER },
    );
    expect([today, later]).toEqual([[payment(1, 2)], []]);
  });

  it.each<Partial<BatchLine>>([{ iban: ibanOf }, { amount: amount('12.51') }, { executionDate: LATER }])(
    'a payment with another value is another one: %o',
    (changes) => {
      expect(samePayment(batchLine(changes), TODAY)).not.toBe(samePayment(batchLine(), TODAY));
    },
  );

  it('a payment with another name is the same one', () => {
    expect(samePayment(batchLine({ name: 'M. Rossi', description: '' }), TODAY)).toBe(
      `IT60X0542811101000000123456 12.50 ${TODAY}`,
    );
  });
});

describe('the totals', () => {
  function totalsOf(...changes: Partial<BatchLine>[]) {
    const totals = addUp();
    for (const change of changes) totals.add(batchLine(change));
    return totals.read();
  }
  const BASE = { customer: null, from: null, executionDate: null, instant: false, currency: 'EUR' };

  it('nothing is nothing', () => {
    expect(totalsOf()).toEqual([]);
  });

  it('add up to the cent, in the order of the file', () => {
    const more = [{ amount: amount('0.10') }, { currency: 'CHF' }, { amount: amount('0.20') }];
    expect(totalsOf({ amount: amount('999999999.99') }, ...more)).toEqual([
      { ...BASE, count: 3, amount: '1000000000.29' },
      { ...BASE, currency: 'CHF', count: 1, amount: '12.50' },
    ]);
  });

  it.each<[Partial<BatchLine>, object]>([
    [{ customer: '1048262' }, { customer: '1048262' }],
    [{ from: parseProductId('0000012345') }, { from: '0000012345' }],
    [{ fromIban: ibanOf }, { from: ibanOf }],
    [{ fromIban: ibanOf, from: parseProductId('0000012345') }, { from: ibanOf }],
    [{ executionDate: LATER }, { executionDate: LATER }],
    [{ instant: true }, { instant: true }],
    [{ currency: 'CHF' }, { currency: 'CHF' }],
    [{ batchBooking: true }, { batchBooking: true }],
    [{ batchBooking: false }, { batchBooking: false }],
  ])('of payments with %o are apart', (changes, total) => {
    expect(totalsOf({}, changes, {})).toStrictEqual([
      { ...BASE, count: 2, amount: '25.00' },
      { ...BASE, ...total, count: 1, amount: '12.50' },
    ]);
  });

  it('of payments that differ in several ways are each apart, and each is added to its own', () => {
    const both = [
      { batchBooking: true },
      { batchBooking: false },
      {},
      { instant: true, customer: '1048262' },
    ];
    const all = totalsOf(...both, ...both.toReversed());
    expect(all.map(({ batchBooking, customer, count }) => [batchBooking, customer, count])).toEqual([
      ...[
        [true, null, 2],
        [false, null, 2],
        [undefined, null, 2],
        [undefined, '1048262', 2],
      ],
    ]);
    expect(all.map((total) => total.amount)).toEqual(['25.00', '25.00', '25.00', '25.00']);
  });

  it.each<Partial<BatchLine>>([{ urgent: true }, { reference: 'R-1' }, { iban: ibanOf }])(
    'of payments with %o are not',
    (changes) => {
      expect(totalsOf({}, changes)).toEqual([{ ...BASE, count: 2, amount: '25.00' }]);
    },
  );
});

describe('what payments come to', () => {
  const sums = (...payments: [string, string][]) =>
    [...sumsOf(payments.map(([value, currency]) => ({ amount: amount(value), currency })))].map(
      ([currency, sum]) => `${sum.toFixed(2)} ${currency}`,
    );
  it.each<[string[], [string, string][]]>([
    [[], []],
    [['12.50 EUR'], [['12.50', 'EUR']]],
    [
      ['0.30 EUR'],
      [
        ['0.10', 'EUR'],
        ['0.20', 'EUR'],
      ],
    ],
    [
      ['7.00 EUR', '2.00 CHF'],
      [
        ['3', 'EUR'],
        ['2', 'CHF'],
        ['4', 'EUR'],
      ],
    ],
  ])('is %j', (all, payments) => {
    expect(sums(...payments)).toEqual(all);
  });
});

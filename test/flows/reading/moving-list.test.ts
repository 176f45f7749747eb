import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../../src/bank/ports/bank.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { isDecimal } from '../../../src/domain/decimal.ts';
import {
  continuesWith,
  isSameRow,
  REMEMBERED_ROWS,
  RecentRows,
  rowsInFront,
  SeenRows,
} from '../../../src/flows/reading/moving-list.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { dayOf } from '../../domain/bookings.ts';

const decimal = (text: string) => {
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return text;
};
const ROW: Transaction = {
  index: 'A1',
  status: 'booked',
  bookingDate: parseDate('--from', '2026-06-30'),
  valueDate: parseDate('--from', '2026-06-29'),
  amount: decimal('-1.000'),
  currency: 'EUR',
  description: 'POS',
  details: 'Shop',
  code: '43',
  transferReference: 'R1',
  feeCharge: false,
};

/** Rows whose content is a letter, at any place. */
const rows = (letters: string): Transaction[] =>
  [...letters].map((details, place) => ({ ...ROW, details, index: `A${place}` }));
const numbered = (from: number, to: number): Transaction[] =>
  Array.from({ length: to - from }, (_, place) => ({ ...ROW, details: String(from + place) }));
const having = (...parts: (readonly Transaction[])[]): RecentRows => {
  const recent = new RecentRows();
  for (const part of parts) recent.add(part);
  return recent;
};

describe('the same row at another place', () => {
  it('two rows that differ only in their place are the same row', () => {
    expect(isSameRow(ROW, { ...ROW, index: 'A2' })).toBe(true);
  });

  it.each([
    { status: 'pending' as const },
    { bookingDate: null },
    { valueDate: null },
    { amount: decimal('-1.00') },
    { currency: null },
    { description: '' },
    { details: '' },
    { code: null },
    { transferReference: null },
    { feeCharge: null },
  ])('a row with another content (%j) is another row', (change) => {
    expect(isSameRow(ROW, { ...ROW, ...change })).toBe(false);
  });
});

describe('a page after new rows', () => {
  it.each([
    // The last row that was read comes again.
    ['abc', 1, 'cde', true],
    ['abc', 2, 'bcd', true],
    ['abc', 3, 'abc', true],
    ['abc', 1, 'def', false],
    ['abc', 2, 'bxd', false],
    // New rows come first, and then all that were read.
    ['abc', 4, 'nabc', true],
    ['abc', 5, 'nmab', true],
    ['abc', 4, 'nxbc', false],
    // A short page shows less, or nothing at all.
    ['abc', 3, 'a', true],
    ['abc', 3, 'b', false],
    ['abc', 3, '', true],
    ['', 2, 'ab', true],
  ])(
    'after the rows %s, the answer whether %i new rows explain the page %j is %s',
    (read, count, page, answer) => {
      expect(having(rows(read)).repeats(count, rows(page))).toBe(answer);
    },
  );

  it.each([
    ['abc', 'def', []],
    ['abc', 'cde', [1]],
    ['aaa', 'aab', [1, 2]],
    ['aaa', 'aaa', [1, 2, 3, 4, 5]],
    ['abc', 'xab', [4]],
    ['abc', 'xyz', []],
    ['abc', '', []],
    ['', 'abc', []],
  ])('after the rows %s, the numbers of new rows that explain the page %s are %j', (read, page, counts) => {
    expect(having(rows(read)).possibleMoves(rows(page))).toEqual(counts);
  });

  it('the right number of new rows is always among them', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, fc.nat(8), fc.integer({ min: 1, max: 8 }), (read, rest, more, size) => {
        const fresh = 'n'.repeat(more);
        // The bank counts from the new beginning, so its second page starts with rows that were read.
        const page = (fresh + read + rest).slice(read.length, read.length + size);
        const moves = having(rows(read)).possibleMoves(rows(page));
        if (more > 0 && more < read.length + page.length && page !== '') expect(moves).toContain(more);
      }),
    );
  });

  it('psd2 remembers the last 1000 rows, whether they come in one page or in many', () => {
    for (const recent of [
      having(numbered(0, 1500)),
      having(numbered(0, 600), numbered(600, 1500)),
      having(...Array.from({ length: 15 }, (_, page) => numbered(page * 100, page * 100 + 100))),
    ]) {
      expect(recent.repeats(REMEMBERED_ROWS, numbered(500, 600))).toBe(true);
      expect(recent.repeats(1, numbered(1499, 1600))).toBe(true);
      // What came before is unknown, so psd2 claims nothing about it.
      expect(recent.repeats(REMEMBERED_ROWS + 1, numbered(499, 600))).toBe(false);
      expect(recent.repeats(REMEMBERED_ROWS + 1, [])).toBe(false);
      expect(recent.possibleMoves(numbered(499, 600))).toEqual([]);
    }
  });

  it('as long as psd2 has forgotten no row, it recognises all of them behind new rows', () => {
    const full = having(numbered(0, 400), numbered(400, REMEMBERED_ROWS));
    const page = [...rows('n'), ...numbered(0, 99)];
    expect(full.possibleMoves(page)).toEqual([REMEMBERED_ROWS + 1]);
    full.add(numbered(REMEMBERED_ROWS, REMEMBERED_ROWS + 1));
    expect(full.possibleMoves(page)).toEqual([]);
    // A row that was forgotten once stays forgotten.
    full.add([]);
    expect(full.possibleMoves(page)).toEqual([]);
  });
});

describe('the beginning of a list, read again', () => {
  it.each([
    ['abc', 'abc', 0, true],
    ['nabc', 'abc', 1, true],
    ['nabx', 'abc', 1, false],
    ['xabc', 'abc', 0, false],
    // The part shows only some of the rows.
    ['nna', 'abc', 2, true],
    ['nnx', 'abc', 2, false],
    ['bcd', 'abc', -1, true],
    ['cde', 'abc', -2, true],
    // It shows none of them, so it proves nothing.
    ['nnn', 'abc', 3, false],
    ['nnn', 'abc', 4, false],
    ['def', 'abc', -3, false],
    ['def', 'abc', -4, false],
    ['abc', '', 0, false],
  ])('the answer whether %s continues with %s after %i new rows is %s', (part, beginning, count, answer) => {
    expect(continuesWith(rows(part), rows(beginning), count)).toBe(answer);
  });

  it.each([
    ['abc', 'abc', 0],
    ['nnabcd', 'abc', 2],
    ['nnabc', 'abc', 2],
    ['aaab', 'aab', 1],
    ['aaa', 'a', 0],
    ['nnab', 'abc', undefined],
    ['xyz', 'abc', undefined],
    ['', 'abc', undefined],
    ['abc', '', undefined],
  ])('in front of the rows that the list %s began with (%s) are %s rows', (list, beginning, count) => {
    expect(rowsInFront(rows(list), rows(beginning))).toBe(count);
  });

  it('psd2 finds how many new rows, different from the others, are in front', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(fc.nat(10), letters, letters, (more, beginning, rest) => {
        expect(rowsInFront(rows('n'.repeat(more) + beginning + rest), rows(beginning))).toBe(more);
      }),
    );
  });
});

const row = (transactionId: string | null, description = 'a') =>
  transactionOf({ bookingDate: dayOf('2026-11-20'), description, transactionId });
const idsOf = (rows: Transaction[]) => rows.map(({ transactionId }) => transactionId);

it('a row whose id and content came on an earlier page is dropped', () => {
  const known = new SeenRows(10);
  expect(idsOf(known.fresh([row('1'), row('2')]))).toEqual(['1', '2']);
  expect(idsOf(known.fresh([row('2'), row('3'), row('1')]))).toEqual(['3']);
});

it('an id that two rows of a page have names no row, so equal rows are two, also on later pages', () => {
  const known = new SeenRows(10);
  expect(known.fresh([row('1'), row('1')])).toHaveLength(2);
  expect(known.fresh([row('1'), row('1', 'b')])).toHaveLength(2);
});

it('the same id with other content is another row', () => {
  const known = new SeenRows(10);
  expect(known.fresh([row('1'), row('1', 'b')])).toHaveLength(2);
});

it.each([null, 'NOTPROVIDED'])('without an id (%s), equal rows are two', (id) => {
  expect(new SeenRows(10).fresh([row(id), row(id)])).toHaveLength(2);
});

it('only so many rows are remembered', () => {
  const known = new SeenRows(2);
  known.fresh([row('1'), row('2'), row('3')]);
  expect(idsOf(known.fresh([row('1'), row('3')]))).toEqual(['1']);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BookedRow,
  dayOfRow,
  ID_KINDS,
  type RowsOf,
  uniqueIds,
  withIds,
  withPlainBlanks,
} from '../../src/domain/booked-ids.ts';
import { amountOf, bookings, dayOf } from './bookings.ts';

const ACCOUNT = { productId: '0010482620', currency: 'EUR' };

const PLAIN: BookedRow = {
  bookingDate: dayOf('2026-01-05'),
  valueDate: dayOf('2026-01-05'),
  amount: amountOf('-12.500'),
  currency: 'EUR',
  description: 'PAGAMENTO POS',
  details: 'BAR ROMA',
  code: '43',
  transferReference: null,
};

const idsOf = (rows: BookedRow[], account: RowsOf = ACCOUNT) => withIds(account, rows).map(({ id }) => id);

describe('the id of a booked transaction', () => {
  it('an id is unique, and the same in every range with its day', () => {
    fc.assert(
      fc.property(bookings, (some) => {
        const rows = some.map(({ id: _, day, feeCharge: _fee, ...row }) => ({
          ...row,
          bookingDate: day,
          currency: null,
        }));
        const whole = withIds(ACCOUNT, rows);
        expect(new Set(whole.map(({ id }) => id)).size).toBe(rows.length);
        for (const { id } of whole) expect(id).toMatch(/^[0-9a-f]{32}$/);
        const within = ({ bookingDate }: { bookingDate: string }) =>
          '2026-01-20' <= bookingDate && bookingDate <= '2026-02-10';
        expect(withIds(ACCOUNT, rows.filter(within))).toEqual(whole.filter(within));
      }),
    );
  });

  it.each<[string, Partial<BookedRow>]>([
    ['trailing zeros of the amount', { amount: amountOf('-12.5') }],
    ['a blank before a text', { description: ' PAGAMENTO POS', details: '\tBAR ROMA' }],
    ['a blank after a text', { description: 'PAGAMENTO POS ', details: 'BAR ROMA\n' }],
    ['the number of spaces between words', { description: 'PAGAMENTO    POS', details: 'BAR  ROMA' }],
    ['the kind of a blank', { description: 'PAGAMENTO\tPOS', details: 'BAR \r\n \u00a0ROMA' }],
    ["whether the account's currency is written", { currency: null }],
  ])('the id does not depend on %s', (_what, written) => {
    expect(idsOf([{ ...PLAIN, ...written }])).toEqual(idsOf([PLAIN]));
  });

  it('the id of a transaction stays as it is in the databases of operators', () => {
    expect(idsOf([PLAIN, PLAIN])).toEqual([
      '4dd49722f1d0c358f16995199dc6eb53',
      '76dc257610c6c02238d032b0cc2c8a19',
    ]);
  });

  it('the id depends on whether there is a blank between two words', () => {
    expect(idsOf([{ ...PLAIN, details: 'BARROMA' }])).not.toEqual(idsOf([PLAIN]));
  });

  it('the position in the query, which always differs, does not change the id', () => {
    const at = (index: string) => withIds(ACCOUNT, [{ ...PLAIN, index }])[0]?.id;
    expect(at('A7')).toBe(at('A1'));
  });

  it('a plus sign before an incoming amount does not change the id', () => {
    const incoming = (amount: string) => idsOf([{ ...PLAIN, amount: amountOf(amount) }]);
    expect(incoming('+12.50')).toEqual(incoming('12.50'));
    expect(incoming('12.50')).not.toEqual(incoming('-12.50'));
  });

  it('identical transactions have different ids, which later ones do not change', () => {
    const [first = '', ...more] = idsOf([PLAIN]);
    expect(more).toEqual([]);
    const three = idsOf([PLAIN, PLAIN, PLAIN]);
    expect(new Set(three).size).toBe(3);
    expect(three.at(-1)).toBe(first);
    expect(idsOf([PLAIN, PLAIN])).toEqual(three.slice(1));
  });

  it.each<[Partial<BookedRow>]>([
    [{ bookingDate: null }],
    [{ bookingDate: dayOf('2026-01-06') }],
    [{ valueDate: null }],
    [{ amount: amountOf('-125.00') }],
    [{ currency: 'USD' }],
    [{ description: 'POS' }],
    [{ details: 'BAR' }],
    [{ code: null }],
    [{ transferReference: '0138' }],
  ])('a transaction with %j has its own id, whatever the order within a day', (own) => {
    const other = { ...PLAIN, ...own };
    const [first, second] = idsOf([PLAIN, other]);
    expect(first).toBe(idsOf([PLAIN])[0]);
    expect(second).toBe(idsOf([other])[0]);
    expect(first).not.toBe(second);
    expect(idsOf([other, PLAIN])).toEqual([second, first]);
  });

  it.each(ID_KINDS)('%s names a row if the bank file says so, and if no other row has it', (naming) => {
    const idsBy = (rows: BookedRow[]) => idsOf(rows, { ...ACCOUNT, naming });
    const row = { ...PLAIN, [naming]: 'T1' };
    const later = { ...row, bookingDate: dayOf('2026-01-06'), description: 'POS', valueDate: null };
    expect(idsBy([later])).toEqual(idsBy([row]));
    expect(idsBy([PLAIN])).toEqual(idsOf([PLAIN]));
    expect(idsBy([later, row])).toEqual(idsOf([later, row]));
  });

  it('an id of the bank does not count by itself: it may be new in each answer', () => {
    const read = (transactionId: string) =>
      idsOf([{ ...PLAIN, transactionId, entryReference: transactionId }]);
    expect(read('T1')).toEqual(read('T2'));
    expect(read('T1')).toEqual(idsOf([PLAIN]));
  });

  it('the id depends on the product', () => {
    expect(idsOf([PLAIN], { ...ACCOUNT, productId: '0010482638' })).not.toEqual(idsOf([PLAIN]));
  });
});

it.each<[string | null, string | null | undefined, string | null]>([
  ['2026-01-05', '2026-01-07', '2026-01-05'],
  ['2026-01-05', null, '2026-01-05'],
  [null, '2026-01-07', '2026-01-07'],
  [null, null, null],
  [null, undefined, null],
  // Placeholders for no day.
  ['0001-01-01', '2026-01-07', '2026-01-07'],
  ['0001-01-01', null, null],
  ['1899-12-31', '2026-01-07', '2026-01-07'],
  ['1900-01-01', '2026-01-07', '1900-01-01'],
  ['2199-12-31', '2026-01-07', '2199-12-31'],
  ['2200-01-01', '2026-01-07', '2026-01-07'],
])('a row booked on %s with the value of %s counts on %s', (bookingDate, valueDate, day) => {
  expect(dayOfRow({ bookingDate, ...(valueDate !== undefined && { valueDate }) })).toBe(day);
});

it.each<[string, (string | null | undefined)[], string[]]>([
  ['no row', [], []],
  ['rows without one', [null, undefined, ''], []],
  ['one', ['a'], ['a']],
  ['two that differ', ['a', 'b'], ['a', 'b']],
  ['two that share one', ['a', 'a'], []],
  ['three of which two share one', ['a', 'b', 'a'], ['b']],
  ['three that share one', ['a', 'a', 'a'], []],
])('of the ids of %s those of one row alone are named', (_, ids, unique) => {
  const rows = ids.map((transactionId) => ({ ...PLAIN, transactionId, entryReference: 'same' }));
  const found = uniqueIds(rows, 'transactionId');
  expect([...found.values()]).toEqual(unique);
  for (const [row, id] of found) expect(row.transactionId).toBe(id);
});

it('blanks are single spaces, and none at the ends', () => {
  const blanks = fc.stringMatching(/^[ \t\n\r\u00a0\u2003]+$/);
  const word = fc.stringMatching(/^[a-z.]+$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(blanks, word)), fc.constantFrom('', ' ', '\n '), (parts, end) => {
      const text = `${parts.flat().join('')}${end}`;
      expect(withPlainBlanks(text)).toBe(parts.map(([, each]) => each).join(' '));
    }),
  );
});

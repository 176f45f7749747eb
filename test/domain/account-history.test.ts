import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountHistory, type Booking, largestCounterparties } from '../../src/domain/account-history.ts';
import { booking, bookings, decimalOf, range } from './bookings.ts';

const sum = (amounts: readonly string[]) =>
  amounts.reduce((total, amount) => total.plus(amount), new Big(0)).toFixed();

describe('the history of an account', () => {
  it('the bookings lead exactly from the opening to the closing balance', () => {
    fc.assert(
      fc.property(bookings, fc.integer(), (rows, cents) => {
        const balance = decimalOf(cents);
        const history = accountHistory(rows, balance, range('2026-01-10', '2026-02-20'));
        const within = rows.filter(({ day }) => '2026-01-10' <= day && day <= '2026-02-20');
        const later = rows.filter(({ day }) => day > '2026-02-20');
        expect(
          new Big(history.closing ?? '').eq(new Big(balance).minus(sum(later.map(({ amount }) => amount)))),
        ).toBe(true);
        expect(sum([history.opening ?? '', ...within.map(({ amount }) => amount)])).toBe(
          new Big(history.closing ?? '').toFixed(),
        );
        expect(history.balances.at(-1)?.balance).toBe(history.closing);
        expect(history.balances).toHaveLength(42);
        const net = sum(history.months.map((month) => month.net));
        expect(net).toBe(sum(within.map(({ amount }) => amount)));
        expect(sum(history.months.flatMap((month) => [month.in, month.out]))).toBe(net);
      }),
    );
  });

  it("the history starts with the oldest booking and keeps the bank's order within a day", () => {
    const rows = [
      booking('2026-02-02', '3.00', 'b'),
      booking('2026-02-02', '2.00', 'a'),
      booking('2026-01-31', '1.00'),
    ];
    const { bookings, from, months, balances, opening } = accountHistory(rows, decimalOf(1000), {
      ...range('2026-01-01', '2026-02-03'),
      from: undefined,
    });
    expect(bookings.map(({ description }) => description)).toEqual(['', 'a', 'b']);
    expect(from).toBe('2026-01-31');
    expect(opening).toBe('4.00');
    expect(balances.map(({ balance }) => balance)).toEqual(['5.00', '5.00', '10.00', '10.00']);
    expect(months).toEqual([
      { month: '2026-01', in: '1.00', out: '0.00', net: '1.00' },
      { month: '2026-02', in: '5.00', out: '0.00', net: '5.00' },
    ]);
  });

  it('a history without bookings has the same balance on each day', () => {
    const history = accountHistory([], decimalOf(-5), range('2026-02-28', '2026-03-01'));
    expect(history).toMatchObject({ opening: '-0.05', closing: '-0.05', bookings: [] });
    expect(history.months.map(({ month }) => month)).toEqual(['2026-02', '2026-03']);
    expect(accountHistory([], null, { from: undefined, to: history.to })).toMatchObject({
      from: '2026-03-01',
      opening: null,
      closing: null,
      balances: [],
      months: [{ month: '2026-03', in: '0.00', out: '0.00', net: '0.00' }],
    });
  });

  it('sums are exact where a float is not', () => {
    const rows: Booking[] = Array.from({ length: 10 }, () => booking('2026-01-05', '0.1'));
    const { opening } = accountHistory(rows, decimalOf(0), range('2026-01-01', '2026-01-31'));
    expect(opening).toBe('-1.00');
    const large = accountHistory(
      [booking('2026-01-05', '9007199254740993.01')],
      decimalOf(0),
      range('2026-01-01', '2026-01-31'),
    );
    expect(large.opening).toBe('-9007199254740993.01');
  });
});

describe('counterparties', () => {
  it('texts that differ only in dates and numbers are one counterparty', () => {
    const rows = [
      booking('2026-01-05', '-1.00', 'POS', 'BAR ROMA DEL 14.11.2026'),
      booking('2026-01-06', '-2.00', 'POS', 'Bar Roma  del 03/12/2026'),
      booking('2026-01-07', '-9.00', 'POS', 'AFFITTO 11/2026'),
      booking('2026-01-07', '4.00', 'SALDO CARTA 2026-10', ''),
      booking('2026-01-08', '-0.50', '', ''),
    ];
    expect(largestCounterparties(rows, 2)).toEqual({
      paid: [
        { name: 'AFFITTO', total: '-9.00', count: 1 },
        { name: 'BAR ROMA', total: '-3.00', count: 2 },
      ],
      received: [{ name: 'SALDO CARTA', total: '4.00', count: 1 }],
    });
    const alike = Array.from({ length: 100_000 }, () => booking('2026-01-03', '-1.00', 'POS'));
    expect(largestCounterparties(alike, 9).paid).toEqual([
      { name: 'POS', total: '-100000.00', count: 100_000 },
    ]);
    const blank = [booking('2026-01-03', '-1.00', ' POS ', ' '), booking('2026-01-03', '-2.00', ' ', '\n')];
    expect(largestCounterparties(blank, 9).paid.map(({ name }) => name)).toEqual(['(no text)', 'POS']);
    expect(largestCounterparties(rows, 9).paid.at(-1)).toEqual({
      name: '(no text)',
      total: '-0.50',
      count: 1,
    });
  });
});

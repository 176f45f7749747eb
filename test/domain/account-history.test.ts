import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountHistory,
  type Booking,
  byCurrency,
  largestCounterparties,
  namedCounterparty,
} from '../../src/domain/account-history.ts';
import { booking, bookings, dayOf, decimalOf, range } from './bookings.ts';

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

  it('each month has the money that came in, the money that went out, and the sum of both', () => {
    const rows = [
      booking('2026-02-28', '-0.50'),
      booking('2026-01-31', '-30.00'),
      booking('2026-01-31', '100.00'),
      booking('2026-01-02', '-0.25'),
    ];
    const { months } = accountHistory(rows, decimalOf(0), range('2026-01-01', '2026-03-01'));
    expect(months).toEqual([
      { month: '2026-01', in: '100.00', out: '-30.25', net: '69.75' },
      { month: '2026-02', in: '0.00', out: '-0.50', net: '-0.50' },
      { month: '2026-03', in: '0.00', out: '0.00', net: '0.00' },
    ]);
  });

  it('an account without a balance still has its months', () => {
    const rows = [booking('2026-01-02', '-0.25'), booking('2026-01-01', '2.00')];
    expect(accountHistory(rows, null, range('2026-01-01', '2026-01-31'))).toMatchObject({
      opening: null,
      closing: null,
      balances: [],
      months: [{ month: '2026-01', in: '2.00', out: '-0.25', net: '1.75' }],
    });
  });

  it('the history is the same if the bank mixes the days, and each day keeps its order', () => {
    const days = fc.array(
      fc.record({ day: fc.constantFrom('2026-01-30', '2026-01-31', '2026-02-01'), cents: fc.integer() }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(days, (some) => {
        const mixed = some.map(({ day, cents }) => booking(day, decimalOf(cents)));
        const inOrder = ['2026-02-01', '2026-01-31', '2026-01-30'].flatMap((day) =>
          mixed.filter((row) => row.day === day),
        );
        const months = range('2026-01-01', '2026-02-28');
        const history = accountHistory(mixed, decimalOf(0), months);
        expect(history.bookings).toEqual(inOrder.toReversed());
        expect(history).toEqual(accountHistory(inOrder, decimalOf(0), months));
      }),
    );
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

  it.each([
    // The balance of a day has what was booked until then.
    ['2026-01-30', '6.00', '10.00'],
    ['2026-01-31', '4.00', '8.00'],
    ['2026-02-01', '0.00', '4.00'],
    ['2026-02-02', '-8.00', '-4.00'],
    [undefined, '-8.00', '-4.00'],
  ])('with the balance of %s the history to 31 January ends with it', (balanceDay, opening, closing) => {
    const rows = [
      booking('2026-02-02', '8.00'),
      booking('2026-02-01', '4.00'),
      booking('2026-01-31', '2.00'),
      booking('2026-01-30', '2.00'),
    ];
    const days = {
      ...range('2026-01-30', '2026-01-31'),
      balanceDay: balanceDay ? dayOf(balanceDay) : undefined,
    };
    expect(accountHistory(rows, decimalOf(800), days)).toMatchObject({ opening, closing });
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

describe('bookings in several currencies', () => {
  const rows = [
    { ...booking('2026-01-03', '1.00', 'c'), currency: 'USD' },
    { ...booking('2026-01-02', '1.00', 'b2'), currency: 'USD' },
    { ...booking('2026-01-02', '1.00', 'own'), currency: 'EUR' },
    { ...booking('2026-01-02', '1.00', 'b1'), currency: 'CHF' },
    { ...booking('2026-01-01', '1.00', 'a'), currency: 'USD' },
    { ...booking('2025-12-31', '1.00', 'own of before'), currency: 'EUR' },
  ];
  it.each([
    [undefined, '2026-01-03', ['a', 'b1', 'b2', 'c']],
    [undefined, '2026-01-02', ['a', 'b1', 'b2']],
    ['2026-01-01', '2026-01-03', ['a', 'b1', 'b2', 'c']],
    ['2026-01-02', '2026-01-02', ['b1', 'b2']],
    ['2026-01-04', '2026-01-09', []],
  ])('from %s to %s the others are %j, the oldest first', (from, to, others) => {
    const days = { from: from === undefined ? from : dayOf(from), to: dayOf(to) };
    const { own, foreign } = byCurrency(rows, 'EUR', days);
    expect(foreign.map(({ description }) => description)).toEqual(others);
    // What leads to the balance is whole, and as a booking of the account.
    expect(own.map(({ description }) => description)).toEqual(['own', 'own of before']);
    expect(own.filter((row) => 'currency' in row)).toEqual([]);
  });
});

it.each([
  [{}, undefined],
  [{ counterpartyName: null, counterpartyIban: ' ', counterpartyAccount: '' }, undefined],
  [{ counterpartyName: ' Ada  Ltd ', counterpartyIban: 'DE1', counterpartyAccount: '47' }, 'Ada  Ltd'],
  [{ counterpartyName: ' ', counterpartyIban: ' DE1 ', counterpartyAccount: '47' }, 'DE1'],
  [{ counterpartyIban: null, counterpartyAccount: '47' }, '47'],
])('the other side of %j is %s', (facts, name) => {
  expect(namedCounterparty(facts)).toBe(name);
});

describe('counterparties', () => {
  it.each([
    // What differs from one booking to the next is removed.
    ['BAR ROMA DEL  14.11.2026', 'BAR ROMA'],
    ['Rata al 30-11-2026 mutuo', 'RATA MUTUO'],
    ['ADDEBITO IL 2026-11-14', 'ADDEBITO'],
    ['SALARY OF 11/2026', 'SALARY'],
    ['SPESE DAL 2026', 'SPESE'],
    ['BAR  ROMA\tNORD', 'BAR ROMA NORD'],
    ['CARTA 12345 BAR', 'CARTA BAR'],
    ['CARTA 1234XXXXXX5678 BAR', 'CARTA BAR'],
    ['SUMUP*12345*BAR', 'SUMUP BAR'],
    // What names a payee stays.
    ['CASA DEL CAFFÈ', 'CASA DEL CAFFÈ'],
    ['BAR 24', 'BAR 24'],
    ['LINEA X SRL', 'LINEA X SRL'],
    ['STUDIO 123', 'STUDIO 123'],
    ['B2B SERVIZI', 'B2B SERVIZI'],
    ['MODEL 2026', 'MODEL'],
    // A text with nothing else is the name.
    ['14.11.2026', '14.11.2026'],
  ])('a booking with the text %j belongs to %s', (details, name) => {
    expect(largestCounterparties([booking('2026-01-05', '-1.00', 'POS', details)], 1).paid).toEqual([
      { name, total: '-1.00', count: 1 },
    ]);
  });

  it('the details name the counterparty, and the description does if there are none', () => {
    const nameOf = (description: string, details: string) =>
      largestCounterparties([booking('2026-01-05', '1.00', description, details)], 1).received[0]?.name;
    expect(nameOf('BONIFICO', 'ACME SRL')).toBe('ACME SRL');
    expect(nameOf('', 'ACME SRL')).toBe('ACME SRL');
    expect(nameOf('BONIFICO', '')).toBe('BONIFICO');
    expect(nameOf('', ' 2026 ')).toBe('2026');
  });

  it('a counterparty that the bank names is one, whatever the texts', () => {
    const named = (counterpartyName: string | null, counterpartyIban: string | null, text: string) => ({
      ...booking('2026-01-05', '-1.00', 'POS', text),
      ...{ counterpartyName, counterpartyIban },
    });
    const rows = [
      named('Bar  Roma', null, 'a'),
      named(' BAR Roma', 'DE1', 'b'),
      named(' ', 'DE2', 'c'),
      named(null, null, 'd'),
    ];
    expect(largestCounterparties(rows, 9).paid.map(({ name, count }) => [name, count])).toEqual([
      ['BAR ROMA', 2],
      ['D', 1],
      ['DE2', 1],
    ]);
  });

  it('equal totals come in the order of their names, whatever the order of the bookings', () => {
    const rows = ['BETA', 'ALPHA', 'GAMMA'].map((name) => booking('2026-01-05', '-5.00', '', name));
    const namesOf = (some: Booking[]) => largestCounterparties(some, 9).paid.map(({ name }) => name);
    expect(namesOf(rows)).toEqual(['ALPHA', 'BETA', 'GAMMA']);
    expect(namesOf(rows.toReversed())).toEqual(['ALPHA', 'BETA', 'GAMMA']);
  });

  it('a larger total comes first, whichever way the money went', () => {
    const rows = ['-2.00', '-10.00', '9.00', '20.00'].map((amount) =>
      booking('2026-01-05', amount, '', `X${amount.length}`),
    );
    const { paid, received } = largestCounterparties(rows, 9);
    expect([paid, received].map((some) => some.map(({ total }) => total))).toEqual([
      ['-10.00', '-2.00'],
      ['20.00', '9.00'],
    ]);
  });

  it('texts that differ only in dates and numbers are one counterparty', () => {
    const rows = [
      booking('2026-01-05', '-1.00', 'POS', 'BAR ROMA DEL 14.11.2026'),
      booking('2026-01-06', '-2.00', 'POS', 'Bar Roma  del 03/12/2026'),
      booking('2026-01-07', '-9.00', 'POS', 'AFFITTO 11/2026'),
      booking('2026-01-07', '4.00', 'SALDO CARTA 2026-10', ''),
      booking('2026-01-08', '-0.50', '', ''),
    ];
    expect(largestCounterparties(rows, 2)).toMatchInlineSnapshot(`
      { paid: [{ count: 1, name: "AFFITTO", total: "-9.00" }, { count: 2, name: "BAR ROMA", total: "-3.00" }],
        received: [{ count: 1, name: "SALDO CARTA", total: "4.00" }] }
    `);
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

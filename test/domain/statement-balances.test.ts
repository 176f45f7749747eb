import { describe, expect, it } from 'vitest';
import {
  gapBetween,
  type OwnFigures,
  type OwnNet,
  StatementCheck,
} from '../../src/domain/statement-balances.ts';
import { amountOf } from './bookings.ts';

const euros = (amount: string, currency = 'EUR') => ({ amount: amountOf(amount), currency });
const FROM_100 = { opening: euros('100.00') };

describe('the figures of a statement', () => {
  it.each<[string, string[], OwnFigures, string[]]>([
    ['balances that the rows lead to', ['-30.00'], { ...FROM_100, closing: euros('70') }, []],
    [
      'balances that they do not lead to',
      ['-30.00'],
      { ...FROM_100, closing: euros('130.00') },
      ['S1 has the balances 100.00 and 130.00 EUR, and its rows lead to 70.00'],
    ],
    [
      'balances without rows',
      [],
      { ...FROM_100, closing: euros('99.00') },
      ['S1 has the balances 100.00 and 99.00 EUR, and its rows lead to 100.00'],
    ],
    ['one balance alone', ['-30.00'], FROM_100, []],
    ['balances in two currencies', ['-30.00'], { ...FROM_100, closing: euros('1', 'USD') }, []],
    ['balances in two currencies, and no row', [], { ...FROM_100, closing: euros('1', 'USD') }, []],
    [
      'balances of which the second is in the currency of the rows',
      ['1.00'],
      { opening: euros('1', 'USD'), closing: euros('9') },
      [],
    ],
    [
      'balances in another currency than the rows',
      ['1.00'],
      { opening: euros('1', 'USD'), closing: euros('9', 'USD') },
      [],
    ],
    [
      'totals',
      ['-30.00', '5.00'],
      { debits: { sum: '30', count: '1' }, credits: { sum: '5.0' }, all: { sum: '35', count: '2' } },
      [],
    ],
    [
      'another sum of money in',
      ['5.00'],
      { credits: { sum: '7.00' } },
      ['S1 has 7.00 for money in, and its rows have 5.00'],
    ],
    [
      'another sum of money out',
      ['-5.00'],
      { debits: { sum: '7.00' } },
      ['S1 has 7.00 for money out, and its rows have 5.00'],
    ],
    [
      'another sum of all',
      ['5.00', '-7.00'],
      { all: { sum: '2.00' } },
      ['S1 has 2.00 for entries, and its rows have 12.00'],
    ],
    [
      'totals of both ways, exchanged',
      ['5.00', '5.00', '-7.00'],
      { credits: { sum: '7', count: '1' }, debits: { sum: '10', count: '2' } },
      [
        ...['S1 has 7.00 for money in, and its rows have 10.00', 'S1 counts 1 for money in, and has 2'],
        ...['S1 has 10.00 for money out, and its rows have 7.00', 'S1 counts 2 for money out, and has 1'],
      ],
    ],
    ['totals of none', [], { credits: { sum: '0.00', count: '0' }, debits: { sum: '0' } }, []],
    ['totals without figures', ['5.00'], { credits: {}, all: {} }, []],
    [
      'all that it says at once',
      ['5.00'],
      {
        ...{ opening: euros('1'), closing: euros('9') },
        ...{ credits: { count: '3' }, net: { amount: '4', isDebit: false } },
      },
      [
        'S1 has the balances 1.00 and 9.00 EUR, and its rows lead to 6.00',
        ...['S1 counts 3 for money in, and has 1', 'S1 has the net sum 4.00, and its rows have 5.00'],
      ],
    ],
    ['balances below zero', ['-30.00'], { opening: euros('10'), closing: euros('-20') }, []],
    [
      'balances with another sign',
      ['-30.00'],
      { opening: euros('10'), closing: euros('20') },
      ['S1 has the balances 10.00 and 20.00 EUR, and its rows lead to -20.00'],
    ],
    ['the balance after alone', ['-30.00'], { closing: euros('100.00') }, []],
    ['another number', ['5.00'], { all: { count: '2' } }, ['S1 counts 2 for entries, and has 1']],
    ['what is no number', ['5.00'], { all: { count: 'two', sum: '-' } }, []],
    ...['', '-7', '+7', '7,00', '7.', '.7', '7 ', '7'.repeat(31), `7.${'7'.repeat(11)}`].map(
      (sum): [string, string[], OwnFigures, string[]] => [
        `the sum ${sum}, which is no number`,
        ['5.00'],
        { credits: { sum }, net: { amount: sum, isDebit: false } },
        [],
      ],
    ),
    ...['7'.repeat(30), `7.${'7'.repeat(10)}`].map((sum): [string, string[], OwnFigures, string[]] => [
      `the sum ${sum}`,
      ['5.00'],
      { credits: { sum } },
      [expect.stringContaining('and its rows have 5.00')],
    ]),
  ])('say of %s', (_, amounts, own, sentences) => {
    const check = new StatementCheck();
    for (const amount of amounts) check.add(euros(amount), true);
    expect(check.contradictions('S1', own)).toEqual(sentences);
  });

  it.each<[string, string[], OwnNet, string | null]>([
    ['more money in', ['9.00', '-2.00'], { amount: '7', isDebit: false }, null],
    ['more money out', ['2.00', '-9.00'], { amount: '7.0', isDebit: true }, null],
    ['as much in as out', ['2.00', '-2.00'], { amount: '0', isDebit: true }, null],
    ['no direction, in', ['9.00', '-2.00'], { amount: '7', isDebit: undefined }, null],
    ['no direction, out', ['2.00', '-9.00'], { amount: '7', isDebit: undefined }, null],
    [
      'the other direction',
      ['9.00', '-2.00'],
      { amount: '7', isDebit: true },
      'net sum -7.00, and its rows have 7.00',
    ],
    [
      'the other direction',
      ['2.00', '-9.00'],
      { amount: '7', isDebit: false },
      'net sum 7.00, and its rows have -7.00',
    ],
    [
      'another sum',
      ['2.00', '-9.00'],
      { amount: '7.01', isDebit: undefined },
      'net sum 7.01, and its rows have -7.00',
    ],
    ['no number', ['2.00'], { amount: 'x', isDebit: false }, null],
    ['nothing', ['2.00'], { amount: undefined, isDebit: true }, null],
  ])('say of a net sum with %s', (_, amounts, net, says) => {
    const check = new StatementCheck();
    for (const amount of amounts) check.add(euros(amount), true);
    expect(check.contradictions('S1', { net })).toEqual(says === null ? [] : [`S1 has the ${says}`]);
  });

  it('may have pending rows in each total and in the net sum', () => {
    const check = new StatementCheck();
    check.add(euros('5.00'), true);
    check.add(euros('-3.00'), false);
    const said = (own: OwnFigures) => check.contradictions('S1', own).length;
    for (const [sum, count, wrong] of [
      ['5', '1', 0],
      ['8', '2', 0],
      ['3', '3', 2],
    ] as const)
      expect(said({ all: { sum, count } })).toBe(wrong);
    for (const [amount, wrong] of [
      ['5', 0],
      ['2', 0],
      ['3', 1],
    ] as const)
      expect(said({ net: { amount, isDebit: false } })).toBe(wrong);
    expect([said({ debits: { sum: '3', count: '1' } }), said({ debits: { sum: '0', count: '0' } })]).toEqual([
      0, 0,
    ]);
  });

  it('may count pending rows, which lead to no balance', () => {
    const check = new StatementCheck();
    check.add(euros('5.00'), true);
    check.add(euros('2.00'), false);
    const totals = (sum: string, count: string) => check.contradictions('S1', { credits: { sum, count } });
    expect([...totals('5.00', '1'), ...totals('7.00', '2')]).toEqual([]);
    expect(totals('2.00', '3')).toHaveLength(2);
    expect(check.contradictions('S1', { opening: euros('0'), closing: euros('5') })).toEqual([]);
    expect(check.contradictions('S1', { opening: euros('0'), closing: euros('7') })).toHaveLength(1);
  });

  it('say nothing of rows in several currencies', () => {
    const check = new StatementCheck();
    check.add(euros('5.00'), true);
    expect(check.contradictions('S1', { all: { count: '9' } })).toHaveLength(1);
    check.add(euros('2.00', 'USD'), true);
    expect(check.contradictions('S1', { all: { count: '9' } })).toEqual([]);
  });
});

it.each<[string, string | undefined, string | undefined, string[]]>([
  ['the same balance', '100.00 EUR', '100 EUR', []],
  ['the same balance below zero', '-1 EUR', '-1.00 EUR', []],
  [
    'another balance',
    '100 EUR',
    '99.5 EUR',
    ['S2 begins with 99.50 EUR, and the one before ends with 100.00'],
  ],
  ['the other sign', '1 EUR', '-1 EUR', ['S2 begins with -1.00 EUR, and the one before ends with 1.00']],
  ['another currency', '100 EUR', '99 USD', []],
  ['no statement before', undefined, '99 EUR', []],
  ['no balance of its own', '100 EUR', undefined, []],
])('a statement after one with %s', (_, before, opening, sentences) => {
  const money = (text: string | undefined) => {
    const [amount, currency] = text?.split(' ') ?? [];
    return amount === undefined ? undefined : euros(amount, currency);
  };
  expect(gapBetween('S2', money(before), money(opening))).toEqual(sentences);
});

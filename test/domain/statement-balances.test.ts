import { describe, expect, it } from 'vitest';
import { type OwnFigures, StatementCheck } from '../../src/domain/statement-balances.ts';
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
    ['another number', ['5.00'], { all: { count: '2' } }, ['S1 counts 2 for entries, and has 1']],
    ['what is no number', ['5.00'], { all: { count: 'two', sum: '-' } }, []],
  ])('say of %s', (_, amounts, own, sentences) => {
    const check = new StatementCheck();
    for (const amount of amounts) check.add(euros(amount), true);
    expect(check.contradictions('S1', own)).toEqual(sentences);
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

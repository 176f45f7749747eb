import { describe, expect, it } from 'vitest';
import { BalanceAudit } from '../../src/flows/balance-audit.ts';
import type { Progress, SyncedRow } from '../../src/store/ports/sync.ts';
import { decimalOf } from '../domain/bookings.ts';
import { rowOf } from '../store/row-of.ts';
import { ago, isoDate, TODAY } from './sync-bank.ts';

const euros = (cents: number) => ({ amount: decimalOf(cents), currency: 'EUR' });
const BEFORE: Progress = { from: ago(80), through: ago(2), balance: euros(10_000) };
const row = (day: string | null, id = 'a', amount = '-3.50'): SyncedRow => rowOf(id, day, amount);

const valued = (day: string): SyncedRow => ({ ...row(null), valueDate: isoDate(day) });

describe('the balance that the stored one and the rows lead to', () => {
  const coming: SyncedRow = { ...row(ago(1)), future: true };
  it.each<[string, SyncedRow, 'added' | 'known' | SyncedRow, string]>([
    ['has a new row', row(TODAY), 'added', '96.50'],
    ['has a late row', row(ago(20)), 'added', '96.50'],
    ['has a row with only a value day', valued(ago(1)), 'added', '96.50'],
    ['has a booked row whose value day is to come', valued('2099-01-01'), 'added', '96.50'],
    ['has no row in another currency', { ...row(TODAY), currency: 'USD' }, 'added', '100.00'],
    ['has no row without any day', row(null), 'added', '100.00'],
    ['has no row of days before the first stored one', row(ago(81)), 'added', '100.00'],
    ['has no row of a day to come', row('2099-01-01'), 'added', '100.00'],
    ['has no row that was in the stored one', row(ago(3)), 'known', '100.00'],
    ['has no row that was in it and has moved since', row(ago(1)), 'known', '100.00'],
    ['has a row that was stored before its day', row(ago(1)), coming, '96.50'],
    ['has one that was, and has moved back since', row(ago(3)), coming, '96.50'],
    ['has one that was only once', row(ago(1)), { ...coming, bookingDate: ago(2) }, '100.00'],
    ['has no row that was stored without a day', row(ago(1)), { ...coming, bookingDate: null }, '100.00'],
  ])('%s', (_, shown, how, expected) => {
    const audit = new BalanceAudit(BEFORE, 'EUR');
    const awaited = new Map(typeof how === 'string' ? [] : [[shown, how] as const]);
    for (const added of [how === 'added' ? [shown] : [], []])
      audit.add([shown], { added, awaited }, ago(80), TODAY);
    expect(audit.expected?.amount).toBe(expected);
    expect(audit.differenceOf(euros(9_000))).toBe(decimalOf(9_000 - Number(expected) * 100));
  });

  it.each<[string, Progress, string]>([
    ['without a stored one', { ...BEFORE, balance: undefined }, 'EUR'],
    ['if the stored one is in another currency than the account', BEFORE, 'XXX'],
  ])('is not known %s', (_, before, currency) => {
    const audit = new BalanceAudit(before, currency);
    expect(audit.expected).toBeUndefined();
    expect(audit.differenceOf(euros(0))).toBeUndefined();
  });
});

describe('the balance of an earlier day', () => {
  const read = (...days: string[]) => {
    const audit = new BalanceAudit(undefined, 'EUR');
    const rows = days.map((day, at) => row(day, `${at}`));
    audit.add(rows, { added: rows, awaited: new Map() }, ago(10), TODAY);
    return audit;
  };
  it.each([
    ['has the rows since, until today', ago(3), '93.00'],
    ['of today is as it is', TODAY, '100.00'],
    ['before the days that were read is not known', ago(12), undefined],
  ])('%s', (_, day, carried) => {
    const audit = read(ago(3), ago(2), TODAY, '2099-01-01');
    audit.add([row(ago(2), '1')], { added: [], awaited: new Map() }, ago(2), TODAY);
    expect(audit.carried({ money: euros(10_000), day }, TODAY)?.amount).toBe(carried);
  });

  it.each<[string, string, string | undefined]>([
    ['that is 16 days ago has the rows of all 15 days', ago(16), '96.00'],
    ['that is longer ago is not known', ago(17), undefined],
    ['has no row of its own day', ago(15), '97.00'],
    ['has both rows of a later day', ago(8), '97.00'],
    ['has no row of days before it', ago(7), '99.00'],
    ['of yesterday has the row of today', ago(1), '99.00'],
    ['of tomorrow is as it is', '2099-01-01', '100.00'],
  ])('%s', (_, day, carried) => {
    const rows = [ago(16), ago(15), ago(7), ago(7), TODAY].map((at, id) => row(at, `${id}`, '-1.00'));
    // Whether the days were stored before or not.
    for (const through of [ago(30), TODAY]) {
      const audit = new BalanceAudit({ ...BEFORE, through }, 'EUR');
      audit.add(rows, { added: [], awaited: new Map() }, ago(20), TODAY);
      expect(audit.carried({ money: euros(10_000), day: isoDate(day) }, TODAY)?.amount).toBe(carried);
    }
  });

  it('is known from the earliest of the days that were read', () => {
    for (const [one, other] of [
      [ago(3), ago(5)],
      [ago(5), ago(3)],
    ] as const) {
      const audit = new BalanceAudit(undefined, 'EUR');
      const carried = (days: number) =>
        audit.carried({ money: euros(10_000), day: ago(days) }, TODAY)?.amount;
      expect(carried(1)).toBeUndefined();
      for (const from of [one, undefined, other])
        audit.add([], { added: [], awaited: new Map() }, from, TODAY);
      expect([carried(6), carried(7)]).toEqual(['100.00', undefined]);
    }
  });

  it('has no row of a day that is to come again, because the clock was set back', () => {
    const audit = read(ago(3), ago(1), TODAY);
    const carried = (today: string) =>
      audit.carried({ money: euros(10_000), day: ago(2) }, isoDate(today))?.amount;
    expect([carried(TODAY), carried(ago(1))]).toEqual(['93.00', '96.50']);
  });

  it('is not known in another currency than that of the account, nor without one', () => {
    const audit = read(ago(3));
    const dollars = { amount: decimalOf(10_000), currency: 'USD' };
    expect(audit.carried({ money: dollars, day: ago(1) }, TODAY)).toBeUndefined();
    expect(audit.carried({ money: dollars, day: TODAY }, TODAY)).toEqual(dollars);
    expect(audit.carried(undefined, TODAY)).toBeUndefined();
  });
});

describe('what a balance has beyond the expected one', () => {
  const dollars = { amount: decimalOf(10_000), currency: 'USD' };
  it.each<[string, Progress, typeof dollars | undefined, string | undefined]>([
    ['nothing', BEFORE, euros(10_000), '0.00'],
    ['some', BEFORE, euros(10_001), '0.01'],
    ['less', BEFORE, euros(9_999), '-0.01'],
    ['nothing but what was missing before', { ...BEFORE, difference: decimalOf(350) }, euros(9_650), '0.00'],
    ['something else: it is of another currency', BEFORE, dollars, undefined],
    ['nothing that is known', BEFORE, undefined, undefined],
  ])('%s', (_, before, balance, difference) => {
    expect(new BalanceAudit(before, 'EUR').differenceOf(balance)).toBe(difference);
  });

  it('is without the rows that the bank has taken back', () => {
    const audit = new BalanceAudit(BEFORE, 'EUR');
    audit.without([row(ago(3)), row(ago(4), 'b', '1.00')]);
    expect(audit.expected?.amount).toBe('102.50');
  });

  it.each([
    [ago(80), '96.50'],
    [ago(81), '100.00'],
  ])('counts a new row of %s from the first stored day on', (day, expected) => {
    const audit = new BalanceAudit(BEFORE, 'EUR');
    const late = row(day);
    audit.add([late], { added: [late], awaited: new Map() }, undefined, TODAY);
    expect(audit.expected?.amount).toBe(expected);
  });

  it('counts a row once that was stored before its day, and comes twice', () => {
    const audit = new BalanceAudit(BEFORE, 'EUR');
    const coming: SyncedRow = { ...row(ago(1)), future: true };
    const again = row(ago(1), 'b');
    for (const shown of [row(ago(1)), again])
      audit.add([shown], { added: [], awaited: new Map([[shown, coming]]) }, ago(80), TODAY);
    expect(audit.expected?.amount).toBe('96.50');
  });
});

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
});

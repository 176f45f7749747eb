import { describe, expect, it } from 'vitest';
import type { IsoDate } from '../../src/domain/calendar.ts';
import { KnownRows } from '../../src/store/known-rows.ts';
import type { SyncedRow } from '../../src/store/ports/sync.ts';
import { dayOf } from '../domain/bookings.ts';
import { rowOf } from './row-of.ts';
import { rowsInMemory } from './rows-in-memory.ts';

// A row whose day the bank has moved is the stored one, if the new day is near: else it would be counted twice.

const OF = { productId: 'A1', currency: 'EUR', naming: 'transactionId' } as const;
const PAID = '2026-11-12';

const row = (id: string, day: string | null, name: string, amount = '-7.00'): SyncedRow => ({
  ...rowOf(id, day, amount),
  transactionId: name,
});

/** What is missing of the rows that a bank shows of some days. */
async function missing(stored: SyncedRow[], shown: SyncedRow[], from: IsoDate, to?: IsoDate) {
  const rows = new KnownRows(rowsInMemory(stored));
  const { added } = await rows.append(shown, { of: OF, covered: { from, to } });
  return { added: added.map(({ id }) => id), gone: (await rows.gone()).map(({ id }) => id) };
}

describe('a row whose day has moved to one that alone is read', () => {
  it.each([
    ['2026-11-06', false],
    ['2026-11-07', true],
    ['2026-11-11', true],
    ['2026-11-13', true],
    ['2026-11-17', true],
    ['2026-11-18', false],
  ])('on %s is the stored one: %s', async (day, isStored) => {
    const [stored, shown] = [row('a', PAID, 'T1'), row('b', day, 'T1')];
    const { added } = await missing([stored], [shown], dayOf(day), dayOf(day));
    expect(added).toEqual(isStored ? [] : ['b']);
  });

  it.each<[string, Partial<SyncedRow>]>([
    ['of another id', { transactionId: 'T2' }],
    ['of another amount', { amount: rowOf('x', PAID, '-8.00').amount, transactionId: 'T2' }],
    ['that does not count any more', { cancelled: true }],
    ['that was replaced', { replaced: true }],
  ])('is new beside one %s', async (_, other) => {
    const [stored, shown] = [{ ...row('a', PAID, 'T1'), ...other }, row('b', '2026-11-13', 'T1')];
    expect((await missing([stored], [shown], dayOf('2026-11-13'), dayOf('2026-11-13'))).added).toEqual(['b']);
  });
});

describe('a stored row that the bank does not show', () => {
  const stored = () => [
    row('a', '2026-11-10', 'T1'),
    row('b', '2026-11-11', 'T2'),
    row('c', '2026-11-12', 'T3'),
  ];
  it.each<[string, string, string | undefined, string[]]>([
    ['the days of all', '2026-11-10', '2026-11-12', ['a', 'b', 'c']],
    ['a day of one', '2026-11-11', '2026-11-11', ['b']],
    ['all days from one on', '2026-11-11', undefined, ['b', 'c']],
    ['days of none', '2026-11-13', '2026-11-14', []],
    ['all days after them', '2026-11-13', undefined, []],
  ])('is gone, of %s', async (_, from, to, gone) => {
    expect((await missing(stored(), [], dayOf(from), to === undefined ? undefined : dayOf(to))).gone).toEqual(
      gone,
    );
  });

  it('is not gone once a later part of the answer shows it', async () => {
    const kept = stored();
    const rows = new KnownRows(rowsInMemory(kept));
    const covered = { from: dayOf('2026-11-10'), to: dayOf('2026-11-12') };
    const [a, b, c] = kept.map((each) => ({ ...each }));
    if (!a || !b || !c) return expect.unreachable();
    await rows.append([a], { of: OF, covered });
    expect((await rows.gone()).map(({ id }) => id)).toEqual(['b', 'c']);
    await rows.append([c], { of: OF, covered: undefined });
    expect((await rows.gone()).map(({ id }) => id)).toEqual(['b']);
  });

  it('is cancelled if its day had not come, and else only gone; marks are of those from a day on', async () => {
    const kept = stored().map((each) => ({ ...each, future: each.id !== 'b' }));
    const rows = new KnownRows(rowsInMemory(kept));
    await rows.append([], { of: OF, covered: { from: dayOf('2026-11-10'), to: undefined } });
    expect(await rows.end(dayOf('2026-11-11'))).toEqual({ cancelled: 1, gone: 1 });
    expect(kept.map(({ id, cancelled = false }) => [id, cancelled])).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ]);
    expect(await rows.gone()).toEqual([]);
  });

  it('is replaced once another one is booked for it', async () => {
    const kept = stored();
    const rows = new KnownRows(rowsInMemory(kept));
    await rows.append([], { of: OF, covered: { from: dayOf('2026-11-10'), to: undefined } });
    await rows.replace((await rows.gone()).filter(({ id }) => id !== 'b'));
    expect(kept.map(({ replaced = false }) => replaced)).toEqual([true, false, true]);
    expect((await rows.gone()).map(({ id }) => id)).toEqual(['b']);
    // What does not count any more is never gone.
    const again = new KnownRows(rowsInMemory(kept));
    await again.append([], { of: OF, covered: { from: dayOf('2026-11-10'), to: undefined } });
    expect((await again.gone()).map(({ id }) => id)).toEqual(['b']);
  });
});

import { describe, expect, it } from 'vitest';
import { addDays, type IsoDate } from '../../src/domain/calendar.ts';
import type { Progress } from '../../src/store/ports/sync.ts';
import { ago, rowsOnEach, syncBank, synced, syncTarget, TODAY } from './sync-bank.ts';

/** The days from one to another, as psd2 asked for them. An open end means up to now. */
const range = (from: IsoDate, to?: IsoDate) => `${from}..${to ?? ''}`;

describe('the days that sync reads', () => {
  it.each<[string, { since?: IsoDate; before?: Progress }, IsoDate]>([
    ['at first', {}, ago(30)],
    ['with --since', { since: ago(60) }, ago(30)],
    ['with --since after it', { since: ago(5) }, ago(5)],
    ['with --since again', { since: ago(60), before: { from: ago(31), through: ago(1) } }, ago(30)],
  ])('%s, they begin where the history of the bank begins', async (_, { since, before }, first) => {
    const { bank, ranges } = syncBank({});
    const short = { ...bank, accounts: { ...bank.accounts, earliestDay: () => ago(30) } };
    const { target, stored } = syncTarget(before);
    await synced(short, target, since === undefined ? {} : { since });
    expect(ranges).toEqual([range(first)]);
    expect(stored.remembered.map(({ from }) => from)).toEqual([before?.from ?? first]);
  });

  it.each<[string, { before?: Progress; since?: IsoDate; lastDay?: IsoDate }, IsoDate, boolean, IsoDate]>([
    ['at first, the 90 days that the bank shows without SCA', {}, ago(89), false, ago(89)],
    ['at first with --since, the days since then', { since: ago(5) }, ago(5), false, ago(5)],
    ['with --since today, today', { since: TODAY }, TODAY, false, TODAY],
    ['with --since in the future, today', { since: addDays(TODAY, 5) }, TODAY, false, TODAY],
    [
      'later, the last ten days that it knows and what is new',
      { before: { from: ago(89), through: ago(3) } },
      ...([ago(13), false, ago(89)] as const),
    ],
    [
      'on the same day again, the last ten days',
      { before: { from: ago(89), through: TODAY }, lastDay: ago(85) },
      ...([ago(10), false, ago(89)] as const),
    ],
    [
      'later without --since, also days before the first known one that the bank shows without SCA',
      { before: { from: ago(5), through: ago(3) } },
      ...([ago(89), true, ago(89)] as const),
    ],
    [
      'with --since, no days before both that and the first known one',
      { before: { from: ago(5), through: ago(3) }, since: ago(4) },
      ...([ago(5), false, ago(5)] as const),
    ],
    [
      'with --since before the first known day, all days since then',
      { before: { from: ago(50), through: ago(3) }, since: ago(51) },
      ...([ago(51), true, ago(51)] as const),
    ],
    [
      'with --since the first known day, all days again',
      { before: { from: ago(50), through: ago(3) }, since: ago(50) },
      ...([ago(50), true, ago(50)] as const),
    ],
    [
      'with --since eleven days before the last known day, these days again',
      { before: { from: ago(50), through: ago(3) }, since: ago(14) },
      ...([ago(14), true, ago(50)] as const),
    ],
    [
      'with --since within the last ten days, what it reads in any case',
      { before: { from: ago(50), through: ago(3) }, since: ago(13) },
      ...([ago(13), false, ago(50)] as const),
    ],
    [
      'with --since of the last days, what it reads in any case',
      { before: { from: ago(50), through: ago(3) }, since: ago(1) },
      ...([ago(13), false, ago(50)] as const),
    ],
    [
      'after a clock that was ahead, the days since the last row',
      { before: { from: ago(200), through: addDays(TODAY, 1) }, lastDay: ago(85) },
      ...([ago(95), true, ago(200)] as const),
    ],
    [
      'after a clock that was ahead, at least the days that the bank shows without SCA',
      { before: { from: ago(200), through: addDays(TODAY, 1) }, lastDay: ago(3) },
      ...([ago(89), true, ago(200)] as const),
    ],
    [
      'after a clock that was ahead, all days if there is no row',
      { before: { from: ago(120), through: addDays(TODAY, 1) } },
      ...([ago(120), true, ago(120)] as const),
    ],
  ])('sync reads %s', async (_, { before, since, lastDay }, first, readsAll, from) => {
    const { bank, ranges } = syncBank({});
    const { target, stored } = syncTarget(before, lastDay);
    await synced(bank, target, { ...(since && { since }) });
    expect(ranges[0]?.slice(0, 10)).toBe(first);
    expect(ranges.at(-1)).toMatch(/\.\.$/);
    expect(stored.readsAll).toBe(readsAll);
    expect(stored.remembered.at(-1)).toEqual({ from, through: TODAY, settled: ago(40) });
  });

  it('sync reads more than 90 days in parts of 90 days, and commits each part', async () => {
    const { bank, ranges } = syncBank({});
    const { target, stored } = syncTarget();
    await synced(bank, target, { since: ago(180) });
    const parts = [range(ago(180), ago(91)), range(ago(90), ago(1)), range(TODAY)];
    // The pending rows are read once more, for all days.
    expect(ranges).toEqual([...parts, range(ago(180))]);
    expect(stored.remembered).toEqual([
      { from: ago(180), through: ago(91), settled: ago(131) },
      { from: ago(180), through: ago(1), settled: ago(41) },
      { from: ago(180), through: TODAY, settled: ago(40) },
    ]);
    expect(stored.commits).toBe(2);
  });

  it.each([
    ['further back', { from: ago(100), through: ago(3) }, ago(120)],
    ['again', { from: ago(200), through: ago(3) }, ago(120)],
  ])(
    'while sync reads known days %s, it does not count them before it has read the last one',
    async (_, before, from) => {
      const { bank } = syncBank({});
      const { target, stored } = syncTarget(before);
      await synced(bank, target, { since: ago(120) });
      const first = before.from < from ? before.from : from;
      expect(stored.remembered).toEqual([{ from: first, through: TODAY, settled: ago(40) }]);
      expect(stored.commits).toBe(1);
    },
  );

  it('sync reads the pages of pending rows only for all days at once', async () => {
    const pending = rowsOnEach(ago(120), TODAY, () => 1);
    const { bank, calls } = syncBank({ pending, pageSize: 20 });
    const { target, stored } = syncTarget();
    expect(await synced(bank, target, { since: ago(120) })).toMatchObject({ pending: 121 });
    expect(stored.replaced['pending/0010482620']).toHaveLength(121);
    const furtherPages = calls.filter(({ searchParams }) => searchParams.has('nextNotAccounting'));
    expect(furtherPages.filter(({ searchParams }) => searchParams.has('dateTo'))).toEqual([]);
  });
});

describe('the day of the bank and the day of this machine', () => {
  it.each<[string, IsoDate[], IsoDate, IsoDate, IsoDate]>([
    ['the same', [TODAY], TODAY, TODAY, ago(89)],
    ['the bank’s, if this machine is ahead', [TODAY], addDays(TODAY, 3), TODAY, ago(89)],
    ['this machine’s, if it is behind', [TODAY], ago(3), ago(3), ago(89)],
    ['this machine’s, if the bank does not give one', [], ago(3), ago(3), ago(92)],
    ['the bank’s first, if midnight passes meanwhile', [ago(1), TODAY], TODAY, ago(1), ago(90)],
    ['the bank’s earliest, if its servers differ', [TODAY, TODAY, ago(2)], TODAY, ago(2), ago(89)],
    ['the bank’s earliest of all', [TODAY, ago(2), ago(1)], TODAY, ago(2), ago(91)],
  ])('sync counts days up to the day that both have reached: %s', async (_, days, today, through, first) => {
    const { bank, ranges } = syncBank({ days });
    const { target, stored } = syncTarget();
    await synced(bank, target, { today });
    expect(ranges[0]?.slice(0, 10)).toBe(first);
    expect(stored.remembered.at(-1)?.through).toBe(through);
  });
});

describe('rows that are too many for the memory', () => {
  const since = ago(89);
  const rangesOf = async (rowsOn: (day: IsoDate) => number, pageSize?: number) => {
    const booked = rowsOnEach(since, TODAY, rowsOn);
    const { bank, ranges } = syncBank({ booked, ...(pageSize && { pageSize }) });
    const { target, stored } = syncTarget();
    await synced(bank, target, { since });
    const texts = stored.appended.flat();
    expect(texts).toHaveLength(booked.length);
    expect(texts.toSorted()).toEqual(booked.map(({ text }) => text).toSorted());
    return ranges;
  };
  const windows = (...ends: number[]) => {
    let from: IsoDate = since;
    const parts = ends.map((end) => {
      const part = range(from, ago(end));
      from = ago(end - 1);
      return part;
    });
    return [...parts, range(from)];
  };

  it('2000 rows are read at once', async () => {
    // 50 days with 40 rows.
    expect(await rangesOf((at) => (at > ago(50) ? 40 : 0))).toEqual([range(since)]);
  });

  it('with more than 2000 rows, psd2 reads half of the days that the rows so far belong to', async () => {
    // 2500 rows belong to 50 days. The pending rows are read once more, for all days.
    expect(await rangesOf(() => 50)).toEqual([range(since), ...windows(65, 40, 15), range(since)]);
  });

  it.each([
    ['one page of 4500 rows', 50, 5000],
    ['two pages of 2250 rows', 50, 2250],
    ['two pages of 2000 rows', 80, 2000],
  ])('%s are in the memory already, and psd2 reads them at once', async (_, perDay, pageSize) => {
    const rowsOn = (at: IsoDate) => (perDay === 50 || at > ago(50) ? perDay : 0);
    expect(await rangesOf(rowsOn, pageSize)).toEqual([range(since)]);
  });

  it('with pages of 1999 rows, psd2 reads fewer days', async () => {
    // 3998 rows belong to 80 days.
    expect(await rangesOf(() => 50, 1999)).toEqual([range(since), ...windows(50, 10), range(since)]);
  });

  it.each([
    ['499 rows, psd2 then reads twice the days', 499, [65, 15]],
    ['500 rows, psd2 reads no more days than before', 500, [65, 40, 15]],
  ])('after a part with %s', async (_, rows, ends) => {
    // The last 50 days have 2500 rows, the first 25 days have `rows` together.
    const rowsOn = (at: IsoDate) => (at > ago(50) ? 50 : at === since ? rows : 0);
    const ranges = await rangesOf(rowsOn);
    expect(ranges.slice(1, 1 + ends.length)).toEqual(windows(...ends).slice(0, -1));
  });

  it('too many rows are not read a second time if some may be repeated', async () => {
    const booked = rowsOnEach(since, TODAY, () => 50);
    // The second page begins as the first one ends.
    booked.splice(509, 2, ...[1, 2].map(() => ({ day: ago(10), text: 'equal' })));
    const { bank, ranges } = syncBank({ booked, pageSize: 510 });
    await synced(bank, syncTarget().target, { since });
    expect(ranges.filter((each) => each === range(since))).toHaveLength(2);
    expect(ranges.slice(0, 2)).toEqual([range(since), range(since, ago(70))]);
  });

  it('a single day is read whole', async () => {
    const rowsOn = (at: IsoDate) => (at === TODAY ? 3000 : 0);
    const ranges = await rangesOf(rowsOn);
    expect(ranges.at(-2)).toBe(range(TODAY));
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addDays, type IsoDate, parseDate } from '../../src/domain/calendar.ts';
import { syncIntoFolder } from '../../src/store/files/sync/folder.ts';
import type { Sync, SyncTarget } from '../../src/store/ports/sync.ts';
import { syncIntoBoth } from '../../src/store/sync-into-both.ts';
import { append, NO_ROWS, rowOf } from './row-of.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const signal = new AbortController().signal;
const day = parseDate('--date', '2026-11-01');
const within = <T>(sync: Sync, work: (to: SyncTarget) => Promise<T>) =>
  sync.run(signal, (run) => run.customer('7', work));
const idsIn = (out: string) =>
  readFileSync(join(out, '7', 'transactions', 'A1.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line).id);

/** Reads like a sync does: from its progress, minus the overlap, to a day. */
async function readThrough(to: SyncTarget, last: IsoDate): Promise<number> {
  const before = await to.progress('A1');
  const booked = await to.booked('A1', false);
  let added = 0;
  for (let at = before ? addDays(before.through, -1) : day; at <= last; at = addDays(at, 1))
    added += await append(booked, [rowOf(`of-${at}`, at)]);
  to.remember('A1', { from: before?.from ?? day, through: last }, addDays(last, -1));
  return added;
}

it.each([
  ['the first place', 0],
  ['the second place', 1],
])('a sync into two places writes each row once in both, even if %s is ahead', async (_, ahead) => {
  const outs = [join(folder, `one-${ahead}`), join(folder, `other-${ahead}`)] as const;
  const places = [syncIntoFolder(outs[0]), syncIntoFolder(outs[1])] as const;
  const both = syncIntoBoth(...places);
  await within(both, (to) => readThrough(to, addDays(day, 3)));
  // As if the process had been killed between the two places.
  await within(places[ahead === 0 ? 0 : 1], (to) => readThrough(to, addDays(day, 9)));
  await within(both, (to) => readThrough(to, addDays(day, 12)));
  const all = Array.from({ length: 13 }, (_unused, index) => `of-${addDays(day, index)}`);
  for (const out of outs) expect(idsIn(out)).toEqual(all);
});

it('a sync into two places reads everything again if one of them is empty', async () => {
  const outs = [join(folder, 'old'), join(folder, 'new')] as const;
  const places = [syncIntoFolder(outs[0]), syncIntoFolder(outs[1])] as const;
  await within(places[0], (to) => readThrough(to, addDays(day, 3)));
  expect(await within(syncIntoBoth(...places), (to) => readThrough(to, addDays(day, 4)))).toBe(1);
  for (const out of outs) expect(idsIn(out)).toHaveLength(5);
});

it.each([
  ['2026-11-05', '2026-11-09', '2026-11-05'],
  ['2026-11-09', '2026-11-05', '2026-11-05'],
  ['2026-11-05', '2026-11-05', '2026-11-05'],
  ['2026-11-05', undefined, undefined],
  [undefined, '2026-11-05', undefined],
  [undefined, undefined, undefined],
])('if rows up to %s and %s may come again, two places together know of %s', async (one, other, day) => {
  const last = { one, other };
  const place = (name: 'one' | 'other'): Sync => ({
    run: (_signal, work) =>
      work({
        customer: (_id, use) =>
          use({
            progress: async () => undefined,
            booked: async () => ({
              ...NO_ROWS,
              lastDay: async (most) => {
                expect(most).toBe('2026-11-30');
                const found = last[name];
                return found === undefined ? undefined : parseDate('--date', found);
              },
            }),
            replace: () => {},
            remember: () => {},
            commit: async () => {},
          }),
      }),
  });
  const most = parseDate('--date', '2026-11-30');
  expect(
    await within(syncIntoBoth(place('one'), place('other')), async (to) =>
      (await to.booked('A1', false)).lastDay(most),
    ),
  ).toBe(day);
});

it('what two places replace and commit, both have', async () => {
  const calls: string[] = [];
  const place = (name: string): Sync => ({
    run: (_signal, work) =>
      work({
        customer: (_id, use) =>
          use({
            progress: async () => undefined,
            booked: () => Promise.reject(new TypeError('not called')),
            replace: (what, rows) => calls.push(`${name} replaces ${what} by ${JSON.stringify(rows)}`),
            remember: () => {},
            commit: async () => void calls.push(`${name} commits`),
          }),
      }),
  });
  await within(syncIntoBoth(place('one'), place('other')), async (to) => {
    to.replace('accounts', [{ productId: 'A1' }]);
    await to.commit();
  });
  expect(calls).toEqual([
    'one replaces accounts by [{"productId":"A1"}]',
    'other replaces accounts by [{"productId":"A1"}]',
    'one commits',
    'other commits',
  ]);
});

type Days = { from: string; through: string; newest?: string };

it.each<[Days | undefined, Days | undefined, Days | undefined, [boolean, boolean]]>([
  [undefined, undefined, undefined, [false, false]],
  [{ from: '2026-11-01', through: '2026-11-09' }, undefined, undefined, [true, false]],
  [undefined, { from: '2026-11-01', through: '2026-11-09' }, undefined, [false, true]],
  [
    { from: '2026-11-01', through: '2026-11-09' },
    { from: '2026-11-01', through: '2026-11-09' },
    { from: '2026-11-01', through: '2026-11-09' },
    [false, false],
  ],
  [
    { from: '2026-11-01', through: '2026-11-09', newest: 'E1' },
    { from: '2026-11-01', through: '2026-11-09', newest: 'E1' },
    { from: '2026-11-01', through: '2026-11-09', newest: 'E1' },
    [false, false],
  ],
  [
    { from: '2026-11-01', through: '2026-11-09', newest: 'E1' },
    { from: '2026-11-01', through: '2026-11-09', newest: 'E2' },
    { from: '2026-11-01', through: '2026-11-09' },
    [false, false],
  ],
  [
    { from: '2026-11-03', through: '2026-11-09' },
    { from: '2026-11-01', through: '2026-11-07' },
    { from: '2026-11-03', through: '2026-11-07' },
    [true, true],
  ],
  [
    { from: '2026-11-01', through: '2026-11-05' },
    { from: '2026-11-05', through: '2026-11-09' },
    { from: '2026-11-05', through: '2026-11-05' },
    [true, true],
  ],
  [
    { from: '2026-11-01', through: '2026-11-04' },
    { from: '2026-11-05', through: '2026-11-09' },
    undefined,
    [true, true],
  ],
])(
  'places that have %j and %j share %j, and the ones ahead (%j) get known rows again',
  async (one, other, shared, ahead) => {
    const calls: unknown[] = [];
    const parsed = (days: Days | undefined) =>
      days && { ...days, from: parseDate('--from', days.from), through: parseDate('--to', days.through) };
    const place = (name: string, days: Days | undefined): Sync => ({
      run: (_signal, work) =>
        work({
          customer: (_id, use) =>
            use({
              progress: async () => parsed(days),
              booked: async (_productId, readsAll) => {
                calls.push([name, readsAll]);
                return NO_ROWS;
              },
              replace: () => {},
              remember: (...given) => calls.push([name, ...given]),
              commit: async () => {},
            }),
        }),
    });
    const now = { from: day, through: day };
    await within(syncIntoBoth(place('one', one), place('other', other)), async (to) => {
      expect(await to.progress('A1')).toEqual(shared);
      await to.booked('A1', false);
      await to.booked('A1', true);
      to.remember('A1', now, day);
    });
    expect(calls).toEqual([
      ['one', ahead[0]],
      ['other', ahead[1]],
      ['one', true],
      ['other', true],
      ['one', 'A1', now, day],
      ['other', 'A1', now, day],
    ]);
  },
);

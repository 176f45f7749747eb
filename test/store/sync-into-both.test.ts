import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addDays, type IsoDate, parseDate } from '../../src/domain/calendar.ts';
import { isDecimal } from '../../src/domain/decimal.ts';
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

const unused = (): never => {
  throw new TypeError('not called');
};
/** A place that does what the test says, and nothing else. */
const place = (target: Partial<SyncTarget>): Sync => ({
  run: (_signal, work) =>
    work({
      customer: (_id, use) =>
        use({
          ...{ place: unused, progress: async () => undefined, booked: unused },
          ...{ replace: unused, remember: unused, commit: async () => {} },
          ...target,
        }),
    }),
});

it.each([
  ['2026-11-05', '2026-11-09', '2026-11-05'],
  ['2026-11-09', '2026-11-05', '2026-11-05'],
  ['2026-11-05', '2026-11-05', '2026-11-05'],
  ['2026-11-05', undefined, undefined],
  [undefined, '2026-11-05', undefined],
])('if rows up to %s and %s may come again, two places together know of %s', async (one, other, day) => {
  const most = parseDate('--date', '2026-11-30');
  const until = (last: string | undefined) => {
    const lastDay = async (asked: IsoDate) => {
      expect(asked).toBe(most);
      return last === undefined ? undefined : parseDate('--date', last);
    };
    return place({ booked: async () => ({ ...NO_ROWS, lastDay }) });
  };
  const found = await within(syncIntoBoth(until(one), until(other)), async (to) =>
    (await to.booked('A1', false)).lastDay(most),
  );
  expect(found).toBe(day);
});

it('what two places replace and commit, both have', async () => {
  const calls: unknown[] = [];
  const noting = (name: string) =>
    place({
      replace: (...given) => calls.push([name, ...given]),
      commit: async () => void calls.push([name, 'commits']),
    });
  const rows = [{ productId: 'A1' }];
  await within(syncIntoBoth(noting('one'), noting('other')), async (to) => {
    to.replace('accounts', rows);
    await to.commit();
  });
  expect(calls).toEqual([
    ['one', 'accounts', rows],
    ['other', 'accounts', rows],
    ['one', 'commits'],
    ['other', 'commits'],
  ]);
});

/** The days of a place, as `from through` in November, and the reference of its newest row if there is one. */
function daysOf(text: string) {
  if (text === '') return undefined;
  const [from, through, newest] = text.split(' ');
  const [first, last] = [from, through].map((of) => parseDate('--date', `2026-11-${of}`));
  return first && last && { from: first, through: last, ...(newest !== undefined && { newest }) };
}

it.each([
  ['', '', '', [false, false]],
  ['01 09', '', '', [true, false]],
  ['', '01 09', '', [false, true]],
  ['01 09', '01 09', '01 09', [false, false]],
  ['01 09 E1', '01 09 E1', '01 09 E1', [false, false]],
  ['01 09 E1', '01 09 E2', '01 09', [false, false]],
  ['03 09', '01 07', '03 07', [true, true]],
  ['01 05', '05 09', '05 05', [true, true]],
  ['01 04', '05 09', '', [true, true]],
])(
  'places that have the days %j and %j share %j, and the ones ahead (%j) get known rows again',
  async (one, other, shared, ahead) => {
    const calls: unknown[] = [];
    const having = (name: string, days: string) =>
      place({
        progress: async () => daysOf(days),
        booked: async (_productId, readsAll) => {
          calls.push([name, readsAll]);
          return NO_ROWS;
        },
        remember: (...given) => calls.push([name, ...given]),
      });
    const now = { from: day, through: day };
    await within(syncIntoBoth(having('one', one), having('other', other)), async (to) => {
      expect(await to.progress('A1')).toEqual(daysOf(shared));
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

it('what two places say against the rows is known once of each, the first place first', async () => {
  const saying = (...all: string[]) => {
    const contradictions = all.map((says) => ({ says, from: day, through: day }));
    const progress = { from: day, through: day, ...(all.length > 0 && { contradictions }) };
    return place({ progress: async () => progress });
  };
  const said = (one: Sync, other: Sync) =>
    within(syncIntoBoth(one, other), async (to) =>
      (await to.progress('A1'))?.contradictions?.map(({ says }) => says),
    );
  expect(await said(saying('a', 'b'), saying('b', 'c'))).toEqual(['a', 'b', 'c']);
  expect(await said(saying(), saying('b', 'c'))).toEqual(['b', 'c']);
  expect(await said(saying('a'), saying())).toEqual(['a']);
  expect(await said(saying(), saying())).toBeUndefined();
});

it('only what both places know of a balance counts', async () => {
  const [ten, two] = ['10.00', '2.00'].map((text) => (isDecimal(text) ? text : unused()));
  const balance = ten && { amount: ten, currency: 'EUR' };
  const at = (through: IsoDate) =>
    place({ progress: async () => ({ from: day, through, balance, difference: two }) });
  const of = (one: Sync, other: Sync) => within(syncIntoBoth(one, other), (to) => to.progress('A1'));
  const later = addDays(day, 1);
  expect(await of(at(later), at(later))).toEqual({ from: day, through: later, balance, difference: two });
  expect(await of(at(later), at(day))).toEqual({ from: day, through: day });
});

it('an account that one of two places cannot know is stored in neither, and one says for both which it was taken for', async () => {
  const account = {
    accountId: 'A1',
    productId: 'A1',
    iban: null,
    currency: 'EUR',
    name: null,
    productCode: null,
    productDescription: null,
  };
  const placing = (storedAs: string | null, takenFor: string | null) =>
    place({ place: async (accounts) => accounts.map((each) => ({ account: each, storedAs, takenFor })) });
  const placed = (one: Sync, other: Sync) =>
    within(syncIntoBoth(one, other), async (to) => {
      const [found] = await to.place([account], true);
      return [found?.storedAs, found?.takenFor];
    });
  for (const [one, other, expected] of [
    [placing('A1', null), placing('A1', null), ['A1', null]],
    [placing('A1', 'B'), placing('A1', null), ['A1', 'B']],
    [placing('A1', null), placing('A1', 'C'), ['A1', 'C']],
    [placing('A1', 'B'), placing('A1', 'C'), ['A1', 'B']],
    [placing(null, 'B'), placing('A1', null), [null, 'B']],
    [placing('A1', null), placing(null, null), [null, null]],
  ] as const)
    expect(await placed(one, other)).toEqual(expected);
});

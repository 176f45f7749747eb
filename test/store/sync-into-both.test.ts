import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addDays, type IsoDate, parseDate } from '../../src/domain/calendar.ts';
import { syncIntoFolder } from '../../src/store/files/sync/into-folder.ts';
import type { Sync, SyncTarget } from '../../src/store/ports/sync.ts';
import { syncIntoBoth } from '../../src/store/sync-into-both.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const signal = new AbortController().signal;
const day = parseDate('--date', '2026-11-01');
const rowOf = (id: string, bookingDate: IsoDate) => ({ id, bookingDate, amount: '1.00' });
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
    added += await booked.append([rowOf(`of-${at}`, at)]);
  to.remember('A1', { from: before?.from ?? day, through: last, checked: true }, addDays(last, -1));
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

it('a sync into two places knows the days that both have, and the last day of the place behind', async () => {
  const outs = [join(folder, 'a'), join(folder, 'b')] as const;
  const places = [syncIntoFolder(outs[0]), syncIntoFolder(outs[1])] as const;
  const both = syncIntoBoth(...places);
  const lastDays = () =>
    within(both, async (to) => {
      const booked = await to.booked('A1', true);
      return [await booked.lastDay(addDays(day, 30)), await booked.lastDay(addDays(day, 2))];
    });
  await within(places[0], (to) => readThrough(to, addDays(day, 5)));
  expect(await lastDays()).toEqual([undefined, undefined]);
  await within(places[1], (to) => readThrough(to, addDays(day, 3)));
  expect(await within(both, (to) => to.progress('A1'))).toMatchObject({
    from: day,
    through: addDays(day, 3),
    checked: true,
  });
  expect(await lastDays()).toEqual([addDays(day, 3), addDays(day, 2)]);
  await within(places[1], (to) => readThrough(to, addDays(day, 7)));
  expect(await within(both, (to) => to.progress('A1'))).toMatchObject({ through: addDays(day, 5) });
  expect(await lastDays()).toEqual([addDays(day, 5), addDays(day, 2)]);
});

it('what is current, and each commit, reaches both places', async () => {
  const outs = [join(folder, 'c'), join(folder, 'd')] as const;
  const currentIn = (out: string) => readFileSync(join(out, '7', 'current.ndjson'), 'utf8');
  const progressIn = (out: string) => readFileSync(join(out, '7', 'sync-1.ndjson'), 'utf8');
  await within(syncIntoBoth(syncIntoFolder(outs[0]), syncIntoFolder(outs[1])), async (to) => {
    to.replace('accounts', [{ productId: 'A1' }]);
    await readThrough(to, day);
    await to.commit();
    for (const out of outs) expect(progressIn(out)).toContain(`"through":"${day}"`);
  });
  for (const out of outs) expect(currentIn(out)).toBe('{"kind":"account","productId":"A1"}\n');
});

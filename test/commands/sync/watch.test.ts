import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import type { ProfileState } from '../../../src/commands/sync/profile-state.ts';
import { SyncTally } from '../../../src/commands/sync/report.ts';
import { SyncWatch } from '../../../src/commands/sync/watch.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ListedRound } from '../../../src/store/listed-round.ts';
import type { ReadResult } from '../../../src/store/ports/read-results.ts';
import type { RoundNote } from '../../../src/store/ports/sync.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

// What psd2 does every five seconds while a sync runs.

const temporary = temporaryFolder();
beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-11-22T10:00:00.000Z') }));
afterEach(() => vi.useRealTimers());

const SECONDS = 1_000;
const STATE: ProfileState = { payments: new Map([['unknown', 2]]), oldestReadAt: null, endings: new Map() };
const done = (customerId: string): CustomerReport => ({
  ...{ customerId, status: 'synced', accounts: 1, newTransactions: 0, pending: 0 },
  ...{ skipped: [], checks: [], errors: [] },
});

/** A watch, what it needs, and what it did. */
function watched(customers: string[], file?: string, hasState = true) {
  const seen = {
    ...{ warnings: [] as string[], notes: [] as RoundNote[], stored: [] as ReadResult[] },
    ...{ counts: 0, states: 0, profile: 'bank' as string | Error, store: undefined as Error | undefined },
  };
  const calls = { pace: { turns: 0 }, tally: { secondsWaited: 0, renewals: 0, byResult: new Map() } };
  const state = async () => {
    seen.states += 1;
    return STATE;
  };
  const tally = new SyncTally(false);
  const context = {
    profile: () => {
      if (seen.profile instanceof Error) throw seen.profile;
      return { name: seen.profile };
    },
    terminal: { warn: (text: string) => void seen.warnings.push(text) },
    world: { now: () => new Date() },
    store: async () => {
      if (seen.store) throw seen.store;
      return { results: { add: async (some: readonly ReadResult[]) => void seen.stored.push(...some) } };
    },
  };
  const round = new ListedRound(customers, undefined, (note) => void seen.notes.push(note));
  const { counts } = round;
  round.counts = () => {
    seen.counts += 1;
    return counts.call(round);
  };
  const watch = new SyncWatch(context, tally, { ...calls, ...(hasState && { state }) }, file);
  return { watch, seen, round, tally, calls };
}

it('every five seconds it notes what was done since, and counts the customers every third time', async () => {
  const { watch, seen, round, tally, calls } = watched(['1', '2']);
  const counted: number[] = [];
  await watch.during(round, true, async () => {
    counted.push(seen.counts);
    for (const customer of ['1', '2', '3', '4']) {
      calls.pace.turns += 2;
      tally.add(done(customer), undefined);
      await vi.advanceTimersByTimeAsync(5 * SECONDS);
      counted.push(seen.counts);
    }
    await vi.advanceTimersByTimeAsync(4_999);
  });
  // The first time is the beginning, and the end counts once more.
  expect([counted, seen.counts]).toEqual([[1, 1, 1, 2, 2], 3]);
  expect(seen.notes.map(({ calls: made, ends, isOver }) => [made, ends.length, isOver])).toEqual([
    [0, 0, false],
    ...Array.from({ length: 4 }, () => [2, 1, false]),
    [0, 0, false],
  ]);
  const stored = seen.stored.map(({ customerId, at }) => `${customerId} at ${at.slice(14, 19)}`);
  expect(stored).toEqual(['1 at 00:05', '2 at 00:10', '3 at 00:15', '4 at 00:20']);
  // After the round nothing is noted.
  await vi.advanceTimersByTimeAsync(60 * SECONDS);
  expect(seen.notes).toHaveLength(6);
});

it('only with a metrics file, each tick reads and writes the state of the profile', async () => {
  const file = join(temporary, 'psd2.prom');
  const tick = () => vi.advanceTimersByTimeAsync(5 * SECONDS);
  const [without, writing] = [watched(['1']), watched(['1'], file)];
  await without.watch.during(without.round, true, tick);
  expect([without.seen.states, existsSync(file)]).toEqual([0, false]);
  await writing.watch.during(writing.round, true, tick);
  expect(writing.seen.states).toBe(3);
  const payments = 'psd2_payments{profile="bank",state="unknown"} 2\n';
  expect(readFileSync(file, 'utf8')).toContain(payments);
  // A monitor that asks gets the state of now, too.
  for (const states of [1, 2]) {
    expect(await without.watch.metrics()).toContain(payments);
    expect(without.seen.states).toBe(states);
  }
});

it('a round without customers is over at its end, and not before', async () => {
  const { watch, seen, round } = watched([]);
  await watch.during(round, true, async () => {});
  expect(seen.notes.map(({ isOver }) => isOver)).toEqual([false, true]);
});

it('the calls of a round that is not noted do not count in the next one', async () => {
  const { watch, seen, round, calls } = watched(['1']);
  await watch.during(round, false, async () => {
    calls.pace.turns = 5;
  });
  await watch.during(round, true, async () => {
    calls.pace.turns = 7;
  });
  expect(seen.notes.map((note) => note.calls)).toEqual([0, 2]);
});

it('the calls of a time in which nothing could be noted are noted the next time', async () => {
  const { watch, seen, round, calls } = watched(['1']);
  const { note } = round;
  await watch.during(round, true, async () => {
    calls.pace.turns = 3;
    round.note = () => Promise.reject(new Psd2Error('config', 'The store is away'));
    await vi.advanceTimersByTimeAsync(5 * SECONDS);
    round.note = note;
    calls.pace.turns = 5;
    await vi.advanceTimersByTimeAsync(5 * SECONDS);
  });
  expect(seen.notes.map((each) => each.calls)).toEqual([0, 5, 0]);
});

it('a store that is away is told once, and gets the results when it is back', async () => {
  const { watch, seen, round, tally } = watched(['1', '2']);
  seen.store = new Psd2Error('config', 'The store is away');
  const warned: number[] = [];
  await watch.during(round, true, async () => {
    warned.push(seen.warnings.length);
    tally.add(done('1'), undefined);
    for (const _ of [1, 2]) await vi.advanceTimersByTimeAsync(5 * SECONDS);
    warned.push(seen.warnings.length);
    seen.store = undefined;
    tally.add(done('2'), undefined);
  });
  expect([warned, seen.warnings]).toEqual([[1, 1], ['The store is away']]);
  expect(seen.stored.map(({ customerId }) => customerId)).toEqual(['1', '2']);
});

it('a metrics file that cannot be written is told once, at once, and the sync continues', async () => {
  const place = join(temporary, 'a-folder');
  mkdirSync(place);
  const { watch, seen, round } = watched(['1'], place);
  expect(thrownBy(() => watch.write())).toMatchObject({ code: 'config' });
  const result = await watch.during(round, true, async () => {
    expect(seen.warnings).toEqual([expect.stringContaining(`The file ${place} cannot be written`)]);
    await vi.advanceTimersByTimeAsync(5 * SECONDS);
    return 'done';
  });
  expect([result, seen.warnings.length]).toEqual(['done', 1]);
});

const SYNCED = { status: 'synced' as const, code: null, message: null };
const finishNext = async (round: ListedRound) => {
  const next = await round.next();
  if (next !== 'over') await next.finish(SYNCED);
};

it('the metrics say how many customers are left, those in progress too, and when the round has ended', async () => {
  const file = join(temporary, 'counts.prom');
  const sample = (name: string, label = '') =>
    new RegExp(`^psd2_sync_${name}{profile="bank"${label}} (.+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
  const SOON = String(Date.parse('2026-11-22T10:00:00.000Z') / 1000);
  const { watch, round, tally, calls } = watched(['1', '2', '3'], file, false);
  await round.next();
  await watch.during(round, true, async () => {
    expect([sample('customers_due'), sample('round_end_time_seconds')]).toEqual(['3', undefined]);
    const errors = [{ productId: null, code: 'sca_required', message: 'SCA' }];
    tally.add({ ...done('2'), status: 'failed', errors }, undefined);
    calls.pace.turns = 7;
    await finishNext(round);
    watch.write();
    expect(sample('calls_total')).toBe('7');
  });
  expect([watch.due, sample('customers_due'), sample('start_time_seconds')]).toEqual([2, '2', SOON]);
  const failed = sample('customers_done_total', ',status="failed"');
  expect([failed, sample('errors_total', ',code="sca_required"')]).toEqual(['1', '1']);
  const last = new ListedRound(['1']);
  await watch.during(last, true, () => finishNext(last));
  expect([sample('customers_due'), sample('round_end_time_seconds')]).toEqual(['0', SOON]);
});

it('a round that stops early, or that fails, is not over', async () => {
  const { watch, round, seen } = watched(['1', '2']);
  await watch.during(round, true, () => finishNext(round));
  const failure = new Error('gone');
  const work = async () => {
    await finishNext(round);
    throw failure;
  };
  await expect(watch.during(round, true, work)).rejects.toBe(failure);
  expect(seen.notes.map(({ isOver }) => isOver)).toEqual([false, false, false, false]);
});

it('a bug ends the sync, whether the metrics or the store have it', async () => {
  const [metrics, store] = [watched(['1'], join(temporary, 'psd2.prom')), watched(['1'])];
  metrics.seen.profile = new TypeError('A bug of the metrics');
  store.seen.store = new TypeError('A bug of the store');
  for (const [{ watch, round }, bug] of [
    [metrics, metrics.seen.profile],
    [store, store.seen.store],
  ] as const)
    await expect(watch.during(round, true, async () => {})).rejects.toThrow(bug);
});

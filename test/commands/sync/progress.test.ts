import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { incomplete, SyncTally } from '../../../src/commands/sync/report.ts';
import { doneAt } from '../../../src/commands/sync/status.ts';
import { SyncWatch } from '../../../src/commands/sync/watch.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ListedRound } from '../../../src/store/listed-round.ts';
import type { ReadResult } from '../../../src/store/ports/read-results.ts';
import type { RoundNote } from '../../../src/store/ports/sync.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

const folder = temporaryFolder();
const NOW = new Date('2026-11-22T10:00:00.000Z');
const SYNCED = { status: 'synced' as const, code: null, message: null };
const report = (customerId: string, ...codes: string[]): CustomerReport => ({
  ...{ customerId, status: codes.length > 0 ? 'failed' : 'synced' },
  ...{ accounts: 0, newTransactions: 0, pending: 0, skipped: [], checks: [] },
  errors: codes.map((code) => ({ productId: null, code, message: code })),
});

describe('when a round will be done', () => {
  const status = { endedAt: null, due: 50, atWork: 10, customersPerSecond: 2 };

  it('a round is done when all customers were processed at the current rate, also those at work', () => {
    expect(doneAt(status, NOW)).toBe('2026-11-22T10:00:30.000Z');
  });

  it.each([{ customersPerSecond: 0 }, { customersPerSecond: null }, { endedAt: NOW.toISOString() }])(
    'the time is not known with %j',
    (change) => {
      expect(doneAt({ ...status, ...change }, NOW)).toBeNull();
    },
  );
});

it('the error of a sync is the first failure, and counts the customers', () => {
  const tally = new SyncTally(false);
  tally.add(report('1'), undefined);
  for (const code of ['sca_required', 'bank_refused'] as const)
    tally.add(report(code, code, code), new Psd2Error(code, `The bank says ${code}`));
  const error = incomplete(tally);
  expect(error).toMatchObject({
    code: 'sca_required',
    message: '2 of 3 customers could not be synced completely. First failure: The bank says sca_required',
  });
});

it('the totals of a round are of that round, and the counts by result go on', () => {
  const tally = new SyncTally(false);
  tally.add({ ...report('1', 'sca_required'), skipped: ['A1'] }, new Psd2Error('sca_required', 'SCA'));
  tally.add({ ...report('2'), status: 'waiting' }, undefined);
  expect([tally.reports.length, tally.skipped]).toEqual([2, { customers: 1, accounts: 1 }]);
  tally.beginRound();
  expect([tally.reports, tally.skipped]).toEqual([[], { customers: 0, accounts: 0 }]);
  expect(tally).toMatchObject({
    ...{ totals: { customers: 0 }, incomplete: 0, firstFailure: undefined },
    byStatus: { failed: 1, waiting: 1 },
  });
  tally.add({ ...report('1'), accounts: 3 }, undefined);
  expect(tally.totals).toMatchObject({ customers: 1, synced: 1, accounts: 3 });
  expect(incomplete(tally)).toBeUndefined();
});

describe('a round that read nothing because of the limit of the day', () => {
  const waiting = { ...report('1'), status: 'waiting' as const };
  const skipping = { ...report('2'), status: 'partly' as const, accounts: 2, skipped: ['A1', 'A2'] };
  const codeAfter = (...reports: CustomerReport[]) => {
    const tally = new SyncTally(true);
    for (const each of reports)
      tally.add(each, each.errors[0] && new Psd2Error('bank_failing', 'The bank says no'));
    return incomplete(tally)?.code;
  };

  it('is an error', () => {
    expect(codeAfter(waiting)).toBe('reads_used_up');
    expect(codeAfter(waiting, skipping)).toBe('reads_used_up');
  });

  it.each<[string, CustomerReport[]]>([
    ['some customers were read', [waiting, { ...report('3'), accounts: 1 }]],
    ['some accounts were read', [{ ...skipping, accounts: 3 }]],
    ['a customer has no accounts', [waiting, report('3')]],
    ['there was no customer', []],
  ])('is none if %s', (_why, reports) => {
    expect(codeAfter(...reports)).toBeUndefined();
  });

  it('is not the error of a round with a failure', () => {
    expect(codeAfter(waiting, report('3', 'bank_failing'))).toBe('bank_failing');
  });

  it('starts over with each round', () => {
    const tally = new SyncTally(true);
    tally.add({ ...report('3'), accounts: 1 }, undefined);
    tally.beginRound();
    tally.add(waiting, undefined);
    expect(tally.hasReadNothing).toBe(true);
  });
});

describe('the watch over a sync', () => {
  const path = join(folder, 'psd2.prom');
  const sample = (name: string, labels = '') =>
    new RegExp(`^psd2_sync_${name}\\{profile="bank"${labels}\\} (.+)$`, 'm').exec(
      readFileSync(path, 'utf8'),
    )?.[1];
  const watched = (file = path, store: (results: readonly ReadResult[]) => void = () => {}) => {
    const warnings: string[] = [];
    const calls = { pace: { turns: 0 }, tally: { secondsWaited: 0, renewals: 0, byResult: new Map() } };
    const tally = new SyncTally(false);
    const context = {
      profile: () => ({ name: 'bank' }),
      terminal: { warn: (text: string) => void warnings.push(text) },
      world: { now: () => NOW },
      store: async () => ({ results: { add: async (some: readonly ReadResult[]) => store(some) } }),
    };
    return { watch: new SyncWatch(context, tally, calls, file), tally, calls, warnings };
  };
  const roundOf = (customers: string[]) => {
    const notes: RoundNote[] = [];
    const round = new ListedRound(customers, undefined, (done) => void notes.push(done));
    return { round, notes };
  };
  const finishNext = async (round: ListedRound) => {
    const next = await round.next();
    if (next !== 'over') await next.finish(SYNCED);
  };

  it('results that could not be stored are stored later, and once', async () => {
    const stored: ReadResult[] = [];
    let isAway = true;
    const { watch, tally, warnings } = watched(path, (some) => {
      if (isAway && some.length > 0) throw new Psd2Error('config', 'the store is away');
      stored.push(...some);
    });
    const { round } = roundOf(['1', '2']);
    await watch.during(round, true, async () => {
      tally.add(report('1', 'sca_required'), undefined);
      await finishNext(round);
    });
    isAway = false;
    await watch.during(round, true, async () => tally.add(report('2'), undefined));
    expect(warnings).toEqual(['the store is away']);
    expect(stored).toMatchObject([
      { customerId: '1', failures: [{ code: 'sca_required' }] },
      { customerId: '2', failures: [] },
    ]);
  });

  it('a customer who waits for the next turn of the day has not failed, and one whose reads are used up has', async () => {
    const waiting: CustomerReport = { ...report('1'), status: 'waiting' };
    const partly: CustomerReport = { ...report('2'), status: 'partly', skipped: ['A'] };
    const results = (isSpread: boolean) => {
      const tally = new SyncTally(false, isSpread);
      tally.add(waiting, undefined);
      tally.add(partly, undefined);
      return tally.takeResults();
    };
    expect(results(true)).toEqual([{ customerId: '2', failures: [], skipped: ['A'] }]);
    expect(results(false)).toMatchObject([
      { customerId: '1', failures: [{ productId: null, code: 'reads_used_up' }] },
      { customerId: '2', failures: [{ productId: 'A', code: 'reads_used_up' }] },
    ]);
  });

  it('the metrics say how many customers are not processed yet, including those in progress, and when the round has ended', async () => {
    const { watch, tally, calls } = watched();
    const { round } = roundOf(['1', '2', '3']);
    await round.next();
    await watch.during(round, true, async () => {
      expect([sample('customers_due'), sample('round_end_time_seconds')]).toEqual(['3', undefined]);
      tally.add(report('2', 'sca_required'), undefined);
      calls.pace.turns = 7;
      await finishNext(round);
      watch.write();
      expect([sample('calls_total'), sample('errors_total', ',code="sca_required"')]).toEqual(['7', '1']);
    });
    expect([watch.due, sample('customers_due')]).toEqual([2, '2']);
    expect(sample('customers_done_total', ',status="failed"')).toBe('1');
    expect(sample('start_time_seconds')).toBe(String(NOW.getTime() / 1000));

    const last = roundOf(['1']);
    await watch.during(last.round, true, () => finishNext(last.round));
    expect([sample('customers_due'), sample('round_end_time_seconds')]).toEqual([
      '0',
      String(NOW.getTime() / 1000),
    ]);
  });

  it('each note for psd2 sync status has what happened since the note before', async () => {
    const { watch, tally, calls } = watched();
    const first = roundOf(['1']);
    calls.pace.turns = 2;
    await watch.during(first.round, true, async () => {
      calls.pace.turns = 5;
      tally.add(report('1'), undefined);
      await finishNext(first.round);
    });
    expect(first.notes).toEqual([
      { calls: 2, ends: [], isOver: false },
      { calls: 3, ends: [{ customerId: '1', ...SYNCED }], isOver: true },
    ]);
    const other = roundOf(['1']);
    await watch.during(other.round, false, () => finishNext(other.round));
    expect(other.notes).toEqual([]);
  });

  it('a round that stops early, or that fails, is not over', async () => {
    const { watch } = watched();
    const { round, notes } = roundOf(['1', '2']);
    await watch.during(round, true, () => finishNext(round));
    const failure = new Error('gone');
    const work = async () => {
      await finishNext(round);
      throw failure;
    };
    await expect(watch.during(round, true, work)).rejects.toBe(failure);
    expect(notes.map(({ isOver }) => isOver)).toEqual([false, false, false, false]);
  });

  it('a metrics file that cannot be written any more is reported once, and the sync continues', async () => {
    const place = join(folder, 'a-folder');
    mkdirSync(place);
    const { watch, warnings } = watched(place);
    expect(thrownBy(() => watch.write())).toMatchObject({ code: 'config' });
    const { round } = roundOf(['1']);
    expect(await watch.during(round, true, async () => 'done')).toBe('done');
    expect(warnings).toEqual([expect.stringContaining(`The file ${place} cannot be written`)]);
  });
});

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileRounds, roundWithout } from '../../../src/store/files/sync/rounds.ts';
import type { CustomerEnd, Round, RoundNote } from '../../../src/store/ports/sync.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

// What `psd2 sync status` shows for a store in files.

const temporary = temporaryFolder();
const SECOND = 1_000;
let folder: string;
let now: Date;
let rounds: FileRounds;

beforeEach(() => {
  folder = join(newConfigFolder(temporary).root, 'tokens', 'bank');
  now = new Date('2026-11-22T12:00:00Z');
  rounds = withCustomers(['1', '2', '3', '4']);
});

function withCustomers(customers: string[]): FileRounds {
  return new FileRounds(
    folder,
    async () => customers,
    () => false,
    () => now,
  );
}

async function joined(of = rounds, every?: number): Promise<Round> {
  const round = await of.join(every);
  return 'dueIn' in round ? expect.unreachable() : round;
}

const pass = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds);
};
const synced = (customerId: string) => ({ customerId, status: 'synced' as const, code: null, message: null });
const failed = (customerId: string, code: string | null, message: string | null = null) => ({
  ...{ customerId, status: 'failed' as const, code, message },
});
const note = (ends: (CustomerEnd & { customerId: string })[], more: Partial<RoundNote> = {}): RoundNote => ({
  ...{ calls: 0, ends, isOver: false },
  ...more,
});

it('before the first note there is no progress to show', async () => {
  expect(await rounds.status()).toBeUndefined();
  await joined();
  expect(await rounds.status()).toBeUndefined();
});

describe('the progress of a round', () => {
  it('counts customers by result, and names the process that works', async () => {
    const round = await joined();
    pass(10 * SECOND);
    await round.note(note([synced('1'), { ...synced('2'), status: 'partly' }], { calls: 20 }));
    pass(10 * SECOND);
    await round.note(note([{ ...synced('3'), status: 'waiting' }], { calls: 20 }));
    expect(await rounds.status()).toEqual({
      begunAt: '2026-11-22T12:00:00.000Z',
      endedAt: null,
      due: 1,
      atWork: 0,
      done: { synced: 1, partly: 1, waiting: 1, failed: 0 },
      failures: [],
      needSca: [],
      workers: [{ worker: `process ${process.pid} on ${hostname()}`, customers: 1 }],
      callsPerSecond: 2,
      customersPerSecond: 0.15,
    });
  });

  it('has no worker and no rates once the round has ended', async () => {
    const round = await joined();
    pass(SECOND);
    await round.note(note(['1', '2', '3', '4'].map(synced), { calls: 9, isOver: true }));
    expect(await rounds.status()).toMatchObject({
      ...{ endedAt: '2026-11-22T12:00:01.000Z', due: 0, workers: [] },
      ...{ callsPerSecond: null, customersPerSecond: null },
    });
  });

  it('has no worker if the process has said nothing for 30 seconds', async () => {
    const round = await joined();
    pass(SECOND);
    await round.note(note([synced('1')]));
    pass(30 * SECOND - 1);
    expect((await rounds.status())?.workers).toHaveLength(1);
    pass(1);
    expect(await rounds.status()).toMatchObject({ endedAt: null, due: 3, workers: [], callsPerSecond: null });
  });

  it('has no rates before time has passed, and owes nobody anything if more are done than were listed', async () => {
    const round = await joined(withCustomers([]));
    await round.note(note([synced('1')], { calls: 5 }));
    expect(await rounds.status()).toMatchObject({ due: 0, callsPerSecond: null, customersPerSecond: null });
  });

  it('has the rates of the last five minutes', async () => {
    const round = await joined();
    // A fast first minute, then ten slow ones with a call each.
    pass(60 * SECOND);
    await round.note(note([synced('1'), synced('2'), synced('3')], { calls: 6_000 }));
    for (let minute = 0; minute < 10; minute += 1) {
      pass(60 * SECOND);
      await round.note(note([], { calls: 1 }));
    }
    expect(await rounds.status()).toMatchObject({ callsPerSecond: 1 / 60, customersPerSecond: 0 });
  });

  it('has the rates of the last hundred notes if they come fast', async () => {
    const round = await joined();
    for (let call = 0; call < 300; call += 1) {
      pass(SECOND);
      await round.note(note([], { calls: call < 200 ? 50 : 2 }));
    }
    expect((await rounds.status())?.callsPerSecond).toBe(2);
  });

  it('is for its owner alone, leaves no other file, and is refused if it is damaged', async () => {
    await (await joined()).note(note([synced('1')]));
    expect(readdirSync(folder)).toEqual(['last-round.json']);
    const path = join(folder, 'last-round.json');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, '{}', { mode: 0o600 });
    await expect(rounds.status()).rejects.toMatchObject({ code: 'config' });
  });

  it('does not stop the sync if it cannot be written', async () => {
    const round = await joined();
    mkdirSync(join(folder, 'last-round.json', 'full'), { recursive: true, mode: 0o700 });
    await round.note(note([synced('1')]));
    expect(readdirSync(folder)).toEqual(['last-round.json']);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await round.note(note([synced('2')]));
    rmSync(folder);
    await round.note(note([synced('3')]));
    expect((await rounds.status())?.done.synced).toBe(3);
  });
});

describe('the failures of a round', () => {
  it('are counted by code, the most frequent first, each with its first customer', async () => {
    const round = await joined();
    await round.note(note([failed('1', 'network'), failed('2', 'login_expired', 'log in')]));
    await round.note(note([failed('3', 'login_expired', 'log in again'), failed('4', null)]));
    expect(await rounds.status()).toMatchObject({
      done: { failed: 4 },
      failures: [
        { code: 'login_expired', customers: 2, customerId: '2', message: 'log in' },
        // It had no message.
        { code: 'network', customers: 1, customerId: '1', message: '' },
      ],
      needSca: [],
    });
  });

  it('name at most a hundred customers who need SCA', async () => {
    const customers = Array.from({ length: 101 }, (_, n) => String(n));
    const round = await joined(withCustomers(customers));
    await round.note(note(customers.map((each) => failed(each, 'sca_required', 'SCA'))));
    const status = await rounds.status();
    expect(status?.needSca).toEqual(customers.slice(0, 100).toSorted());
    expect(status?.failures).toMatchObject([{ code: 'sca_required', customers: 101 }]);
  });
});

describe('the record of a round, when psd2 forgets customers', () => {
  const path = () => join(folder, 'last-round.json');
  const record = () => readFileSync(path(), 'utf8').trim();
  const forgetting = async (...customers: string[]) => {
    const left = customers.reduce((text, each) => roundWithout(text, each) ?? '', record());
    writeFileSync(path(), left, { mode: 0o600 });
    return (await rounds.status())?.failures;
  };

  it('names ten of those who had a failure, and nothing of it when they are forgotten', async () => {
    const customers = Array.from({ length: 12 }, (_, n) => `c${n}`);
    const round = await joined(withCustomers(customers));
    await round.note(note(customers.map((each) => failed(each, 'network', `of ${each}`))));
    expect(record()).not.toContain('"c10"');
    expect(await forgetting(...customers.slice(0, 9))).toEqual([
      { code: 'network', customers: 3, customerId: 'c9', message: 'of c9' },
    ]);
    expect(await forgetting('c9')).toEqual([]);
  });

  it('goes if it is damaged and names the customer', async () => {
    await (await joined()).note(note([synced('1')]));
    const damaged = '{"needSca":["1"]}';
    expect(roundWithout(damaged, '2')).toBe(damaged);
    expect(roundWithout(damaged, '1')).toBeUndefined();
  });

  it('is understood as an earlier psd2 wrote it', async () => {
    await (await joined()).note(note([failed('1', 'network'), failed('2', 'login_expired')]));
    writeFileSync(path(), record().replaceAll(',"others":[]', ''), { mode: 0o600 });
    expect(await forgetting('1')).toMatchObject([{ code: 'login_expired', customers: 1, customerId: '2' }]);
  });
});

describe('with a pause between rounds', () => {
  const EVERY = 60 * SECOND;

  it('the next round begins that long after the beginning of the last one, also if the clock was set back', async () => {
    await joined(rounds, EVERY);
    pass(EVERY - 1);
    expect(await rounds.join(EVERY)).toEqual({ dueIn: 1 });
    pass(1);
    expect((await joined(rounds, EVERY)).size).toBe(4);
    pass(-24 * 60 * 60 * SECOND);
    expect(await rounds.join(EVERY)).toEqual({ dueIn: EVERY });
  });
});

it('files are never away, and a round of a database cannot be joined from them', () => {
  expect(rounds.isAway()).toBe(false);
  const share = { round: 1, begunAt: now.toISOString(), size: 1 };
  expect(() => rounds.rejoin(share)).toThrow('The round belongs to a database');
});

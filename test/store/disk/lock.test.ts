import fs, {
  closeSync,
  existsSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { makePrivateFolder } from '../../../src/store/disk/files.ts';
import { beginBeat, type HeldLock, holderOf, withLock } from '../../../src/store/disk/lock.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { SyncRun } from '../../../src/store/files/sync/folder.ts';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { ProfileStore } from '../../../src/store/machine/profiles.ts';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { begunTransfer } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replaceForStore } from '../waiting.ts';
import { BANK } from '../whole-store.ts';

const temporary = temporaryFolder();
const holding = <T>(path: string, work: (lock: HeldLock) => Promise<T>) => withLock(path, 'It', work, 10_000);

it('a process whose lock another took over knows it, and leaves the lock to the other at its end', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const work = async (lock: HeldLock) => {
    expect(lock.isOurs()).toBe(true);
    rmSync(`${path}.lock`);
    expect(lock.isOurs()).toBe(false);
    writeFileSync(`${path}.lock`, 'theirs');
    expect(lock.isOurs()).toBe(false);
  };
  await holding(path, work);
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe('theirs');
});

it('a lock is released if the work fails, and the error is passed on', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const failed = holding(path, () => Promise.reject(new RangeError('the work failed')));
  await expect(failed).rejects.toThrow('the work failed');
  expect(readdirSync(dirname(path))).toEqual([]);
});

describe('a lock that does not respond', () => {
  /** Makes `performance.now` advance by the next of these steps, in milliseconds, with each call. */
  function clock(...steps: (() => number)[]): void {
    let now = 0;
    replaceForStore(performance, 'now', () => {
      now += (steps.length > 1 ? steps.shift() : steps[0])?.() ?? 0;
      return now;
    });
  }
  const second = () => 1_000;

  let path: string;
  /** Of a process that is gone. */
  let lock: string;
  beforeEach(() => {
    path = join(newConfigFolder(temporary).root, 'flow');
    lock = `${path}.lock`;
    makePrivateFolder(dirname(path));
    writeFileSync(lock, '{"pid":1,"host":"h","since":"2020-01-01T00:00:00.000Z"}');
  });

  /** A heartbeat of the holder, `after` milliseconds after the previous look. */
  const beat = (after: number) => () => {
    utimesSync(lock, new Date(), new Date());
    return after;
  };

  it('a lock without a heartbeat is dead after five seconds, and is removed', async () => {
    // The seventh look would be too late for the holder.
    clock(second, second, second, second, second, second, beat(1_000));
    expect(await holderOf(path)).toBeUndefined();
    expect(existsSync(lock)).toBe(false);
  });

  it('a lock is not dead just because it was checked often', async () => {
    const anHour = () => 3_600_000;
    const soon = () => 10;
    clock(anHour, soon, soon, soon, soon, soon, soon, beat(10));
    expect(await holderOf(path)).toBe('process 1 on h since 2020-01-01T00:00:00.000Z');
  });

  it('a lock is not dead because the watching process itself was stopped, for however long', async () => {
    const anHour = () => 3_600_000;
    // Four looks count as four seconds at most.
    clock(anHour, anHour, anHour, anHour, beat(3_600_000));
    expect(await holderOf(path)).toBe('process 1 on h since 2020-01-01T00:00:00.000Z');
  });

  it('a released lock has no holder', async () => {
    clock(second, () => {
      rmSync(lock);
      return 1_000;
    });
    expect(await holderOf(path)).toBeUndefined();
  });

  it('a waiting process takes over a dead lock, learns the earlier holder, and is named in the lock', async () => {
    clock(second);
    const named = () => JSON.parse(readFileSync(lock, 'utf8'));
    const work = async ({ takenOverFrom }: HeldLock) => [takenOverFrom, named()];
    const [from, holder] = await withLock(path, 'It', work, 60_000);
    expect(from).toBe('process 1 on h since 2020-01-01T00:00:00.000Z');
    expect(holder).toEqual({ pid: process.pid, host: hostname(), since: expect.stringMatching(/^20.+Z$/) });
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  it('a dead lock is taken over even if it is a folder', async () => {
    rmSync(lock);
    fs.mkdirSync(join(lock, 'inside'), { recursive: true });
    clock(second);
    const work = async ({ takenOverFrom }: HeldLock) => takenOverFrom;
    expect(await withLock(path, 'It', work, 60_000)).toBe('an unknown process');
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  it('a dead lock is taken over even if another process removes it first', async () => {
    clock(second);
    once('renameSync', (takeAway) => {
      rmSync(lock);
      return takeAway();
    });
    expect(await withLock(path, 'It', async () => 'taken', 60_000)).toBe('taken');
  });

  it('if a dead lock cannot be removed, the error says what to do', async () => {
    clock(second);
    once('renameSync', failing('EACCES'));
    await expect(withLock(path, 'It', async () => 'never', 60_000)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`The lock ${lock} of a dead process cannot be removed: `),
      hint: `Check who owns the folder, or remove it: rm -r ${lock}`,
    });
  });

  it('psd2 does not touch a lock that another process has recreated since the last look', async () => {
    const anew = () => {
      rmSync(lock);
      writeFileSync(lock, 'theirs');
      return 1_000;
    };
    clock(second, second, second, second, second, anew);
    const takenAway: unknown[] = [];
    once('renameSync', (takeAway) => takenAway.push(takeAway()));
    await holderOf(path);
    expect(takenAway).toEqual([]);
    expect(readFileSync(lock, 'utf8')).toBe('theirs');
  });

  it('a lock that another process recreates at the same moment stays with that process', async () => {
    const end = new AbortController();
    clock(second);
    once('renameSync', (takeAway) => {
      rmSync(lock);
      writeFileSync(lock, 'theirs');
      takeAway();
      end.abort(new Psd2Error('interrupted', 'Interrupted'));
    });
    const waiting = withLock(path, 'It', async () => 'taken', 60_000, end.signal);
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
    expect(readFileSync(lock, 'utf8')).toBe('theirs');
    expect(readdirSync(dirname(lock))).toEqual(['flow.lock']);
  });
});

describe('a lock that its holder keeps', () => {
  it.each([
    ['is named', '{"pid":1,"host":"h","since":"2020-01-01"}', 'process 1 on h since 2020-01-01'],
    ['is unknown', '', 'an unknown process'],
  ])(
    'if a lock stays held until the time is up, the error says so, and its holder %s',
    async (_, content, holder) => {
      const path = join(newConfigFolder(temporary).root, 'flow');
      makePrivateFolder(dirname(path));
      const lock = `${path}.lock`;
      writeFileSync(lock, content);
      const end = new AbortController();
      const patient = withLock(path, 'The flow', async () => 'never', 300, end.signal);
      const beating = setInterval(() => utimesSync(lock, new Date(), new Date()), 20);
      onTestFinished(() => clearInterval(beating));
      await expect(patient).rejects.toMatchObject({
        code: 'config',
        message: `The flow is in use by another psd2: ${holder}`,
        hint: `Wait for it to end. If there is no such process: rm -r ${lock}`,
      });
      expect(readFileSync(lock, 'utf8')).toBe(content);
    },
  );

  it('a lock shows heartbeats, even if a process holds two for each of 99 customers', async () => {
    const folder = newConfigFolder(temporary).root;
    const paths = Array.from({ length: 198 }, (_, index) => join(folder, `lock-${index}`));
    let letGo = () => {};
    const until = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const held = paths.map((path) => holding(path, () => until));
    const holders = await Promise.all(paths.map((path) => holderOf(path)));
    letGo();
    await Promise.all(held);
    for (const holder of holders) expect(holder).toMatch(`process ${process.pid} on ${hostname()} since 20`);
  }, 20_000);
});

it('if the process ends during its work, one exit handler releases all its locks', async () => {
  const folder = newConfigFolder(temporary).root;
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  const before = process.listeners('exit');
  const added = () => process.listeners('exit').filter((listener) => !before.includes(listener));
  await holding(one, async () => {
    await holding(two, async () => expect(added()).toHaveLength(1));
    // The first lock is still held.
    expect(added()).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['one.lock']);
    added()[0]?.(0);
    expect(readdirSync(folder)).toEqual([]);
  });
  expect(added()).toEqual([]);
});

it('a lock that is released just when another process looks at it is taken', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const lock = `${path}.lock`;
  makePrivateFolder(dirname(path));
  writeFileSync(lock, '');
  const { lstatSync } = fs;
  replaceForStore(fs, 'lstatSync', (...looked: never[]) => {
    if (looked[0] === lock && readFileSync(lock, 'utf8') === '') fs.unlinkSync(lock);
    return Reflect.apply(lstatSync, fs, looked);
  });
  const work = async ({ takenOverFrom }: HeldLock) => `from ${takenOverFrom}`;
  expect(await withLock(path, 'It', work, 60_000)).toBe('from undefined');
});

it('a lock that another process removed just when it was released is not an error', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  await holding(path, async () =>
    once('lstatSync', (look) => {
      const stats = look();
      rmSync(`${path}.lock`);
      return stats;
    }),
  );
  expect(readdirSync(dirname(path))).toEqual([]);
});

it('a lock that the disk does not accept is an error that names it, or its folder', async () => {
  const path = join(newConfigFolder(temporary).root, 'n'.repeat(300));
  await expect(withLock(path, 'It', async () => 'never', 10_000)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(`The lock ${path}.lock could not be taken: `),
    hint: 'Check the free space, and who owns the folder.',
  });
  const file = join(dirname(path), 'file');
  writeFileSync(file, '');
  await expect(withLock(join(file, 'flow'), 'It', async () => 'never', 10_000)).rejects.toMatchObject({
    code: 'config',
    message: `psd2 cannot create the folder ${file}: something else has that name`,
  });
});

describe('an operator who interrupts', () => {
  const nothing = async () => {};
  const journal = ({ flows, interrupted }: StoreFolder) =>
    new FileFlows(flows('p'), { now: () => new Date(), random: Math.random, interrupted });
  /** Begins what waits, and interrupts it. */
  async function interrupted(wait: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const interrupt = new AbortController();
    const waiting = wait(interrupt.signal);
    interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
  }
  const signalOf = ({ interrupted }: StoreFolder) => interrupted ?? new AbortController().signal;

  const protectionOf = (folder: StoreFolder) =>
    new Vault(folder, 'p', { passphrase: async () => undefined, signal: signalOf(folder) });

  it.each<[what: string, path: (at: StoreFolder) => string, wait: (at: StoreFolder) => Promise<void>]>([
    [
      'a login',
      (at) => join(at.tokens('p'), 'customer-1.json'),
      (at) => new FileTokens(at, 'p', BANK).forget('1'),
    ],
    ['the journal', (at) => join(at.flows('p'), 'journal'), (at) => journal(at).exclusively(nothing)],
    ['a profile', (at) => at.profile('p'), (at) => new ProfileStore(at).write('p', { baseUrl: BANK.href })],
    ['a protection', (at) => at.protection('p'), (at) => protectionOf(at).exclusively(nothing)],
  ])('an operator who interrupts no longer waits for %s', async (_, path, wait) => {
    const folder = newConfigFolder(temporary);
    await holding(path(folder), () => interrupted((signal) => wait({ ...folder, interrupted: signal })));
  });

  it('an operator who interrupts no longer waits for a flow', async () => {
    const folder = newConfigFolder(temporary);
    const { flow } = (await begunTransfer(journal(folder))).current;
    const again = (signal: AbortSignal) =>
      journal({ ...folder, interrupted: signal }).resume('transfer', flow, nothing);
    await journal(folder).resume('transfer', flow, () => interrupted(again));
  });

  it('an operator who interrupts no longer waits for a folder of sync', async () => {
    const { root } = newConfigFolder(temporary);
    const sync = (signal: AbortSignal, work: () => Promise<void>) =>
      SyncRun.within(root, signal, (run) => run.customer('1', work));
    await sync(new AbortController().signal, () => interrupted((signal) => sync(signal, nothing)));
  });
});

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** A lock that was last touched long ago. */
function oldLock(name: string) {
  const path = join(temporary, name);
  const file = openSync(path, 'w');
  onTestFinished(() => closeSync(file));
  const age = () => futimesSync(file, LONG_AGO, LONG_AGO);
  age();
  return { file, age, isTouched: () => statSync(path).mtimeMs > LONG_AGO.getTime() };
}

const waiting = { timeout: 15_000, interval: 50 };

it('a lock is touched again and again, and no longer after its beat has ended', async () => {
  const [held, released] = [oldLock('held.lock'), oldLock('released.lock')];
  const endBeat = beginBeat(released.file);
  onTestFinished(beginBeat(held.file));
  await vi.waitFor(() => expect([held.isTouched(), released.isTouched()]).toEqual([true, true]), waiting);
  endBeat();
  // A touch that was under way when the beat ended comes before the next touch of the other lock.
  held.age();
  await vi.waitFor(() => expect(held.isTouched()).toBe(true), waiting);
  released.age();
  held.age();
  await vi.waitFor(() => expect(held.isTouched()).toBe(true), waiting);
  expect(released.isTouched()).toBe(false);
});

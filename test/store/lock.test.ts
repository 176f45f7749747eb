import type { ChildProcess } from 'node:child_process';
import fs, { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { makePrivateFolder } from '../../src/store/disk/json-file.ts';
import { type HeldLock, holderOf, withLock } from '../../src/store/disk/lock.ts';
import { createFlowFile } from '../../src/store/files/flow-file.ts';
import { FileFlows } from '../../src/store/files/flows.ts';
import { SyncFolder } from '../../src/store/files/sync/folder.ts';
import { FileTokens } from '../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { ProfileStore } from '../../src/store/machine/profiles.ts';
import { Vault } from '../../src/store/secrets/vault.ts';
import { transferOrder } from '../domain/orders.ts';
import { startProgram } from './process.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();

/** Adds to a counter in a file, again and again, with a pause between reading and writing it. */
const COUNTING = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { withLock } from '../../src/store/disk/lock.ts';
  const [path, counter, times] = process.argv.slice(2);
  for (let i = 0; i < Number(times); i += 1) {
    await withLock(path, 'It', async () => {
      const count = Number(readFileSync(counter, 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 2));
      writeFileSync(counter, String(count + 1));
    }, 10_000);
  }`;

it('holds between processes: no step of one is lost to another', async () => {
  const path = join(newConfigFolder(temporary).root, 'tokens', 'customer-1.json');
  const counter = join(temporary, 'counter');
  writeFileSync(counter, '0');
  const programs = await Promise.all(
    [1, 2].map(() => startProgram(COUNTING, temporary, { arguments: [path, counter, '15'] })),
  );
  await Promise.all(programs.map(({ output }) => output));
  expect(readFileSync(counter, 'utf8')).toBe('30');
});

/** Holds a lock until it is told to end. */
const HOLDING = `
  import { withLock } from '../../src/store/disk/lock.ts';
  await withLock(process.argv[2], 'It', async () => {
    process.stdout.write('held');
    await new Promise((resolve) => process.stdin.once('data', resolve));
  }, 10_000);`;

async function startHolder(path: string): Promise<{ holder: ChildProcess; ended: Promise<string> }> {
  const { process: holder, output } = await startProgram(HOLDING, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  return { holder, ended: output };
}

describe('the lock of a process that was killed with it', () => {
  it.each([
    ['some time ago', -3_600_000],
    ['before the clock was put back', 3_600_000],
  ])(
    '%s is taken over',
    async (_, offset) => {
      const path = join(newConfigFolder(temporary).root, 'flow');
      const { holder, ended } = await startHolder(path);
      holder.kill('SIGKILL');
      await ended;
      const then = new Date(Date.now() + offset);
      utimesSync(`${path}.lock`, then, then);
      expect(await withLock(path, 'It', async () => 'taken over', 10_000)).toBe('taken over');
      expect(readdirSync(dirname(path))).toEqual([]);
    },
    20_000,
  );

  it('is taken over by one of those that wait for it at a time', async () => {
    const path = join(newConfigFolder(temporary).root, 'flow');
    const { holder, ended } = await startHolder(path);
    holder.kill('SIGKILL');
    await ended;
    const counter = join(temporary, 'counter-of-waiting');
    writeFileSync(counter, '0');
    const programs = await Promise.all(
      [1, 2, 3, 4].map(() => startProgram(COUNTING, temporary, { arguments: [path, counter, '5'] })),
    );
    await Promise.all(programs.map(({ output }) => output));
    expect(readFileSync(counter, 'utf8')).toBe('20');
  }, 30_000);
});

describe('a process that lives', () => {
  it('keeps its lock, whatever the time of day is said to be, and is named', async () => {
    const path = join(newConfigFolder(temporary).root, 'flow');
    const { holder, ended } = await startHolder(path);
    const then = new Date(Date.now() - 3_600_000);
    utimesSync(`${path}.lock`, then, then);
    expect(await holderOf(path)).toMatch(new RegExp(`^process ${holder.pid} on .+ since 20`));
    await expect(withLock(path, 'The flow tr-1', async () => 'never', 6_000)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(
        new RegExp(`^The flow tr-1 is in use by another psd2: process ${holder.pid} on .+ since 20`),
      ),
    });
    holder.stdin?.end('end');
    await ended;
    expect(await holderOf(path)).toBeUndefined();
  }, 20_000);
});

describe('a process whose lock another has taken over', () => {
  /** As another process does that finds the lock dead. */
  const takeOver = (path: string) => {
    rmSync(`${path}.lock`);
    writeFileSync(`${path}.lock`, 'theirs');
  };

  it('knows it, and leaves the lock to the other when it ends', async () => {
    const path = join(newConfigFolder(temporary).root, 'flow');
    const work = async (lock: HeldLock) => {
      expect(lock.isOurs()).toBe(true);
      takeOver(path);
      expect(lock.isOurs()).toBe(false);
    };
    await withLock(path, 'It', work, 10_000);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe('theirs');
  });

  it('knows it also when the other has ended', async () => {
    const path = join(newConfigFolder(temporary).root, 'flow');
    const isOurs = await withLock(
      path,
      'It',
      async (lock) => {
        rmSync(`${path}.lock`);
        return lock.isOurs();
      },
      10_000,
    );
    expect(isOurs).toBe(false);
  });
});

describe('a lock that shows no sign of life', () => {
  /** What `performance.now` says: at each look the next of these, in milliseconds after the one before. */
  function clock(...steps: (() => number)[]): void {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += (steps.length > 1 ? steps.shift() : steps[0])?.() ?? 0;
      return now;
    });
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
  }
  const second = () => 1_000;

  /** The lock of a process that is gone. */
  function deadLock(): { path: string; lock: string } {
    const folder = newConfigFolder(temporary).root;
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'flow');
    writeFileSync(`${path}.lock`, '{"pid":1,"host":"h","since":"2020-01-01T00:00:00.000Z"}');
    return { path, lock: `${path}.lock` };
  }

  it('is dead after five seconds, and taken away', async () => {
    const { path, lock } = deadLock();
    clock(second);
    expect(await holderOf(path)).toBeUndefined();
    expect(existsSync(lock)).toBe(false);
  });

  it('is not dead since the process that watches it was stopped itself, for however long', async () => {
    const { path, lock } = deadLock();
    const anHour = () => 3_600_000;
    const beat = () => {
      utimesSync(lock, new Date(), new Date());
      return anHour();
    };
    // Four looks are four seconds at most.
    clock(anHour, anHour, anHour, anHour, beat);
    expect(await holderOf(path)).toBe('process 1 on h since 2020-01-01T00:00:00.000Z');
  });

  it('is left to a process that has made it anew in the same moment', async () => {
    const { path, lock } = deadLock();
    const end = new AbortController();
    clock(second);
    const { renameSync } = fs;
    vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      rmSync(lock);
      writeFileSync(lock, 'theirs');
      renameSync(from, to);
      end.abort(new Psd2Error('interrupted', 'Interrupted'));
    });
    syncBuiltinESMExports();
    const waiting = withLock(path, 'It', async () => 'taken', 60_000, end.signal);
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
    expect(readFileSync(lock, 'utf8')).toBe('theirs');
    expect(readdirSync(dirname(lock))).toEqual(['flow.lock']);
  });
});

it('a process that does nothing but wait for its disk keeps its lock', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const blocked = `
    import { readSync, writeSync } from 'node:fs';
    import { withLock } from '../../src/store/disk/lock.ts';
    await withLock(process.argv[2], 'It', async () => {
      writeSync(1, 'held');
      // No turn of the event loop until the test says so.
      readSync(0, Buffer.alloc(1));
    }, 10_000);`;
  const { process: holder, output } = await startProgram(blocked, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  // Tells who holds it as soon as it has seen a sign of life, and nobody after five seconds without one.
  expect(await holderOf(path)).toMatch(new RegExp(`^process ${holder.pid} on `));
  holder.stdin?.end('.');
  await output;
}, 20_000);

it('is released when the work fails, and its error is passed on', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const failing = withLock(
    path,
    'It',
    async () => {
      throw new RangeError('the work failed');
    },
    10_000,
  );
  await expect(failing).rejects.toThrow('the work failed');
  expect(await withLock(path, 'It', async () => 'next', 10_000)).toBe('next');
});

it('that cannot be taken is an error of the configuration', async () => {
  const blocked = join(temporary, 'a-file');
  writeFileSync(blocked, '');
  const path = join(blocked, 'flow');
  await expect(withLock(path, 'It', async () => 'never', 10_000)).rejects.toMatchObject({
    code: 'config',
    message: `The folder ${blocked} cannot be made: there is something else of that name`,
  });
});

describe('an operator who interrupts', () => {
  const nothing = async () => {};
  const journal = (folder: StoreFolder) =>
    new FileFlows(folder.flows('p'), {
      now: () => new Date(),
      random: Math.random,
      interrupted: folder.interrupted,
    });
  const FLOW = 'tr-0mi7x7x8x00000';
  /** The file of a transfer that was begun. */
  const flowOf = (folder: StoreFolder) => {
    const path = join(folder.flows('p'), `${FLOW}.ndjson`);
    makePrivateFolder(dirname(path));
    const event = { type: 'created', flow: FLOW, transactionId: 't1', order: transferOrder() };
    createFlowFile(path, { at: '2026-11-21T10:00:00.000Z', by: 'x', event });
    return path;
  };
  const signalOf = ({ interrupted }: StoreFolder) => interrupted ?? new AbortController().signal;

  it.each<
    [what: string, path: (folder: StoreFolder) => string, wait: (folder: StoreFolder) => Promise<void>]
  >([
    [
      'a login',
      (folder) => join(folder.tokens('p'), 'customer-1.json'),
      (folder) => new FileTokens(folder, 'p', new URL('https://bank.example')).forget('1'),
    ],
    ['a flow', (folder) => flowOf(folder), (folder) => journal(folder).resume('transfer', FLOW, nothing)],
    [
      'the journal',
      (folder) => join(folder.flows('p'), 'journal'),
      (folder) => journal(folder).exclusively(nothing),
    ],
    [
      'a profile',
      (folder) => folder.profile('p'),
      (folder) => new ProfileStore(folder).write('p', { baseUrl: 'https://bank.example/' }),
    ],
    [
      'the protection of a profile',
      (folder) => folder.protection('p'),
      (folder) =>
        new Vault(folder, 'p', { passphrase: async () => undefined, signal: signalOf(folder) }).exclusively(
          nothing,
        ),
    ],
  ])('waits for %s no longer', async (_, path, wait) => {
    const folder = newConfigFolder(temporary);
    const interrupt = new AbortController();
    await withLock(
      path(folder),
      'It',
      async () => {
        const waiting = wait({ ...folder, interrupted: interrupt.signal });
        interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
        await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
      },
      10_000,
    );
  });

  it('waits for a folder of sync no longer', async () => {
    const { root } = newConfigFolder(temporary);
    const interrupt = new AbortController();
    const never = new AbortController().signal;
    const working = async () => {
      const waiting = SyncFolder.within(root, '1', nothing, interrupt.signal);
      interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
      await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
    };
    await SyncFolder.within(root, '1', working, never);
  });
});

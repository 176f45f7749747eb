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
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();

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

import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import type { StoreFolder } from '../../src/store/folder.ts';
import { FlowJournal } from '../../src/store/journal.ts';
import { holderOf, withLock } from '../../src/store/lock.ts';
import { ProfileStore } from '../../src/store/profiles.ts';
import { SyncFolder } from '../../src/store/sync-folder.ts';
import { TokenStore } from '../../src/store/tokens.ts';
import { Vault } from '../../src/store/vault.ts';
import { startProgram } from './process.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();

/** Adds to a counter in a file, again and again, with a pause between reading and writing it. */
const COUNTING = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { withLock } from '../../src/store/lock.ts';
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
  import { withLock } from '../../src/store/lock.ts';
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
  const journal = (folder: StoreFolder) => new FlowJournal(folder, 'p', () => new Date(), Math.random);
  const signalOf = ({ interrupted }: StoreFolder) => interrupted ?? new AbortController().signal;

  it.each<
    [what: string, path: (folder: StoreFolder) => string, wait: (folder: StoreFolder) => Promise<void>]
  >([
    [
      'a login',
      (folder) => join(folder.tokens('p'), 'customer-1.json'),
      (folder) => new TokenStore(folder, 'p', new URL('https://bank.example')).exclusively('1', nothing),
    ],
    [
      'a flow',
      (folder) => join(folder.flows('p'), 'tr-1.ndjson'),
      (folder) => journal(folder).claimed('tr-1', nothing),
    ],
    [
      'the journal',
      (folder) => join(folder.flows('p'), 'journal'),
      (folder) => journal(folder).locked(nothing),
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

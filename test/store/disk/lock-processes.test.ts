import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { holderOf, withLock } from '../../../src/store/disk/lock.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();

/** Increments a counter in a file again and again, with a pause between reading and writing it. */
const COUNTING = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { withLock } from '../../../src/store/disk/lock.ts';
  const [path, counter, times] = process.argv.slice(2);
  for (let i = 0; i < Number(times); i += 1) {
    await withLock(path, 'It', async () => {
      const count = Number(readFileSync(counter, 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 2));
      writeFileSync(counter, String(count + 1));
    }, 10_000);
  }`;

it.concurrent('a lock holds between processes, so no step of one overwrites a step of another', async () => {
  const path = join(newConfigFolder(temporary).root, 'tokens', 'customer-1.json');
  const counter = join(temporary, 'counter');
  writeFileSync(counter, '0');
  const programs = await Promise.all(
    [1, 2].map(() => startProgram(COUNTING, temporary, { arguments: [path, counter, '15'] })),
  );
  await Promise.all(programs.map(({ output }) => output));
  expect(readFileSync(counter, 'utf8')).toBe('30');
});

/** Holds a lock until it gets input. */
const HOLDING = `
  import { withLock } from '../../../src/store/disk/lock.ts';
  await withLock(process.argv[2], 'It', async () => {
    process.stdout.write('held');
    await new Promise((resolve) => process.stdin.once('data', resolve));
  }, 10_000);`;

async function startHolder(path: string): Promise<{ holder: ChildProcess; ended: Promise<string> }> {
  const { process: holder, output } = await startProgram(HOLDING, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  return { holder, ended: output };
}

it.concurrent.each([
  ['some time ago', -3_600_000],
  ['before the clock was set back', 3_600_000],
])(
  'the lock of a process that was killed %s is taken over',
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

it.concurrent('only one of the waiting processes at a time takes over the lock of a killed process', async () => {
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

it.concurrent('a running process keeps its lock, whatever the clock says, and is named', async () => {
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

it.concurrent('a process that does nothing but wait for its disk keeps its lock', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const blocked = `
    import { readSync, writeSync } from 'node:fs';
    import { withLock } from '../../../src/store/disk/lock.ts';
    await withLock(process.argv[2], 'It', async () => {
      writeSync(1, 'held');
      // Blocks the event loop until the test lets it continue.
      readSync(0, Buffer.alloc(1));
    }, 10_000);`;
  const { process: holder, output } = await startProgram(blocked, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  // holderOf returns the holder at the first heartbeat, or nothing after five seconds without one.
  expect(await holderOf(path)).toMatch(new RegExp(`^process ${holder.pid} on `));
  holder.stdin?.end('.');
  await output;
}, 20_000);

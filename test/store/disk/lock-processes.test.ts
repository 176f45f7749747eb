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

/** Holds a lock until it gets input. Meanwhile its event loop is blocked, as if it waited for its disk. */
const HOLDING = `
  import { readSync, writeSync } from 'node:fs';
  import { withLock } from '../../../src/store/disk/lock.ts';
  await withLock(process.argv[2], 'It', async () => {
    writeSync(1, 'held');
    readSync(0, Buffer.alloc(1));
  }, 10_000);`;

async function startHolder(path: string): Promise<{ holder: ChildProcess; ended: Promise<string> }> {
  const { process: holder, output } = await startProgram(HOLDING, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  return { holder, ended: output };
}

it.concurrent('of several processes one at a time holds a lock, also that of a process that was killed', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const { holder, ended } = await startHolder(path);
  holder.kill('SIGKILL');
  await ended;
  // Before the clock was set back.
  const then = new Date(Date.now() + 3_600_000);
  utimesSync(`${path}.lock`, then, then);
  const counter = join(temporary, 'counter');
  writeFileSync(counter, '0');
  const programs = await Promise.all(
    [1, 2, 3, 4].map(() => startProgram(COUNTING, temporary, { arguments: [path, counter, '5'] })),
  );
  await Promise.all(programs.map(({ output }) => output));
  expect(readFileSync(counter, 'utf8')).toBe('20');
  expect(readdirSync(dirname(path))).toEqual([]);
});

it.concurrent('a process that only waits for its disk keeps its lock, whatever the clock says, and is named', async () => {
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

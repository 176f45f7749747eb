import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withLock } from '../../src/store/lock.ts';
import { startProgram } from './process.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();

/** Adds to a counter in a file, again and again, with a pause between reading and writing it. */
const COUNTING = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { withLock } from '../../src/store/lock.ts';
  const [path, counter, times] = process.argv.slice(2);
  for (let i = 0; i < Number(times); i += 1) {
    await withLock(path, async () => {
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

it('is taken over from a process that was killed with it', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const holding = `
    import { withLock } from '../../src/store/lock.ts';
    await withLock(process.argv[2], async () => {
      process.stdout.write('held');
      await new Promise((resolve) => process.stdin.once('data', resolve));
    }, 10_000);`;
  const { process: holder, output } = await startProgram(holding, temporary, { arguments: [path] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  holder.kill('SIGKILL');
  await output;
  // As it is some seconds later.
  const earlier = new Date(Date.now() - 10_000);
  utimesSync(`${path}.lock`, earlier, earlier);
  expect(await withLock(path, async () => 'taken over', 10_000)).toBe('taken over');
});

it('is released when the work fails, and its error is passed on', async () => {
  const path = join(newConfigFolder(temporary).root, 'flow');
  const failing = withLock(
    path,
    async () => {
      throw new RangeError('the work failed');
    },
    10_000,
  );
  await expect(failing).rejects.toThrow('the work failed');
  expect(await withLock(path, async () => 'next', 10_000)).toBe('next');
});

it('that cannot be taken is an error of the configuration', async () => {
  const blocked = join(temporary, 'a-file');
  writeFileSync(blocked, '');
  const path = join(blocked, 'flow');
  await expect(withLock(path, async () => 'never', 10_000)).rejects.toMatchObject({
    code: 'config',
    message: `The lock ${path}.lock could not be taken`,
  });
});

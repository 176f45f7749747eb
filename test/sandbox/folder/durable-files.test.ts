import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  fileText,
  hasCode,
  ignoreMissing,
  isAlive,
  removeLeftovers,
  replaceDurably,
  temporaryPath,
  writeDurably,
} from '../../../src/sandbox/folder/durable-files.ts';

/** No process has this id: it is above the largest one of Linux. */
const NOBODY = 2 ** 22 + 1;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psd2-durable-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test('a temporary file has the name of its process, and each another one', () => {
  const [one, other] = [temporaryPath(folder, 'state.bin'), temporaryPath(folder, 'state.bin')];
  expect(dirname(one)).toBe(folder);
  expect(basename(one)).toMatch(new RegExp(`^\\.state\\.bin\\.${process.pid}\\.[0-9a-f]{8}$`));
  expect(one).not.toBe(other);
});

test('what an ended process left is removed, files and folders, and nothing else', async () => {
  const left = [`.state.bin.${NOBODY}.0123abcd`, `.certificates.${NOBODY}.0123abcd`];
  const kept = [
    ...[`.state.bin.${process.pid}.0123abcd`, 'state.bin', `state.bin.${NOBODY}.0123abcd`],
    ...[`.state.bin.${NOBODY}.0123abc`, `.state.bin.${NOBODY}.0123abcde`, `.state.bin.${NOBODY}.0123abcg`],
    ...[`.state.bin.x.0123abcd`, `.${NOBODY}.0123abcd`, `.STATE.${NOBODY}.0123abcd`],
  ];
  for (const name of [...left, ...kept]) {
    if (name.startsWith('.certificates')) mkdirSync(join(folder, name, 'a'), { recursive: true });
    else writeFileSync(join(folder, name), '');
  }
  await removeLeftovers(folder);
  expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
});

test('a file is written once, for its user alone', async () => {
  const path = join(folder, 'a');
  await writeDurably(path, 'one');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one', 0o600]);
  await expect(writeDurably(path, 'two')).rejects.toMatchObject({ code: 'EEXIST' });
  expect(readFileSync(path, 'utf8')).toBe('one');
});

test('a file is replaced as a whole, and leaves nothing beside it', async () => {
  for (const content of ['one', 'two']) {
    await replaceDurably(folder, 'a', content);
    expect([readdirSync(folder), await fileText(join(folder, 'a'))]).toEqual([['a'], content]);
  }
});

test('a missing file has no text, and every other failure is told', async () => {
  expect(await fileText(join(folder, 'none'))).toBeUndefined();
  await expect(fileText(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  const error = Object.assign(new Error('x'), { code: 'ENOENT' });
  expect([hasCode(error, 'ENOENT'), hasCode(error, 'EACCES'), hasCode({ code: 'ENOENT' }, 'ENOENT')]).toEqual(
    [...[true, false, false]],
  );
  expect(hasCode(new Error('x'), 'ENOENT')).toBe(false);
  expect(ignoreMissing(error)).toBeUndefined();
  expect(() => ignoreMissing(new Error('y'))).toThrow('y');
});

test.each<[what: string, pid: number, alive: boolean]>([
  ['this process', process.pid, true],
  ['the parent of this process', process.ppid, true],
  ['nobody', NOBODY, false],
])('%s runs: %s', (_, pid, alive) => {
  expect(isAlive(pid)).toBe(alive);
});

test.runIf(process.platform === 'linux')(
  'a process that ended, and that nobody collected, does not run',
  async () => {
    // The shell becomes another program before its child ends, and that program collects no children.
    const script = 'cat <&3 >/dev/null & echo $!; exec 3<&-; exec sleep 60';
    const parent = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const { stdout } = parent;
    if (!stdout) throw new Error('The shell must have an output');
    const [line] = await once(stdout, 'data');
    const child = Number(line);
    const stat = (pid: number | undefined) => readFileSync(`/proc/${pid}/stat`, 'utf8');
    await vi.waitUntil(() => stat(parent.pid).includes('(sleep)'), { timeout: 4000, interval: 5 });
    expect(isAlive(child)).toBe(true);
    parent.stdio[3]?.destroy();
    await vi.waitUntil(() => stat(child).includes(') Z '), { timeout: 4000, interval: 5 });
    expect([isAlive(child), isAlive(parent.pid ?? 0)]).toEqual([false, true]);
  },
);

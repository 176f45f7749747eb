import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { endAll, leftBehind, stillLeft } from './left-behind.js';

const temporary = temporaryFolder();
const WATCHER = fileURLToPath(new URL('./left-behind.js', import.meta.url));
const STAYS = 'setInterval(() => {}, 1000)';
/** For a busy machine. */
const PATIENCE = { timeout: 30_000, interval: 20 };

/** A run that starts what outlives it, each with the folder in another place. It says when all of it runs. */
function startRun(folder: string): ChildProcess {
  const run = `
    const { spawn } = require('node:child_process');
    const node = (args, options) =>
      spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}, ...args], { detached: true, stdio: 'ignore', env: {}, ...options });
    const folder = ${JSON.stringify(folder)};
    spawn(process.execPath, [${JSON.stringify(WATCHER)}, folder], { detached: true, stdio: ['pipe', 'ignore', 'inherit'], env: {} });
    node([], { env: { TMPDIR: folder } });
    node([folder + '/data'], {});
    node([], { cwd: folder });
    ${STAYS};`;
  return spawn(process.execPath, ['-e', run], { stdio: 'ignore', env: {} });
}

it.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'after %s of a run its processes end, and its folder is removed',
  async (signal) => {
    const folder = mkdtempSync(join(temporary, 'run-'));
    const run = startRun(folder);
    try {
      await vi.waitUntil(() => leftBehind(folder).length === 3, PATIENCE);
      run.kill(signal);
      await vi.waitUntil(() => !existsSync(folder), PATIENCE);
      expect(leftBehind(folder)).toEqual([]);
    } finally {
      run.kill('SIGKILL');
      await endAll(folder);
    }
  },
);

it('what is left is named with its command, until it has ended', async () => {
  const folder = mkdtempSync(join(temporary, 'run-'));
  const child = spawn(process.execPath, ['-e', STAYS, `${folder}/data`], { stdio: 'ignore', env: {} });
  await once(child, 'spawn');
  const command = expect.stringContaining(`${folder}/data`);
  await vi.waitUntil(() => leftBehind(folder).length > 0, PATIENCE);
  expect(leftBehind(folder)).toEqual([{ pid: child.pid, command }]);
  expect(await stillLeft(folder, 0)).toHaveLength(1);
  await endAll(folder);
  expect(await stillLeft(folder, 0)).toEqual([]);
});

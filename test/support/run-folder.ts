import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAll, stillLeft, WELL } from './left-behind.js';
import { placeOfRun } from './place-of-run.js';

const WATCHER = fileURLToPath(new URL('./left-behind.js', import.meta.url));
/** A process that was told to end may take this long on a busy machine. */
const PATIENCE_MS = 30_000;

declare global {
  /** Each project loads this module anew. */
  var runOfTests: { projects: number; end(): Promise<void> } | undefined;
}

/**
 * Makes the temporary folder of the run, and starts a process that outlives the run: if the run is killed, that process ends
 * what the tests have started, and removes the folder. The first project of the run does this for all.
 *
 * @returns a function that, after the last project, ends the processes that still run, and names them. The run fails then
 */
export default async function setUp(): Promise<() => Promise<void>> {
  globalThis.runOfTests ??= { projects: 0, end: beginRun() };
  const run = globalThis.runOfTests;
  run.projects += 1;
  return async () => {
    run.projects -= 1;
    if (run.projects > 0) return;
    globalThis.runOfTests = undefined;
    await run.end();
  };
}

/** @returns what is done at the end of the run */
function beginRun(): () => Promise<void> {
  // The name is short, because the path of a socket may have 107 characters.
  const folder = mkdtempSync(join(placeOfRun(), 'psd2-'));
  // Under root, PostgreSQL runs as another user.
  chmodSync(folder, 0o711);
  const before = process.env.TMPDIR;
  process.env.TEST_RUN_FOLDER = folder;
  process.env.TMPDIR = folder;
  const watcher = spawn(process.execPath, [WATCHER, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: {},
  });
  watcher.unref();
  return async () => {
    const left = await stillLeft(folder, PATIENCE_MS);
    await endAll(folder);
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    delete process.env.TEST_RUN_FOLDER;
    const ended = once(watcher, 'exit');
    watcher.ref();
    watcher.stdin.end(WELL);
    await ended;
    if (left.length === 0) return;
    const names = left.map(({ pid, command }) => `  ${pid} ${command}`);
    process.stderr.write(`Processes of the tests outlived them, and were ended:\n${names.join('\n')}\n`);
    process.exitCode = 1;
  };
}

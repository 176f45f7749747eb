// Finds the processes that a run of the tests has started, and ends them. What a test starts has the folder of the run in its
// environment, its arguments or as its working directory, because all temporary folders are in it.
//
// Run as a program, it waits for the run that started it: `node left-behind.js <folder>`. If its standard input ends, the run is
// over, however it ended. It then removes the folder. Unless the run has written that it ended well, it first ends what is left,
// with the workers of the test runner.
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** How often a process is looked for again that is ending. */
const LOOK_MS = 50;
/** PostgreSQL gets this time to remove its shared memory. */
const POLITE_MS = 5_000;

/** What a run that ended well writes to the process that waits for it. */
export const WELL = 'well';

/**
 * The processes of a run that still run, but for this one. Without `/proc`, it finds none.
 *
 * @param {string} folder of the run
 * @param {boolean} withRunner also those of the test runner
 * @returns {{ pid: number, command: string }[]}
 */
export function leftBehind(folder, withRunner = false) {
  return processIds().flatMap((pid) => {
    if (pid === process.pid) return [];
    const command = textOf(pid, 'cmdline');
    if (command === '' || command.includes('left-behind.js')) return [];
    if (!withRunner && command.includes('/node_modules/vitest/')) return [];
    const isOurs =
      command.includes(folder) ||
      textOf(pid, 'environ').includes(folder) ||
      workingIn(pid).startsWith(folder);
    return isOurs ? [{ pid, command: command.replaceAll('\0', ' ').trim() }] : [];
  });
}

/**
 * Waits for the processes of a run to end by themselves.
 *
 * @param {string} folder of the run
 * @param {number} milliseconds the longest wait
 * @returns {Promise<{ pid: number, command: string }[]>} those that still run
 */
export async function stillLeft(folder, milliseconds) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const found = leftBehind(folder);
    if (found.length === 0 || Date.now() >= end) return found;
    await wait(LOOK_MS);
  }
}

/**
 * Ends the processes of a run.
 *
 * @param {string} folder of the run
 * @param {boolean} withRunner also those of the test runner
 */
export async function endAll(folder, withRunner = false) {
  const polite = Date.now() + POLITE_MS;
  for (;;) {
    const found = leftBehind(folder, withRunner);
    if (found.length === 0) return;
    for (const { pid, command } of found) {
      const isServer = /\/postgres /.test(`${command} `) && Date.now() < polite;
      end(pid, isServer ? 'SIGQUIT' : 'SIGKILL');
    }
    await wait(LOOK_MS);
  }
}

function end(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** @returns {number[]} */
function processIds() {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** A file of a process; empty if the process has ended, or is another user's. */
function textOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function workingIn(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , folder = ''] = process.argv;
  // The signals of the terminal are for the run. This process has to outlive it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  let said = '';
  process.stdin.on('data', (text) => {
    said += text;
  });
  await once(process.stdin, 'close');
  if (said !== WELL) await endAll(folder, true);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

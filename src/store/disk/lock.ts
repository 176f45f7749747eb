import { randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder, readPlainFile, reasonOf, systemCode } from './files.ts';

/** How long a process may lock tokens: it may make several token calls, and each may take its whole time limit. */
export const MAX_RENEWAL_MS = 150_000;
/** A process takes over a lock after it has watched it for this long without a beat. */
const DEAD_AFTER_MS = 5_000;
/** A watching process looks at a lock more often than this, unless it was stopped itself. */
const MAX_LOOK_MS = 1_000;

/** Another process holds a lock for longer than this one waits. */
export class LockInUse extends Psd2Error {
  constructor(what: string, holder: string, lock: string) {
    super('config', `${what} is in use by another psd2: ${holder}`, {
      hint: `Wait for it to end. If there is no such process: rm -r ${lock}`,
    });
  }
}

/** A lock as its holder sees it. */
export interface HeldLock {
  /** Whether no other process has taken the lock over. That may happen right after the answer. */
  isOurs(): boolean;
  /**
   * The previous holder, if it did not respond, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`.
   * It was killed, or it was stopped and may continue. Undefined if the lock was free.
   */
  takenOverFrom: string | undefined;
}

/**
 * Runs `work` while it holds the lock beside `path`. No other `psd2` process that shares the folder can hold it then. The
 * lock is a file that its holder touches every second. If nobody touches it for some seconds while this process watches,
 * this process takes it over. Process ids do not decide, since they mean nothing in another container. The time of day
 * does not decide either, since clocks jump.
 *
 * The lock keeps processes out of each other's way, but safety does not rest on it. A stopped process (a closed laptop,
 * SIGSTOP) loses its lock and continues without knowing. The disk decides what must not happen twice: a line of the
 * journal by its number, tokens by their generation, a reference by a name that only one process can take.
 *
 * @param what the thing that is locked, as the beginning of a sentence
 * @param patienceMs how long to wait for another process; more than the 5 s after which a dead one loses the lock
 * @param signal ends the wait for another process. Its reason is thrown
 * @throws LockInUse that names the other process, if that one holds the lock for longer
 */
export async function withLock<T>(
  path: string,
  what: string,
  work: (held: HeldLock) => Promise<T>,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const lock = `${path}.lock`;
  const { release, isOurs, takenOverFrom } = await takeLock(lock, what, patienceMs, signal);
  if (held.size === 0) process.once('exit', releaseAll);
  held.add(release);
  try {
    return await work({ isOurs, takenOverFrom });
  } finally {
    // If the process ended during a prompt, `releaseAll` has released the lock already.
    if (held.delete(release)) release();
    if (held.size === 0) process.off('exit', releaseAll);
  }
}

/** Releases the locks that this process holds. A sync holds many at once. */
const held = new Set<() => void>();

function releaseAll(): void {
  for (const release of held) {
    held.delete(release);
    release();
  }
}

/**
 * The holder of the lock beside `path`, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`.
 *
 * @returns undefined if there is no lock, or its holder does not respond
 */
export async function holderOf(path: string): Promise<string | undefined> {
  const lock = `${path}.lock`;
  const first = signOf(lock);
  for (const isDead = watchLock(lock); ; await delay(100)) {
    const sign = signOf(lock);
    if (sign === undefined || isDead()) return undefined;
    if (sign !== first) return readHolder(lock);
  }
}

/** A lock of this process. */
interface TakenLock extends HeldLock {
  release(): void;
}

async function takeLock(
  lock: string,
  what: string,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<TakenLock> {
  const began = performance.now();
  let takenOverFrom: string | undefined;
  for (const isDead = watchLock(lock); ; await delay(50 + Math.random() * 100)) {
    const ownLock = make(lock);
    if (ownLock) return { ...ownLock, takenOverFrom };
    signal?.throwIfAborted();
    const holder = readHolder(lock);
    if (isDead()) {
      takenOverFrom = holder;
      continue;
    }
    if (performance.now() - began > patienceMs) throw new LockInUse(what, holder, lock);
  }
}

/** Creates the lock, unless it exists. */
function make(lock: string): Omit<TakenLock, 'takenOverFrom'> | undefined {
  let file: number;
  // While this process waited, another one may have removed the folder together with the profile.
  makePrivateFolder(dirname(lock));
  try {
    file = openSync(lock, 'wx', 0o600);
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') return undefined;
    throw new Psd2Error('config', `The lock ${lock} could not be taken: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder.',
      cause,
    });
  }
  try {
    writeSync(file, JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() }));
  } catch {
    // The lock works on a full disk too. Only its holder's name is missing then.
  }
  const endBeat = beginBeat(file);
  const isOurs = () => fstatSync(file, { bigint: true }).ino === statOf(lock)?.ino;
  return {
    isOurs,
    release() {
      endBeat();
      // Another process may have taken the lock over while this one was stopped.
      if (isOurs()) rmSync(lock, { force: true });
      closeSync(file);
    },
  };
}

/** Watches another process's lock. Each call looks at it. Once the holder must be dead, the call removes the lock and returns true. */
function watchLock(lock: string): () => boolean {
  let seen: { sign: string; at: number; watchedMs: number } | undefined;
  return () => {
    const sign = signOf(lock);
    const at = performance.now();
    if (sign === undefined || sign !== seen?.sign) {
      seen = sign === undefined ? undefined : { sign, at, watchedMs: 0 };
      return false;
    }
    // If this process was stopped, the holder may have been too. So that time does not count as watched.
    seen = { sign, at, watchedMs: seen.watchedMs + Math.min(at - seen.at, MAX_LOOK_MS) };
    if (seen.watchedMs < DEAD_AFTER_MS) return false;
    takeAway(lock, sign);
    return true;
  };
}

/** Removes a dead lock. If several processes try, one of them succeeds, and none removes a lock that was created since. */
function takeAway(lock: string, sign: string): void {
  const away = `${lock}.${randomUUID()}`;
  try {
    if (signOf(lock) !== sign) return;
    renameSync(lock, away);
    if (signOf(away) !== sign) linkSync(away, lock);
    rmSync(away, { recursive: true });
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return;
    throw new Psd2Error(
      'config',
      `The lock ${lock} of a dead process cannot be removed: ${reasonOf(cause)}`,
      {
        hint: `Check who owns the folder, or remove it: rm -r ${lock}`,
        cause,
      },
    );
  }
}

/** A text that changes with every beat of a lock and with every new lock. Undefined if there is no lock. */
function signOf(lock: string): string | undefined {
  const stats = statOf(lock);
  return stats && `${stats.ino} ${stats.mtimeNs}`;
}

function statOf(lock: string): BigIntStats | undefined {
  return lstatSync(lock, { bigint: true, throwIfNoEntry: false });
}

function readHolder(lock: string): string {
  try {
    const { pid, host, since } = JSON.parse(String(readPlainFile(lock)));
    return `process ${pid} on ${host} since ${since}`;
  } catch {
    return 'an unknown process';
  }
}

/** How often a process shows that it still uses its locks. */
const BEAT_MS = 1_000;
/** More locks than a process ever holds at once: a sync of 99 customers at once holds two for each. */
const MAX_LOCKS = 1_024;

/**
 * The code of the beat's thread. Each slot is 0, or the file descriptor of a lock plus one. If the thread cannot write to
 * the disk, other processes take the lock over, as they do from a stopped process.
 */
const BEAT = `
  const { futimesSync } = require('node:fs');
  const slots = new Int32Array(require('node:worker_threads').workerData);
  setInterval(() => {
    const now = Date.now() / 1000;
    for (const slot of slots) {
      if (slot > 0) try { futimesSync(slot - 1, now, now); } catch {}
    }
  }, ${BEAT_MS});
`;

let slots: Int32Array | undefined;

/**
 * Touches a lock every second. A separate thread does it, since a slow disk may block the main thread for a long time.
 *
 * @param file descriptor of the open lock file
 * @returns ends the beat. Call it before you close the file
 */
export function beginBeat(file: number): () => void {
  slots ??= startBeat();
  const beats = slots;
  const slot = beats.indexOf(0);
  if (slot === -1) return () => {};
  beats[slot] = file + 1;
  return () => {
    beats[slot] = 0;
  };
}

function startBeat(): Int32Array {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const buffer = new SharedArrayBuffer(MAX_LOCKS * Int32Array.BYTES_PER_ELEMENT);
  try {
    const thread = new Worker(BEAT, {
      eval: true,
      workerData: buffer,
      // The thread needs none of this process's options and variables.
      execArgv: [],
      env: {},
      // Without limits of its heap, which it needs least of all: under Node.js 26 a thread with them sometimes ends the process when it begins.
      resourceLimits: { stackSizeMb: 1 },
    });
    thread.on('error', () => {});
    thread.unref();
  } catch {
    // Without the thread, other processes take the locks over after some seconds. That is as safe, but slower.
  }
  return new Int32Array(buffer);
}

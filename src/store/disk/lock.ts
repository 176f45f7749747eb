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
import { readPlainFile } from './files.ts';
import { makePrivateFolder } from './json-file.ts';
import { beginBeat } from './lock-beat.ts';
import { reasonOf, systemCode } from './system-error.ts';

/** How long tokens may be locked: a token call may take its whole time limit, several times over. */
export const LONGEST_RENEWAL_MS = 150_000;
/** A process takes over a lock that it has watched for this long without a beat. */
const DEAD_AFTER_MS = 5_000;
/** More time than passes between two looks at a lock, unless the process that looks was stopped. */
const LONGEST_LOOK_MS = 1_000;

/** A lock as its holder sees it. */
export interface HeldLock {
  /** Whether no other process has taken it over since. It may happen right after the answer. */
  isOurs(): boolean;
  /**
   * Who had it and showed no sign of life, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`: killed,
   * or standing still and about to go on. Undefined where it was free.
   */
  takenOverFrom: string | undefined;
}

/**
 * Runs `work` while holding the lock beside `path`, against every other `psd2` process that shares the
 * folder. The lock is a file that its holder touches every second. One that is not touched for some seconds
 * while this process watches is taken over: what decides is neither a process id, which means nothing in
 * another container, nor the time of day, which may have jumped or been another before a restart.
 *
 * The lock keeps processes out of each other's way; nothing is safe by it alone. A process that was stopped
 * (a closed laptop, SIGSTOP) loses its lock and goes on without knowing. What must not happen twice is decided by
 * the disk: a line of the journal by its number, tokens by their generation, a reference by a name that is taken.
 *
 * @param what it is that only one may work on, as the beginning of a sentence
 * @param patienceMs how long another process may hold it; more than the 5 s after which a dead one loses it
 * @param signal ends the wait for another process; its reason is thrown
 * @throws Psd2Error `config` when another process holds it for longer, which the message names
 */
export async function withLock<T>(
  path: string,
  what: string,
  work: (held: HeldLock) => Promise<T>,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const lock = `${path}.lock`;
  const { release, isOurs, takenOverFrom } = await take(lock, what, patienceMs, signal);
  if (held.size === 0) process.once('exit', releaseAll);
  held.add(release);
  try {
    return await work({ isOurs, takenOverFrom });
  } finally {
    // Where the process ends while a question waits, all are released already.
    if (held.delete(release)) release();
    if (held.size === 0) process.off('exit', releaseAll);
  }
}

/** What releases the locks that this process holds: a sync holds many at once. */
const held = new Set<() => void>();

function releaseAll(): void {
  for (const release of held) {
    held.delete(release);
    release();
  }
}

/**
 * Who works on what is locked beside `path`, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`.
 *
 * @returns undefined when nobody does: there is no lock, or its holder shows no sign of life
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

/** A lock of this process, and what gives it back. */
interface TakenLock extends HeldLock {
  release(): void;
}

async function take(
  lock: string,
  what: string,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<TakenLock> {
  const began = performance.now();
  let takenOverFrom: string | undefined;
  for (const isDead = watchLock(lock); ; await delay(50 + Math.random() * 100)) {
    const taken = make(lock);
    if (taken) return { ...taken, takenOverFrom };
    signal?.throwIfAborted();
    const holder = readHolder(lock);
    if (isDead()) {
      takenOverFrom = holder;
      continue;
    }
    if (performance.now() - began > patienceMs) {
      throw new Psd2Error('config', `${what} is in use by another psd2: ${holder}`, {
        hint: `Wait for it to end. If there is no such process: rm -r ${lock}`,
      });
    }
  }
}

/** Makes the lock, unless there is one. */
function make(lock: string): Omit<TakenLock, 'takenOverFrom'> | undefined {
  let file: number;
  // It may have been removed while this process waited, with the profile.
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
    // It holds on a full disk too; only who has it can't be told then.
  }
  const endBeat = beginBeat(file);
  const isOurs = () => fstatSync(file, { bigint: true }).ino === statOf(lock)?.ino;
  return {
    isOurs,
    release() {
      endBeat();
      // It may have been taken over while this process was stopped.
      if (isOurs()) rmSync(lock, { force: true });
      closeSync(file);
    },
  };
}

/** Watches another's lock; each call looks at it, and takes it away and returns true once its holder must be dead. */
function watchLock(lock: string): () => boolean {
  let seen: { sign: string; at: number; watchedMs: number } | undefined;
  return () => {
    const sign = signOf(lock);
    const at = performance.now();
    if (sign === undefined || sign !== seen?.sign) {
      seen = sign === undefined ? undefined : { sign, at, watchedMs: 0 };
      return false;
    }
    // Where this process was stopped itself, the holder may have been too: that time was not watched.
    seen = { sign, at, watchedMs: seen.watchedMs + Math.min(at - seen.at, LONGEST_LOOK_MS) };
    if (seen.watchedMs < DEAD_AFTER_MS) return false;
    takeAway(lock, sign);
    return true;
  };
}

/** Of several that find a lock dead, one takes it away; none takes away what another has made since. */
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

/** Changes with every beat of a lock and from lock to lock; undefined when there is none. */
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
    return 'which one is not known';
  }
}

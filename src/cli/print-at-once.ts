import { constants, fstatSync, openSync, type Stats, statSync, writeSync } from 'node:fs';
import type { Stdout } from '../terminal/output/output.ts';

/** A descriptor of stdout, and how much it takes without a wait. */
interface Direct {
  descriptor: number;
  room: number;
}

/** How a command writes to stdout without its stream; `none` if the stream has to do it. */
let direct: Direct | 'none' | undefined;
/** What an empty socket takes for certain. */
const ROOM_OF_SOCKET = 65_536;
/** What a short text takes of it. */
const LEAST = 4_096;

/**
 * Prints the whole output of a command that does nothing else, such as its help. It avoids `process.stdout` where it can, because
 * that loads streams and sockets, which takes longer than the rest of `psd2 --version`.
 */
export function printAtOnce(text: string): void {
  writeAll(Buffer.from(text), 1);
}

/**
 * The same for a command that does something. It never waits for the reader of a full pipe: a signal could not end it then, and
 * its calls to the bank would stand still. What does not fit is given to `process.stdout`, with all that follows.
 */
function printMeanwhile(text: string | Uint8Array): void {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  direct ??= openDirect();
  if (direct !== 'none') direct.room -= Math.max(bytes.length, LEAST);
  if (direct === 'none' || direct.room < 0) writeAll(bytes, 'none');
  else writeAll(bytes, direct.descriptor);
}

function writeAll(bytes: Uint8Array, descriptor: number | 'none'): void {
  let rest = bytes;
  try {
    while (rest.length > 0 && descriptor !== 'none' && direct !== 'none')
      rest = rest.subarray(writeSync(descriptor, rest));
  } catch {
    // A full pipe, a pipe without a reader, or a full disk: process.stdout handles these.
  }
  if (rest.length === 0) return;
  // From now on all output goes there, so the order stays right.
  direct = 'none';
  openWatchedStdout().write(rest);
}

let isWatched = false;

function openWatchedStdout(): NodeJS.WriteStream {
  const { stdout } = process;
  if (isWatched) return stdout;
  isWatched = true;
  return stdout.on('error', (error) => {
    void import('./report-error.ts').then(({ endOverLostOutput }) => endOverLostOutput(error));
  });
}

/** Files and terminals take everything: Node.js waits for them too. */
function openDirect(): Direct | 'none' {
  const stats = fstatSync(1);
  if (stats.isFile() || isNowhere(stats)) return { descriptor: 1, room: Number.POSITIVE_INFINITY };
  if (process.platform !== 'linux') return 'none';
  if (stats.isSocket()) return { descriptor: 1, room: ROOM_OF_SOCKET };
  if (stats.isCharacterDevice()) return { descriptor: 1, room: Number.POSITIVE_INFINITY };
  if (!stats.isFIFO()) return 'none';
  try {
    // A second descriptor of the pipe does not wait, and other processes that have the first one do not notice.
    const descriptor = openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
    return { descriptor, room: Number.POSITIVE_INFINITY };
  } catch {
    // The pipe is another user's, or has no reader.
    return 'none';
  }
}

/** Whether it is `/dev/null`. */
function isNowhere(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
}

/** Whether it may be a terminal. Only the stream of the process knows for certain, and it is slow to load. */
function mayBeTerminal(stats: Stats): boolean {
  return stats.isCharacterDevice() && !isNowhere(stats);
}

/** Whether stdout may be a terminal. */
export function isTerminalOnStdout(): boolean {
  return mayBeTerminal(fstatSync(1));
}

/** The width of the terminal, or undefined. Does not load `process.stdout` if stdout can't be a terminal. */
export function columnsOfStdout(): number | undefined {
  return isTerminalOnStdout() ? process.stdout.columns : undefined;
}

/** `process.stdout`, which it opens only for a terminal, or if something can't be written at once. */
export const stdoutAtOnce: Stdout = {
  get isTTY() {
    return isTerminalOnStdout() && process.stdout.isTTY === true;
  },
  get columns() {
    return columnsOfStdout();
  },
  get rows() {
    return isTerminalOnStdout() ? process.stdout.rows : undefined;
  },
  write: printMeanwhile,
};

/** Whether stderr is a terminal. Does not load `process.stderr` if it can't be one. */
export function isTerminalOnStderr(): boolean {
  return mayBeTerminal(fstatSync(2)) && process.stderr.isTTY === true;
}

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Psd2Error } from '../../../errors.ts';
import { readPlainFile } from '../../disk/files.ts';
import { refuseUnsafe } from '../../disk/permissions.ts';

/** A line with its checksum, to append. The line break before it ends a line that a crash may have cut short. */
export function checkedLine(text: string): string {
  return `\n${checksum(text)} ${text}\n`;
}

/**
 * The complete lines of a file, without their checksums. Skips damaged ones. A file that is missing or cannot be read has none.
 *
 * @throws Psd2Error `config` if another user may have written them
 */
export function checkedLines(path: string): string[] {
  refuseUnsafe(path, 'secret');
  return linesIn(contentOf(path));
}

/** The lines of a file that only grows. What it has read, it does not read again, unless the file is another one by now. */
export class GrowingLines<Line> {
  readonly #path: string;
  readonly #parse: (text: string) => Line;
  #read: Read | undefined;

  /** @param parse may throw: then the next call gives the same lines again */
  constructor(path: string, parse: (text: string) => Line) {
    this.#path = path;
    this.#parse = parse;
  }

  /**
   * The complete lines since the last call, as {@link checkedLines} gives them.
   *
   * @returns also whether the file is another one, or has changed otherwise than by growing: then these are all its lines
   * @throws Psd2Error `config` if another user may have written them
   */
  next(): { lines: Line[]; isAnew: boolean } {
    refuseUnsafe(this.#path, 'secret');
    const before = this.#read;
    const grown = before && readGrown(this.#path, before);
    if (before && grown) {
      const lines = linesIn(grown.content).map(this.#parse);
      this.#read = readUpTo(grown.content, grown.state, before);
      return { lines, isAnew: false };
    }
    // Its state is taken first: what is added in between is read once more then, and never missed.
    const state = stateOf(this.#path);
    const content = contentOf(this.#path);
    const lines = linesIn(content).map(this.#parse);
    this.#read = state && readUpTo(content, state);
    return { lines, isAnew: true };
  }
}

/** How much of a file was read. */
interface Read {
  state: FileState;
  end: number;
  /** What is before `end`: a new file may have the number of a removed one. */
  last: Buffer;
}

/** As much as tells one line from another. */
const LAST_BYTES = 64;

function readUpTo(content: Buffer, state: FileState, before?: Read): Read {
  const whole = content.subarray(0, lengthOfWhole(content));
  const last = Buffer.concat([before?.last ?? Buffer.alloc(0), whole]).subarray(-LAST_BYTES);
  return { state, end: (before?.end ?? 0) + whole.length, last: Buffer.from(last) };
}

/** What tells whether a file has only grown. */
interface FileState {
  dev: number;
  ino: number;
  size: number;
  mtimeMs: number;
}

function stateOf(path: string): FileState | undefined {
  return withPlainFile(path, (_file, state) => state);
}

/** What was added to a file since. Undefined if it has not only grown, or cannot be read. */
function readGrown(
  path: string,
  { state: before, end, last }: Read,
): { content: Buffer; state: FileState } | undefined {
  return withPlainFile(path, (file, state) => {
    const isSame = state.dev === before.dev && state.ino === before.ino;
    const isUnchanged = state.size === before.size && state.mtimeMs === before.mtimeMs;
    if (!isSame || (!isUnchanged && state.size <= before.size)) return undefined;
    const start = end - last.length;
    const bytes = Buffer.alloc(state.size - start);
    if (readSync(file, bytes, 0, bytes.length, start) < bytes.length) return undefined;
    return bytes.subarray(0, last.length).equals(last)
      ? { content: bytes.subarray(last.length), state }
      : undefined;
  });
}

/** Undefined if it is missing, is not a file, or cannot be read: reading all of it decides then. */
function withPlainFile<T>(path: string, work: (file: number, state: FileState) => T): T | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const { dev, ino, size, mtimeMs } = stats;
    return stats.isFile() ? work(file, { dev, ino, size, mtimeMs }) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function contentOf(path: string): Buffer {
  try {
    return readPlainFile(path) ?? Buffer.alloc(0);
  } catch (error) {
    if (error instanceof Psd2Error) return Buffer.alloc(0);
    throw error;
  }
}

function linesIn(content: Buffer): string[] {
  return content
    .toString('utf8')
    .split('\n')
    .flatMap((line) => (isWhole(line) ? [line.slice(9)] : []));
}

/** Up to the end of the last line that will not change: another process may be writing the one after it. */
function lengthOfWhole(content: Buffer): number {
  const end = content.lastIndexOf('\n') + 1;
  return isWhole(content.subarray(end).toString('utf8')) ? content.length : end;
}

function isWhole(line: string): boolean {
  return line.length >= 10 && line.slice(0, 9) === `${checksum(line.slice(9))} `;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

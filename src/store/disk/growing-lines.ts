import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { refuseUnsafe } from './permissions.ts';

interface Form<Line> {
  /** All that is in the file. */
  read(): Buffer;
  /** A line. Undefined if it is damaged or not complete. May throw: then the next call gives the same lines again */
  parse(text: string): Line | undefined;
}

/** The lines of a file that only grows. What it has read, it does not read again, unless the file is another one by now. */
export class GrowingLines<Line> {
  readonly #path: string;
  readonly #form: Form<Line>;
  #read: Read | undefined;

  constructor(path: string, form: Form<Line>) {
    this.#path = path;
    this.#form = form;
  }

  /**
   * The complete lines since the last call. A line that another process is still writing comes when it is complete.
   *
   * @returns also whether the file is another one, or has changed otherwise than by growing: then these are all its lines
   * @throws Psd2Error `config` if another user may have written them, and what reading all of the file throws
   */
  next(): { lines: Line[]; isAnew: boolean } {
    refuseUnsafe(this.#path, 'secret');
    const before = this.#read;
    const grown = before && readGrown(this.#path, before);
    if (before && grown) {
      const { lines, length } = this.#linesIn(grown.content);
      this.#read = readUpTo(grown.content.subarray(0, length), grown.state, before);
      return { lines, isAnew: false };
    }
    // Its state is taken first: what is added in between is read once more then, and never missed.
    const state = stateOf(this.#path);
    const content = this.#form.read();
    const { lines, length } = this.#linesIn(content);
    this.#read = state && readUpTo(content.subarray(0, length), state);
    return { lines, isAnew: true };
  }

  /** @returns `length`: up to the end of the last line that will not change */
  #linesIn(content: Buffer): { lines: Line[]; length: number } {
    const texts = content.toString('utf8').split('\n');
    const parsed = texts.map((text) => this.#form.parse(text));
    const isEndComplete = parsed.at(-1) !== undefined;
    const lines = parsed.filter((line) => line !== undefined);
    return { lines, length: isEndComplete ? content.length : content.lastIndexOf('\n') + 1 };
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

function readUpTo(whole: Buffer, state: FileState, before?: Read): Read {
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

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dayOfRow } from '../../../domain/booked-ids.ts';
import { type IsoDate, isIsoDate } from '../../../domain/calendar.ts';
import { isRecord, jsonIn } from '../../../domain/json.ts';
import { Psd2Error } from '../../../errors.ts';
import { isMissing, withFile } from '../../disk/files.ts';
import type { StoredRows } from '../../known-rows.ts';
import type { RowMark, SyncedRow } from '../../ports/sync.ts';
import { storedRow } from '../../synced-rows.ts';
import { WRITE_AT_END } from './claim.ts';

/** What psd2 must know of a line. */
interface Line {
  id: string;
  bookingDate: string | null;
  valueDate?: string | null;
}

/** Consecutive rows of one day. psd2 keeps only this of them in memory: there may be a hundred thousand rows. */
interface Run {
  /** `''` for rows without a day. They may always come again. */
  day: string;
  /** Where the first row begins in the file, in bytes. */
  offset: number;
  /** One id per line. A single text takes a third of the memory of many texts. */
  ids: string;
}

const BLOCK = 256 * 1024;
const BOOKED = '"status":"booked"';
/** As long as `booked`, so that it can be written in its place. */
const HIDDEN = 'hidden';
/** For a caller that shares the folder with nobody. */
const UNSHARED = { claim: { assertHeld: () => {} }, isFlushed: false };

/**
 * An append-only file of rows, one JSON document per line, so that a program that follows the file misses nothing. Each row
 * is there once, even if it is fetched again or an append was cut short.
 */
export class SyncedRows implements StoredRows {
  readonly path: string;
  /** The rows that may come again, in the order of the file. */
  readonly #runs: Run[] = [];
  /** The ids of the last run of rows, which may still grow. */
  #lastIds: string[] = [];
  #size: number;
  /** Set if some rows may not be on the disk yet: the descriptor of the file, or null if it is not open yet. */
  #unflushed: number | null | undefined;
  readonly #claim: Pick<Held, 'assertHeld'>;

  /**
   * Reads the rows of the file that may come again, and cuts off a last line that a crash left incomplete.
   *
   * @param settled bytes at the beginning of the file whose rows cannot come again; 0 if that is unknown
   * @param how `claim` is the right to write to the file. `isFlushed` is true if the sync that wrote the rows has ended and
   *   waited for the disk
   * @throws Psd2Error `config` if the file cannot be read or is damaged, or another run has taken the folder over
   */
  constructor(
    path: string,
    settled: number,
    { claim, isFlushed }: { claim: Pick<Held, 'assertHeld'>; isFlushed: boolean } = UNSHARED,
  ) {
    this.path = path;
    this.#claim = claim;
    try {
      this.#size = readRows(path, settled, claim, (row, offset) => this.#hold(row, offset));
      // A killed sync may have appended these rows without waiting for the disk.
      this.#unflushed = this.#runs.length > 0 && !isFlushed ? null : undefined;
    } catch (cause) {
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error('config', `${path} cannot be read`, { hint: 'Check who owns it.', cause });
    }
  }

  /**
   * Appends the rows that are missing. They become durable when the caller flushes the file: {@link takeUnflushed}.
   *
   * @returns how many it appended
   * @throws Psd2Error `config` if they cannot be written
   */
  append(rows: readonly Line[]): number {
    // An id belongs to one day.
    const storedIds = this.#idsOf(new Set(rows.map(dayOf)));
    const fresh = rows.filter(({ id }) => !storedIds.has(id));
    return this.#write(fresh);
  }

  async add(rows: readonly SyncedRow[]): Promise<void> {
    this.append(rows);
  }

  /**
   * Appends the rows again, with the mark, for programs that follow the file. The lines before get another status, for those
   * that read all of it.
   */
  async mark(rows: readonly SyncedRow[], mark: RowMark): Promise<void> {
    if (rows.length === 0) return;
    const places = this.#placesOf(rows);
    this.#write(rows.map((row) => ({ ...row, status: HIDDEN, [mark]: true })));
    try {
      withFile(this.path, 'r+', (file) => {
        this.#assertOwn(file);
        for (const place of places) writeSync(file, HIDDEN, place);
      });
    } catch (cause) {
      throw this.#notWritten(cause);
    }
  }

  /** Where the file says of some rows that they are booked, in bytes. */
  #placesOf(rows: readonly SyncedRow[]): number[] {
    const ids = new Set(rows.map(({ id }) => id));
    return [...this.#blocksOf(new Set(rows.map(dayOf)))].flatMap(({ bytes, offset }) =>
      lineBounds(bytes).flatMap(({ begin, end }) => {
        const line = bytes.toString('utf8', begin, end);
        const at = bytes.subarray(begin, end).indexOf(BOOKED);
        const isOne = at !== -1 && ids.has(readRow(this.path, line, offset + begin).id);
        return isOne ? [offset + begin + at + BOOKED.indexOf('booked')] : [];
      }),
    );
  }

  #write(fresh: readonly Line[]): number {
    if (fresh.length === 0) return 0;
    const lines = fresh.map((row) => `${JSON.stringify(row)}\n`);
    try {
      this.#unflushed ??= this.#open();
      writeFileSync(this.#unflushed, lines.join(''));
    } catch (cause) {
      throw this.#notWritten(cause);
    }
    fresh.forEach((row, index) => {
      this.#hold(row, this.#size);
      this.#size += Buffer.byteLength(lines[index] ?? '');
    });
    return fresh.length;
  }

  #notWritten(cause: unknown): Psd2Error {
    if (cause instanceof Psd2Error) return cause;
    return new Psd2Error('config', `${this.path} cannot be written`, {
      hint: 'Check the free space, and who owns the folder. What is in the file stays. The next sync continues.',
      cause,
    });
  }

  /** Size of the file in bytes, including appended rows. */
  get size(): number {
    return this.#size;
  }

  /** @throws Psd2Error `config` if another run has taken the folder over, or another program has changed the file */
  #open(): number {
    // If the file existed and is gone now, do not create it again.
    const file = openSync(this.path, this.#size === 0 ? 'a' : WRITE_AT_END, 0o600);
    try {
      this.#assertOwn(file);
      return file;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  #assertOwn(file: number): void {
    // A run that takes the folder over gives the file a new inode. So this file is ours, or no path leads to it any more.
    this.#claim.assertHeld();
    if (fstatSync(file).size === this.#size) return;
    throw new Psd2Error(
      'config',
      `${this.path} was changed by another program while psd2 sync worked on it`,
      { hint: 'Do not write to the files of psd2 sync. Run it again.' },
    );
  }

  #hold(row: Line, offset: number): void {
    const day = dayOf(row);
    if (this.#runs.at(-1)?.day !== day) {
      this.#endRun();
      this.#runs.push({ day, offset, ids: '' });
    }
    this.#lastIds.push(row.id);
  }

  #endRun(): void {
    const last = this.#runs.at(-1);
    if (last) last.ids = this.#lastIds.join('\n');
    this.#lastIds = [];
  }

  #idsOf(days: ReadonlySet<string>): Set<string> {
    const ids = new Set(this.#lastIds);
    for (const run of this.#runs) {
      if (days.has(run.day)) for (const id of run.ids.split('\n')) ids.add(id);
    }
    return ids;
  }

  /** The rows of some days, as they are stored. */
  async find(days: ReadonlySet<string>, from?: IsoDate): Promise<SyncedRow[]> {
    const rowsById = new Map<string, SyncedRow>();
    for (const { bytes, offset } of this.#blocksOf(days, from))
      for (const line of bytes.toString('utf8').split('\n')) {
        if (line === '') continue;
        const { success, data } = storedRow.safeParse(JSON.parse(line));
        if (!success) throw damagedRowAt(this.path, offset);
        rowsById.set(data.id, data);
      }
    return [...rowsById.values()];
  }

  /** The lines of some days, in as few blocks of the file as possible. */
  *#blocksOf(days: ReadonlySet<string>, from?: IsoDate): Generator<{ bytes: Buffer; offset: number }> {
    const wanted = this.#runs.flatMap(({ day, offset }, index) => {
      const isWanted = days.has(day) || (from !== undefined && day >= from);
      return isWanted ? [{ offset, end: this.#runs[index + 1]?.offset ?? this.#size }] : [];
    });
    if (wanted.length === 0) return;
    const file = openSync(this.path, 'r');
    try {
      for (let at = 0; at < wanted.length; ) {
        const { offset = 0 } = wanted[at] ?? {};
        let end = wanted[at]?.end ?? offset;
        for (at += 1; wanted[at]?.offset === end; at += 1) end = wanted[at]?.end ?? end;
        const bytes = Buffer.alloc(end - offset);
        readSync(file, bytes, 0, bytes.length, offset);
        yield { bytes, offset };
      }
    } finally {
      closeSync(file);
    }
  }

  async recall(): Promise<void> {
    this.#runs.length = 0;
    this.#lastIds = [];
    this.#size = readRows(this.path, 0, this.#claim, (row, offset) => this.#hold(row, offset));
  }

  /** The latest booking day, not after `latest`, of a row that may come again. */
  async lastDay(latest: IsoDate): Promise<IsoDate | undefined> {
    const days = this.#runs.map(({ day }) => day).filter((day) => day <= latest);
    const last = days.reduce((latest, day) => (day > latest ? day : latest), '');
    return isIsoDate(last) ? last : undefined;
  }

  /**
   * Hands over the open file. The caller waits for the disk and closes it. Undefined if all rows are on the disk.
   *
   * @throws Error of the file system
   */
  takeUnflushed(): number | undefined {
    const file = this.#unflushed === null ? openSync(this.path, 'r') : this.#unflushed;
    this.#unflushed = undefined;
    return file;
  }

  /**
   * Forgets the rows that were booked before `day`, since they cannot come again.
   *
   * @returns how many bytes at the beginning of the file are settled now
   */
  settle(day: string): number {
    const first = this.#runs.findIndex((run) => run.day === '' || run.day >= day);
    if (first === -1) this.#lastIds = [];
    this.#runs.splice(0, first === -1 ? this.#runs.length : first);
    return this.#runs[0]?.offset ?? this.#size;
  }
}

function dayOf(line: Line): string {
  return dayOfRow(line) ?? '';
}

/** @returns the size of the file, without an incomplete last line */
function readRows(
  path: string,
  settled: number,
  claim: Pick<Held, 'assertHeld'>,
  each: (row: Line, offset: number) => void,
): number {
  const whole = sizeOf(path);
  if (whole === 0) return 0;
  return withFile(path, 'r+', (file) => {
    // If someone has shortened the file, read it from the beginning.
    let offset = settled <= fstatSync(file).size ? settled : 0;
    let rest = Buffer.alloc(0);
    let position = offset;
    for (;;) {
      const block = Buffer.alloc(BLOCK);
      const length = readSync(file, block, 0, BLOCK, position);
      if (length === 0) break;
      position += length;
      const bytes = Buffer.concat([rest, block.subarray(0, length)]);
      let begin = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, begin)) {
        each(readRow(path, bytes.toString('utf8', begin, end), offset), offset);
        offset += end + 1 - begin;
        begin = end + 1;
      }
      rest = bytes.subarray(begin);
    }
    if (rest.length > 0) {
      if (!isBegunRow(rest)) throw damagedRowAt(path, offset);
      claim.assertHeld();
      ftruncateSync(file, offset);
    }
    return offset;
  });
}

/** The lines of a block of whole lines. */
function lineBounds(bytes: Buffer): { begin: number; end: number }[] {
  const lines = [];
  for (let begin = 0, end = bytes.indexOf(10); end !== -1; begin = end + 1, end = bytes.indexOf(10, begin))
    lines.push({ begin, end });
  return lines;
}

function readRow(path: string, line: string, offset: number): Line {
  const row = jsonIn(line);
  if (isRecord(row) && typeof row.id === 'string')
    return { id: row.id, bookingDate: textOrNull(row.bookingDate), valueDate: textOrNull(row.valueDate) };
  throw damagedRowAt(path, offset);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function damagedRowAt(path: string, offset: number): Psd2Error {
  return new Psd2Error('config', `${path} is damaged at byte ${offset}: it is not a row of psd2 sync`, {
    hint: 'Repair that line, or move the file away. The next sync then fetches its rows again.',
  });
}

/** Whether a crash left this: the beginning of a row, or zeros. Anything else must not be cut off. */
function isBegunRow(rest: Buffer): boolean {
  const begin = '{"id":"';
  const isBegun = rest.toString('utf8', 0, begin.length) === begin.slice(0, rest.length);
  return isBegun || rest.every((byte) => byte === 0);
}

/** The size of a file in bytes; 0 if it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The right to a folder that another run may take over at any moment. */
interface Held {
  readonly number: number;
  /** @throws Psd2Error `config` if another run has taken it over */
  assertHeld(): void;
}

/** The temporary name of a file that a run is about to put in place of another one. */
export function besideOf(path: string, { number }: Held): string {
  return `${path}.new-${number}`;
}

/** Whether a name comes from {@link besideOf}. */
export function isBeside(name: string): boolean {
  return /\.ndjson\.new-\d+$/.test(name);
}

/**
 * Renames a run's temporary file to its final name. A run that was stopped just before, and whose folder was taken over,
 * cannot replace newer data with older data: the run that takes a folder over first removes all temporary files, so nothing
 * is left to rename.
 *
 * @throws Psd2Error `config` if the folder was taken over, Error of the file system
 */
export function putInPlace(path: string, claim: Held): void {
  claim.assertHeld();
  try {
    renameSync(besideOf(path, claim), path);
  } catch (cause) {
    if (isMissing(cause)) claim.assertHeld();
    throw cause;
  }
}

/**
 * Replaces a file by a copy, because a stopped run may have it open. What that run writes when it continues goes to the old
 * file, which no path leads to any more.
 *
 * @throws Psd2Error `config` if the folder was taken over, Error of the file system
 */
export function takeOwnCopy(path: string, claim: Held): void {
  if (!existsSync(path)) return;
  const beside = besideOf(path, claim);
  copyFileSync(path, beside, constants.COPYFILE_FICLONE);
  withFile(beside, 'r+', fdatasyncSync);
  putInPlace(path, claim);
}

import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { type IsoDate, isIsoDate } from '../../../domain/calendar.ts';
import { Psd2Error } from '../../../errors.ts';
import { WRITE_AT_END } from './claim.ts';
import type { Held } from './own-copy.ts';

/** A row as it stands in a file: its id, and the day it is sorted and looked up by. */
export interface SyncedRow {
  id: string;
  bookingDate: string | null;
}

/** Rows of one day that stand one after the other: there may be a hundred thousand of which only this is held. */
interface Run {
  /** `''` for rows without a booking date, which are looked up for ever. */
  day: string;
  /** Of the first one in the file. */
  offset: number;
  /** A line each: one text takes a third of the memory of many. */
  ids: string;
}

const BLOCK = 256 * 1024;
/** For who has the folder for itself. */
const UNSHARED = { claim: { assertHeld: () => {} }, isFlushed: false };

/**
 * A file of rows that is only ever appended to, one JSON document a line, so that a program that reads along
 * misses nothing. A row is there once, whatever is fetched again, and whenever an append was cut short.
 */
export class SyncedRows {
  /** The file that the rows stand in. */
  readonly path: string;
  /** The rows that may come again, in the order of the file. */
  readonly #runs: Run[] = [];
  /** The ids of the last run, which is not at its end yet. */
  #lastIds: string[] = [];
  #size: number;
  /** Where there are rows that may not be on the disk yet: the file, opened, or null for one to be opened. */
  #unflushed: number | null | undefined;
  readonly #claim: Pick<Held, 'assertHeld'>;

  /**
   * Reads what of the file may come again, and cuts off a last line that a crash left unfinished.
   *
   * @param settled bytes at the beginning of the file whose rows can't come again; 0 when that is not known
   * @param how `claim` is the right to write to the file; `isFlushed`: a sync that has ended wrote the rows, and waited
   *   for the disk
   * @throws Psd2Error `config` when the file can't be read or is damaged, or another run has taken the folder over
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
      // A killed sync may have appended these, and not waited for the disk.
      this.#unflushed = this.#runs.length > 0 && !isFlushed ? null : undefined;
    } catch (cause) {
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error('config', `${path} cannot be read`, { hint: 'Check who owns it.', cause });
    }
  }

  /**
   * Appends the rows that are not there yet. They are durable once the file is flushed: {@link takeUnflushed}.
   *
   * @returns how many these were
   * @throws Psd2Error `config` when they can't be written
   */
  append(rows: readonly SyncedRow[]): number {
    // An id tells the day, too, so a row is among those of its own day or new.
    const known = this.#idsOf(new Set(rows.map(dayOf)));
    const fresh = rows.filter(({ id }) => !known.has(id));
    if (fresh.length === 0) return 0;
    const lines = fresh.map((row) => `${JSON.stringify(row)}\n`);
    try {
      this.#unflushed ??= this.#open();
      writeFileSync(this.#unflushed, lines.join(''));
    } catch (cause) {
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error('config', `${this.path} cannot be written`, {
        hint: 'Check the free space, and who owns the folder. What is in the file stays; the next sync goes on.',
        cause,
      });
    }
    fresh.forEach((row, index) => {
      this.#hold(row, this.#size);
      this.#size += Buffer.byteLength(lines[index] ?? '');
    });
    return fresh.length;
  }

  /** Bytes of the file, with what was appended. */
  get size(): number {
    return this.#size;
  }

  /** @throws Psd2Error `config` when another run has taken the folder over, or another program has changed the file */
  #open(): number {
    // One that was there is not made anew where it is gone.
    const file = openSync(this.path, this.#size === 0 ? 'a' : WRITE_AT_END, 0o600);
    try {
      // Who takes the folder over gives the file a new inode after that: so this one is ours, or is found by nobody.
      this.#claim.assertHeld();
      if (fstatSync(file).size === this.#size) return file;
      throw new Psd2Error(
        'config',
        `${this.path} was changed by another program while psd2 sync worked on it`,
        {
          hint: 'Leave these files to psd2 sync, and run it again.',
        },
      );
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  #hold(row: SyncedRow, offset: number): void {
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

  /** The latest day, up to `most`, that a row which may come again was booked on. */
  lastDay(most: IsoDate): IsoDate | undefined {
    const days = this.#runs.map(({ day }) => day).filter((day) => day <= most);
    const last = days.reduce((latest, day) => (day > latest ? day : latest), '');
    return isIsoDate(last) ? last : undefined;
  }

  /**
   * The file, opened, for who waits for the disk and closes it; undefined where there is nothing to wait for.
   *
   * @throws Error of the file system
   */
  takeUnflushed(): number | undefined {
    const file = this.#unflushed === null ? openSync(this.path, 'r') : this.#unflushed;
    this.#unflushed = undefined;
    return file;
  }

  /**
   * Says that nothing that was booked before `day` can come again.
   *
   * @returns how much of the file is settled by that
   */
  settle(day: string): number {
    const first = this.#runs.findIndex((run) => run.day === '' || run.day >= day);
    if (first === -1) this.#lastIds = [];
    this.#runs.splice(0, first === -1 ? this.#runs.length : first);
    return this.#runs[0]?.offset ?? this.#size;
  }
}

function dayOf({ bookingDate }: SyncedRow): string {
  return bookingDate ?? '';
}

/** @returns the size of the file, without the end that a crash left unfinished */
function readRows(
  path: string,
  settled: number,
  claim: Pick<Held, 'assertHeld'>,
  each: (row: SyncedRow, offset: number) => void,
): number {
  const whole = sizeOf(path);
  if (whole === 0) return 0;
  const file = openSync(path, 'r+');
  try {
    // A file that someone has shortened is read anew.
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
      if (!isBegunRow(rest)) throw damagedAt(path, offset);
      claim.assertHeld();
      ftruncateSync(file, offset);
    }
    return offset;
  } finally {
    closeSync(file);
  }
}

function readRow(path: string, line: string, offset: number): SyncedRow {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (typeof row === 'object' && row !== null && 'id' in row && typeof row.id === 'string') {
    const day = 'bookingDate' in row && typeof row.bookingDate === 'string' ? row.bookingDate : null;
    return { id: row.id, bookingDate: day };
  }
  throw damagedAt(path, offset);
}

function damagedAt(path: string, offset: number): Psd2Error {
  return new Psd2Error('config', `${path} is damaged at byte ${offset}: there is no row of psd2 sync`, {
    hint: 'Mend that line, or move the file away: the next sync fetches its rows again.',
  });
}

/** What a crash left of a row, or a power cut of the space for it; anything else is not ours to cut off. */
function isBegunRow(rest: Buffer): boolean {
  const begin = '{"id":"';
  const isBegun = rest.toString('utf8', 0, begin.length) === begin.slice(0, rest.length);
  return isBegun || rest.every((byte) => byte === 0);
}

/** 0 when there is no such file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

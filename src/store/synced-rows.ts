import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { Psd2Error } from '../errors.ts';
import { isMissing } from './system-error.ts';

/** A row as it stands in a file: its id, and the day it is sorted and looked up by. */
export interface SyncedRow {
  id: string;
  bookingDate: string | null;
}

/** Where a row stands in its file. */
interface Place {
  id: string;
  /** `''` for a row without a booking date, which is looked up for ever. */
  day: string;
  offset: number;
}

const BLOCK = 256 * 1024;

/**
 * A file of rows that is only ever appended to, one JSON document a line, so that a program that reads along
 * misses nothing. A row is there once, whatever is fetched again, and whenever an append was cut short.
 */
export class SyncedRows {
  /** The file that the rows stand in. */
  readonly path: string;
  readonly #places: Place[];
  /** Of the rows at these places. */
  readonly #known: Set<string>;
  #size: number;
  /** Where there are rows that may not be on the disk yet: the file, opened, or null for one to be opened. */
  #unflushed: number | null | undefined;

  /**
   * Reads what of the file may come again, and cuts off a last line that a crash left unfinished.
   *
   * @param settled bytes at the beginning of the file whose rows can't come again; 0 when that is not known
   * @throws Psd2Error `config` when the file can't be read or is damaged
   */
  constructor(path: string, settled: number) {
    this.path = path;
    try {
      const { places, size } = readPlaces(path, settled);
      this.#places = places;
      this.#known = new Set(places.map(({ id }) => id));
      this.#size = size;
      // A killed sync may have appended these, and not waited for the disk.
      this.#unflushed = places.length > 0 ? null : undefined;
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
    const fresh = rows.filter(({ id }) => !this.#known.has(id));
    if (fresh.length === 0) return 0;
    const lines: string[] = [];
    const places: Place[] = [];
    let offset = this.#size;
    for (const row of fresh) {
      const line = `${JSON.stringify(row)}\n`;
      places.push({ id: row.id, day: row.bookingDate ?? '', offset });
      lines.push(line);
      offset += Buffer.byteLength(line);
    }
    try {
      this.#unflushed ??= openSync(this.path, 'a', 0o600);
      writeFileSync(this.#unflushed, lines.join(''));
    } catch (cause) {
      throw new Psd2Error('config', `${this.path} cannot be written`, {
        hint: 'Check the free space, and who owns the folder. What is in the file stays; the next sync goes on.',
        cause,
      });
    }
    this.#size = offset;
    for (const place of places) {
      this.#places.push(place);
      this.#known.add(place.id);
    }
    return fresh.length;
  }

  /** The latest day, up to `most`, that a row which may come again was booked on. */
  lastDay(most: IsoDate): IsoDate | undefined {
    const days = this.#places.map(({ day }) => day).filter((day) => day <= most);
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
    const first = this.#places.findIndex((place) => place.day === '' || place.day >= day);
    const settled = this.#places.splice(0, first === -1 ? this.#places.length : first);
    for (const { id } of settled) this.#known.delete(id);
    return this.#places[0]?.offset ?? this.#size;
  }
}

function readPlaces(path: string, settled: number): { places: Place[]; size: number } {
  const whole = sizeOf(path);
  if (whole === 0) return { places: [], size: 0 };
  const file = openSync(path, 'r+');
  try {
    const places: Place[] = [];
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
        places.push(readPlace(path, bytes.toString('utf8', begin, end), offset));
        offset += end + 1 - begin;
        begin = end + 1;
      }
      rest = bytes.subarray(begin);
    }
    if (rest.length > 0) {
      if (!isBegunRow(rest)) throw damagedAt(path, offset);
      ftruncateSync(file, offset);
    }
    return { places, size: offset };
  } finally {
    closeSync(file);
  }
}

function readPlace(path: string, line: string, offset: number): Place {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (typeof row === 'object' && row !== null && 'id' in row && typeof row.id === 'string') {
    return {
      id: row.id,
      day: 'bookingDate' in row && typeof row.bookingDate === 'string' ? row.bookingDate : '',
      offset,
    };
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

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

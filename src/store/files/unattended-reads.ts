import { closeSync, constants, fstatSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { listFolder } from '../disk/files.ts';
import { makePrivateFolder } from '../disk/json-file.ts';
import { reasonOf } from '../disk/system-error.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { AccountRead, UnattendedReads } from '../ports/access.ts';

/**
 * Counts reads of one profile's accounts while the customer was absent. Each day has an append-only file with one line per
 * read, so that parallel processes need no lock. psd2 writes the line before it reads, and does not flush it: a power cut
 * may lose the last lines.
 */
export class FileUnattendedReads implements UnattendedReads {
  readonly #folder: string;
  #day: IsoDate | undefined;
  /** How many bytes of the day's file are counted. */
  #read = 0;
  readonly #counts = new Map<string, number>();
  /** The reads that this run has counted. All calls of one run to the same account are one read. */
  readonly #taken = new Set<string>();

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'unattended-reads');
  }

  begin(): void {
    this.#taken.clear();
  }

  async take(read: AccountRead, budget = Number.POSITIVE_INFINITY): Promise<boolean> {
    const line = `${read.customerId} ${read.productId ?? '*'}\n`;
    if (this.#taken.has(`${read.day} ${line}`)) return true;
    const path = this.#turnTo(read.day);
    try {
      if (budget !== Number.POSITIVE_INFINITY && this.#count(path, line) >= budget) return false;
      makePrivateFolder(this.#folder);
      const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
      const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600);
      try {
        writeSync(file, line);
        // Another process may have taken the last read of the budget at the same time.
        if (this.#countIn(file, line) > budget) return false;
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error('config', `The count of reads ${path} cannot be written: ${reasonOf(cause)}`, {
        hint: 'Check the free space, and who owns the folder.',
        cause,
      });
    }
    this.#taken.add(`${read.day} ${line}`);
    return true;
  }

  #turnTo(day: IsoDate): string {
    if (day !== this.#day) {
      this.#day = day;
      this.#read = 0;
      this.#counts.clear();
      for (const file of listFolder(this.#folder))
        if (file < day) rmSync(join(this.#folder, file), { force: true });
    }
    return join(this.#folder, day);
  }

  #count(path: string, line: string): number {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= this.#read)
      return this.#counts.get(line) ?? 0;
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
    const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      return this.#countIn(file, line);
    } finally {
      closeSync(file);
    }
  }

  /** Counts the lines, including those that other processes have appended. */
  #countIn(file: number, line: string): number {
    const added = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#read));
    const text = added.subarray(0, readSync(file, added, 0, added.length, this.#read)).toString('latin1');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#read += whole.length;
    for (const each of whole.split(/(?<=\n)/)) {
      if (each !== '') this.#counts.set(each, (this.#counts.get(each) ?? 0) + 1);
    }
    return this.#counts.get(line) ?? 0;
  }
}

import { closeSync, constants, fstatSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { IsoDate } from '../../domain/calendar.ts';
import { pauseAfter } from '../../domain/read-turns.ts';
import { Psd2Error } from '../../errors.ts';
import { listFolder } from '../disk/files.ts';
import { makePrivateFolder } from '../disk/json-file.ts';
import { reasonOf } from '../disk/system-error.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { AccountRead, ReadLimit, Taken, UnattendedReads } from '../ports/access.ts';
import { addReadLines, type DayOfAccount, type ReadLine, writeReadLine } from './read-lines.ts';

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
  readonly #accounts = new Map<string, DayOfAccount>();
  /** The reads that this run has counted, and whether they brought data. */
  readonly #taken = new Map<string, boolean>();

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'unattended-reads');
  }

  begin(): void {
    this.#taken.clear();
  }

  async take(read: AccountRead, limit?: ReadLimit): Promise<Taken> {
    const name = nameOf(read);
    if (this.#taken.has(`${read.day} ${name}`)) return 'taken';
    const path = this.#turnTo(read.day);
    const budget = limit?.budget ?? Number.POSITIVE_INFINITY;
    try {
      if (limit) {
        const { reads = 0, pausedUntil = 0 } = this.#look(path, name) ?? {};
        if (reads >= budget) return 'used-up';
        if (limit.minute !== undefined && pausedUntil > limit.minute) return 'paused';
      }
      // Another process may have taken the last read of the budget at the same time.
      if ((this.#append(path, name, { kind: 'taken' })?.reads ?? 0) > budget) {
        this.#append(path, name, { kind: 'back' });
        return 'used-up';
      }
    } catch (cause) {
      throw cannotCount(path, cause);
    }
    this.#taken.set(`${read.day} ${name}`, false);
    return 'taken';
  }

  async giveBack(read: AccountRead, failedAt?: number): Promise<void> {
    const name = nameOf(read);
    if (this.#taken.get(`${read.day} ${name}`) !== false) return;
    this.#taken.delete(`${read.day} ${name}`);
    const failures = (this.#knownOf(read)?.failures ?? 0) + 1;
    this.#note(
      read,
      failedAt === undefined
        ? { kind: 'back' }
        : { kind: 'failed', failures, pausedUntil: failedAt + pauseAfter(failures) },
    );
  }

  async succeeded(read: AccountRead): Promise<void> {
    const name = `${read.day} ${nameOf(read)}`;
    if (this.#taken.get(name) !== false) return;
    this.#taken.set(name, true);
    if (this.#knownOf(read)?.failures) this.#note(read, { kind: 'succeeded' });
  }

  /** What this process has counted of an account; undefined on another day than its last one. */
  #knownOf(read: AccountRead): DayOfAccount | undefined {
    return read.day === this.#day ? this.#accounts.get(nameOf(read)) : undefined;
  }

  /** Adds a line about a read that was taken. If its day is over, nobody counts it any more. */
  #note(read: AccountRead, line: ReadLine): void {
    if (read.day !== this.#day) return;
    const path = join(this.#folder, read.day);
    try {
      this.#append(path, nameOf(read), line);
    } catch (cause) {
      throw cannotCount(path, cause);
    }
  }

  #turnTo(day: IsoDate): string {
    if (day !== this.#day) {
      this.#day = day;
      this.#read = 0;
      this.#accounts.clear();
      for (const file of listFolder(this.#folder))
        if (file < day) rmSync(join(this.#folder, file), { force: true });
    }
    return join(this.#folder, day);
  }

  /** Appends a line. @returns what the file then says of the account */
  #append(path: string, name: string, line: ReadLine): DayOfAccount | undefined {
    makePrivateFolder(this.#folder);
    const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
    const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600);
    try {
      writeSync(file, writeReadLine(name, line));
      return this.#lookIn(file, name);
    } finally {
      closeSync(file);
    }
  }

  #look(path: string, name: string): DayOfAccount | undefined {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= this.#read) return this.#accounts.get(name);
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
    const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      return this.#lookIn(file, name);
    } finally {
      closeSync(file);
    }
  }

  /** Reads the lines since the last look, including those that other processes have appended. */
  #lookIn(file: number, name: string): DayOfAccount | undefined {
    const added = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#read));
    const text = added.subarray(0, readSync(file, added, 0, added.length, this.#read)).toString('latin1');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#read += whole.length;
    addReadLines(this.#accounts, whole.split('\n').slice(0, -1));
    return this.#accounts.get(name);
  }
}

function nameOf({ customerId, productId }: AccountRead): string {
  return `${customerId} ${productId ?? '*'}`;
}

function cannotCount(path: string, cause: unknown): Psd2Error {
  if (cause instanceof Psd2Error) return cause;
  return new Psd2Error('config', `The count of reads ${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder.',
    cause,
  });
}

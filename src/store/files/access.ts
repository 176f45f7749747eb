import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { IsoDate } from '../../domain/calendar.ts';
import { isCustomerId } from '../../domain/identifiers.ts';
import { pauseAfter } from '../../domain/read-turns.ts';
import { Psd2Error } from '../../errors.ts';
import { cannotWrite, listFolder, makePrivateFolder, readJsonFile, writeJsonFile } from '../disk/files.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type {
  AccessNote,
  AccessNotes,
  AccountRead,
  CallCount,
  ReadLimit,
  ReadTurn,
  UnattendedReads,
} from '../ports/access.ts';
import type { NoteRecord } from '../ports/copy.ts';
import type { StoredLogin } from '../ports/tokens.ts';
import { accountOfName, holderOfName, nameOfAccount, nameOfHolder } from './file-names.ts';

const note = z.object({ at: z.string(), message: z.string() });
const accessNotes = z.object({
  /** `of`: the expiry time of the access token whose renewal the bank refused. It identifies the generation of tokens. */
  refresh: z.optional(z.object({ at: z.string(), message: z.string(), of: z.nullable(z.string()) })),
  call: z.optional(note),
});

/** What the bank refused to the logins of one profile, in a file for each holder. */
export class FileAccessNotes implements AccessNotes {
  readonly #folder: string;

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'access-notes');
  }

  async read(
    holder: string | null,
    { accessTokenExpiresAt }: StoredLogin,
  ): Promise<{ refresh: AccessNote | undefined; call: AccessNote | undefined }> {
    const { refresh, call } = readJsonFile(this.#path(holder), accessNotes) ?? {};
    const isOfNow = refresh?.of === accessTokenExpiresAt;
    return { refresh: refresh && isOfNow ? { at: refresh.at, message: refresh.message } : undefined, call };
  }

  async refreshRefused(holder: string | null, login: StoredLogin, refused: AccessNote): Promise<void> {
    await this.#change(holder, { refresh: { ...refused, of: login.accessTokenExpiresAt } });
  }

  async callRefused(holder: string | null, refused: AccessNote | undefined): Promise<void> {
    await this.#change(holder, { call: refused });
  }

  async hasRefusedCall(holder: string | null): Promise<boolean> {
    return readJsonFile(this.#path(holder), accessNotes)?.call !== undefined;
  }

  async holders(): Promise<(string | null)[]> {
    const names = listFolder(this.#folder).map((name) => name.replace(/\.json$/, ''));
    return names.flatMap((name) => (name === 'application' ? null : (holderOfName(name) ?? [])));
  }

  async forget(holder: string | null): Promise<void> {
    rmSync(this.#path(holder), { force: true });
  }

  /** The notes, for `store copy`. Times are in UTC. @throws Psd2Error `config` if they are damaged */
  kept(holder: string | null): Pick<NoteRecord, 'refresh' | 'call'> | undefined {
    const notes = readJsonFile(this.#path(holder), accessNotes);
    if (!notes?.refresh && !notes?.call) return undefined;
    const { refresh, call } = notes;
    return {
      refresh: refresh
        ? { at: inUtc(refresh.at), message: refresh.message, of: refresh.of && inUtc(refresh.of) }
        : null,
      call: call ? { ...call, at: inUtc(call.at) } : null,
    };
  }

  /** Stores copied notes. @throws Psd2Error `config` */
  async keep(holder: string | null, { refresh, call }: Pick<NoteRecord, 'refresh' | 'call'>): Promise<void> {
    await this.#change(holder, { refresh: refresh ?? undefined, call: call ?? undefined });
  }

  async #change(holder: string | null, change: z.infer<typeof accessNotes>): Promise<void> {
    const notes = { ...readJsonFile(this.#path(holder), accessNotes), ...change };
    makePrivateFolder(this.#folder);
    await writeJsonFile(this.#path(holder), notes, accessNotes);
  }

  #path(holder: string | null): string {
    return join(this.#folder, `${holder === null ? 'application' : nameOfHolder(holder)}.json`);
  }
}

function inUtc(time: string): string {
  return new Date(time).toISOString();
}

/**
 * Counts a profile's calls with client credentials, which PSD2 limits per day (interface specification, "Limits"). Each day
 * has a file with one byte per call, so that parallel processes need no lock.
 */
export class FileCallCount implements CallCount {
  readonly #folder: string;

  /** @param tokens the folder of the profile's tokens */
  constructor(tokens: string) {
    this.#folder = join(tokens, 'client-credentials-calls');
  }

  async count(day: IsoDate): Promise<void> {
    makePrivateFolder(this.#folder);
    const path = join(this.#folder, day);
    try {
      if (this.#callsOn(day) === 0) this.#forgetBefore(day);
      const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
      const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
      try {
        writeSync(file, '.');
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      throw cannotWrite(`The count of calls ${path}`, cause);
    }
  }

  async on(day: IsoDate): Promise<number> {
    return this.#callsOn(day);
  }

  #callsOn(day: IsoDate): number {
    try {
      const stats = statSync(join(this.#folder, day));
      return stats.isFile() ? stats.size : 0;
    } catch {
      return 0;
    }
  }

  /** Another process may already count the next day. */
  #forgetBefore(day: IsoDate): void {
    for (const file of listFolder(this.#folder)) {
      if (file < day) rmSync(join(this.#folder, file), { force: true });
    }
  }
}

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
  /** The day's file. It stays open for the next read. */
  #open: number | undefined;

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'unattended-reads');
  }

  begin(): void {
    this.#taken.clear();
  }

  async take(read: AccountRead, limit?: ReadLimit): Promise<ReadTurn> {
    const name = nameOfRead(read);
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
    const name = nameOfRead(read);
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
    const name = `${read.day} ${nameOfRead(read)}`;
    if (this.#taken.get(name) !== false) return;
    this.#taken.set(name, true);
    if (this.#knownOf(read)?.failures) this.#note(read, { kind: 'succeeded' });
  }

  /** What this process has counted of an account; undefined on another day than its last one. */
  #knownOf(read: AccountRead): DayOfAccount | undefined {
    return read.day === this.#day ? this.#accounts.get(nameOfRead(read)) : undefined;
  }

  /** Adds a line about a read that was taken. If its day is over, nobody counts it any more. */
  #note(read: AccountRead, line: ReadLine): void {
    if (read.day !== this.#day) return;
    const path = join(this.#folder, read.day);
    try {
      this.#append(path, nameOfRead(read), line);
    } catch (cause) {
      throw cannotCount(path, cause);
    }
  }

  #turnTo(day: IsoDate): string {
    if (day !== this.#day) {
      this.#day = day;
      this.#begin();
      for (const file of listFolder(this.#folder))
        if (file < day) rmSync(join(this.#folder, file), { force: true });
    }
    return join(this.#folder, day);
  }

  /** What was read of a file counts for that file alone. */
  #begin(): void {
    if (this.#open !== undefined) closeSync(this.#open);
    this.#open = undefined;
    this.#read = 0;
    this.#accounts.clear();
  }

  #file(path: string): number {
    // Another process may have removed it, or put another file in its place.
    if (this.#open !== undefined && fstatSync(this.#open).nlink === 0) this.#begin();
    if (this.#open !== undefined) return this.#open;
    makePrivateFolder(this.#folder);
    const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
    this.#open = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600);
    return this.#open;
  }

  /** Appends a line. @returns what the file then says of the account */
  #append(path: string, name: string, line: ReadLine): DayOfAccount | undefined {
    const file = this.#file(path);
    const text = writeReadLine(name, line);
    writeSync(file, text);
    return this.#lookIn(file, name, text);
  }

  #look(path: string, name: string): DayOfAccount | undefined {
    if (this.#open === undefined && !existsSync(path)) return undefined;
    return this.#lookIn(this.#file(path), name);
  }

  /**
   * Reads the lines since the last look, including those that other processes have appended.
   *
   * @param own what was written since then. If nobody else wrote, it is not read back
   */
  #lookIn(file: number, name: string, own = ''): DayOfAccount | undefined {
    const length = Math.max(0, fstatSync(file).size - this.#read);
    const isOwn = length === own.length;
    const added = Buffer.alloc(isOwn ? 0 : length);
    const text = isOwn
      ? own
      : added.subarray(0, readSync(file, added, 0, length, this.#read)).toString('latin1');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#read += whole.length;
    addReadLines(this.#accounts, whole.split('\n').slice(0, -1));
    return this.#accounts.get(name);
  }
}

function cannotCount(path: string, cause: unknown): Psd2Error {
  if (cause instanceof Psd2Error) return cause;
  return cannotWrite(`The count of reads ${path}`, cause);
}

/** What the lines of a day say of an account. */
export interface DayOfAccount {
  reads: number;
  /** Failed reads in a row. */
  failures: number;
  /** The minute of the day until which psd2 pauses. */
  pausedUntil: number;
}

/** A line of a day's file: a read, a read that was given back, and the beginning or the end of a pause. */
type ReadLine =
  | { kind: 'taken' }
  | { kind: 'back' }
  | { kind: 'succeeded' }
  | { kind: 'failed'; failures: number; pausedUntil: number };

const LINE = /^(\S+ \S+)(?: (back|ok|failed (\d{1,9}) (\d{1,9})))?$/;

type ReadOf = Omit<AccountRead, 'day'>;

/** How a line names the account of a read. `*` is the list of accounts. */
export function nameOfRead({ customerId, productId }: ReadOf): string {
  return `${customerId} ${productId === null ? '*' : nameOfAccount(productId)}`;
}

/** The account that a line names. Undefined if psd2 did not make the name. */
export function readOfName(name: string): ReadOf | undefined {
  const [customerId = '', product = ''] = name.split(' ');
  const productId = product === '*' ? null : accountOfName(product);
  return isCustomerId(customerId) && productId !== undefined ? { customerId, productId } : undefined;
}

/** @param name as {@link nameOfRead} */
export function writeReadLine(name: string, line: ReadLine): string {
  if (line.kind === 'taken') return `${name}\n`;
  if (line.kind === 'back') return `${name} back\n`;
  if (line.kind === 'failed') return `${name} failed ${line.failures} ${line.pausedUntil}\n`;
  return `${name} ok\n`;
}

/** Adds lines to what is known of each account. Lines that psd2 did not write do not count. */
export function addReadLines(accounts: Map<string, DayOfAccount>, lines: readonly string[]): void {
  for (const line of lines) {
    const [, name, mark, failures, pausedUntil] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const account = accounts.get(name) ?? { reads: 0, failures: 0, pausedUntil: 0 };
    accounts.set(name, account);
    if (mark === undefined) account.reads += 1;
    else if (mark === 'ok') Object.assign(account, { failures: 0, pausedUntil: 0 });
    else {
      account.reads = Math.max(0, account.reads - 1);
      if (failures !== undefined)
        Object.assign(account, { failures: Number(failures), pausedUntil: Number(pausedUntil) });
    }
  }
}

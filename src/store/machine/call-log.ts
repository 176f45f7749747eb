import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import { outcomeOf } from '../../smoke/stats.ts';
import { isMissing, makePrivateFolder, refuseOtherThanFile, withFile } from '../disk/files.ts';
import { faultOf } from '../disk/permissions.ts';
import { replaceDurably } from '../disk/replace.ts';

const textOrNull = z.nullable(z.string());
const gives = z.object({
  what: z.enum(['password', 'method', 'code']),
  ofCancellation: z.exactOptional(z.literal(true)),
});
const loggedCall = z.object({
  /** When psd2 sent it. */
  at: z.string(),
  profile: z.string(),
  /** Host and port of the bank's interface. */
  host: z.string(),
  method: z.string(),
  /** As sent, without the query. */
  path: z.string(),
  /** Null if no usable answer came. `failure` says why. */
  status: z.nullable(z.number()),
  failure: textOrNull,
  milliseconds: z.number(),
  tppRequestId: z.string(),
  transactionId: z.string(),
  /** `result.requestId` of the bank's answer, every digit. */
  requestId: textOrNull,
  /** The bank's `cb-apitrack-id`. */
  apiTrackId: textOrNull,
  /** The local id of the flow that the call belongs to. */
  flow: textOrNull,
  /** No byte of the request left. Absent: bytes may have left. */
  neverLeft: z.optional(z.literal(true)),
  /** It was `execute` or `confirm`, which cannot be taken back. Absent: it was not. */
  irrevocable: z.optional(z.literal(true)),
  /** What of the customer's it gave the bank. What that was, nothing says. Absent: nothing. */
  gives: z.exactOptional(gives),
  /** The id that the bank gave to what it began. Absent: it gave none. */
  begun: z.optional(z.string()),
  /** What the answer proves of an initiation. Absent: it was none, there was no usable answer, or an older psd2 wrote the line. */
  verdict: z.optional(z.enum(['began', 'nothing began', 'unknown', 'ask again'])),
  /** The operator's name for the customer, if the path cannot name one. Absent: it can. */
  customer: z.optional(z.string()),
  /** Whose a failure is. Absent: there was a usable answer. */
  failureKind: z.optional(z.enum(['own', 'unusable', 'no reply'])),
  /** How long the connection took to open. Absent: it was open, or none could be opened. */
  connectMs: z.optional(z.number()),
  /** From the first byte of the request to the first byte of the answer. Absent: none came. */
  firstByteMs: z.optional(z.number()),
  /** The path without ids, relative to the base URL, and what the call is about. */
  route: z.string(),
  kind: z.enum(['ais', 'pis', 'piis', 'consent', 'auth', 'other']),
  /** The run that the call belongs to, for example of `psd2 smoke`. Absent: none. */
  run: z.optional(z.string()),
});

/** A call that psd2 sent to the bank or tried to send. It contains no secrets. Times are ISO 8601, UTC. */
export type LoggedCall = z.infer<typeof loggedCall>;

/** What says whose a call is, and what it counts for. */
const NAMES = {
  at: true,
  profile: true,
  host: true,
  method: true,
  path: true,
  transactionId: true,
  flow: true,
  customer: true,
  route: true,
  kind: true,
  run: true,
} as const;

/**
 * psd2 could not use the answer to a call. The line of the call was written before psd2 read the answer, so this line follows it. It has no
 * status, so nobody takes it for another call.
 */
const unusableAnswer = z.extend(z.pick(loggedCall, NAMES), {
  /** The `X-Request-ID` of the call. */
  unusable: z.string(),
});
type UnusableAnswer = z.infer<typeof unusableAnswer>;

/** What says whose a call is. */
export type NamedCall = Pick<UnusableAnswer, 'profile' | 'transactionId' | 'path' | 'flow' | 'customer'>;

/** An initiation, or something of the customer's, that is about to leave. The line of the call follows when it has ended. */
const announcement = z.object({
  at: z.string(),
  /** The `X-Request-ID` of the attempt. */
  announced: z.string(),
  transactionId: z.string(),
  /** As in the line of the call. Absent: it is an initiation. */
  gives: z.exactOptional(gives),
});

/** What psd2 was about to send. Times are ISO 8601, UTC. */
export type Announcement = z.infer<typeof announcement>;

const CURRENT = 'calls.ndjson';
const STATS = 'stats.ndjson';
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Total size of the full files that psd2 keeps. */
const MAX_KEPT = 40 * 1024 * 1024;
/** No call takes longer than this. */
const LATE_MS = 10 * 60_000;

/**
 * The log of calls, `calls.ndjson`: one line of JSON per call, the newest last. psd2 renames a full file, and removes the
 * oldest ones if they exceed 40 MiB together. It writes each line at once, so lines of parallel processes never mix. It does
 * not fsync, since the journal is the record of payments.
 */
export class CallLog {
  readonly #folder: string;
  /** The hour in which it last looked whether a day was counted. */
  #lookedIn: string | undefined;
  /** The file that the last call was written to. */
  #open: { file: number; ino: number } | undefined;

  readonly #rollUp: (() => void) | undefined;
  readonly #isForgotten: (call: LoggedCall) => boolean;

  /**
   * @param rollUp counts the days that have ended, and removes the files that the log keeps no longer (call-stats.ts). It is
   *   called once a day, and for each full file. Absent: they are removed
   * @param isForgotten whether psd2 has forgotten the customer of a call. Such a call is not written
   */
  constructor(folder: string, rollUp?: () => void, isForgotten: (call: LoggedCall) => boolean = () => false) {
    this.#folder = folder;
    this.#rollUp = rollUp;
    this.#isForgotten = isForgotten;
  }

  /**
   * The file stays open for the next call.
   *
   * @throws Error of the file system, Psd2Error `config` if the folder cannot be created, or if something else has the name
   */
  append(call: LoggedCall): void {
    this.#write(call, () => this.#isForgotten(call));
  }

  /**
   * Writes that psd2 could not use the answer to a call that was written before. A refusal, and a failure of the bank, count as what
   * they are.
   *
   * @throws as {@link append}
   */
  appendUnusable(call: LoggedCall): void {
    if (call.status === null || outcomeOf({ status: call.status, failure: null }) !== 'ok') return;
    const { at, profile, host, method, path, transactionId, tppRequestId, flow, customer, route, kind, run } =
      call;
    const named = { at, profile, host, method, path, transactionId, unusable: tppRequestId, flow, customer };
    this.#write({ ...named, route, kind, run }, () => this.#isForgotten(call));
  }

  /**
   * Writes before the first byte of an initiation, or of something of the customer's, leaves that it may. Without this line, nobody knows whether this machine has
   * the whole log of a payment.
   *
   * @throws as {@link append}
   */
  announce(announcement: Announcement): void {
    this.#write(announcement, () => false);
  }

  #write(line: LoggedCall | Announcement | UnusableAnswer, isForgotten: () => boolean): void {
    const path = join(this.#folder, CURRENT);
    const named = statSync(path, { throwIfNoEntry: false });
    if (named) refuseOtherThanFile(path, named);
    // Another process may have put the file aside, or removed it. An open file keeps its number to itself.
    if (this.#open?.ino !== named?.ino) this.close();
    this.#open ??= openForAppending(path, this.#folder);
    // In this order: what is forgotten after this question replaces the open file (removeCalls).
    if (isForgotten()) return;
    const { file } = this.#open;
    const { size, mode, ino } = named ?? fstatSync(file);
    if ((mode & 0o077) !== 0) fchmodSync(file, 0o600);
    writeSync(file, `${JSON.stringify(line)}\n`);
    if (size > MAX_FILE_BYTES) this.#putAside(path, ino, line.at);
    else if (this.#rollUp && this.#isUncounted(line.at)) this.#rollUp();
  }

  /** Whether a day has ended that was not counted. psd2 looks once an hour: at the time of the last counting, or of the first call. */
  #isUncounted(at: string): boolean {
    const hour = at.slice(0, 13);
    if (hour === this.#lookedIn) return false;
    this.#lookedIn = hour;
    const counted = statSync(join(this.#folder, STATS), { throwIfNoEntry: false })?.mtime;
    const since = counted ?? firstTimeIn(join(this.#folder, CURRENT));
    return endedBefore(since) !== endedBefore(new Date(at));
  }

  /** Closes the file. The next call opens it again. */
  close(): void {
    if (this.#open === undefined) return;
    closeSync(this.#open.file);
    this.#open = undefined;
  }

  /** Several processes may do this at once. Their names differ, and a late one finds a new file or none. */
  #putAside(path: string, ino: number, at: string): void {
    try {
      if (statSync(path).ino !== ino) return;
      renameSync(path, join(this.#folder, `calls-${at.replaceAll(':', '')}-${process.pid}.ndjson`));
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    if (this.#rollUp) this.#rollUp();
    else for (const file of outgrown(this.#folder)) rmSync(file, { force: true });
  }
}

/** The days before this one have ended, and their calls are in the log: a call is written when it has ended. */
export function endedBefore(now: Date): IsoDate {
  return bankDay(new Date(now.getTime() - LATE_MS));
}

/** The full files that the log keeps no longer. */
export function outgrown(folder: string): string[] {
  let keptBytes = 0;
  return fullFiles(folder).filter((file) => {
    keptBytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return keptBytes > MAX_KEPT;
  });
}

/** The time of the first line of a file. */
function firstTimeIn(path: string): Date {
  const begin = Buffer.alloc(31);
  withFile(path, 'r', (file) => readSync(file, begin));
  const time = new Date(begin.toString('latin1', 7));
  return Number.isNaN(time.getTime()) ? new Date(0) : time;
}

function fullFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^calls-.*\.ndjson$/.test(name))
      .sort()
      .reverse()
      .map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function openForAppending(path: string, folder: string): { file: number; ino: number } {
  let file: number;
  try {
    file = openSync(path, 'a', 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    makePrivateFolder(folder);
    file = openSync(path, 'a', 0o600);
  }
  return { file, ino: fstatSync(file).ino };
}

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the log of calls, the newest first, only as far as the caller iterates. It reads the files from their ends, in
 * blocks. It skips a line that a full disk or a crash cut short.
 *
 * @param mention reads only calls that contain this text, which is faster than to parse them all
 * @throws Psd2Error `config` if a file cannot be read, belongs to another user, or can be changed by others
 */
export function* readCalls(folder: string, mention = ''): Generator<LoggedCall> {
  for (const line of linesWith(folder, mention)) {
    const call = loggedCall.safeParse(parseLogLine(line));
    if (call.success) yield call.data;
  }
}

/**
 * Reads what the log of calls has of a transaction, the newest first: what was about to leave, and the calls.
 *
 * @throws as {@link readCalls}
 */
export function* readTransaction(
  folder: string,
  transactionId: string,
): Generator<LoggedCall | Announcement> {
  for (const line of linesWith(folder, transactionId)) {
    const { data } = z.union([loggedCall, announcement]).safeParse(parseLogLine(line));
    if (data?.transactionId === transactionId) yield data;
  }
}

/** The lines of all files that have a text, the newest first. */
function* linesWith(folder: string, mention: string): Generator<string> {
  // As a line has it: a bank's id may contain what JSON escapes.
  const written = JSON.stringify(mention).slice(1, -1);
  for (const path of [join(folder, CURRENT), ...fullFiles(folder)])
    for (const line of linesFromEnd(path)) if (line.includes(written)) yield line;
}

/** The words in a call that may name a customer or an account: the operator's name, the flow, and the parts of the path. */
export function wordsOf({ path, flow, customer }: Pick<LoggedCall, 'path' | 'flow' | 'customer'>): string[] {
  return [customer, flow, ...path.split('/').map(decodedPart)].filter((word) => typeof word === 'string');
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Removes calls from the log, durably. Processes that write to it meanwhile go on in a new file: the one in use is put aside first.
 * All files are replaced: a process that was stopped before it wrote to one writes to no file of the log when it goes on.
 *
 * @param at the time of the command, ISO 8601
 * @returns the number of calls that were removed
 * @throws Psd2Error `config` if a file cannot be read or written
 */
export function removeCalls(folder: string, at: string, isTheirs: (call: NamedCall) => boolean): number {
  const isIn = (line: string) => {
    const call = z.union([loggedCall, unusableAnswer]).safeParse(parseLogLine(line));
    // An announcement does not say whose it is. Without it, psd2 only asks a person more often.
    if (!call.success) return announcement.safeParse(parseLogLine(line)).success;
    return isTheirs(call.data);
  };
  const current = join(folder, CURRENT);
  if (statSync(current, { throwIfNoEntry: false }))
    renameSync(current, join(folder, `calls-${at.replaceAll(':', '')}-${randomUUID()}.ndjson`));
  let removed = 0;
  for (const path of fullFiles(folder)) {
    const lines = linesIn(path);
    const remaining = lines.filter((line) => !isIn(line));
    replaceDurably(path, remaining.map((line) => `${line}\n`).join(''));
    removed += lines.length - remaining.length;
  }
  return removed;
}

/** The lines of a file of the log, in their order. */
function linesIn(path: string): string[] {
  return [...linesFromEnd(path)].filter((line) => line !== '').reverse();
}

/** A line may follow the beginning of a line that was cut short. */
function parseLogLine(line: string): unknown {
  return jsonIn(line.slice(Math.max(0, line.lastIndexOf('{"at":'))));
}

function* linesFromEnd(path: string): Generator<string> {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    // The file was never written, or another process has just renamed or removed it.
    if (isMissing(cause)) return;
    throw new Psd2Error('config', `The log ${path} cannot be read`, { hint: 'Check who owns it.', cause });
  }
  try {
    /** The part of the current line that was read so far, in pieces from the last to the first. */
    let pieces: Buffer[] = [];
    const stats = fstatSync(file);
    refuseOtherThanFile(path, stats);
    const fault = faultOf(path, stats, 'public');
    if (fault) throw fault;
    for (let end = stats.size; end > 0; ) {
      const begin = Math.max(0, end - BLOCK);
      const block = Buffer.alloc(end - begin);
      let rest = block.subarray(0, readSync(file, block, 0, block.length, begin));
      for (let at = rest.lastIndexOf(NEWLINE); at !== -1; at = rest.lastIndexOf(NEWLINE)) {
        yield Buffer.concat([rest.subarray(at + 1), ...pieces.reverse()]).toString('utf8');
        pieces = [];
        rest = rest.subarray(0, at);
      }
      pieces.push(rest);
      end = begin;
    }
    yield Buffer.concat(pieces.reverse()).toString('utf8');
  } finally {
    closeSync(file);
  }
}

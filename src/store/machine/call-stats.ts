import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { addDays, bankDay, isIsoDate } from '../../domain/calendar.ts';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import { Counter, DownFinder, type DownLine, type RollUp } from '../../smoke/roll-up.ts';
import { type CountedCall, STAT_KINDS, type StatKind } from '../../smoke/stats.ts';
import { cannotRead, isMissing, refuseOtherThanFile } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import { replaceDurably } from '../disk/replace.ts';
import { endedBefore, type LoggedCall, outgrown } from './call-log.ts';
import type { StoreFolder } from './folder.ts';

// Figures of the log of calls. A day that has ended is counted, and kept for 800 days: longer than the log has its calls.

const KEPT_DAYS = 800;
const DAY_MS = 86_400_000;
/** How long to wait for another process that counts. It takes far less than a second. */
const PATIENCE_MS = 10_000;
const PIECE = 256 * 1024;
const NEWLINE = 0x0a;

type Call = CountedCall & { profile: string };

const number = z.number();
const rollUp = z.object({
  day: z.string(),
  profile: z.string(),
  host: z.string(),
  kind: z.enum(STAT_KINDS),
  route: z.string(),
  smoke: z.boolean(),
  whole: z.optional(z.literal(true)),
  counts: z.object({
    calls: number,
    noReply: number,
    serverErrors: number,
    unusable: number,
    clientErrors: number,
    limited: number,
    own: number,
    answered: number,
    sum: number,
    max: number,
    times: z.array(number),
  }),
});
const downLine = z.object({
  profile: z.string(),
  host: z.string(),
  down: z.object({ from: number, to: number }),
});

/** A file of the log that was counted, and is being removed. */
const removal = z.object({ removed: z.string() });

/** What a file of daily counts says. */
interface Kept {
  lines: RollUp[];
  downs: DownLine[];
  removed: Set<string>;
}

/** Reads a line of daily counts. @returns whether it was one. A line that was cut short, or damaged, is none */
function addKept(line: string, { lines, downs, removed }: Kept): boolean {
  const add = <T>(shape: z.ZodMiniType<T>, to: (value: T) => unknown) => {
    const { data } = shape.safeParse(jsonIn(line));
    if (data !== undefined) to(data);
    return data !== undefined;
  };
  if (line.startsWith('{"day"')) return add(rollUp, (value) => lines.push(value));
  if (line.startsWith('{"profile"')) return add(downLine, (value) => downs.push(value));
  return line.startsWith('{"removed"') && add(removal, (value) => removed.add(value.removed));
}

const TEXT = '[^"\\\\\\u0000-\\u001f]*';
const NUMBER = '(?:0|[1-9]\\d*)';
/** The fields that figures need. */
const NEEDED = 'at|profile|host|method|path|status|failure|milliseconds|failureKind|route|kind|run';
const OTHERS = `(?:,"(?!(?:${NEEDED})")\\w+":(?:"${TEXT}"|${NUMBER}|null|true))*`;
/** A line as psd2 writes almost all of them: these fields in this order, and no text that JSON escapes. */
const USUAL = new RegExp(
  `^\\{"at":"(${TEXT})","profile":"(${TEXT})","host":"(${TEXT})","method":"(${TEXT})","path":"${TEXT}"` +
    `,"status":(?:(${NUMBER})|null),"failure":(?:"(${TEXT})"|null),"milliseconds":(${NUMBER})${OTHERS}` +
    `(?:,"failureKind":"(${TEXT})")?${OTHERS},"route":"(${TEXT})","kind":"(${TEXT})"${OTHERS}(?:,"run":"(${TEXT})")?\\}$`,
);

/**
 * Reads a line of the log, as far as figures need it. A usual line is not parsed as JSON, which takes longer.
 *
 * @returns undefined if it is none: cut short, or damaged
 */
export function callIn(line: string): Call | undefined {
  const [usual, at = '', profile = '', host = '', method = '', ...rest] = USUAL.exec(line) ?? [];
  if (usual === undefined) return parsedCall(line);
  const [status, failure, milliseconds, failureKind, route = '', kind, run] = rest;
  return {
    at,
    profile,
    host,
    method,
    route,
    status: status === undefined ? null : Number(status),
    failure: failure === undefined ? null : failureOf(failureKind),
    milliseconds: Number(milliseconds),
    kind: statKindOf(kind),
    isSmoke: run?.startsWith('sm-') === true,
  };
}

/** Reads any line. */
export function parsedCall(line: string): Call | undefined {
  let call: Partial<LoggedCall> & { unusable?: unknown };
  try {
    call = JSON.parse(line.slice(Math.max(0, line.lastIndexOf('{"at":'))));
  } catch {
    return undefined;
  }
  const { at, profile, host, method, status = null, failure = null, run } = call;
  const isFinding = typeof call.unusable === 'string';
  const milliseconds = isFinding ? 0 : call.milliseconds;
  if (typeof at !== 'string' || typeof profile !== 'string' || typeof host !== 'string') return undefined;
  if (typeof method !== 'string' || typeof milliseconds !== 'number') return undefined;
  return {
    ...(isFinding && { isFinding }),
    at,
    profile,
    host,
    method,
    status,
    milliseconds,
    failure: failure === null ? null : failureOf(call.failureKind),
    route: call.route ?? '',
    kind: statKindOf(call.kind),
    isSmoke: run?.startsWith('sm-') === true,
  };
}

function failureOf(kind = ''): NonNullable<CountedCall['failure']> {
  return kind === 'own' || kind === 'unusable' ? kind : 'no reply';
}

function statKindOf(kind = ''): StatKind {
  return STAT_KINDS.find((each) => each === kind) ?? 'other';
}

/** The lines of a file, from the first, without empty ones. The file is read in pieces. No file: none. @throws Psd2Error `config` */
function* readLogLines(path: string): Generator<string> {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissing(cause)) return;
    throw cannotRead(path, cause);
  }
  try {
    refuseOtherThanFile(path, fstatSync(file));
    const piece = Buffer.alloc(PIECE);
    let rest: Buffer = Buffer.alloc(0);
    for (let read = 1; read > 0; ) {
      read = readSync(file, piece);
      // The last line may lack its end.
      const bytes = Buffer.concat([rest, read > 0 ? piece.subarray(0, read) : Buffer.from('\n')]);
      let begin = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
        // Each line has a text of its own: what is kept of it does not keep the whole piece.
        if (end > begin) yield bytes.toString('utf8', begin, end);
        begin = end + 1;
      }
      rest = bytes.subarray(begin);
    }
  } finally {
    closeSync(file);
  }
}

/** The files of the log, the oldest first. */
function logFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const full = readdirSync(folder).filter((name) => /^calls-.*\.ndjson$/.test(name));
  return [...full.sort(), 'calls.ndjson'].map((name) => join(folder, name));
}

/** The day of the bank. Its zone is whole hours from UTC, so that all times of an hour have the same day. */
function dayFinder(): (at: string) => string {
  const dayOfHour = new Map<string, string>();
  return (at) => {
    const hour = at.slice(0, 13);
    // A damaged line has no day.
    const day = dayOfHour.get(hour) ?? (Number.isNaN(Date.parse(at)) ? '' : bankDay(new Date(at)));
    dayOfHour.set(hour, day);
    return day;
  };
}

/** What is known of a bank. */
export interface KnownCalls {
  lines: RollUp[];
  downs: DownLine[];
  /** The time of the oldest line of the log that is still whole. */
  logFrom: string | null;
  longestGapMs: number;
}

/**
 * All that the log and its daily counts say of a profile. Of a day that has ended, the calls count if the log still has all of them,
 * else the daily counts.
 *
 * @param files more logs or daily counts, for example of other machines
 * @throws Psd2Error `config` if a file cannot be read, or one of `files` is neither
 */
export function readStats(
  { log, stats }: Pick<StoreFolder, 'log' | 'stats'>,
  isMeant: (call: Call) => boolean,
  options: { files?: readonly string[]; down5xx?: boolean; dayOf?: (at: string) => string } = {},
): KnownCalls {
  const { files = [], down5xx = false, dayOf = dayFinder() } = options;
  const counter = new Counter(dayOf);
  const finder = new DownFinder(down5xx);
  const downs: DownLine[] = [];
  let logFrom: string | null = null;
  const versionOf = () => {
    const { ino = 0, mtimeMs = 0 } = statSync(stats, { throwIfNoEntry: false }) ?? {};
    return `${ino} ${mtimeMs}`;
  };
  const version = versionOf();
  for (const paths of [[stats, ...logFiles(log)], ...machinesOf(files)]) {
    const counts: Kept = { lines: [], downs, removed: new Set() };
    /** The first day of the log. What was before is gone. */
    let firstDay: string | undefined;
    let whole: Set<string> | undefined;
    for (const path of paths) {
      if (counts.removed.has(basename(path))) continue;
      let isKnown = false;
      for (const line of readLogLines(path)) {
        const isCount = addKept(line, counts);
        const call = isCount ? undefined : callIn(line);
        isKnown ||= isCount || call !== undefined;
        if (!call) continue;
        const day = dayOf(call.at).slice(0, 10);
        firstDay ??= day;
        whole ??= new Set(counts.lines.filter((each) => each.whole).map((each) => each.day));
        if (!isMeant(call)) continue;
        if (!files.includes(path)) logFrom ??= call.at;
        if (day <= firstDay && whole.has(day)) continue;
        counter.add(call);
        finder.add(call);
      }
      if (!isKnown && files.includes(path)) throw unreadable(path);
    }
    for (const line of counts.lines)
      if (!line.whole || firstDay === undefined || line.day <= firstDay) counter.addLine(line);
  }
  // Another process has counted a day meanwhile, and may have removed its calls.
  if (versionOf() !== version) return readStats({ log, stats }, isMeant, options);
  const downTimes = finder.find();
  return { lines: counter.lines, downs: [...downs, ...downTimes], logFrom, longestGapMs: finder.longestGap };
}

/** Files that one machine has written: they lie together, under psd2's own names. The daily counts come first. */
function machinesOf(files: readonly string[]): string[][] {
  const machines = new Map<string, string[]>();
  for (const file of [...files].sort()) {
    const isOwn = /^(stats|calls(-.*)?)\.ndjson$/.test(basename(file));
    const machine = isOwn ? dirname(resolve(file)) : file;
    const others = machines.get(machine) ?? [];
    machines.set(machine, basename(file) === 'stats.ndjson' ? [file, ...others] : [...others, file]);
  }
  return [...machines.values()];
}

function unreadable(path: string): Psd2Error {
  const [code, what] = existsSync(path)
    ? (['config', 'has neither calls nor daily counts'] as const)
    : (['usage', 'does not exist'] as const);
  return new Psd2Error(code, `${path} ${what}`, {
    hint: 'Name a calls-….ndjson or a stats.ndjson of another machine.',
  });
}

/**
 * Counts the days that have ended, and the files that the log keeps no longer, and removes these. What is counted is written as a
 * whole, with the names of the files that go: nothing counts twice, whenever the process is killed.
 *
 * @throws Psd2Error `config` if the counts cannot be read or written
 */
export function rollUpCalls(folder: Pick<StoreFolder, 'log' | 'stats'>, now: Date): Promise<void> {
  return withLock(folder.stats, 'The count of calls', async () => countCalls(folder, now), PATIENCE_MS);
}

function countCalls({ log, stats }: Pick<StoreFolder, 'log' | 'stats'>, now: Date): void {
  const dayOf = dayFinder();
  const today = endedBefore(now);
  const counts: Kept = { lines: [], downs: [], removed: new Set() };
  for (const line of readLogLines(stats)) addKept(line, counts);
  const whole = new Set(counts.lines.filter((line) => line.whole).map(({ day }) => day));
  const newest = [...whole]
    .filter((day) => day < today)
    .sort()
    .at(-1);
  const [counter, finder] = [new Counter(dayOf), new DownFinder()];
  for (const line of counts.lines) if (!line.whole) counter.addLine(line);
  const leaving = new Set(outgrown(log));
  for (const path of logFiles(log)) {
    if (counts.removed.has(basename(path)) || (isBefore(path, newest) && !leaving.has(path))) continue;
    for (const line of readLogLines(path)) {
      const call = callIn(line);
      const day = call && dayOf(call.at);
      if (!day) continue;
      // A bank may be down over midnight.
      if (day >= (newest ?? '')) finder.add(call);
      if (!whole.has(day) && (day < today || leaving.has(path))) counter.add(call);
    }
  }
  const since = bankDay(new Date(now.getTime() - KEPT_DAYS * DAY_MS));
  const counted = counter.lines.map((line) => (line.day < today ? { ...line, whole: true } : line));
  const left = [...counts.removed].map((name) => join(log, name)).filter((path) => existsSync(path));
  const gone = [...leaving, ...left];
  replaceDurably(
    stats,
    [
      ...[...counts.lines.filter((line) => line.whole), ...counted].filter(({ day }) => day >= since),
      ...longest([...counts.downs, ...finder.find()]).filter(
        ({ down }) => bankDay(new Date(down.to)) >= since,
      ),
      ...gone.map((path) => ({ removed: basename(path) })),
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  for (const path of gone) rmSync(path, { force: true });
}

/** Whether a full file has only calls of days before the newest one that was counted. Its name has the time of its last call. */
function isBefore(path: string, newest: string | undefined): boolean {
  const [, last = '9'] = /^calls-(\d{4}-\d{2}-\d{2})T/.exec(basename(path)) ?? [];
  return newest !== undefined && isIsoDate(newest) && last < addDays(newest, -1);
}

/** Each time that a bank was down once, as long as it is known. */
function longest(downs: readonly DownLine[]): DownLine[] {
  const byBeginning = new Map<string, DownLine>();
  for (const each of downs) {
    const key = `${each.profile}\0${each.host}\0${each.down.from}`;
    const before = byBeginning.get(key);
    if (!before || before.down.to < each.down.to) byBeginning.set(key, each);
  }
  return [...byBeginning.values()];
}

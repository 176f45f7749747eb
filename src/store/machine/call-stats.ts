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
import { join } from 'node:path';
import * as z from 'zod/mini';
import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { Counter, DownFinder, type DownLine, type RollUp } from '../../smoke/roll-up.ts';
import { type CountedCall, STAT_KINDS, type StatKind } from '../../smoke/stats.ts';
import { appendDurably, cannotRead, isMissing, refuseOtherThanFile } from '../disk/files.ts';
import { replaceDurably } from '../disk/replace.ts';
import type { LoggedCall } from './call-log.ts';
import type { StoreFolder } from './folder.ts';

// Figures of the log of calls. A full file that the log removes is counted before, by day: 800 days are kept.

const KEPT_DAYS = 800;
const DAY_MS = 86_400_000;
const PIECE = 256 * 1024;
const NEWLINE = 0x0a;

type Call = CountedCall & { profile: string };

const number = z.number();
const rollUp = z.object({
  ...{ day: z.string(), profile: z.string(), host: z.string(), kind: z.enum(STAT_KINDS), route: z.string() },
  smoke: z.boolean(),
  counts: z.object({
    ...{ calls: number, noReply: number, serverErrors: number, unusable: number, clientErrors: number },
    ...{ limited: number, own: number, answered: number, sum: number, max: number, times: z.array(number) },
  }),
});
const downLine = z.object({
  ...{ profile: z.string(), host: z.string(), down: z.object({ from: number, to: number }) },
});

/** A line that was cut short, or damaged, is none. */
function read<T>(line: string, shape: z.ZodMiniType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
const rollUpIn = (line: string): RollUp | undefined => read(line, rollUp);
const downIn = (line: string): DownLine | undefined => read(line, downLine);

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
  const [found, at = '', profile = '', host = '', method = '', ...rest] = USUAL.exec(line) ?? [];
  if (found === undefined) return parsedCall(line);
  const [status, failure, milliseconds, failureKind, route = '', kind, run] = rest;
  return {
    ...{ at, profile, host, method, route },
    status: status === undefined ? null : Number(status),
    failure: failure === undefined ? null : failureOf(failureKind),
    milliseconds: Number(milliseconds),
    kind: kindOf(kind),
    isSmoke: run?.startsWith('sm-') === true,
  };
}

/** Reads any line. */
export function parsedCall(line: string): Call | undefined {
  let found: Partial<LoggedCall>;
  try {
    found = JSON.parse(line.slice(Math.max(0, line.lastIndexOf('{"at":'))));
  } catch {
    return undefined;
  }
  const { at, profile, host, method, status = null, failure = null, milliseconds, run } = found;
  if (typeof at !== 'string' || typeof profile !== 'string' || typeof host !== 'string') return undefined;
  if (typeof method !== 'string' || typeof milliseconds !== 'number') return undefined;
  return {
    ...{ at, profile, host, method, status, milliseconds },
    failure: failure === null ? null : failureOf(found.failureKind),
    route: found.route ?? '',
    kind: kindOf(found.kind),
    isSmoke: run?.startsWith('sm-') === true,
  };
}

function failureOf(kind = ''): NonNullable<CountedCall['failure']> {
  return kind === 'own' || kind === 'unusable' ? kind : 'no reply';
}

function kindOf(kind = ''): StatKind {
  return STAT_KINDS.find((each) => each === kind) ?? 'other';
}

/** The lines of a file, from the first, without empty ones. The file is read in pieces. No file: none. @throws Psd2Error `config` */
function* linesIn(path: string): Generator<string> {
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

function logFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const full = readdirSync(folder).filter((name) => /^(retired-)?calls-.*\.ndjson$/.test(name));
  return [...full.sort(), 'calls.ndjson'].map((name) => join(folder, name));
}

/** The day of the bank. Its zone is whole hours from UTC, so that all times of an hour have the same day. */
function dayFinder(): (at: string) => string {
  const known = new Map<string, string>();
  return (at) => {
    const hour = at.slice(0, 13);
    const day = known.get(hour) ?? bankDay(new Date(at));
    known.set(hour, day);
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
 * All that the log and its roll-ups say of a profile.
 *
 * @param files more logs or roll-ups, for example of other machines
 * @throws Psd2Error `config` if a file cannot be read, or one of `files` is neither
 */
export function readStats(
  { log, stats }: Pick<StoreFolder, 'log' | 'stats'>,
  isMeant: (call: Call) => boolean,
  {
    files = [],
    down5xx = false,
    dayOf = dayFinder(),
  }: { files?: readonly string[]; down5xx?: boolean; dayOf?: (at: string) => string } = {},
): KnownCalls {
  const counter = new Counter(dayOf);
  const finder = new DownFinder(down5xx);
  const downs: DownLine[] = [];
  let logFrom: string | null = null;
  for (const path of [stats, ...files, ...logFiles(log)]) {
    let isKnown = false;
    for (const line of linesIn(path)) {
      const counted = line.startsWith('{"day"') ? rollUpIn(line) : undefined;
      const downtime = line.startsWith('{"profile"') ? downIn(line) : undefined;
      const call = counted || downtime ? undefined : callIn(line);
      isKnown ||= (counted ?? downtime ?? call) !== undefined;
      if (counted) counter.addLine(counted);
      if (downtime) downs.push(downtime);
      if (!call || !isMeant(call)) continue;
      if (!files.includes(path)) logFrom ??= call.at;
      counter.add(call);
      finder.add(call);
    }
    if (!isKnown && files.includes(path))
      throw new Psd2Error(
        'config',
        `${path} ${existsSync(path) ? 'has neither calls nor daily counts' : 'does not exist'}`,
        {
          hint: 'Name a calls-….ndjson or a stats.ndjson of another machine.',
        },
      );
  }
  const found = finder.find();
  return { lines: counter.lines, downs: [...downs, ...found], logFrom, longestGapMs: finder.longestGap };
}

/** Counts full files of the log, and removes them. @param paths the oldest ones, which the log keeps no longer */
export function retireLogs({ stats }: Pick<StoreFolder, 'stats'>, paths: readonly string[], now: Date): void {
  const counter = new Counter(dayFinder());
  const finder = new DownFinder();
  for (const path of paths) {
    if (!statSync(path, { throwIfNoEntry: false })) continue;
    for (const line of linesIn(path)) {
      const call = callIn(line);
      if (!call) continue;
      counter.add(call);
      finder.add(call);
    }
  }
  const added = [...counter.lines, ...finder.find()].map((line) => `${JSON.stringify(line)}\n`).join('');
  if (added !== '') appendDurably(stats, 'a', added);
  for (const path of paths) rmSync(path, { force: true });
  forgetOld(stats, now);
}

function forgetOld(stats: string, now: Date): void {
  const since = now.getTime() - KEPT_DAYS * DAY_MS;
  const oldest = bankDay(new Date(since));
  const lines = [...linesIn(stats)];
  const kept = lines.filter((line) =>
    line.startsWith('{"day"') ? (rollUpIn(line)?.day ?? '') >= oldest : (downIn(line)?.down.to ?? 0) >= since,
  );
  if (kept.length < lines.length) replaceDurably(stats, `${kept.join('\n')}\n`);
}

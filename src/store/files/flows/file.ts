import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../../domain/json.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  appendDurably,
  cannotWrite,
  makePrivateFolder,
  readOwnFile,
  reasonOf,
  syncFolder,
  takeName,
} from '../../disk/files.ts';
import type { Fold } from '../../flow/kinds.ts';
import { overtaken } from '../../flow/refusals.ts';

/** What a process knows about the file of a flow. */
export interface KnownFile {
  /** How many events count. */
  events: number;
  /** Size of the file in bytes. */
  size: number;
  /** Whether the last line lacks its end. The next one must begin with a line break then. */
  cutShort: boolean;
}

export interface ReadFlow<Flow> extends KnownFile {
  current: Flow;
}

/** An event as a line of the journal. */
interface JournalLine {
  /** ISO 8601 with zone. */
  at: string;
  /** The writer of the line. No two processes have the same. */
  by: string;
  event: unknown;
}

/**
 * The number of a line: its event is the n-th of the flow. If several lines have the same number, the first one counts. The
 * others come from processes that were stopped while another continued the flow.
 */
const lineNumber = z.int().check(z.gte(1));

/** A line without what its event must be. One schema for all kinds: to build one takes longer than to read a line. */
const frame = z.object({ at: z.iso.datetime({ offset: true }), n: lineNumber, event: z.unknown() });

/**
 * Reads the file of a flow and folds its events.
 *
 * @returns undefined if the file does not exist
 * @throws Psd2Error `config` if it cannot be read, belongs to another user, can be read or changed by others, or has a
 *   damaged line
 */
export function readFlowFile<Flow, Event>(
  path: string,
  schema: z.ZodMiniType<Event>,
  apply: Fold<Flow, Event>,
): ReadFlow<Flow> | undefined {
  const content = readOwnFile(path);
  if (content === undefined) return undefined;
  const lines = content.toString('utf8').split('\n');
  let current: Flow | undefined;
  let events = 0;
  /** The line where the next event should be, counted from 1. */
  let expected = 1;
  for (const [index, text] of lines.entries()) {
    // A crash cut the line short before its fsync ended, so the step that it announces never began. If two processes ended
    // such a line, an empty line follows too.
    if (isCutShort(text)) continue;
    const { n, event, at } = parseLine(path, text, index + 1, schema);
    if (n <= events) continue;
    if (n > events + 1) throw damagedAt(path, expected);
    try {
      current = apply(current, event, at);
    } catch (cause) {
      // The event cannot follow the one before it: a line is missing or doubled.
      throw damagedAt(path, index + 1, cause);
    }
    events = n;
    expected = index + 2;
  }
  if (current === undefined) throw damagedAt(path, 1);
  return { current, events, size: content.length, cutShort: lines.at(-1) !== '' };
}

/**
 * Reads only the first event of a flow, even if later lines are damaged.
 *
 * @throws Psd2Error `config` if the first line is damaged
 */
export function readFirstEvent<Event>(path: string, schema: z.ZodMiniType<Event>): Event | undefined {
  const content = readOwnFile(path);
  if (content === undefined) return undefined;
  const [text = ''] = content.toString('utf8').split('\n', 1);
  return parseLine(path, text, 1, schema).event;
}

/**
 * Creates the file of a new flow. It appears with its first line or not at all, so a file without that line was damaged.
 *
 * @throws Psd2Error `config` if it cannot be written. The flow does not exist then
 */
export function createFlowFile(path: string, line: JournalLine): KnownFile {
  const beginning = `${path}.new`;
  const bytes = Buffer.from(`${toLine(1, line)}\n`);
  try {
    appendDurably(beginning, 'wx', bytes);
    // Unlike a rename, this never replaces another file.
    takeName(beginning, path);
    rmSync(beginning);
    syncFolder(dirname(path));
  } catch (cause) {
    rmSync(beginning, { force: true });
    throw unwritable(path, cause);
  }
  return { events: 1, size: bytes.length, cutShort: false };
}

/**
 * Appends the next event of a flow, durably (fsync). If two processes write the same number, the file shows both of them
 * afterwards whose line came first.
 *
 * @param lastRead the file as this process knows it
 * @returns the file with the event
 * @throws Psd2Error `config` if it cannot be written; `overtaken` if another process has continued the flow. The event
 *   does not count then, even if its line is in the file
 */
export function appendToFlowFile(path: string, lastRead: KnownFile, line: JournalLine): KnownFile {
  const n = lastRead.events + 1;
  const own = toLine(n, line);
  let added: Added;
  try {
    // Without `O_CREAT`, since a removed file must not come back without its beginning. Without following links, since a
    // link could redirect the line to another file.
    const { O_RDWR, O_APPEND, O_NOFOLLOW = 0 } = constants;
    const file = openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
    try {
      const before = readAdded(path, file, lastRead);
      if (before.lines.some((each) => each.n >= n)) throw overtaken(flowIn(path));
      // Writes the whole line or throws. A full disk may accept only a part.
      appendFileSync(file, `${before.cutShort ? '\n' : ''}${own}\n`);
      fsyncSync(file);
      // This process may have been stopped since the first look. Only now is it certain whose line counts.
      added = readAdded(path, file, lastRead);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw cause instanceof Psd2Error ? cause : unwritable(path, cause);
  }
  const isFirst = added.lines.find((each) => each.n >= n)?.text === own;
  if (!isFirst || added.lines.some((each) => each.n > n)) throw overtaken(flowIn(path));
  return { events: n, size: added.size, cutShort: added.cutShort };
}

/**
 * Checks that no other process has continued a flow.
 *
 * @throws Psd2Error `overtaken`, or `config` if the file cannot be read
 */
export function assertNotOvertaken(path: string, lastRead: KnownFile): void {
  let added: Added;
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      added = readAdded(path, file, lastRead);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw cause instanceof Psd2Error ? cause : unwritable(path, cause);
  }
  if (added.lines.some(({ n }) => n > lastRead.events)) throw overtaken(flowIn(path));
}

/** What other processes or this one appended to a file after it was read. */
interface Added {
  /** Complete lines with their numbers. */
  lines: { text: string; n: number }[];
  size: number;
  cutShort: boolean;
}

/** @throws Psd2Error `config` if the file is not a journal */
function readAdded(path: string, file: number, lastRead: KnownFile): Added {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.max(0, size - lastRead.size));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, lastRead.size + length);
    if (read === 0) break;
    length += read;
  }
  if (size < lastRead.size || length < bytes.length) throw damagedAt(path, lastRead.events + 1);
  const texts = bytes.toString('utf8').split('\n');
  // The line was not cut short by a crash: another process was still writing it.
  if (lastRead.cutShort && texts[0] !== '') throw overtaken(flowIn(path));
  const lines: Added['lines'] = [];
  for (const text of texts) {
    if (isCutShort(text)) continue;
    const { n } = parseLine(path, text, lastRead.events + 1, z.unknown());
    lines.push({ text, n });
  }
  return { lines, size, cutShort: length === 0 ? lastRead.cutShort : texts.at(-1) !== '' };
}

function flowIn(path: string): string {
  return basename(path, '.ndjson');
}

function parseLine<Event>(
  path: string,
  text: string,
  number: number,
  schema: z.ZodMiniType<Event>,
): { at: string; n: number; event: Event } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw damagedAt(path, number, cause);
  }
  const line = frame.safeParse(json);
  const event = schema.safeParse(line.data?.event);
  if (line.success && event.success) return { at: line.data.at, n: line.data.n, event: event.data };
  throw damagedAt(path, number);
}

/** The error for a damaged line of a journal, counted from 1. */
export function damagedAt(path: string, line: number, cause?: unknown): Psd2Error {
  return new Psd2Error('config', `The journal ${path} is damaged at line ${line}`, {
    hint: 'It is the record of a flow. Restore it from a backup, repair the line by hand, or update psd2 if a newer version wrote it.',
    cause,
  });
}

function unwritable(path: string, cause: unknown): Psd2Error {
  return cannotWrite(`The journal ${path}`, cause, 'psd2 does nothing that it cannot record first.');
}

function toLine(n: number, { at, by, event }: JournalLine): string {
  return JSON.stringify({ at, n, by, event });
}

/** Whether a line is empty or incomplete. A complete line ends with the braces of its event and of itself. */
function isCutShort(text: string): boolean {
  if (text === '') return true;
  return (
    text.startsWith('{"at":"'.slice(0, text.length)) && !text.endsWith('}}') && jsonIn(text) === undefined
  );
}

/** A working process touches its lock every second, so after this time without a sign it is dead. */
const SIGN_OF_LIFE_MS = 10_000;
/** psd2 stops mentioning a flow that nobody resumed for this long. The bank has forgotten it by then. */
const NAMED_FOR_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The unfinished flows of one profile. Each has a small file, `open/<flow>`, that names the process that works on it. The
 * file stays if that process ends before the flow does. To find these flows, psd2 lists one folder with few files, even if
 * there are many flows.
 */
export class FlowsUnderWay {
  readonly #flows: string;
  readonly #folder: string;
  /** The flows that this process works on. */
  readonly #own = new Set<string>();

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#flows = flows;
    this.#folder = join(flows, 'open');
  }

  /** Records durably (fsync) that this process works on the flow. @throws Psd2Error `config` */
  begin(flow: string): void {
    if (this.#own.has(flow)) return;
    makePrivateFolder(this.#folder);
    try {
      writeFileSync(join(this.#folder, flow), `${process.pid} ${hostname()}`, { mode: 0o600 });
      syncFolder(this.#folder);
    } catch (cause) {
      // On a full disk, the empty file may exist.
      this.end(flow);
      throw new Psd2Error(
        'config',
        `${join(this.#folder, flow)} cannot be written, so psd2 does nothing: ${reasonOf(cause)}`,
        {
          hint: 'Check the free space, and who owns the folder.',
          cause,
        },
      );
    }
    this.#own.add(flow);
  }

  /**
   * Records that the flow is unfinished, and that no process works on it.
   *
   * @param since the time of the flow's last event
   * @throws Psd2Error `config`
   */
  leave(flow: string, since: Date): void {
    this.begin(flow);
    this.#own.delete(flow);
    const silent = new Date(Math.min(since.getTime(), Date.now() - 2 * SIGN_OF_LIFE_MS));
    utimesSync(join(this.#folder, flow), silent, silent);
  }

  /** Records that the flow has ended, or is as far as the operator wanted. */
  end(flow: string): void {
    this.#own.delete(flow);
    try {
      rmSync(join(this.#folder, flow), { force: true });
    } catch {
      // The flow has ended all the same. The next process that looks sees it in the journal.
    }
  }

  /** The unfinished flows that no process works on, newest first. */
  leftBehind(): string[] {
    const flows = this.#files().filter((flow) => !this.#own.has(flow) && !this.#isAtWork(flow));
    const isOld = (flow: string) => Date.now() - this.#changed(join(this.#folder, flow)) > NAMED_FOR_MS;
    const old = new Set(flows.filter(isOld));
    for (const flow of old) this.end(flow);
    return flows.filter((flow) => !old.has(flow)).sort((a, b) => (idTime(a) < idTime(b) ? 1 : -1));
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      // The folder does not exist yet. If it cannot be read, the command that needs it reports that.
      return [];
    }
  }

  #isAtWork(flow: string): boolean {
    const marker = join(this.#folder, flow);
    try {
      const lastSign = Math.max(
        this.#changed(join(this.#flows, `${flow}.ndjson.lock`)),
        this.#changed(marker),
      );
      if (Date.now() - lastSign > SIGN_OF_LIFE_MS) return false;
      const [pid, host] = readFileSync(marker, 'utf8').split(' ');
      return host !== hostname() || isAlive(Number(pid));
    } catch {
      // The flow has just ended.
      return true;
    }
  }

  /** When a file was last written, in milliseconds since 1970; 0 if it does not exist. */
  #changed(path: string): number {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

/** The part of a flow's id that holds the time of creation. */
function idTime(flow: string): string {
  return flow.slice(3);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process is alive and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

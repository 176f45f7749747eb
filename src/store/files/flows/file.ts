import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../../errors.ts';
import { appendDurably, readOwnFile, syncFolder, takeName } from '../../disk/files.ts';
import { reasonOf } from '../../disk/system-error.ts';
import type { Fold } from '../../flow/kinds.ts';
import { overtaken } from '../../flow/overtaken.ts';

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
export interface JournalLine {
  /** ISO 8601 with zone. */
  at: string;
  /** The writer of the line. No two processes have the same. */
  by: string;
  event: unknown;
}

/**
 * The number of a line: its event is the n-th of the flow. If several lines have the same number, the first one counts. The
 * others come from processes that were stopped while another continued the flow. Lines of psd2 0.1 have no number.
 */
const lineNumber = z.optional(z.int().check(z.gte(1)));

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
    const { n = events + 1, event, at } = parseLine(path, text, index + 1, schema);
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
 * @param known the file as this process knows it
 * @returns the file with the event
 * @throws Psd2Error `config` if it cannot be written; `overtaken` if another process has continued the flow. The event
 *   does not count then, even if its line is in the file
 */
export function appendToFlowFile(path: string, known: KnownFile, line: JournalLine): KnownFile {
  const n = known.events + 1;
  const own = toLine(n, line);
  let added: Added;
  try {
    // Without `O_CREAT`, since a removed file must not come back without its beginning. Without following links, since a
    // link could redirect the line to another file.
    const { O_RDWR, O_APPEND, O_NOFOLLOW = 0 } = constants;
    const file = openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
    try {
      const before = readAdded(path, file, known);
      if (before.lines.some((each) => each.n >= n)) throw overtaken(flowIn(path));
      // Writes the whole line or throws. A full disk may accept only a part.
      appendFileSync(file, `${before.cutShort ? '\n' : ''}${own}\n`);
      fsyncSync(file);
      // This process may have been stopped since the first look. Only now is it certain whose line counts.
      added = readAdded(path, file, known);
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
export function assertNotOvertaken(path: string, known: KnownFile): void {
  let added: Added;
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      added = readAdded(path, file, known);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw cause instanceof Psd2Error ? cause : unwritable(path, cause);
  }
  if (added.lines.some(({ n }) => n > known.events)) throw overtaken(flowIn(path));
}

/** What other processes or this one appended to a file after it was read. */
interface Added {
  /** Complete lines with their numbers. A line of psd2 0.1 has no number and counts as the next one. */
  lines: { text: string; n: number }[];
  size: number;
  cutShort: boolean;
}

/** @throws Psd2Error `config` if the file is not a journal */
function readAdded(path: string, file: number, known: KnownFile): Added {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.max(0, size - known.size));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, known.size + length);
    if (read === 0) break;
    length += read;
  }
  if (size < known.size || length < bytes.length) throw damagedAt(path, known.events + 1);
  const texts = bytes.toString('utf8').split('\n');
  // The line was not cut short by a crash: another process was still writing it.
  if (known.cutShort && texts[0] !== '') throw overtaken(flowIn(path));
  const lines: Added['lines'] = [];
  let last = known.events;
  for (const text of texts) {
    if (isCutShort(text)) continue;
    const { n = last + 1 } = parseLine(path, text, known.events + 1, z.unknown());
    last = Math.max(last, n);
    lines.push({ text, n });
  }
  return { lines, size, cutShort: length === 0 ? known.cutShort : texts.at(-1) !== '' };
}

function flowIn(path: string): string {
  return basename(path, '.ndjson');
}

function parseLine<Event>(
  path: string,
  text: string,
  number: number,
  schema: z.ZodMiniType<Event>,
): { at: string; n?: number | undefined; event: Event } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw damagedAt(path, number, cause);
  }
  const result = z
    .object({ at: z.iso.datetime({ offset: true }), n: lineNumber, event: schema })
    .safeParse(json);
  if (result.success) return result.data;
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
  return new Psd2Error('config', `The journal ${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder. psd2 does nothing that it cannot record first.',
    cause,
  });
}

function toLine(n: number, { at, by, event }: JournalLine): string {
  return JSON.stringify({ at, n, by, event });
}

/** Whether a line is empty or incomplete. A complete line ends with the braces of its event and of itself. */
function isCutShort(text: string): boolean {
  return text.startsWith('{"at":"'.slice(0, text.length)) && !text.endsWith('}}') && !isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

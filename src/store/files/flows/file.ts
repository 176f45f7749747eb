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

/** How far a process knows the file of a flow. */
export interface KnownFile {
  /** How many events hold. */
  events: number;
  /** Bytes in the file. */
  size: number;
  /** The last line lacks its end: the next one begins with a line break. */
  cutShort: boolean;
}

export interface ReadFlow<Flow> extends KnownFile {
  current: Flow;
}

/** What an event is written as. */
export interface JournalLine {
  /** ISO 8601 with zone. */
  at: string;
  /** Whose line it is: two processes never have the same. */
  by: string;
  event: unknown;
}

/**
 * The number of a line: its event is the n-th of the flow. Of several lines with one number the first in the file
 * holds, and the others are of processes that were stopped while another went on. Lines of psd2 0.1 have none.
 */
const lineNumber = z.optional(z.int().check(z.gte(1)));

/**
 * Reads the file of a flow and folds its events.
 *
 * @returns undefined when there is no such file
 * @throws Psd2Error `config` when it can't be read, is another user's, others can read or change it, or a line of it is damaged
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
  /** Where the line of the next event is looked for, counted from 1. */
  let expected = 1;
  for (const [index, text] of lines.entries()) {
    // By a crash before its fsync ended: what it was to announce was not begun. Where two processes ended such a line,
    // there is an empty one too.
    if (isCutShort(text)) continue;
    const { n = events + 1, event, at } = parseLine(path, text, index + 1, schema);
    if (n <= events) continue;
    if (n > events + 1) throw damagedAt(path, expected);
    try {
      current = apply(current, event, at);
    } catch (cause) {
      // It cannot follow what stands before it: a line is missing, or twice there.
      throw damagedAt(path, index + 1, cause);
    }
    events = n;
    expected = index + 2;
  }
  if (current === undefined) throw damagedAt(path, 1);
  return { current, events, size: content.length, cutShort: lines.at(-1) !== '' };
}

/**
 * Reads only with what a flow begins, whatever is damaged after it.
 *
 * @throws Psd2Error `config` when that is damaged
 */
export function readFirstEvent<Event>(path: string, schema: z.ZodMiniType<Event>): Event | undefined {
  const content = readOwnFile(path);
  if (content === undefined) return undefined;
  const [text = ''] = content.toString('utf8').split('\n', 1);
  return parseLine(path, text, 1, schema).event;
}

/**
 * Makes the file of a new flow. It appears with its first line or not at all, so a file that lacks it was damaged.
 *
 * @throws Psd2Error `config` when it can't be written: then there is no such flow
 */
export function createFlowFile(path: string, line: JournalLine): KnownFile {
  const beginning = `${path}.new`;
  const bytes = Buffer.from(`${toLine(1, line)}\n`);
  try {
    appendDurably(beginning, 'wx', bytes);
    // Unlike a rename it never takes the place of another file.
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
 * Makes a further event of a flow durable (fsync), as the next one that this process knows of. Of two processes that
 * write the same one, the file tells both afterwards whose line came first.
 *
 * @param known the file as this process knows it
 * @returns the file with the event
 * @throws Psd2Error `config` when it can't be written; `overtaken` when another process has gone on with the flow:
 *   then the event does not hold, whatever stands in the file
 */
export function appendToFlowFile(path: string, known: KnownFile, line: JournalLine): KnownFile {
  const n = known.events + 1;
  const own = toLine(n, line);
  let added: Added;
  try {
    // Without `O_CREAT`: a file that was removed in the meantime would come back without its beginning. A link is
    // not followed: it would lead what is written to another file.
    const { O_RDWR, O_APPEND, O_NOFOLLOW = 0 } = constants;
    const file = openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
    try {
      const before = readAdded(path, file, known);
      if (before.lines.some((each) => each.n >= n)) throw overtaken(flowIn(path));
      // All of it or an error: a disk that is full may take a part.
      appendFileSync(file, `${before.cutShort ? '\n' : ''}${own}\n`);
      fsyncSync(file);
      // This process may have been stopped since it looked: only now is it certain whose line holds.
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
 * Makes sure that no other process has gone on with a flow.
 *
 * @throws Psd2Error `overtaken`, or `config` when the file can't be read
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

/** What was appended to a file since a process knew it. */
interface Added {
  /** Whole lines, with their numbers; one without a number, of psd2 0.1, is the next one. */
  lines: { text: string; n: number }[];
  size: number;
  cutShort: boolean;
}

/** @throws Psd2Error `config` where it is no journal */
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
  // What this process took for a line that a crash had cut short was one that another was about to write.
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

/** A line of a journal that can't be read, counted from 1. */
export function damagedAt(path: string, line: number, cause?: unknown): Psd2Error {
  return new Psd2Error('config', `The journal ${path} is damaged at line ${line}`, {
    hint: 'It is the record of a flow: restore it from a backup, mend that line by hand, or update psd2 if a newer one wrote it.',
    cause,
  });
}

function unwritable(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `The journal ${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder. What the journal would not know of is not begun.',
    cause,
  });
}

function toLine(n: number, { at, by, event }: JournalLine): string {
  return JSON.stringify({ at, n, by, event });
}

/** Whether a line is the beginning of one only, or nothing of it. A whole one ends with the two braces of its event and itself. */
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

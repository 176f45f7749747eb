import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../errors.ts';
import { appendDurably, readOwnFile, syncFolder } from './files.ts';
import { reasonOf } from './system-error.ts';

/** Reads an event of the journal. */
export type EventSchema<Event> = z.ZodMiniType<Event>;
/** A flow after one more event. @throws TypeError when that event cannot be the next one */
export type Fold<Flow, Event> = (flow: Flow | undefined, event: Event, at: string) => Flow;

export interface ReadFlow<Flow> {
  current: Flow;
  /** Bytes in the file. */
  size: number;
  /** The last line lacks its end: the next one begins with a line break. */
  cutShort: boolean;
}

/** What an event is written as. `at` is ISO 8601 with zone. */
export interface JournalLine {
  at: string;
  event: unknown;
}

/**
 * Reads the file of a flow and folds its events.
 *
 * @returns undefined when there is no such file
 * @throws Psd2Error `config` when it can't be read, is another user's, others can read or change it, or a line of it is damaged
 */
export function readFlowFile<Flow, Event>(
  path: string,
  schema: EventSchema<Event>,
  apply: Fold<Flow, Event>,
): ReadFlow<Flow> | undefined {
  const content = readOwnFile(path);
  if (content === undefined) return undefined;
  const lines = content.toString('utf8').split('\n');
  let current: Flow | undefined;
  for (const [index, text] of lines.entries()) {
    if (text === '' && index === lines.length - 1) continue;
    // Cut short by a crash before its fsync ended: what it was to announce was not begun.
    if (text !== '' && index > 0 && isCutShort(text)) continue;
    const { event, at } = parseLine(path, text, index + 1, schema);
    try {
      current = apply(current, event, at);
    } catch (cause) {
      // It cannot follow what stands before it: a line is missing, or twice there.
      throw damagedAt(path, index + 1, cause);
    }
  }
  if (current === undefined) throw damagedAt(path, 1);
  return { current, size: content.length, cutShort: lines.at(-1) !== '' };
}

/**
 * Reads only with what a flow begins, whatever is damaged after it.
 *
 * @throws Psd2Error `config` when that is damaged
 */
export function readFirstEvent<Event>(path: string, schema: EventSchema<Event>): Event | undefined {
  const content = readOwnFile(path);
  if (content === undefined) return undefined;
  const [text = ''] = content.toString('utf8').split('\n', 1);
  return parseLine(path, text, 1, schema).event;
}

/**
 * Makes the file of a new flow. It appears with its first line or not at all, so a file that lacks it was damaged.
 *
 * @returns the bytes written
 * @throws Psd2Error `config` when it can't be written: then there is no such flow
 */
export function createFlowFile(path: string, line: JournalLine): number {
  const beginning = `${path}.new`;
  const bytes = toBytes(line);
  try {
    if (existsSync(path)) throw new TypeError(`${path} is there already`);
    appendDurably(beginning, 'wx', bytes);
    renameSync(beginning, path);
    syncFolder(dirname(path));
  } catch (cause) {
    rmSync(beginning, { force: true });
    throw unwritable(path, cause);
  }
  return bytes.length;
}

/**
 * Makes a further event of a flow durable (fsync).
 *
 * @param read the file as this process knows it
 * @returns the bytes written
 * @throws Psd2Error `config` when it can't be written, or another process has written to it
 */
export function appendToFlowFile(
  path: string,
  { size, cutShort }: Pick<ReadFlow<unknown>, 'size' | 'cutShort'>,
  line: JournalLine,
): number {
  const bytes = toBytes(line, cutShort ? '\n' : '');
  let grown = false;
  try {
    // Without `O_CREAT`: a file that was removed in the meantime would come back without its beginning. A link is
    // not followed: it would lead what is written to another file.
    const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0));
    try {
      // A process that slept (Ctrl-Z, a closed laptop) while another took its flow up must not go on with it.
      grown = fstatSync(file).size !== size;
      if (!grown) {
        // All of it or an error: a disk that is full may take a part.
        appendFileSync(file, bytes);
        fsyncSync(file);
      }
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw unwritable(path, cause);
  }
  if (grown) {
    const flow = basename(path, '.ndjson');
    throw new Psd2Error('config', `Another psd2 has gone on with ${flow} in the meantime`, {
      hint: `See how far it is: psd2 ${flow.startsWith('co-') ? 'consent' : 'transfer'} show ${flow}`,
    });
  }
  return bytes.length;
}

function parseLine<Event>(
  path: string,
  text: string,
  number: number,
  schema: EventSchema<Event>,
): { at: string; event: Event } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw damagedAt(path, number, cause);
  }
  const result = z.object({ at: z.iso.datetime({ offset: true }), event: schema }).safeParse(json);
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

function toBytes(line: JournalLine, separator = ''): Buffer {
  return Buffer.from(`${separator}${JSON.stringify(line)}\n`);
}

/** Whether a line that is no JSON is the beginning of one; that of `created` may lack just the last brace. */
function isCutShort(text: string): boolean {
  if (isJson(text) || !text.startsWith('{"at":"'.slice(0, text.length))) return false;
  return !text.endsWith('}}') || isJson(`${text}}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

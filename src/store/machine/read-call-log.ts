import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { faultOf } from '../disk/permissions.ts';
import { isMissing } from '../disk/system-error.ts';
import { type LoggedCall, logFiles } from './call-log.ts';

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;

const textOrNull = z.nullable(z.string());
const loggedCall: z.ZodMiniType<LoggedCall> = z.object({
  at: z.string(),
  profile: z.string(),
  host: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.nullable(z.number()),
  failure: textOrNull,
  milliseconds: z.number(),
  tppRequestId: z.string(),
  transactionId: z.string(),
  requestId: textOrNull,
  apiTrackId: textOrNull,
  flow: textOrNull,
  neverLeft: z.optional(z.literal(true)),
  irrevocable: z.optional(z.literal(true)),
});

/**
 * Reads the log of calls, the newest first, only as far as the caller iterates. It reads the files from their ends, in
 * blocks. It skips a line that a full disk or a crash cut short.
 *
 * @param mention reads only lines that contain this text, which is faster than to parse them all
 * @throws Psd2Error `config` if a file cannot be read, belongs to another user, or can be changed by others
 */
export function* readCalls(folder: string, mention = ''): Generator<LoggedCall> {
  for (const path of logFiles(folder)) {
    for (const line of linesFromEnd(path)) {
      if (!line.includes(mention)) continue;
      const call = loggedCall.safeParse(parse(line));
      if (call.success) yield call.data;
    }
  }
}

/** A line may follow the beginning of a line that was cut short. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line.slice(Math.max(0, line.lastIndexOf('{"at":'))));
  } catch {
    return undefined;
  }
}

function* linesFromEnd(path: string): Generator<string> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (cause) {
    // The file was never written, or another process has just renamed or removed it.
    if (isMissing(cause)) return;
    throw new Psd2Error('config', `The log ${path} cannot be read`, { hint: 'Check who owns it.', cause });
  }
  try {
    /** The part of the current line that was read so far, in pieces from the last to the first. */
    let pieces: Buffer[] = [];
    const stats = fstatSync(file);
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

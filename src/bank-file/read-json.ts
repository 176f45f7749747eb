// Its promises would load much more of Node.js.
import { close, closeSync, fstat, fstatSync, open, openSync, read, readSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { Psd2Error } from '../errors.ts';
import { refuseReplaceable } from '../store/disk/permissions.ts';

/** A bank file has a few kilobytes. */
const MAX_BYTES = 262_144;

/**
 * Reads a file of text in UTF-8.
 *
 * @returns undefined if there is no file
 * @throws Psd2Error `config` if it is a folder, too large, or cannot be read, or another user can change or replace it: the
 *   file says where secrets go
 */
export async function readText(path: string): Promise<string | undefined> {
  const bytes = await readBounded(path);
  return bytes && decode(bytes, path);
}

async function readBounded(path: string): Promise<Buffer | undefined> {
  try {
    return statSync(path).isFile() ? readFile(path) : await readSlowly(path);
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refusal(path, `cannot be read (${code})`, cause);
  }
}

/** One more byte than allowed shows that the file is too large. What it says of its size may change. */
const ENOUGH_BYTES = MAX_BYTES + 1;

/** A file of its own is read at once. Node would start threads for anything else. */
function readFile(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    refuseReplaceable(path, fstatSync(file), 'public');
    const buffer = Buffer.allocUnsafe(ENOUGH_BYTES);
    let size = 0;
    for (let more = 1; more > 0 && size < buffer.length; size += more)
      more = readSync(file, buffer, size, buffer.length - size, null);
    return bounded(path, buffer.subarray(0, size));
  } finally {
    closeSync(file);
  }
}

/** What is no file of its own, such as a pipe, may have to be waited for. */
async function readSlowly(path: string): Promise<Buffer> {
  const file = await promisify(open)(path, 'r');
  try {
    const stats = await promisify(fstat)(file);
    if (stats.isDirectory()) throw refusal(path, 'is a folder, not a bank file');
    refuseReplaceable(path, stats, 'public');
    const buffer = Buffer.alloc(ENOUGH_BYTES);
    let size = 0;
    for (let more = 1; more > 0 && size < buffer.length; size += more)
      more = (await promisify(read)(file, buffer, size, buffer.length - size, null)).bytesRead;
    return bounded(path, buffer.subarray(0, size));
  } finally {
    await promisify(close)(file);
  }
}

function bounded(path: string, bytes: Buffer): Buffer {
  if (bytes.length <= MAX_BYTES) return bytes;
  throw refusal(path, `has more than ${MAX_BYTES} bytes, too many for a bank file`);
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusal(path, 'is not a text in UTF-8', cause);
  }
}

/**
 * Reads JSON. Two values of one field would hide a mistake: `JSON.parse` takes the last. lossless-json refuses them, and says
 * where.
 *
 * @param path of the file that the text is from
 * @throws Psd2Error `config` if it is not JSON, or gives a field two values
 */
export async function parseJson(text: string, path: string): Promise<unknown> {
  const content = parsedIfPlain(text);
  if (content !== undefined) return content;
  const lossless = await import('lossless-json');
  try {
    lossless.parse(text, null, Number);
    return JSON.parse(text);
  } catch (cause) {
    const deep = cause instanceof RangeError;
    throw refusal(path, `is not valid JSON: ${deep ? 'it is nested too deep' : placeOf(cause, text)}`, cause);
  }
}

/** The content, if each name in the text is a field of it. Undefined: something is wrong, perhaps. */
function parsedIfPlain(text: string): unknown {
  try {
    const content: unknown = JSON.parse(text);
    const names = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(([, colon]) => colon === ':');
    return names.length === fieldsIn(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** How many fields a value of JSON has, with those of the objects in it. */
function fieldsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, each) => sum + fieldsIn(each), Array.isArray(value) ? 0 : inner.length);
}

/** The parser's message, with line and column. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  const [, what = message, at] = /^(.*?)(?: encountered)? at position (\d+)$/s.exec(message) ?? [];
  if (at === undefined) return what;
  const before = text.slice(0, Number(at)).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}`;
}

function refusal(path: string, why: string, cause?: unknown): Psd2Error {
  return new Psd2Error('config', `${path} ${why}`, { cause });
}

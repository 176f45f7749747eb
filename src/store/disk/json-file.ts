import { lstatSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { listFolder, moveAway, readOwnFile, readPlainFile, removeStored, syncFolder } from './files.ts';
import { reasonOf } from './system-error.ts';

/** How the operator is told what was done to save a file. */
export type Notice = (text: string) => void;

/** Files of this version carry no `version`; a later one would, where it changes what a file means. */
const VERSION = 1;

/**
 * Reads a JSON file of the store.
 *
 * @param read how; a file that is not of the store is not judged
 * @returns undefined when there is no such file
 * @throws Psd2Error `config` when it can't be read, is another user's, others can read or change it, or it is damaged
 */
export function readJsonFile<T>(
  path: string,
  schema: z.ZodMiniType<T>,
  read: (path: string) => Buffer | undefined = readOwnFile,
): T | undefined {
  const content = read(path)?.toString('utf8');
  if (content === undefined) return undefined;
  return parseStored(path, content, schema);
}

function parseStored<T>(path: string, content: string, schema: z.ZodMiniType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw new Psd2Error('config', `${path} is damaged: it is not JSON`, {
      hint: moveAway(path),
      cause,
    });
  }
  const version = versionOf(value);
  if (version > VERSION) {
    throw new Psd2Error('config', `${path} was written by a newer psd2 (format ${version})`, {
      hint: 'Update psd2, or use another folder with PSD2_CONFIG_DIR.',
    });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.') || 'its content';
  throw new Psd2Error('config', `${path} is damaged: ${where} is not as psd2 wrote it`, {
    hint: moveAway(path),
  });
}

function versionOf(value: unknown): number {
  return typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    typeof value.version === 'number'
    ? value.version
    : VERSION;
}

/**
 * Writes a JSON file of the store through `conf`: atomically, with fsync, mode 0600 in a folder of 0700. What
 * stands there and can't be read is kept beside it, since a part of it may be saved by hand.
 *
 * @param schema of what stands there, if it is whole
 * @param notice is told where a damaged file is kept
 * @throws Psd2Error `config` when it can't be written; the old file stays then
 */
export async function writeJsonFile<T extends Record<string, unknown>>(
  path: string,
  value: T,
  schema: z.ZodMiniType<T>,
  notice: Notice = () => {},
): Promise<void> {
  const { default: Conf } = await import('conf');
  makePrivateFolder(dirname(path));
  setAsideIfDamaged(path, schema, notice);
  const target = removeLink(path);
  try {
    const file = new Conf<Record<string, unknown>>({
      cwd: dirname(path),
      configName: basename(path, '.json'),
      configFileMode: 0o600,
    });
    file.store = { ...value };
    syncFolder(dirname(path));
  } catch (cause) {
    if (target !== undefined) symlinkSync(target, path);
    throw new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder.',
      cause,
    });
  }
}

/**
 * Keeps a damaged file beside the place that another is written to: a part of it may be saved by hand.
 *
 * @throws Psd2Error `config` when it can't be moved; it stays then
 */
export function setAsideIfDamaged(path: string, schema: z.ZodMiniType<object | null>, notice: Notice): void {
  try {
    const content = readPlainFile(path)?.toString('utf8');
    if (content !== undefined) parseStored(path, content, schema);
  } catch (damage) {
    if (!(damage instanceof Psd2Error)) throw damage;
    const kept = `${path}.damaged-${new Date().toISOString().replace(/[-:.]/g, '')}`;
    try {
      renameSync(path, kept);
    } catch (cause) {
      throw new Psd2Error('config', `${damage.message}, and it cannot be moved away: ${reasonOf(cause)}`, {
        hint: 'Check who owns the folder.',
        cause,
      });
    }
    notice(`${damage.message}. It is kept as ${kept}, and a new one is written.`);
  }
}

/** Removes what killed processes left of a file half written. To be called by who holds its lock. */
export function removeHalfWritten(path: string): void {
  const begin = `${basename(path)}.tmp-`;
  for (const name of listFolder(dirname(path)))
    if (name.startsWith(begin)) removeStored(join(dirname(path), name));
}

/**
 * Removes a link: `conf` would write to what it leads to, wherever that is.
 *
 * @returns what it led to; undefined when there is no link
 * @throws Psd2Error `config`
 */
function removeLink(path: string): string | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  const target = readlinkSync(path);
  removeStored(path);
  return target;
}

/** Makes a folder that only its owner can enter, and those above it as needed. @throws Psd2Error `config` */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Psd2Error('config', `The folder ${path} cannot be made: ${reasonOf(cause)}`, {
      hint: 'Check who owns the folder above it, or set PSD2_CONFIG_DIR.',
      cause,
    });
  }
}

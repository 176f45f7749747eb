import { lstatSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { listFolder, moveAway, readOwnFile, readPlainFile, removeStored, syncFolder } from './files.ts';
import { reasonOf } from './system-error.ts';

/** Tells the operator where psd2 kept a damaged file. */
export type Notice = (text: string) => void;

/** Files of this version have no field `version`. A later version that changes what a file means must write it. */
const VERSION = 1;

/**
 * Reads a JSON file of the store.
 *
 * @param read reads the file. The default also checks its owner and mode
 * @returns undefined if the file does not exist
 * @throws Psd2Error `config` if it cannot be read, belongs to another user, can be read or changed by others, or is damaged
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
 * Writes a JSON file of the store with `conf`: atomically, with fsync, with mode 0600 in a folder of mode 0700. If the
 * old file is damaged, psd2 keeps it under another name: the operator may rescue a part of it.
 *
 * @param schema of the old file, which shows whether it is damaged
 * @param notice called if a damaged file was kept
 * @throws Psd2Error `config` if it cannot be written. The old file stays then
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
    if (target !== undefined && !lstatSync(path, { throwIfNoEntry: false })) symlinkSync(target, path);
    throw new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder.',
      cause,
    });
  }
}

/**
 * Renames a damaged file before psd2 writes a new one in its place: the operator may rescue a part of it.
 *
 * @throws Psd2Error `config` if it cannot be renamed. It stays then
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
    notice(`${damage.message}. psd2 keeps it as ${kept} and writes a new one.`);
  }
}

/** Removes the half-written copies of a file that killed processes left. Only the holder of its lock may call this. */
export function removeHalfWritten(path: string): void {
  const begin = `${basename(path)}.tmp-`;
  for (const name of listFolder(dirname(path)))
    if (name.startsWith(begin)) removeStored(join(dirname(path), name));
}

/**
 * Removes a link, because `conf` would write to its target, wherever that is.
 *
 * @returns the target; undefined if there is no link
 * @throws Psd2Error `config`
 */
function removeLink(path: string): string | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  const target = readlinkSync(path);
  removeStored(path);
  return target;
}

/** Creates a folder that only its owner can enter, and missing folders above it. @throws Psd2Error `config` */
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

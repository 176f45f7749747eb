import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  type Dirent,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type * as z from 'zod/mini';
import { type ErrorCode, endSentence, Psd2Error } from '../../errors.ts';
import { makeFolder } from '../../make-folder.ts';
import { faultOf } from './permissions.ts';

/**
 * Reads a file of the store. Follows a link to a file. Refuses a pipe, since reading it might never end.
 *
 * @returns undefined if nothing has that name
 * @throws Psd2Error `config` if it cannot be read or is not a file
 */
export function readPlainFile(path: string): Buffer | undefined {
  return readFile(path, () => undefined);
}

/**
 * Reads a file that psd2 trusts, like {@link readPlainFile}. Refuses a file that another user could have written or can
 * read ({@link faultOf}).
 *
 * @throws Psd2Error `config`
 */
export function readOwnFile(path: string): Buffer | undefined {
  return readFile(path, (stats) => faultOf(path, stats, 'secret'));
}

function readFile(path: string, judge: (stats: Stats) => Psd2Error | undefined): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissing(cause)) {
      // Below a file, not in a folder, there is no link either.
      if (systemCode(cause) === 'ENOENT') refuseDanglingLink(path);
      return undefined;
    }
    throw cannotRead(path, cause);
  }
  try {
    const stats = fstatSync(file);
    refuseOtherThanFile(path, stats);
    const fault = judge(stats);
    if (fault) throw fault;
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw cannotRead(path, cause, 'Check the disk.');
  } finally {
    closeSync(file);
  }
}

/** Refuses a folder, a pipe and the like in place of a file. @param stats of what has the name @throws Psd2Error `config` */
export function refuseOtherThanFile(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw new Psd2Error('config', `${path} is ${describeFileType(stats)}, not a file`, {
    hint: moveAway(path),
  });
}

/**
 * Reads a file that the operator named.
 *
 * @param what it is, as the beginning of a sentence
 * @throws Psd2Error `usage` if it does not exist, `code` if it cannot be read
 */
export function readNamedFile(path: string, what: string, code: ErrorCode): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    if (isMissing(cause)) throw new Psd2Error('usage', `${what} does not exist`, { cause });
    throw new Psd2Error(code, `${what} cannot be read`, { cause });
  }
}

/** The error for something that cannot be written. @param more what the operator should know besides */
export function cannotWrite(what: string, cause: unknown, more = ''): Psd2Error {
  const hint = `Check the free space, and who owns the folder.${more && ` ${more}`}`;
  return new Psd2Error('config', `${what} cannot be written: ${reasonOf(cause)}`, { hint, cause });
}

/** The error for something that cannot be read. */
export function cannotRead(
  what: string,
  cause: unknown,
  hint = 'Check who owns it and its mode.',
): Psd2Error {
  return new Psd2Error('config', `${what} cannot be read: ${reasonOf(cause)}`, { hint, cause });
}

/** The hint for a file that psd2 cannot use. */
function moveAway(path: string): string {
  return `Restore it, or move it away: mv ${path} ${path}.damaged`;
}

/** The names in a folder of the store. Empty if the folder does not exist. @throws Psd2Error `config` */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw cannotRead(`The folder ${path}`, cause);
  }
}

/**
 * All entries of a folder and of the folders below it. Lists links without following them. Node's own `recursive` option
 * follows them since Node 22.
 *
 * @throws Error of Node if a folder cannot be read
 */
export function entriesBelow(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry, ...entriesBelow(join(folder, entry.name))] : [entry],
  );
}

/** Removes a file, or a folder with its content. Does nothing if it does not exist. @throws Psd2Error `config` */
export function removeStored(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (cause) {
    throw new Psd2Error('config', `${path} cannot be removed: ${reasonOf(cause)}`, {
      hint: 'Check who owns the folder.',
      cause,
    });
  }
}

/** Opens a file, works on it, and closes it. @throws Error of Node, and what `work` throws */
export function withFile<T>(path: string, flags: string | number, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600);
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

/** Appends to a file that it opens with `flags`, and makes it durable (fsync). It writes all of the data, or throws. */
export function appendDurably(path: string, flags: string | number, data: string | Buffer): void {
  withFile(path, flags, (file) => {
    appendFileSync(file, data);
    fsyncSync(file);
  });
}

/**
 * Gives a complete, durable file a second name that only one process can take. On a file system without hard links, it
 * takes the name first and fills the file afterwards.
 *
 * @throws Error of Node, `EEXIST` if the name is taken
 */
export function takeName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINKS.includes(systemCode(error) ?? '')) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
    withFile(name, 'r+', fsyncSync);
  }
}

/** The errors of a file system without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Makes the entries of a folder durable: files that were created, renamed or removed in it. */
export function syncFolder(folder: string): void {
  // Windows cannot sync a folder.
  if (process.platform !== 'win32') withFile(folder, 'r', fsyncSync);
}

/** The target of a dangling link may be on a disk that is not mounted now. So the place does not count as empty. */
function refuseDanglingLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new Psd2Error('config', `${path} is a link to ${readlinkSync(path)}, which does not exist`, {
    hint: moveAway(path),
  });
}

function describeFileType(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  return 'a device or socket';
}

/** File system errors that the operator can do something about, in words. */
const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the limit for the size of a file is reached',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EISDIR: 'a folder has that name',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'something else has that name',
  ENXIO: 'something else has that name',
  ELOOP: 'the links form a loop',
};

/** Why psd2 could not read or write a file, as the end of a sentence: `the disk is full`. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code !== undefined) return REASONS[code] ?? code;
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the file system, for example `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether an error of the file system means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Tells the operator where psd2 kept a damaged file. */
export type Notice = (text: string) => void;

/** Files of this version have no field `version`. A later version that changes what a file means must write it. */
const VERSION = 1;

/** What a JSON file of the store contains. For some files, a quick look answers before the schema, which is slow to load. */
export type StoredShape<T> = z.ZodMiniType<T> | QuickShape<T>;

/** What a file contains, and a quick look at it. */
export interface QuickShape<T> {
  /** Whether the schema takes a value unchanged. False if that is not certain: then the schema decides. */
  isCertainly(value: unknown): value is T;
  schema(): z.ZodMiniType<T>;
}

/**
 * Reads a JSON file of the store.
 *
 * @param read reads the file. The default also checks its owner and mode
 * @returns undefined if the file does not exist
 * @throws Psd2Error `config` if it cannot be read, belongs to another user, can be read or changed by others, or is damaged
 */
export function readJsonFile<T>(
  path: string,
  shape: StoredShape<T>,
  read: (path: string) => Buffer | undefined = readOwnFile,
): T | undefined {
  const content = read(path)?.toString('utf8');
  if (content === undefined) return undefined;
  return parseStored(path, content, shape);
}

function parseStored<T>(path: string, content: string, shape: StoredShape<T>): T {
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
  if (version > VERSION)
    throw new Psd2Error('config', `${path} was written by a newer psd2 (format ${version})`, {
      hint: 'Update psd2, or use another folder with PSD2_CONFIG_DIR.',
    });
  if ('isCertainly' in shape && shape.isCertainly(value)) return value;
  const result = ('isCertainly' in shape ? shape.schema() : shape).safeParse(value);
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
 * @param shape of the old file, which shows whether it is damaged
 * @param notice called if a damaged file was kept
 * @throws Psd2Error `config` if it cannot be written. The old file stays then
 */
export async function writeJsonFile<T extends Record<string, unknown>>(
  path: string,
  value: T,
  shape: StoredShape<T>,
  notice: Notice = () => {},
): Promise<void> {
  const { default: Conf } = await import('conf');
  makePrivateFolder(dirname(path));
  setAsideIfDamaged(path, shape, notice);
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
    throw cannotWrite(path, cause);
  }
}

/**
 * Renames a damaged file before psd2 writes a new one in its place: the operator may rescue a part of it.
 *
 * @throws Psd2Error `config` if it cannot be renamed. It stays then
 */
export function setAsideIfDamaged(path: string, shape: StoredShape<object | null>, notice: Notice): void {
  try {
    const content = readPlainFile(path)?.toString('utf8');
    if (content !== undefined) parseStored(path, content, shape);
  } catch (damage) {
    if (!(damage instanceof Psd2Error)) throw damage;
    const aside = `${path}.damaged-${new Date().toISOString().replace(/[-:.]/g, '')}`;
    try {
      renameSync(path, aside);
    } catch (cause) {
      throw new Psd2Error('config', `${damage.message}, and it cannot be moved away: ${reasonOf(cause)}`, {
        hint: 'Check who owns the folder.',
        cause,
      });
    }
    notice(`${endSentence(damage.message)} psd2 keeps it as ${aside} and writes a new one.`);
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
    makeFolder(path);
  } catch (cause) {
    throw new Psd2Error('config', `psd2 cannot create the folder ${path}: ${reasonOf(cause)}`, {
      hint: 'Check who owns the folder above it, or set PSD2_CONFIG_DIR.',
      cause,
    });
  }
}

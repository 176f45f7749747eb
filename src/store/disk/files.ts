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
  rmSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { faultOf } from './permissions.ts';
import { isMissing, reasonOf, systemCode } from './system-error.ts';

/**
 * Reads a file of the store. A link to a file is followed; a pipe, which would never end, is not read.
 *
 * @returns undefined when there is nothing of that name
 * @throws Psd2Error `config` when it can't be read, or is no file
 */
export function readPlainFile(path: string): Buffer | undefined {
  return readFile(path, () => undefined);
}

/**
 * As {@link readPlainFile}, of a file that psd2 believes: one that another user could have written, or can read, is
 * refused ({@link faultOf}).
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
      refuseDanglingLink(path);
      return undefined;
    }
    throw new Psd2Error('config', `${path} cannot be read: ${reasonOf(cause)}`, {
      hint: 'Check who owns it and its mode.',
      cause,
    });
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) {
      throw new Psd2Error('config', `${path} is ${describe(stats)}, not a file`, { hint: moveAway(path) });
    }
    const fault = judge(stats);
    if (fault) throw fault;
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error('config', `${path} cannot be read: ${reasonOf(cause)}`, {
      hint: 'Check the disk that it is on.',
      cause,
    });
  } finally {
    closeSync(file);
  }
}

/** What to do with a file that can't be used. */
export function moveAway(path: string): string {
  return `Restore it, or move it away: mv ${path} ${path}.damaged`;
}

/** The names in a folder of the store; none when there is no such folder. @throws Psd2Error `config` */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new Psd2Error('config', `The folder ${path} cannot be read: ${reasonOf(cause)}`, {
      hint: 'Check who owns it and its mode.',
      cause,
    });
  }
}

/**
 * All that is in a folder and in the folders below it. Links are named and not followed; `recursive` of Node's own follows
 * them since Node 22.
 *
 * @throws Error of Node where a folder can't be read
 */
export function entriesBelow(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry, ...entriesBelow(join(folder, entry.name))] : [entry],
  );
}

/** Removes a file, or a folder with what is in it; there need not be one. @throws Psd2Error `config` */
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

/** Writes at the end of a file that is opened with `flags`, and makes it durable (fsync). All of it is written, or it throws. */
export function appendDurably(path: string, flags: string | number, data: string | Buffer): void {
  const file = openSync(path, flags, 0o600);
  try {
    appendFileSync(file, data);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Gives a file that is whole and on the disk another name, which only one process can take. On a file system without hard
 * links the name is taken first and filled then.
 *
 * @throws Error of Node, `EEXIST` where the name is taken
 */
export function takeName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINKS.includes(systemCode(error) ?? '')) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
    const copy = openSync(name, 'r+');
    try {
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
  }
}

/** What a file system says that has no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Makes the entries of a folder durable: files that were made in it, renamed or removed. */
export function syncFolder(folder: string): void {
  // Windows has no such thing.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What it leads to may come back, with a disk that is not there now: so it is no empty place. */
function refuseDanglingLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new Psd2Error('config', `${path} is a link to ${readlinkSync(path)}, which is not there`, {
    hint: moveAway(path),
  });
}

function describe(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  return 'a device or socket';
}

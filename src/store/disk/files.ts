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
      hint: 'Check the disk.',
      cause,
    });
  } finally {
    closeSync(file);
  }
}

/** The hint for a file that psd2 cannot use. */
export function moveAway(path: string): string {
  return `Restore it, or move it away: mv ${path} ${path}.damaged`;
}

/** The names in a folder of the store. Empty if the folder does not exist. @throws Psd2Error `config` */
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

/** Appends to a file that it opens with `flags`, and makes it durable (fsync). It writes all of the data, or throws. */
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
    const copy = openSync(name, 'r+');
    try {
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
  }
}

/** The errors of a file system without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Makes the entries of a folder durable: files that were created, renamed or removed in it. */
export function syncFolder(folder: string): void {
  // Windows cannot sync a folder.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The target of a dangling link may be on a disk that is not mounted now. So the place does not count as empty. */
function refuseDanglingLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new Psd2Error('config', `${path} is a link to ${readlinkSync(path)}, which does not exist`, {
    hint: moveAway(path),
  });
}

function describe(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  return 'a device or socket';
}

import { accessSync, constants, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';

/** Who runs psd2. Asked once, because a store has a hundred thousand files. */
const USER = process.getuid?.();

/** What psd2 checks. Others must not read a `secret` file. They may read a `public` one, for example a certificate. */
export type Judged = 'folder' | 'secret' | 'public';

/**
 * Checks the owner and mode of a file or folder that psd2 trusts, as `ssh` checks its own (`StrictModes` of
 * sshd_config(5), and the modes of identity files in ssh(1)). It must belong to the user who runs psd2, or to root. If
 * root runs psd2, it may also belong to the owner of the folder that it is in. No other user may write to it, and no other
 * user may read a secret. Other users may list a folder.
 *
 * @param stats of the open file, if psd2 has opened it
 * @param user who runs psd2; undefined on Windows, which has no such owners and modes
 * @returns the fault, code `config`, with the command that repairs it; undefined if there is none
 */
export function faultOf(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  judged: Judged,
  user: number | undefined = USER,
): Psd2Error | undefined {
  if (user === undefined) return undefined;
  const chmod = `chmod ${judged === 'folder' ? '700' : judged === 'secret' ? '600' : 'go-w'} ${quoteForShell(path)}`;
  const others = mode & 0o077;
  const isWritable = (others & 0o022) !== 0;
  // Only the owner can change the mode. If root placed the secret there, root decides who may read it.
  const isReadable = judged === 'secret' && others !== 0 && (uid === user || user === 0);
  if (!isTrusted(path, uid, user)) {
    const chown = `${user === 0 ? '' : 'sudo '}chown ${user} ${quoteForShell(path)}`;
    return new UnsafeFile('config', `${path} belongs to another user (${uid})`, {
      hint: `If you trust its content, run: ${chown}${isWritable || (judged === 'secret' && others !== 0) ? ` && ${chmod}` : ''}`,
    });
  }
  if (!isWritable && !isReadable) return undefined;
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return new UnsafeFile(
    'config',
    `${path} can be ${isWritable ? 'changed' : 'read'} by others (mode ${octal})`,
    { hint: `Run: ${chmod}` },
  );
}

/** A file or folder that psd2 does not trust. Commands that skip damaged files never skip this one. */
export class UnsafeFile extends Psd2Error {}

/**
 * Checks an open file that psd2 believes, such as a bank file or a certificate: that nobody else can change it, or put another
 * one in its place. For that, somebody could write to the folder of the path, or to that of the file that a link leads to.
 *
 * @param judged `secret` if nobody else may read it either
 * @throws Psd2Error `config`: the {@link faultOf} the file or folder
 */
export function refuseReplaceable(path: string, stats: Stats, judged: Exclude<Judged, 'folder'>): void {
  // Nobody else can write to this process's socket or device, whatever the mode says.
  if (!stats.isFile() && !stats.isFIFO()) return;
  const fault =
    faultOf(path, stats, judged) ??
    faultOfPlace(dirname(path)) ??
    (stats.isFile() ? faultOfPlace(dirname(realpathSync(path))) : undefined);
  if (fault) throw fault;
}

/** In a folder with the sticky bit, such as /tmp, nobody can replace another user's file; on a read-only disk nobody can at all. */
function faultOfPlace(folder: string): Psd2Error | undefined {
  const stats = statOf(folder);
  if (!stats || isReadOnly(folder)) return undefined;
  const mode = (stats.mode & 0o1000) === 0 ? stats.mode : stats.mode & ~0o022;
  // Root also trusts the owner of the folder: it takes files of theirs.
  return faultOf(folder, { uid: USER === 0 ? 0 : stats.uid, mode }, 'public');
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}

/**
 * Checks a file that psd2 writes secrets into: who reads it acts with them. It belongs to the user who runs psd2, and nobody else may
 * read or change it.
 *
 * @param stats of the open file
 * @param user who runs psd2; undefined on Windows, which has no such owners and modes
 * @throws Psd2Error `config`
 */
export function refuseShared(path: string, stats: Pick<Stats, 'uid' | 'mode'>, user = USER): void {
  if (user === undefined) return;
  if (stats.uid !== user)
    throw new UnsafeFile('config', `${path} belongs to another user (${stats.uid})`, {
      hint: 'Name a file of your own.',
    });
  const fault = faultOf(path, stats, 'secret', user);
  if (fault) throw fault;
}

/** Checks a folder, if it exists. @throws Psd2Error `config`: its {@link faultOf} */
export function refuseUnsafeFolder(path: string): void {
  const fault = faultOfFolder(path, USER);
  if (fault) throw fault;
}

/** Checks a file, if it exists. @throws Psd2Error `config`: its {@link faultOf} */
export function refuseUnsafe(path: string, judged: Exclude<Judged, 'folder'>): void {
  const stats = statOf(path);
  const fault = stats?.isFile() ? faultOf(path, stats, judged) : undefined;
  if (fault) throw fault;
}

/** Checks the files in a folder, each as a secret. @throws Psd2Error `config`: the {@link faultOf} the first unsafe one */
export function refuseUnsafeFilesIn(folder: string): void {
  for (const name of entriesOf(folder)) refuseUnsafe(join(folder, name), 'secret');
}

function isTrusted(path: string, owner: number, user: number): boolean {
  if (owner === user || owner === 0) return true;
  return user === 0 && owner === statOf(dirname(path))?.uid;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The {@link faultOf} a folder; undefined if it does not exist. */
export function faultOfFolder(path: string, user: number | undefined): Psd2Error | undefined {
  const stats = statOf(path);
  return stats?.isDirectory() ? faultOf(path, stats, 'folder', user) : undefined;
}

/** As {@link faultOfFolder}, for the configuration folder, whose owner was checked before. */
export function faultOfRoot(path: string, user: number | undefined): Psd2Error | undefined {
  const stats = statOf(path);
  return stats?.isDirectory()
    ? faultOf(path, { uid: user ?? 0, mode: stats.mode }, 'folder', user)
    : undefined;
}

/** The folders of a store whose entries psd2 trusts, without its root. */
export function foldersIn(root: string, log: string): string[] {
  const within = (name: string, ...below: string[]) => {
    const folder = join(root, name);
    const each = entriesOf(folder).map((entry) => join(folder, entry));
    return [folder, ...each, ...each.flatMap((path) => below.map((entry) => join(path, entry)))];
  };
  return [
    ...['audit', 'profiles', 'protection', 'sandbox', 'stores'].map((name) => join(root, name)),
    join(root, 'stores', 'copies'),
    join(root, 'sandbox', 'certificates'),
    ...within('tokens', 'client-credentials-calls', 'customers'),
    ...within('flows', 'open', 'references'),
    log,
  ];
}

/** Undefined if the path cannot be examined. The code that uses the path reports why. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

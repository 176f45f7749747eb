import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';

/** What is judged: `secret` is a file that nobody else may read, `public` one that they may, as a certificate. */
export type Judged = 'folder' | 'secret' | 'public';

/**
 * Judges a file or folder that psd2 believes, as `ssh` judges its own (`StrictModes` of sshd_config(5), and the modes
 * of identity files in ssh(1)). It belongs to who runs psd2, or to root; for root, also to the owner of the folder it
 * lies in. No other user may write to it, and nobody else may read a secret. Whether the folder of a user's secrets
 * can be listed is not judged.
 *
 * @param stats of what was opened, where it was opened
 * @param user who runs psd2; undefined on Windows, which has no such owners and modes
 * @returns what is wrong with it, code `config`, with the command that mends it; undefined when nothing is
 */
export function faultOf(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  judged: Judged,
  user: number | undefined = process.getuid?.(),
): Psd2Error | undefined {
  if (user === undefined) return undefined;
  const chmod = `chmod ${judged === 'folder' ? '700' : judged === 'secret' ? '600' : 'go-w'} ${quoteForShell(path)}`;
  const others = mode & 0o077;
  const isWritable = (others & 0o022) !== 0;
  // Who is not its owner can't change its mode: a secret that root has put there is for root to judge.
  const isReadable = judged === 'secret' && others !== 0 && (uid === user || user === 0);
  if (!isTrusted(path, uid, user)) {
    const chown = `${user === 0 ? '' : 'sudo '}chown ${user} ${quoteForShell(path)}`;
    return new UnsafeFile('config', `${path} belongs to another user (${uid})`, {
      hint: `If you trust what it holds, run: ${chown}${isWritable || (judged === 'secret' && others !== 0) ? ` && ${chmod}` : ''}`,
    });
  }
  if (!isWritable && !isReadable) return undefined;
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return new UnsafeFile(
    'config',
    `${path} can be ${isWritable ? 'changed' : 'read'} by others (mode ${octal})`,
    {
      hint: `Run: ${chmod}`,
    },
  );
}

/** A file or folder that psd2 does not believe: unlike a damaged one it is never passed over. */
export class UnsafeFile extends Psd2Error {}

/** Judges a folder, if there is one. @throws Psd2Error `config`: {@link faultOf} it */
export function refuseUnsafeFolder(path: string): void {
  const fault = faultOfFolder(path, process.getuid?.());
  if (fault) throw fault;
}

/** Judges the file of that name, if there is one. @throws Psd2Error `config`: {@link faultOf} it */
export function refuseUnsafe(path: string, judged: Exclude<Judged, 'folder'>): void {
  const stats = statOf(path);
  const fault = stats?.isFile() ? faultOf(path, stats, judged) : undefined;
  if (fault) throw fault;
}

/** Judges the files in a folder, each as a secret. @throws Psd2Error `config`: {@link faultOf} the first */
export function refuseUnsafeFilesIn(folder: string): void {
  for (const name of namesIn(folder)) refuseUnsafe(join(folder, name), 'secret');
}

function isTrusted(path: string, owner: number, user: number): boolean {
  if (owner === user || owner === 0) return true;
  return user === 0 && owner === statOf(dirname(path))?.uid;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What is wrong with the folder of that path, if there is one: {@link faultOf} it. */
export function faultOfFolder(path: string, user: number | undefined): Psd2Error | undefined {
  const stats = statOf(path);
  return stats?.isDirectory() ? faultOf(path, stats, 'folder', user) : undefined;
}

/** As {@link faultOfFolder}, of the configuration folder, whose owner was judged already. */
export function faultOfRoot(path: string, user: number | undefined): Psd2Error | undefined {
  const stats = statOf(path);
  return stats?.isDirectory()
    ? faultOf(path, { uid: user ?? 0, mode: stats.mode }, 'folder', user)
    : undefined;
}

/** The folders of a store whose entries psd2 believes, without its root. */
export function foldersIn(root: string, log: string): string[] {
  const within = (name: string, ...below: string[]) => {
    const folder = join(root, name);
    const each = namesIn(folder).map((entry) => join(folder, entry));
    return [folder, ...each, ...each.flatMap((path) => below.map((entry) => join(path, entry)))];
  };
  return [
    ...['profiles', 'protection', 'sandbox'].map((name) => join(root, name)),
    join(root, 'sandbox', 'certificates'),
    ...within('tokens', 'client-credentials-calls'),
    ...within('flows', 'open', 'references'),
    log,
  ];
}

/** Undefined where nothing can be told: who needs what is there will say why it can't be used. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

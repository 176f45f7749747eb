import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { Psd2Error } from '../../errors.ts';
import { entriesBelow, reasonOf } from '../disk/files.ts';
import { faultOf, faultOfFolder, faultOfRoot, foldersIn } from '../disk/permissions.ts';
import { ForgottenCustomers } from './forgotten.ts';

/** The paths in one configuration folder. */
export interface StoreFolder {
  root: string;
  config: string;
  sandbox: string;
  profiles: string;
  profile(name: string): string;
  /** What the bank file of a profile meant when it was checked. */
  checkedBank(profile: string): string;
  protection(profile: string): string;
  tokens(profile: string): string;
  flows(profile: string): string;
  /** The lines of the audit log. They stay when the profile is removed. */
  audit(profile: string): string;
  /** The folders into which syncs of the profile have written. */
  syncFolders(profile: string): string;
  /** The log of calls. It is state, not configuration (XDG on Linux), so it has its own folder unless one is configured. */
  log: string;
  /** Whom psd2 has forgotten on this machine since the command began. */
  forgotten: ForgottenCustomers;
  /** The runs of `psd2 smoke`, and what they have made and not ended. */
  smoke(profile: string): string;
  /** What `psd2 bank learn` has begun at the bank and not ended. */
  learning(profile: string): string;
  /** The forms of the bank's answers. */
  shapes(profile: string): string;
  /** Figures of the calls, by day. */
  stats: string;
  /** The operator's Ctrl-C, which ends the wait for other processes. */
  interrupted: AbortSignal | undefined;
}

/**
 * @param configured `PSD2_CONFIG_DIR` (default: the platform's configuration folder, XDG on Linux)
 * @throws Psd2Error `config` if the user has no home folder and none is configured
 */
export function storeFolder(configured: string | undefined, interrupted?: AbortSignal): StoreFolder {
  const { config: root, log } = configured
    ? { config: configured, log: join(configured, 'log') }
    : platformFolders();
  const profiles = join(root, 'profiles');
  return {
    root,
    config: join(root, 'config.json'),
    sandbox: join(root, 'sandbox'),
    profiles,
    profile: (name) => join(profiles, `${name}.json`),
    checkedBank: (profile) => join(root, 'banks', `${profile}.json`),
    protection: (profile) => join(root, 'protection', `${profile}.json`),
    tokens: (profile) => join(root, 'tokens', profile),
    flows: (profile) => join(root, 'flows', profile),
    audit: (profile) => join(root, 'audit', `${profile}.ndjson`),
    syncFolders: (profile) => join(root, 'sync-folders', `${profile}.json`),
    log,
    forgotten: new ForgottenCustomers(join(log, 'forgotten.ndjson')),
    smoke: (profile) => join(log, 'smoke', fileNameOf(profile)),
    learning: (profile) => join(log, 'learn', fileNameOf(profile)),
    shapes: (profile) => join(log, 'shapes', `${fileNameOf(profile)}.json`),
    stats: join(log, 'stats.ndjson'),
    interrupted,
  };
}

/** A smoke test says itself that a profile has a name that none can have. */
function fileNameOf(profile: string): string {
  return profile.replace(/[^\w-]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
}

function platformFolders(): { config: string; log: string } {
  try {
    homedir();
  } catch {
    // A container may run as a user that no file of the system knows.
    throw new Psd2Error('config', 'This user has no home folder, so psd2 has no configuration folder', {
      hint: 'Set PSD2_CONFIG_DIR to a folder that only this user can write to, or set HOME.',
    });
  }
  return envPaths('psd2', { suffix: '' });
}

/**
 * Checks owner and mode of the configuration folder and the folders in it: a user who can write to one could replace files
 * that psd2 trusts. psd2 checks files when it reads them.
 *
 * @param user who runs `psd2`; undefined on Windows, which has no such owners and modes
 * @throws Psd2Error `config`
 */
export function checkStore(
  folder: StoreFolder,
  warn: (text: string) => void,
  user: number | undefined = process.getuid?.(),
): void {
  checkOwner(folder, warn, user);
  const { root, log } = folder;
  const fault = faultOfRoot(root, user);
  if (fault) throw fault;
  for (const path of foldersIn(root, log)) {
    const inside = faultOfFolder(path, user);
    if (inside) throw inside;
  }
}

/**
 * Checks everything in the configuration folder and in the log, as the commands do that use it.
 *
 * @returns the faults that those commands refuse, and the folders that other users can list, which they accept
 */
export function inspectStore({ root, log }: StoreFolder): { faults: Psd2Error[]; listable: string[] } {
  const faults: Psd2Error[] = [];
  const listable: string[] = [];
  const user = process.getuid?.();
  for (const path of new Set([root, ...everythingIn(root), log, ...everythingIn(log)])) {
    const stats = statSync(path, { throwIfNoEntry: false });
    // The file was removed in the meantime, for example a lock, or never existed.
    if (!stats || !(stats.isFile() || stats.isDirectory())) continue;
    const isLog = dirname(path) === log;
    const fault =
      path === root
        ? faultOfRoot(root, user)
        : faultOf(path, stats, stats.isDirectory() ? 'folder' : isLog ? 'public' : 'secret');
    if (fault) faults.push(fault);
    else if (stats.isDirectory() && (stats.mode & 0o077) !== 0) listable.push(path);
  }
  return { faults, listable };
}

function everythingIn(folder: string): string[] {
  try {
    return entriesBelow(folder)
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch {
    // The folder is missing or not readable. The commands that need it report that.
    return [];
  }
}

/** Refuses another user's folder, as `ssh` does. It only warns root, who may work with other users' folders. */
function checkOwner({ root }: StoreFolder, warn: (text: string) => void, user: number | undefined): void {
  const owner = ownerOf(root);
  if (user === undefined || owner === undefined || owner === user) return;
  const whose = `The configuration folder ${root} belongs to ${owner === 0 ? 'root' : `another user (${owner})`}`;
  if (user !== 0)
    throw new Psd2Error('config', whose, {
      hint: 'Let that user run psd2, or set PSD2_CONFIG_DIR to a folder of your own.',
    });
  warn(`${whose}, and psd2 runs as root. That user cannot read what psd2 writes there.`);
}

function ownerOf(root: string): number | undefined {
  try {
    return statSync(root, { throwIfNoEntry: false })?.uid;
  } catch (cause) {
    throw new Psd2Error('config', `The configuration folder ${root} cannot be used: ${reasonOf(cause)}`, {
      hint: 'Check who owns the folders above it, or set PSD2_CONFIG_DIR.',
      cause,
    });
  }
}

/** What completion and help show of the profiles. It must be quick, and shows nothing of data that is damaged or missing. */
export function glanceAtProfiles({ profiles, config }: StoreFolder) {
  /** A field of a JSON file. */
  const fieldIn = (path: string, name: string): unknown => {
    try {
      // Reflect.get throws if the file contains no object.
      return Reflect.get(JSON.parse(readFileSync(path, 'utf8')), name);
    } catch {
      return undefined;
    }
  };
  return {
    /** The names of the profiles, sorted. */
    names: () => namesIn(profiles, /^(.+)\.json$/),
    /** The profile that was chosen with `profile use`. */
    current: (): string | undefined => {
      const name = fieldIn(config, 'currentProfile');
      return typeof name === 'string' ? name : undefined;
    },
    /** The bank file of a profile; null: its bank has none; undefined: there is no such profile. */
    bankOf: (name: string): string | null | undefined => {
      const path = join(profiles, `${name}.json`);
      const bank = fieldIn(path, 'bank');
      if (typeof bank === 'string') return bank;
      return fieldIn(path, 'baseUrl') === undefined ? undefined : null;
    },
  };
}

/** The first group of the pattern in each matching name of a folder, sorted. Empty if the folder cannot be listed. */
export function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}

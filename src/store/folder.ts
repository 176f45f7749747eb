import { statSync } from 'node:fs';
import { join } from 'node:path';
import envPaths from 'env-paths';
import { Psd2Error } from '../errors.ts';
import { reasonOf } from './system-error.ts';

/** Where `psd2` keeps what it keeps, for one configuration folder. */
export interface StoreFolder {
  root: string;
  config: string;
  sandbox: string;
  profiles: string;
  profile(name: string): string;
  protection(profile: string): string;
  tokens(profile: string): string;
  flows(profile: string): string;
  /** The log of calls: state, not configuration (XDG on Linux), unless all is to be in one folder. */
  log: string;
  /** The operator's Ctrl-C, which ends waiting for other processes. */
  interrupted: AbortSignal | undefined;
}

/** @param configured `PSD2_CONFIG_DIR`; without it the platform's configuration folder (XDG on Linux) */
export function storeFolder(configured: string | undefined, interrupted?: AbortSignal): StoreFolder {
  const { config: root, log } = configured
    ? { config: configured, log: join(configured, 'log') }
    : envPaths('psd2', { suffix: '' });
  const profiles = join(root, 'profiles');
  return {
    root,
    config: join(root, 'config.json'),
    sandbox: join(root, 'sandbox'),
    profiles,
    profile: (name) => join(profiles, `${name}.json`),
    protection: (profile) => join(root, 'protection', `${profile}.json`),
    tokens: (profile) => join(root, 'tokens', profile),
    flows: (profile) => join(root, 'flows', profile),
    log,
    interrupted,
  };
}

/**
 * Looks whose the folder is: another user could read and replace what is in it. Root, for whom everything may be
 * meant, is warned; everyone else is refused, as `ssh` does.
 *
 * @param user who runs `psd2`; undefined on Windows, which has no such numbers
 * @throws Psd2Error `config`
 */
export function checkOwner(
  { root }: StoreFolder,
  warn: (text: string) => void,
  user: number | undefined = process.getuid?.(),
): void {
  const owner = ownerOf(root);
  if (user === undefined || owner === undefined || owner === user) return;
  const whose = `The configuration folder ${root} belongs to ${owner === 0 ? 'root' : `another user (${owner})`}`;
  if (user !== 0) {
    throw new Psd2Error('config', whose, {
      hint: 'Run psd2 as that user, or set PSD2_CONFIG_DIR to a folder of your own.',
    });
  }
  warn(`${whose}, and psd2 runs as root: what it writes there that user can't read.`);
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

import { join } from 'node:path';
import envPaths from 'env-paths';

/** Where `psd2` keeps what it keeps, for one configuration folder. */
export interface StoreFolder {
  root: string;
  config: string;
  sandbox: string;
  profiles: string;
  profile(name: string): string;
  tokens(profile: string): string;
  flows(profile: string): string;
  /** The log of calls: state, not configuration (XDG on Linux), unless all is to be in one folder. */
  log: string;
}

/** @param configured `PSD2_CONFIG_DIR`; without it the platform's configuration folder (XDG on Linux) */
export function storeFolder(configured: string | undefined): StoreFolder {
  const platform = envPaths('psd2', { suffix: '' });
  const root = configured || platform.config;
  const profiles = join(root, 'profiles');
  return {
    root,
    config: join(root, 'config.json'),
    sandbox: join(root, 'sandbox'),
    profiles,
    profile: (name) => join(profiles, `${name}.json`),
    tokens: (profile) => join(root, 'tokens', profile),
    flows: (profile) => join(root, 'flows', profile),
    log: configured ? join(root, 'log') : platform.log,
  };
}

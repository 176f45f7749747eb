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
}

/** @param configured `PSD2_CONFIG_DIR`; without it the platform's configuration folder (XDG on Linux) */
export function storeFolder(configured: string | undefined): StoreFolder {
  const root = configured || envPaths('psd2', { suffix: '' }).config;
  const profiles = join(root, 'profiles');
  return {
    root,
    config: join(root, 'config.json'),
    sandbox: join(root, 'sandbox'),
    profiles,
    profile: (name) => join(profiles, `${name}.json`),
    tokens: (profile) => join(root, 'tokens', profile),
    flows: (profile) => join(root, 'flows', profile),
  };
}

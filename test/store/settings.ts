import { setTimeout as delay } from 'node:timers/promises';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { ProfileStore } from '../../src/store/machine/profiles.ts';
import type { Environment } from '../../src/store/machine/settings.ts';

/** The settings of a process with this folder, whose operator knows this passphrase, or none. */
export function settingsOf(folder: StoreFolder, env: Environment = {}, passphrase?: string) {
  const keySources = { passphrase: async () => passphrase, signal: new AbortController().signal };
  const profiles = new ProfileStore(folder, () => {}, keySources);
  return {
    ...{ env, folder, keySources, vaultOf: (profile: string) => profiles.vault(profile), notice: () => {} },
    ...{ now: () => new Date(), random: Math.random },
    sleep: (milliseconds: number) => delay(milliseconds),
  };
}

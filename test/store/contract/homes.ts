import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeFolder } from '../../../src/store/machine/folder.ts';
import { ProfileStore } from '../../../src/store/machine/profiles.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/ports.ts';

/** A place where something is stored, empty at first, and workers that share it. */
export interface Place {
  /** The store as one more worker has it. @param passphrase of a profile that is protected */
  worker(passphrase?: string): Promise<Store>;
  /** Protects what is kept of a profile from now on. */
  protect(profile: string, passphrase: string): Promise<void>;
  /** All that is kept there, as whoever steals it reads it. */
  everything(): string;
  /** Spoils what is kept of a flow. */
  damage(profile: string, flow: string): void;
  /** Where the rows of a sync are to be kept. */
  out: string;
}

/** A home under test: `open` makes a place in the folder. */
export interface Home {
  name: string;
  open(folder: string): Promise<Place>;
}

/** Every home that there is: what test/store/contract/ says is shown for each. */
export const HOMES: Home[] = [{ name: 'a home on disk', open: openOnDisk }];

async function openOnDisk(root: string): Promise<Place> {
  const folder = storeFolder(root);
  const profilesWith = (passphrase: string | undefined) =>
    new ProfileStore(folder, () => {}, {
      passphrase: async () => passphrase,
      signal: new AbortController().signal,
    });
  return {
    out: join(root, 'out'),
    worker: (passphrase) => {
      const profiles = profilesWith(passphrase);
      return openStore({
        folder,
        vaultOf: (profile) => profiles.vault(profile),
        notice: () => {},
        now: () => new Date(),
        random: Math.random,
      });
    },
    protect: (profile, passphrase) =>
      profilesWith(passphrase).vault(profile).protect({ kind: 'passphrase', passphrase }),
    everything: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
        .join('\n'),
    damage: (profile, flow) => writeFileSync(join(folder.flows(profile), `${flow}.ndjson`), 'garbage'),
  };
}

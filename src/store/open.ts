import type { StoreFolder } from './machine/folder.ts';
import type { Glance, Store } from './ports.ts';
import type { Vault } from './secrets/vault.ts';

/** What a home needs to be opened. */
export interface StoreSettings {
  /** Where the home on disk is, and what ends waiting for other workers. */
  folder: StoreFolder;
  /** The key of a profile's secrets, which is kept on the machine. */
  vaultOf: (profile: string) => Vault;
  /** Is told what was done to save what was damaged. */
  notice: (text: string) => void;
  now: () => Date;
  /** From 0 to 1. */
  random: () => number;
  /** Is told of the flow of each transaction that is begun or looked at. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** Opens the store that is chosen: the configuration folder. Loads the code of that home alone, and reads nothing. */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { openFiles } = await import('./files/home.ts');
  return openFiles(settings);
}

/** What completion offers of a profile, without opening the store: that would cost more than a keystroke may. */
export async function glanceAt(folder: StoreFolder, profile: string): Promise<Glance> {
  const { glanceAtFiles } = await import('./files/glance.ts');
  return glanceAtFiles(folder, profile);
}

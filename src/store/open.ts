import { Psd2Error } from '../errors.ts';
import type { StoreFolder } from './machine/folder.ts';
import type { Environment } from './machine/settings.ts';
import type { Glance, Store } from './ports/store.ts';
import type { KeySources, Vault } from './secrets/vault.ts';

/** What a home needs to be opened. */
export interface StoreSettings {
  /** `PSD2_STORE` chooses a database, and libpq's variables say more of it. */
  env: Environment;
  /** Where the home on disk is, and what ends waiting for other workers. */
  folder: StoreFolder;
  /** The key of a profile's secrets, which is kept on the machine. */
  vaultOf: (profile: string) => Vault;
  /** Where the passphrase comes from that tokens in a database are encrypted with. */
  keySources: KeySources;
  /** Waits that many milliseconds; rejects when the operator interrupts. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Is told what was done to save what was damaged. */
  notice: (text: string) => void;
  now: () => Date;
  /** From 0 to 1. */
  random: () => number;
  /** Is told of the flow of each transaction that is begun or looked at. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/**
 * Opens the store that is chosen: a database with `PSD2_STORE`, else the configuration folder. Loads the code of that home
 * alone, and reads nothing.
 *
 * @throws Psd2Error `config` when `PSD2_STORE` is not the address of a database
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  if (isDatabase(settings.env)) return (await import('./postgres/home.ts')).openPostgres(settings);
  return (await import('./files/home.ts')).openFiles(settings);
}

/** What completion offers of a profile, without opening the store: that would cost more than a keystroke may. */
export async function glanceAt(folder: StoreFolder, profile: string, env: Environment): Promise<Glance> {
  if (isDatabase(env)) return (await import('./postgres/glance.ts')).glanceAtPostgres(profile, env);
  return (await import('./files/glance.ts')).glanceAtFiles(folder, profile);
}

/** @throws Psd2Error `config` */
function isDatabase({ PSD2_STORE: address }: Environment): boolean {
  if (!address) return false;
  if (/^postgres(ql)?:/i.test(address)) return true;
  throw new Psd2Error('config', 'PSD2_STORE is not the address of a database', {
    hint: 'Give postgres://user@host:5432/database, or leave it out: then the configuration folder is the store.',
  });
}

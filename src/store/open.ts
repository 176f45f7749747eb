import { Psd2Error } from '../errors.ts';
import type { StoreFolder } from './machine/folder.ts';
import type { Environment } from './machine/settings.ts';
import type { Glance, Store } from './ports/store.ts';
import type { KeySources, Vault } from './secrets/vault.ts';

/** What a home needs to be opened. */
export interface StoreSettings {
  /** `PSD2_STORE` chooses a database. The variables of libpq (`PGPASSWORD` and others) complete its address. */
  env: Environment;
  /** Where the files are, and the signal that stops waiting for other workers. */
  folder: StoreFolder;
  /** The key of a profile's secrets. It stays on this machine. */
  vaultOf: (profile: string) => Vault;
  /** Gives the passphrase that encrypts tokens in a database. */
  keySources: KeySources;
  /** Waits this many milliseconds. Rejects if the operator interrupts. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Tells the operator where psd2 kept a damaged file. */
  notice: (text: string) => void;
  now: () => Date;
  /** Gives a number from 0 to 1. */
  random: () => number;
  /** Called with each flow that begins or is read, and with its `TPP-Transaction-ID`. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/**
 * Opens the chosen store: the database that `PSD2_STORE` names, else the configuration folder. It loads only that home's
 * code, and reads nothing yet.
 *
 * @throws Psd2Error `config` if `PSD2_STORE` is not the address of a database
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  if (isDatabase(settings.env)) return (await import('./postgres/home.ts')).openPostgres(settings);
  return (await import('./files/home.ts')).openFiles(settings);
}

/** What completion offers for a profile. It does not open the store, since that takes too long for a keystroke. */
export async function glanceAt(folder: StoreFolder, profile: string, env: Environment): Promise<Glance> {
  if (isDatabase(env)) return (await import('./postgres/glance.ts')).glanceAtPostgres(profile, env);
  return (await import('./files/glance.ts')).glanceAtFiles(folder, profile);
}

/** @throws Psd2Error `config` */
function isDatabase({ PSD2_STORE: address }: Environment): boolean {
  if (!address) return false;
  if (/^postgres(ql)?:/i.test(address)) return true;
  throw new Psd2Error('config', 'PSD2_STORE is not the address of a database', {
    hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
  });
}

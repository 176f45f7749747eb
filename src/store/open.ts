import { Psd2Error } from '../errors.ts';
import { hasDataInFiles } from './files/has-data.ts';
import type { StoreFolder } from './machine/folder.ts';
import type { Environment } from './machine/settings.ts';
import {
  chooseStore,
  type NamedDatabase,
  type RememberedStore,
  StoreGuard,
  type StoreSettings,
} from './machine/store-choice.ts';
import type { Glance, Store } from './ports/store.ts';

/**
 * Opens the chosen store: the database that `PSD2_STORE` or the profile names, else the configuration folder. It loads only
 * that backend's code, and reads none of its data yet. If a profile's data is in another store, its `open` refuses it.
 *
 * @throws Psd2Error `config` if `PSD2_STORE` is not the address of a database, or the memory of the profile is damaged
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { env, folder, profile } = settings;
  const guards = new Map<string, StoreGuard>();
  const guardOf = (name: string) => {
    const guard = guards.get(name) ?? guardFor(folder, name);
    guards.set(name, guard);
    return guard;
  };
  const { source, address } = chooseStore(
    env,
    profile === undefined ? undefined : guardOf(profile).remembered,
  );
  const chosen = { source, guardOf };
  if (address === undefined) return (await import('./files/backend.ts')).openFiles(settings, chosen);
  const { openPostgres } = await import('./postgres/backend.ts');
  return openPostgres({ ...settings, env: { ...env, PSD2_STORE: address } }, chosen);
}

/**
 * Opens a store that the machine remembers, to look at what it has. It guards no profile.
 *
 * @throws Psd2Error `config` if it is a database that cannot be reached, or another one has its address now
 */
export async function openRemembered(settings: StoreSettings, store: RememberedStore): Promise<Store> {
  const { env, folder } = settings;
  if (store.home === 'files') return (await import('./files/backend.ts')).openFiles(settings);
  const database = await findDatabase(store.address, env, folder.interrupted);
  if (database.id !== store.id)
    throw new Psd2Error('config', `PostgreSQL at ${database.shown} is not the remembered database`);
  const { openPostgres } = await import('./postgres/backend.ts');
  return openPostgres({ ...settings, env: { ...env, PSD2_STORE: store.address } });
}

/**
 * Finds the database at an address.
 *
 * @param option where the address is from
 * @returns how the machine remembers it. Its id is null if it has no tables yet
 * @throws Psd2Error `config` if it cannot be reached, `usage` if the text is not an address
 */
export async function findDatabase(
  text: string,
  env: Environment,
  signal: AbortSignal | undefined,
  option = 'PSD2_STORE',
): Promise<NamedDatabase & { id: string | null }> {
  return (await import('./postgres/init.ts')).findDatabase(text, env, signal, option);
}

function guardFor(folder: StoreFolder, profile: string): StoreGuard {
  return new StoreGuard(folder, profile, () => hasDataInFiles(folder, profile));
}

/**
 * What completion offers for a profile. It does not open the store, since that takes too long for a keystroke. It offers
 * nothing from a store that a command would refuse.
 */
export async function glanceAt(folder: StoreFolder, profile: string, env: Environment): Promise<Glance> {
  const guard = guardFor(folder, profile);
  const { address } = chooseStore(env, guard.remembered);
  if (address !== undefined) {
    const { glanceAtPostgres } = await import('./postgres/backend.ts');
    return glanceAtPostgres(profile, { ...env, PSD2_STORE: address }, guard);
  }
  if (guard.remembered?.home === 'postgres')
    return { customers: async () => [], begun: async () => [], batches: async () => [] };
  return (await import('./files/glance.ts')).glanceAtFiles(folder, profile);
}

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder } from '../../store/disk/files.ts';
import { checkStore, storeFolder } from '../../store/machine/folder.ts';
import { ProfileStore } from '../../store/machine/profiles.ts';
import {
  chooseStore,
  isDatabaseAddress,
  refusePassword,
  type StoreChoice,
  StoreMemory,
} from '../../store/machine/store-choice.ts';
import type { CopySide } from '../../store/ports/copy.ts';
import type { Context } from '../context.ts';

const NAMES = 'files, a folder, postgres (the database of PSD2_STORE), or postgres://user@host:5432/database';

/** A side of the copy. */
export interface OpenedSide {
  side: CopySide;
  /** How this machine would remember it. Undefined for another configuration folder. */
  store: { home: 'files' } | { home: 'postgres'; shown: string; address: string } | undefined;
  /** Whether a profile is protected in a folder. A database has only encrypted tokens, or those of `--plain-tokens`. */
  isProtected?: (profile: string) => boolean;
}

/** The store of the chosen profile: `PSD2_STORE`, else its setting. @throws Psd2Error `config` */
export function storeOfProfile({ env, folder, profileName }: Context): StoreChoice {
  return chooseStore(env, new StoreMemory(folder, profileName()).read());
}

/**
 * Opens the store that `--from` or `--to` names: `files` is the configuration folder, `postgres` the database of
 * `PSD2_STORE` or of the profile's setting.
 *
 * @throws Psd2Error `usage` if it names no store, or contains a password, which others could read in the list of
 *   processes; `config`
 */
export async function openSide(
  context: Context,
  option: '--from' | '--to',
  name: string,
): Promise<OpenedSide> {
  if (isDatabaseAddress(name)) {
    refusePassword(option, name);
    return openDatabase(context, name);
  }
  if (name === 'postgres') {
    const { address } = storeOfProfile(context);
    if (address !== undefined) return openDatabase(context, address);
    throw new Psd2Error(
      'usage',
      `${option} postgres means the database of PSD2_STORE, but PSD2_STORE is not set, nor is the store of the profile`,
      {
        hint: `Set it, or give postgres://user@host:5432/database.`,
      },
    );
  }
  if (name === 'files') return openFolder(context, context.folder.root, option);
  // Do not repeat the value: it may contain a password.
  if (!/[\\/]|^\.\.?$/.test(name))
    throw new Psd2Error('usage', `${option} does not name a store. Use ${NAMES}`);
  return openFolder(context, resolve(name), option);
}

async function openDatabase({ env, world, profiles, onEnd }: Context, address: string): Promise<OpenedSide> {
  const { Database, databaseSide, mayKeepPlainTokens, parseAddress, withoutPassword } = await import(
    '../../store/postgres/admin.ts'
  );
  const parsed = parseAddress(address, env);
  const database = new Database(parsed, world.signal, true);
  onEnd(() => database.close());
  return {
    side: databaseSide(database, profiles.keySources, mayKeepPlainTokens(env)),
    store: { home: 'postgres', shown: parsed.shown, address: withoutPassword(address, parsed) },
  };
}

async function openFolder(
  { profiles: own, folder: ownFolder, terminal, world }: Context,
  path: string,
  option: '--from' | '--to',
): Promise<OpenedSide> {
  if (option === '--to') makePrivateFolder(path);
  else if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Psd2Error('config', `There is no folder ${path}`, { hint: 'Check --from.' });
  const { folderSide } = await import('../../store/files/copy/side.ts');
  const isOwn = path === ownFolder.root;
  const folder = isOwn ? ownFolder : storeFolder(path, world.signal);
  if (!isOwn) checkStore(folder, terminal.warn);
  const profiles = isOwn ? own : new ProfileStore(folder, terminal.warn, own.keySources);
  const vaultOf = (profile: string) => profiles.vault(profile);
  return {
    side: folderSide(folder, vaultOf),
    store: isOwn ? { home: 'files' } : undefined,
    isProtected: (profile) => vaultOf(profile).kind !== undefined,
  };
}

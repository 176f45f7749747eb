import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder } from '../../store/disk/json-file.ts';
import { checkStore, storeFolder } from '../../store/machine/folder.ts';
import { ProfileStore } from '../../store/machine/profiles.ts';
import type { CopySide } from '../../store/ports/copy.ts';
import type { Context } from '../context.ts';

const NAMES = 'files, a folder, postgres (the database of PSD2_STORE), or postgres://user@host:5432/database';

/**
 * Opens the home that `--from` or `--to` names: `files` is the configuration folder, `postgres` the database of
 * `PSD2_STORE`.
 *
 * @throws Psd2Error `usage` if it names no home, or contains a password, which others could read in the list of
 *   processes; `config`
 */
export async function openSide(context: Context, option: '--from' | '--to', name: string): Promise<CopySide> {
  if (/^postgres(ql)?:/i.test(name)) {
    refusePassword(option, name);
    return openDatabase(context, name);
  }
  if (name === 'postgres') {
    if (context.env.PSD2_STORE) return openDatabase(context, context.env.PSD2_STORE);
    throw new Psd2Error(
      'usage',
      `${option} postgres means the database of PSD2_STORE, but PSD2_STORE is not set`,
      {
        hint: `Set it, or give postgres://user@host:5432/database.`,
      },
    );
  }
  if (name === 'files') return openFolder(context, context.folder.root, option);
  // Do not repeat the value: it may contain a password.
  if (!/[\\/]|^\.\.?$/.test(name))
    throw new Psd2Error('usage', `${option} does not name a home. Use ${NAMES}`);
  return openFolder(context, resolve(name), option);
}

/**
 * The user and password of an address end at its last @. The password begins after the first colon, and may contain
 * anything.
 */
function refusePassword(option: string, address: string): void {
  const [, user = ''] = /^[^:]*:\/\/(.*)@/s.exec(address) ?? [];
  if (!user.includes(':') && !/[?&](?:password|sslpassword)=/i.test(address)) return;
  throw new Psd2Error(
    'usage',
    `${option} contains a password, which others can read in the list of processes`,
    {
      hint: 'Leave it out, and set PGPASSWORD or PGPASSFILE. Or set the address in PSD2_STORE, and use the word postgres here.',
    },
  );
}

async function openDatabase({ env, world, profiles, onEnd }: Context, address: string): Promise<CopySide> {
  const { Database, databaseSide, mayKeepPlainTokens, parseAddress } = await import(
    '../../store/postgres/admin.ts'
  );
  const database = new Database(parseAddress(address, env), world.signal, true);
  onEnd(() => database.close());
  return databaseSide(database, profiles.keySources, mayKeepPlainTokens(env));
}

async function openFolder(
  { profiles: own, folder: ownFolder, terminal, world }: Context,
  path: string,
  option: '--from' | '--to',
): Promise<CopySide> {
  if (option === '--to') makePrivateFolder(path);
  else if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Psd2Error('config', `There is no folder ${path}`, { hint: 'Check --from.' });
  const { folderSide } = await import('../../store/files/copy/side.ts');
  if (path === ownFolder.root) return folderSide(ownFolder, (profile) => own.vault(profile));
  const folder = storeFolder(path, world.signal);
  checkStore(folder, terminal.warn);
  const profiles = new ProfileStore(folder, terminal.warn, own.keySources);
  return folderSide(folder, (profile) => profiles.vault(profile));
}

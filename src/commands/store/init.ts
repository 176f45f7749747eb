import { Psd2Error } from '../../errors.ts';
import type { Database } from '../../store/postgres/admin.ts';
import type { Context } from '../context.ts';
import { storeOfProfile } from './homes.ts';
import { initialised } from './shape.ts';

export interface StoreInitOptions {
  dryRun: boolean;
  roles: boolean;
  plainTokens: boolean;
  /** True stores the passphrase in this machine's keyring, false removes it. Undefined leaves the keyring as it is. */
  keyring: boolean | undefined;
}

/** `psd2 store init`: creates or updates the schema (store page, "Commands"). @throws Psd2Error `config`, `usage` */
export async function storeInit(
  context: Context,
  { dryRun, keyring, ...how }: StoreInitOptions,
): Promise<void> {
  const { env, output, terminal, world } = context;
  const { address } = storeOfProfile(context);
  if (address === undefined) {
    throw new Psd2Error('config', 'The store is the configuration folder, which needs no preparation', {
      hint: 'To use a database, set PSD2_STORE=postgres://user@host:5432/database, or the store of the profile:',
      next: [['profile', 'set', context.profileName(), '--store', 'postgres://user@host:5432/database']],
    });
  }
  if (keyring && how.plainTokens)
    throw new Psd2Error('usage', '--keyring and --plain-tokens contradict each other', {
      hint: 'Tokens in clear text need no passphrase. Leave one of them out.',
    });
  const { currentVersion, Database, initStore, parseAddress, sqlFor } = await import(
    '../../store/postgres/admin.ts'
  );
  const database = new Database(parseAddress(address, env), world.signal);
  context.onEnd(() => database.close());
  if (dryRun) {
    output.text((await sqlFor(database, how)).trimEnd());
    return;
  }
  const undo = keyring === undefined ? undefined : await changeKeyring(context, database, keyring);
  const before = await initStore(database, how).catch(async (error: unknown) => {
    await undo?.();
    throw error;
  });
  const after = await currentVersion(database);
  output.record(
    { place: database.shown, before, version: after },
    [
      { title: 'Database', value: ({ place }) => place },
      { title: 'Schema before', value: (store) => (store.before === 0 ? 'none' : `${store.before}`) },
      { title: 'Schema', value: ({ version }) => `${version}` },
    ],
    initialised,
  );
  if (how.plainTokens)
    terminal.warn('Tokens are stored in clear text: anyone who can read the database can use them.');
}

/** @returns undoes the change, if it must not stay without the tables */
async function changeKeyring(
  context: Context,
  database: Database,
  keeps: boolean,
): Promise<(() => Promise<void>) | undefined> {
  const { forgetPassphrase, keepPassphrase } = await import('./keyring.ts');
  if (keeps) return keepPassphrase(context, database);
  await forgetPassphrase(context, database);
  return undefined;
}

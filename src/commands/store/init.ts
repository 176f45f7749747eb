import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { initialised } from './shape.ts';

export interface StoreInitOptions {
  dryRun: boolean;
  roles: boolean;
  plainTokens: boolean;
}

/** `psd2 store init`: creates or updates the schema (store page, "Commands"). @throws Psd2Error `config` */
export async function storeInit(context: Context, { dryRun, ...how }: StoreInitOptions): Promise<void> {
  const { env, output, terminal, world } = context;
  if (!env.PSD2_STORE) {
    throw new Psd2Error('config', 'The store is the configuration folder, which needs no preparation', {
      hint: 'To use a database, set PSD2_STORE=postgres://user@host:5432/database.',
    });
  }
  const { currentVersion, Database, initStore, parseAddress, sqlFor } = await import(
    '../../store/postgres/admin.ts'
  );
  const database = new Database(parseAddress(env.PSD2_STORE, env), world.signal);
  context.onEnd(() => database.close());
  if (dryRun) {
    output.text((await sqlFor(database, how)).trimEnd());
    return;
  }
  const before = await initStore(database, how);
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

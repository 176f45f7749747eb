import { Psd2Error } from '../../errors.ts';
import { passphraseIn } from '../../store/machine/settings.ts';
import type { Database, KeyringEntry } from '../../store/postgres/admin.ts';
import { object, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { storeOfProfile } from './sides.ts';

const initialised = object({
  place: text('host, port and database').as('Database'),
  before: whole('version of the schema before; 0 if there was none')
    .as('Schema before')
    .written((before) => (before === 0 ? 'none' : `${before}`)),
  version: whole('version of the schema now').as('Schema'),
});

interface StoreInitOptions {
  dryRun: boolean;
  roles: boolean;
  plainTokens: boolean;
  /** True stores the passphrase in this machine's keyring, false removes it. Undefined leaves the keyring as it is. */
  keyring: boolean | undefined;
}

/** `psd2 store init`: creates or updates the schema (store page, "Commands"). */
export const init = verb(
  {
    prints: { what: 'the schema of a database', shape: initialised },
    help: `
psd2 does everything in one transaction, and one command at a time. This needs the rights of the database's owner, as
psd2 store copy does. All other commands work with the role psd2_worker.

psd2 encrypts tokens with a passphrase. It is in PSD2_CONFIG_PASSPHRASE or, with --keyring, in the keyring of this
machine. --keyring takes the passphrase from PSD2_CONFIG_PASSPHRASE, or asks you for it. If the database already has
tokens, the passphrase must open them. If the tables are up to date, the role psd2_worker is enough.
${examples('psd2 store init --roles', 'psd2 store init --dry-run', 'psd2 store init --keyring')}`,
  },
  (command) =>
    command
      .option('--dry-run', 'print the SQL and change nothing')
      .option('--roles', 'also create the roles psd2_worker (no DDL) and psd2_reader (no tokens)')
      .option(
        '--plain-tokens',
        'let machines with PSD2_STORE_PLAIN_TOKENS=1 store tokens in clear text: anyone who can read the database can use them',
      )
      .option('--keyring', 'store the passphrase of the tokens in the keyring of this machine')
      .option('--no-keyring', 'remove the passphrase from the keyring of this machine'),
  (context, { dryRun = false, roles = false, plainTokens = false, keyring }) =>
    initTables(context, { dryRun, roles, plainTokens, keyring }),
);

/** @throws Psd2Error `config`, `usage` */
async function initTables(context: Context, { dryRun, keyring, ...how }: StoreInitOptions): Promise<void> {
  const { env, output, terminal, world } = context;
  const { address } = storeOfProfile(context);
  if (address === undefined)
    throw new Psd2Error('config', 'The store is the configuration folder, which needs no preparation', {
      hint: 'To use a database, set PSD2_STORE=postgres://user@host:5432/database, or the store of the profile:',
      next: [['profile', 'set', context.profileName(), '--store', 'postgres://user@host:5432/database']],
    });
  if (keyring && how.plainTokens)
    throw new Psd2Error('usage', '--keyring and --plain-tokens cannot be used together', {
      hint: 'Tokens in clear text need no passphrase. Leave one of them out.',
    });
  const { currentVersion, Database, initStore, parseAddress, sqlFor } = await import(
    '../../store/postgres/admin.ts'
  );
  const database = new Database(parseAddress(address, env), world.signal);
  context.onEnd(() => database.close());
  if (dryRun) {
    output.lines([(await sqlFor(database, how)).trimEnd()]);
    return;
  }
  const undo = keyring ? await keepPassphrase(context, database) : undefined;
  const forget = keyring === false ? await openKeyring(context, database) : undefined;
  const before = await initStore(database, how).catch(async (error: unknown) => {
    await undo?.();
    throw error;
  });
  // The passphrase is still there if the schema could not be updated.
  await forget?.();
  const after = await currentVersion(database);
  output.record({ place: database.shown, before, version: after }, initialised);
  if (how.plainTokens)
    terminal.warn('Tokens are stored in clear text: anyone who can read the database can use them.');
}

/**
 * Stores the passphrase of a store in this machine's keyring: the one that is set, else the operator's. If the database has
 * keys, the passphrase must open one of them.
 *
 * @returns undoes it: restores what the keyring had before
 * @throws Psd2Error `usage` if the passphrase is missing; `config` if it is wrong, or the keyring cannot be used. Nothing has
 *   changed then
 */
async function keepPassphrase(context: Context, database: Database): Promise<() => Promise<void>> {
  const { opensOne, passphraseEntry, storedKeys } = await import('../../store/postgres/admin.ts');
  const { isPlain, keys } = await storedKeys(database);
  if (isPlain && keys.length === 0)
    throw new Psd2Error('config', `The store at ${database.shown} keeps tokens in clear text`, {
      hint: 'There is no passphrase to keep. Leave out --keyring.',
    });
  const entry = await passphraseEntry(database, context.world.signal);
  // If the keyring cannot be used, the operator is not asked needlessly.
  const before = await usable(entry.read());
  const passphrase = passphraseIn(context.env) ?? (await askPassphrase(context, keys.length === 0));
  if (keys.length > 0 && !(await opensOne(keys, passphrase)))
    throw new Psd2Error('config', `The passphrase does not open the tokens at ${database.shown}`, {
      hint: 'Nothing was changed. Use the passphrase that the other machines have.',
    });
  await usable(entry.write(passphrase));
  if ((await usable(entry.read())) !== passphrase) {
    await restore(entry, before);
    throw new Psd2Error('config', "The system's keyring does not return what psd2 stored in it", {
      hint: INSTEAD,
    });
  }
  context.terminal.say('The passphrase of the store is now in the keyring of this machine.');
  return () => restore(entry, before);
}

/**
 * Opens this machine's keyring.
 *
 * @returns removes the passphrase of a store from it
 * @throws Psd2Error `config` if the keyring cannot be used
 */
async function openKeyring({ terminal, world }: Context, database: Database): Promise<() => Promise<void>> {
  const { passphraseEntry } = await import('../../store/postgres/admin.ts');
  const entry = await passphraseEntry(database, world.signal);
  const isThere = (await entry.read()) !== null;
  return async () => {
    if (isThere) await entry.remove();
    terminal.say(
      isThere
        ? 'The passphrase of the store was removed from the keyring of this machine.'
        : 'The keyring of this machine has no passphrase of the store.',
    );
  };
}

const INSTEAD =
  'Nothing was changed. If this machine has no usable keyring, set PSD2_CONFIG_PASSPHRASE instead.';

async function usable<T>(use: Promise<T>): Promise<T> {
  return use.catch((error: unknown) => {
    throw error instanceof Psd2Error && error.code === 'config' ? error.with({ hint: INSTEAD }) : error;
  });
}

/** Ignores its own failure, because the caller throws an error already. */
async function restore(entry: KeyringEntry, before: string | null): Promise<void> {
  await (before === null ? entry.remove() : entry.write(before)).catch(() => {});
}

/** @param isNew whether the database has no key yet that could show a mistake */
async function askPassphrase({ terminal }: Context, isNew: boolean): Promise<string> {
  if (!terminal.canAsk)
    throw new Psd2Error('usage', 'The passphrase is missing, and psd2 cannot ask for it without a terminal', {
      hint: 'Nothing was changed. Set PSD2_CONFIG_PASSPHRASE for this command.',
    });
  const passphrase = await terminal.askSecret(`${isNew ? 'New passphrase' : 'Passphrase'} of the store`);
  if (passphrase === '')
    throw new Psd2Error('usage', 'The passphrase is empty', { hint: 'Nothing was changed.' });
  if (isNew && (await terminal.askSecret('Repeat the passphrase')) !== passphrase)
    throw new Psd2Error('usage', 'The two passphrases are different', { hint: 'Nothing was changed.' });
  return passphrase;
}

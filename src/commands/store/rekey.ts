import { Psd2Error } from '../../errors.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import { passphraseIn } from '../../store/machine/settings.ts';
import type { Database } from '../../store/postgres/admin.ts';
import { flag, list, object, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';
import { storeOfProfile } from './sides.ts';

const rekeyed = object({
  place: text('folder; or host, port and database'),
  profiles: list(text(), 'the profiles that the new passphrase opens'),
  oldWorks: flag('whether the old passphrase still opens them'),
});

/** `psd2 store rekey`: a new passphrase, without downtime (store page, "A new passphrase"). */
export const rekey = verb(
  {
    prints: { what: 'where the new passphrase works', shape: rekeyed },
    help: `
psd2 takes the new passphrase from PSD2_NEW_CONFIG_PASSPHRASE, or asks you for it. The old one is in PSD2_CONFIG_PASSPHRASE, as
for any other command. First psd2 lets both of them open the keys, and then only the new one. Commands that run keep the
key that they have opened, so none of them fails. If psd2 is interrupted, both work: run it again.

With --keep-old, both work until you run the command again without it: give all workers the new passphrase in between.

It changes what a passphrase protects: profiles of this machine, and the tokens in PostgreSQL, which need the rights of
the owner. If the keyring of this machine has the passphrase of the store, psd2 replaces it there. Run it on each machine
that has profiles protected by the passphrase.
${examples('psd2 store rekey --keep-old', 'PSD2_NEW_CONFIG_PASSPHRASE="$(cat new-passphrase)" psd2 store rekey')}`,
  },
  (command) =>
    command.option(
      '--keep-old',
      'let the old passphrase work too, until you run this again without --keep-old',
    ),
  async (context, { keepOld = false }) => {
    const passphrase = await newPassphrase(context);
    const database = await databaseOf(context);
    const profiles = await addEverywhere(context, database, passphrase);
    if (profiles.length === 0)
      throw new Psd2Error('config', 'Nothing here is protected by a passphrase', {
        hint: 'Nothing was changed. To protect a profile with a passphrase:',
        next: [['profile', 'protect', context.profileName(), '--passphrase']],
      });
    if (!keepOld) await dropElsewhere(context, database, passphrase);
    const own = vaultsOf(context).filter(({ name }) => profiles.includes(name));
    for (const { name } of own) await recordProfileChange(context, name, 'passphrase');
    printRekeyed(context, {
      place: database?.shown ?? context.folder.root,
      profiles,
      oldWorks: keepOld,
    });
  },
);

/** The line break that a mounted secret often ends with does not count. */
async function newPassphrase({ env, terminal }: Context): Promise<string> {
  const fromEnvironment = env.PSD2_NEW_CONFIG_PASSPHRASE?.replace(/\r?\n$/, '');
  if (fromEnvironment) return fromEnvironment;
  if (!terminal.canAsk)
    throw new Psd2Error(
      'usage',
      'The new passphrase is missing, and psd2 cannot ask for it without a terminal',
      { hint: 'Nothing was changed. Set PSD2_NEW_CONFIG_PASSPHRASE for this command.' },
    );
  const typed = await terminal.askSecret('New passphrase');
  if (typed === '') throw new Psd2Error('usage', 'The passphrase is empty', { hint: 'Nothing was changed.' });
  if ((await terminal.askSecret('Repeat the new passphrase')) === typed) return typed;
  throw new Psd2Error('usage', 'The two passphrases are different', { hint: 'Nothing was changed.' });
}

/** The database of the profile's store; undefined if the store is in files. */
async function databaseOf(context: Context): Promise<Database | undefined> {
  const { address } = storeOfProfile(context);
  if (address === undefined) return undefined;
  const { Database, parseAddress } = await import('../../store/postgres/admin.ts');
  const database = new Database(parseAddress(address, context.env), context.world.signal);
  context.onEnd(() => database.close());
  return database;
}

/** The profiles of this machine, whose secrets may be protected by the passphrase too. */
function vaultsOf({ profiles }: Context) {
  const names = [...new Set([...profiles.list(), ENVIRONMENT_PROFILE])];
  return names.map((name) => ({ name, vault: profiles.vault(name) }));
}

/** @returns the names of the profiles, on this machine or in the database */
async function addEverywhere(
  context: Context,
  database: Database | undefined,
  passphrase: string,
): Promise<string[]> {
  const names = new Set<string>();
  // A profile with another passphrase is said before anything changes.
  for (const { vault } of vaultsOf(context)) await vault.openFor(passphrase);
  if (database) {
    const { addPassphrase } = await import('../../store/postgres/admin.ts');
    const old = await oldPassphrase(context, database);
    for (const name of await addPassphrase(database, { old, new: passphrase })) names.add(name);
  }
  for (const { name, vault } of vaultsOf(context)) {
    const isProtected = await vault.exclusively(() => vault.addPassphrase(passphrase));
    if (isProtected) names.add(name);
  }
  return [...names].sort();
}

async function dropElsewhere(
  context: Context,
  database: Database | undefined,
  passphrase: string,
): Promise<void> {
  if (database) {
    const { dropOthers } = await import('../../store/postgres/admin.ts');
    await keepInKeyring(context, database, passphrase);
    await dropOthers(database, passphrase);
  }
  for (const { vault } of vaultsOf(context)) await vault.exclusively(() => vault.dropOthers(passphrase));
}

/** The passphrase until now, as a worker finds it: that of the environment, else of the keyring, else the operator's. */
async function oldPassphrase(context: Context, database: Database): Promise<string | undefined> {
  const { env, terminal } = context;
  const current = passphraseIn(env) ?? (await inKeyring(context, database));
  if (current !== undefined) return current;
  return terminal.canAsk ? terminal.askSecret('Old passphrase of the store') : undefined;
}

/** Undefined if this machine has no usable keyring. */
async function inKeyring({ world }: Context, database: Database): Promise<string | undefined> {
  const { passphraseEntry } = await import('../../store/postgres/admin.ts');
  try {
    return (await (await passphraseEntry(database, world.signal)).read()) ?? undefined;
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    return undefined;
  }
}

async function keepInKeyring(context: Context, database: Database, passphrase: string): Promise<void> {
  if (passphraseIn(context.env) !== undefined) return;
  const current = await inKeyring(context, database);
  if (current === undefined || current === passphrase) return;
  const { passphraseEntry } = await import('../../store/postgres/admin.ts');
  await (await passphraseEntry(database, context.world.signal)).write(passphrase);
  context.terminal.say('The keyring of this machine has the new passphrase.');
}

function printRekeyed({ output, terminal }: Context, result: ValueOf<typeof rekeyed>): void {
  const { profiles, oldWorks } = result;
  if (output.format !== 'table') output.record(result, rekeyed);
  else
    terminal.say(
      oldWorks
        ? `Both passphrases open ${profiles.join(', ')}. Give all workers the new one, then run this again without --keep-old.`
        : `Only the new passphrase opens ${profiles.join(', ')}.`,
    );
}

import { Psd2Error } from '../../errors.ts';
import { passphraseIn } from '../../store/machine/settings.ts';
import {
  type Database,
  type KeyringEntry,
  opensOne,
  passphraseEntry,
  storedKeys,
} from '../../store/postgres/admin.ts';
import type { Context } from '../context.ts';

/**
 * Stores the passphrase of a store in this machine's keyring: the one that is set, else the operator's. If the database has
 * keys, the passphrase must open one of them.
 *
 * @returns undoes it: restores what the keyring had before
 * @throws Psd2Error `usage` if the passphrase is missing; `config` if it is wrong, or the keyring cannot be used. Nothing has
 *   changed then
 */
export async function keepPassphrase(context: Context, database: Database): Promise<() => Promise<void>> {
  const { isPlain, keys } = await storedKeys(database);
  if (isPlain && keys.length === 0) {
    throw new Psd2Error('config', `The store at ${database.shown} keeps tokens in clear text`, {
      hint: 'There is no passphrase to keep. Leave out --keyring.',
    });
  }
  const entry = await passphraseEntry(database, context.world.signal);
  // If the keyring cannot be used, the operator is not asked in vain.
  const before = await usable(entry.read());
  const passphrase = passphraseIn(context.env) ?? (await askPassphrase(context, keys.length === 0));
  if (keys.length > 0 && !(await opensOne(keys, passphrase))) {
    throw new Psd2Error('config', `The passphrase does not open the tokens at ${database.shown}`, {
      hint: 'Nothing was changed. Use the passphrase that the other machines have.',
    });
  }
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

/** Removes the passphrase of a store from this machine's keyring. @throws Psd2Error `config` if the keyring cannot be used */
export async function forgetPassphrase({ terminal, world }: Context, database: Database): Promise<void> {
  const entry = await passphraseEntry(database, world.signal);
  const wasThere = (await entry.read()) !== null;
  if (wasThere) await entry.remove();
  terminal.say(
    wasThere
      ? 'The passphrase of the store was removed from the keyring of this machine.'
      : 'The keyring of this machine has no passphrase of the store.',
  );
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
  if (!terminal.canAsk) {
    throw new Psd2Error('usage', 'The passphrase is missing, and there is no terminal to ask for it', {
      hint: 'Nothing was changed. Set PSD2_CONFIG_PASSPHRASE for this command.',
    });
  }
  const passphrase = await terminal.askSecret(`${isNew ? 'New passphrase' : 'Passphrase'} of the store`);
  if (passphrase === '')
    throw new Psd2Error('usage', 'The passphrase is empty', { hint: 'Nothing was changed.' });
  if (isNew && (await terminal.askSecret('The same passphrase again')) !== passphrase)
    throw new Psd2Error('usage', 'The two passphrases differ', { hint: 'Nothing was changed.' });
  return passphrase;
}

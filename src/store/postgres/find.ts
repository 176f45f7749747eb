import { Psd2Error } from '../../errors.ts';
import type { Environment } from '../machine/settings.ts';
import type { NamedDatabase } from '../machine/store-guard.ts';
import { type Address, parseAddress, withoutPassword } from './address.ts';
import { Database } from './database.ts';
import { currentId } from './init.ts';

/**
 * Finds the database at an address.
 *
 * @param option that has the address, for error messages
 * @returns its id is null if it has no tables yet
 * @throws Psd2Error `config` if it cannot be reached, `usage` if the text is not an address
 */
export async function findDatabase(
  text: string,
  env: Environment,
  signal: AbortSignal | undefined,
  option: string,
): Promise<NamedDatabase & { id: string | null }> {
  const address = parse(text, env, option);
  const database = new Database(address, signal);
  try {
    const id = await currentId(database);
    return { id, shown: address.shown, address: withoutPassword(text, address) };
  } finally {
    await database.close();
  }
}

function parse(text: string, env: Environment, option: string): Address {
  try {
    return parseAddress(text, env);
  } catch (error) {
    if (!(error instanceof Psd2Error) || option === 'PSD2_STORE') throw error;
    throw new Psd2Error('usage', error.message.replace('PSD2_STORE', option), error.context);
  }
}

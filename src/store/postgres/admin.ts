import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { seal } from '../secrets/sealed.ts';
import { deriveKey } from '../secrets/vault.ts';
import type { Database, Statements } from './database.ts';
import { openKey, placeOfKey, type Wrapped, wrapped } from './keys.ts';

// What `psd2 store init`, `psd2 store copy` and `psd2 store rekey` need from the backend in PostgreSQL. Only they load it.
export type { KeyringEntry } from '../secrets/keyring.ts';
export { parseAddress, withoutPassword } from './address.ts';
export { databaseSide } from './copy/side.ts';
export { Database } from './database.ts';
export { currentVersion, initStore, sqlFor } from './init.ts';
export { mayKeepPlainTokens, opensOne, passphraseEntry, storedKeys } from './keys.ts';

const keyRow = z.object({ profile: z.string(), key: wrapped });
type KeyRow = z.infer<typeof keyRow>;

/** What a change of the passphrase needs. */
interface Passphrases {
  /** The passphrase until now; undefined if only the new one is known, after an interrupted change. */
  old: string | undefined;
  new: string;
}

/**
 * Lets a new passphrase open the keys of all profiles, beside the old one. Changes all of them or none. A profile that the new
 * one opens already stays as it is.
 *
 * @returns the profiles whose key the new passphrase opens
 * @throws Psd2Error `config` if neither passphrase opens a key, or this user may not change keys
 */
export async function addPassphrase(database: Database, passphrases: Passphrases): Promise<string[]> {
  const stored = await storedKeys(database);
  const openedKeys = new Map<string, string | undefined>();
  for (const { profile, key } of stored)
    openedKeys.set(profile, await openKey(profile, key, passphrases.new));
  const missing = stored.filter(({ profile }) => openedKeys.get(profile) === undefined);
  if (missing.length > 0) {
    await assertOwner(database);
    for (const { profile, key } of missing) {
      const { old } = passphrases;
      const opened = old === undefined ? undefined : await openKey(profile, key, old);
      if (opened === undefined) throw neitherOpens(database, profile, old);
      openedKeys.set(profile, opened);
    }
    const added = await Promise.all(
      missing.map(async ({ profile, key }) => {
        const wrap = await wrapOf(profile, key, openedKeys.get(profile) ?? '', passphrases.new);
        return { profile, before: key, after: { ...key, also: [...(key.also ?? []), wrap] } };
      }),
    );
    await replaceAll(database, added);
  }
  return stored.map(({ profile }) => profile);
}

/**
 * Lets only the new passphrase open the keys.
 *
 * @returns the profiles whose key no other passphrase opens any more, and did before
 * @throws Psd2Error `config` as {@link addPassphrase}
 */
export async function dropOthers(database: Database, passphrase: string): Promise<string[]> {
  const changes: Change[] = [];
  for (const { profile, key } of await storedKeys(database)) {
    if (!key.also || key.also.length === 0) continue;
    const opened = await openKey(profile, key, passphrase);
    if (opened === undefined) throw neitherOpens(database, profile, undefined);
    const { also: _also, ...own } = key;
    changes.push({
      profile,
      before: key,
      after: { ...own, ...(await wrapOf(profile, key, opened, passphrase)) },
    });
  }
  if (changes.length === 0) return [];
  await assertOwner(database);
  await replaceAll(database, changes);
  return changes.map(({ profile }) => profile);
}

interface Change {
  profile: string;
  before: Wrapped;
  after: Wrapped;
}

function storedKeys(database: Database): Promise<KeyRow[]> {
  return database.look(keyRow, 'select profile, key from psd2.keys order by profile');
}

async function wrapOf(profile: string, { id }: Wrapped, key: string, passphrase: string) {
  const salt = randomBytes(16).toString('base64');
  return { salt, key: seal(await deriveKey(passphrase, salt), placeOfKey(profile, id), key) };
}

/** @throws Psd2Error `config` if another psd2 has changed a key meanwhile. Nothing has changed then */
function replaceAll(database: Database, changes: readonly Change[]): Promise<void> {
  return database.transactionAgain(async (statements) => {
    await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
    await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.rekey'))`);
    for (const change of changes) await replace(database, statements, change);
  });
}

async function replace(
  { shown }: Database,
  statements: Statements,
  { profile, before, after }: Change,
): Promise<void> {
  const done = await statements.query(
    z.object({ key: wrapped }),
    `update psd2.keys set key = $2::json
     where profile = $1 and key::jsonb in ($3::jsonb, $2::jsonb) returning key`,
    [profile, JSON.stringify(after), JSON.stringify(before)],
  );
  if (done.length > 0) return;
  throw new Psd2Error('config', `Another psd2 has changed the key of ${profile} at ${shown} meanwhile`, {
    hint: 'Nothing was changed by this one. Run it again.',
  });
}

async function assertOwner(database: Database): Promise<void> {
  const rights = await database.lookOne(z.object({ owner: z.boolean() }), 'select psd2.is_owner() as owner');
  if (rights?.owner) return;
  throw new Psd2Error('config', `The user of PostgreSQL at ${database.shown} may not change the passphrase`, {
    hint: 'Use the rights of the owner of the schema psd2, as for psd2 store init. Nothing was changed.',
  });
}

function neitherOpens({ shown }: Database, profile: string, old: string | undefined): Psd2Error {
  return new Psd2Error(
    'config',
    old === undefined
      ? `The new passphrase does not open the tokens of ${profile} at ${shown} yet`
      : `PSD2_CONFIG_PASSPHRASE does not open the tokens of ${profile} at ${shown}`,
    { hint: 'Set PSD2_CONFIG_PASSPHRASE to the passphrase that the workers have. Nothing was changed.' },
  );
}

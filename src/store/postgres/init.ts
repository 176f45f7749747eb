import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { Environment } from '../machine/settings.ts';
import type { NamedDatabase } from '../machine/store-choice.ts';
import { type Address, parseAddress, withoutPassword } from './address.ts';
import { Database, otherSchema, type Statements } from './database.ts';
import { codeOf } from './failure.ts';
import { ROLES, SCHEMA, SCHEMA_VERSION } from './schema.ts';

/** The options of `psd2 store init`. */
export interface Init {
  /** Whether to create the roles `psd2_worker` and `psd2_reader` too. */
  roles: boolean;
  /** Whether to keep tokens in clear text. */
  plainTokens: boolean;
}

/** The SQL that `initStore` would run now, as `--dry-run` prints it. @throws Psd2Error `config` */
export async function sqlFor(database: Database, how: Init): Promise<string> {
  return initSql(database.shown, await currentVersion(database), how);
}

function initSql(shown: string, version: number, { roles, plainTokens }: Init): string {
  if (version !== 0 && version !== SCHEMA_VERSION) throw otherSchema(shown, version);
  const tables = version === 0 ? [SCHEMA.trim()] : [];
  const row = `insert into psd2.store (version, plain_tokens) values (${SCHEMA_VERSION}, ${plainTokens})
on conflict (one) do update set plain_tokens = psd2.store.plain_tokens or excluded.plain_tokens;`;
  return `${[...tables, row, ...(roles ? [ROLES.trim()] : [])].join('\n\n')}\n`;
}

/**
 * Creates the schema in one transaction. Only one process can do so at a time (store page,
 * "Commands"). If there is nothing to do, it needs no rights of the owner.
 *
 * @returns the version before; 0 if there was none
 * @throws Psd2Error `config`, for example if another psd2 has made the schema
 */
export async function initStore(database: Database, how: Init): Promise<number> {
  return database.transaction(async (statements) => {
    await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.store'))`);
    const version = await versionIn(statements);
    if (version === SCHEMA_VERSION && !how.roles && !how.plainTokens) return version;
    await statements.takeTime();
    await statements
      .script(initSql(database.shown, version, how))
      .catch((error: unknown) => Promise.reject(withoutRights(database.shown, how, error)));
    return version;
  }, false);
}

/** Says which rights are missing if the database refuses to create tables or roles. */
function withoutRights(shown: string, { roles }: Init, error: unknown): unknown {
  if (!(error instanceof Psd2Error) || codeOf(error.cause) !== '42501') return error;
  return new Psd2Error(
    'config',
    `PostgreSQL at ${shown} does not let this user create the ${roles ? 'tables or roles' : 'tables'} of psd2`,
    {
      hint: roles
        ? 'Name the owner of the database in PSD2_STORE, and give it the right to create roles: alter role <owner> createrole.'
        : 'Name the owner of the database in PSD2_STORE.',
      cause: error,
    },
  );
}

/** The version of the schema in the database; 0 if there is none. @throws Psd2Error `config` */
export async function currentVersion(database: Database): Promise<number> {
  return database.transaction(versionIn, false);
}

/** The random id of the store in the database; null if it has no tables. @throws Psd2Error `config` */
async function currentId(database: Database): Promise<string | null> {
  return database.transaction(async (statements) => {
    if ((await versionIn(statements)) === 0) return null;
    const [store] = await statements.query(z.object({ id: z.string() }), 'select id::text from psd2.store');
    return store?.id ?? null;
  }, false);
}

async function versionIn(statements: Statements): Promise<number> {
  const [schema] = await statements.query(
    z.object({ exists: z.boolean() }),
    `select to_regclass('psd2.store') is not null as exists`,
  );
  if (!schema?.exists) return 0;
  const [store] = await statements.query(z.object({ version: z.number() }), 'select version from psd2.store');
  return store?.version ?? 0;
}

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
  const address = parseOptionAddress(text, env, option);
  const database = new Database(address, signal);
  try {
    const id = await currentId(database);
    return { id, shown: address.shown, address: withoutPassword(text, address) };
  } finally {
    await database.close();
  }
}

function parseOptionAddress(text: string, env: Environment, option: string): Address {
  try {
    return parseAddress(text, env);
  } catch (error) {
    if (!(error instanceof Psd2Error) || option === 'PSD2_STORE') throw error;
    throw new Psd2Error('usage', error.message.replace('PSD2_STORE', option), error.context);
  }
}

import { inject } from 'vitest';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { Database } from '../../../src/store/postgres/database.ts';
import { initStore } from '../../../src/store/postgres/init.ts';
import { type Databases, psql, startServer, urlIn } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that the files of this run share. */
    postgres?: {
      folder: string;
      /** Whether the files run one after the other, so that each may change what belongs to the whole server. */
      isAlone: boolean;
    };
  }
}

/** Databases in which `psd2 store init` may have run. */
export interface ReadyDatabases extends Databases {
  /** Makes a database with the tables of psd2: a copy of one that `initStore` has prepared. Each copy has an id of its own. */
  ready(database: string, plainTokens?: boolean): Promise<void>;
}

/**
 * Opens the databases of a file: in the server that the run shares, or else in a server of its own.
 *
 * @param needs roles belong to the whole server. A file that makes some has a server of its own
 */
export function openDatabases(needs?: 'roles'): ReadyDatabases {
  const shared = inject('postgres');
  if (shared === undefined || (needs === 'roles' && !shared.isAlone)) {
    const server = startServer();
    let template: Promise<void> | undefined;
    return {
      ...server,
      ready: async (database, plainTokens) => {
        template ??= makeTemplate(server);
        await template;
        copyTemplate(server.folder, database, plainTokens);
      },
    };
  }
  const { folder, isAlone } = shared;
  const at = ['-h', folder];
  const made: string[] = [];
  return {
    url: (database) => urlIn(folder, database),
    create: (database) => {
      psql(at, 'postgres', `create database ${database} strategy file_copy`);
      made.push(database);
    },
    ready: async (database, plainTokens) => {
      copyTemplate(folder, database, plainTokens);
      made.push(database);
    },
    sql: (database, sql) => psql(at, database, sql),
    stop: () => {
      const drops = made.map((database) => `drop database ${database} with (force)`);
      psql(at, 'postgres', ...drops, ...(isAlone ? [DROP_ROLES] : []));
    },
  };
}

const TEMPLATE = 'psd2_template';

/** Makes the database that {@link ReadyDatabases.ready} copies: that takes a fifth of the time of `initStore`. */
export async function makeTemplate(server: Databases): Promise<void> {
  server.create(TEMPLATE);
  const admin = new Database(parseAddress(server.url(TEMPLATE), {}), undefined);
  await initStore(admin, { roles: false, plainTokens: true });
  await admin.close();
}

function copyTemplate(folder: string, database: string, plainTokens = true): void {
  psql(
    ['-h', folder],
    'postgres',
    `create database ${database} template ${TEMPLATE} strategy file_copy`,
    `\\connect ${database}`,
    `update psd2.store set id = gen_random_uuid(), plain_tokens = ${plainTokens}`,
  );
}

const DROP_ROLES = `do $$ declare role name; begin
  for role in select rolname from pg_roles where not rolsuper and rolname !~ '^pg_' loop
    execute format('drop role %I', role);
  end loop;
end $$`;

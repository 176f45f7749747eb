import { inject } from 'vitest';
import { type Databases, query, run, startServer, urlIn } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of a server that all files of this run share. */
    postgres?: string;
  }
}

/** Opens the databases of a file: in the server that the run shares, or else in a server of its own. */
export function openDatabases(): Databases {
  const folder = inject('postgres');
  if (folder === undefined) return startServer();
  const at = ['-h', folder];
  const made: string[] = [];
  return {
    url: (database) => urlIn(folder, database),
    create: (database) => {
      run('createdb', ...at, '-U', 'psd2', database);
      made.push(database);
    },
    sql: (database, sql) => query(at, database, sql),
    // Roles belong to the whole server.
    stop: () => {
      const drops = made.map((database) => `drop database ${database} with (force)`);
      const commands = [...drops, DROP_ROLES].flatMap((command) => ['-c', command]);
      run('psql', ...at, '-U', 'psd2', '-d', 'postgres', '-Xq', ...commands);
    },
  };
}

const DROP_ROLES = `do $$ declare role name; begin
  for role in select rolname from pg_roles where not rolsuper and rolname !~ '^pg_' loop
    execute format('drop role %I', role);
  end loop;
end $$`;

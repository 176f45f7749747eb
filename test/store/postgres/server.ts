import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real PostgreSQL in a folder of its own, reached over a Unix socket. */
export interface Server {
  /** What `PSD2_STORE` is set to for a database of this server. */
  url(database: string): string;
  /** Makes an empty database. */
  create(database: string): void;
  /** Runs SQL as the owner, and gives its rows, tab-separated. */
  sql(database: string, sql: string): string;
  /** As a power cut does. */
  crash(): void;
  start(): void;
  stop(): void;
}

const DEBIAN = '/usr/lib/postgresql';

/** Starts a server. `initdb` refuses root, so the server belongs to the user `postgres` then. */
export function startServer(): Server {
  const bin = folderOfPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'psd2-pg-'));
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  const run = (program: string, ...args: string[]) =>
    isRoot
      ? execFileSync('runuser', ['-u', 'postgres', '--', join(bin, program), ...args], {
          cwd: '/',
          stdio: 'pipe',
        })
      : execFileSync(join(bin, program), args, { stdio: 'pipe' });
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  execFileSync('chmod', ['755', folder]);
  run('initdb', '-D', data, '-U', 'psd2', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C');
  const options = `-k ${folder} -c listen_addresses= -c max_connections=60`;
  const start = () => run('pg_ctl', '-D', data, '-o', options, '-w', '-l', join(folder, 'log'), 'start');
  start();
  return {
    url: (database) => `postgres://psd2@/${database}?host=${encodeURIComponent(folder)}`,
    create: (database) => run('createdb', '-h', folder, '-U', 'psd2', database),
    sql: (database, sql) =>
      run('psql', '-h', folder, '-U', 'psd2', '-d', database, '-XAtqc', sql).toString('utf8').trimEnd(),
    crash: () => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    start,
    stop: () => {
      run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function folderOfPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (found) return found;
  throw new Error('There is no PostgreSQL here: apt-get install postgresql');
}

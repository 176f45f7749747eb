import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real PostgreSQL server in a temporary folder, reached over a Unix socket. */
export interface Server {
  /** The value of `PSD2_STORE` for a database of this server. */
  url(database: string): string;
  /** Makes an empty database. */
  create(database: string): void;
  /** Runs SQL as the owner. @returns the rows, with columns separated by `|` */
  sql(database: string, sql: string): string;
  /** Like `url`, but over TCP, where users need their password. */
  tcp(database: string, user: string): string;
  /** Turns TLS on, with this certificate and key in PEM. */
  useCertificate(certificate: string, key: string): void;
  /** Stops the server as a power cut does. */
  crash(): void;
  start(): void;
  stop(): void;
}

const DEBIAN = '/usr/lib/postgresql';

/**
 * Starts a server. `initdb` refuses to run as root, so under root the server runs as the user `postgres`.
 *
 * @param port makes the server also listen on this port of 127.0.0.1
 */
export function startServer(port?: number, maxConnections = 60): Server {
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
  if (port !== undefined) {
    writeFileSync(
      join(data, 'pg_hba.conf'),
      'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
    );
  }
  const listens = port === undefined ? 'listen_addresses=' : `listen_addresses=127.0.0.1 -c port=${port}`;
  const options = `-k ${folder} -c ${listens} -c max_connections=${maxConnections}`;
  const at = port === undefined ? ['-h', folder] : ['-h', folder, '-p', String(port)];
  const start = () => run('pg_ctl', '-D', data, '-o', options, '-w', '-l', join(folder, 'log'), 'start');
  start();
  return {
    url: (database) =>
      `postgres://psd2@/${database}?host=${encodeURIComponent(folder)}${port === undefined ? '' : `&port=${port}`}`,
    tcp: (database, user) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    useCertificate: (certificate, key) => {
      writeFileSync(join(data, 'server.crt'), certificate);
      writeFileSync(join(data, 'server.key'), key, { mode: 0o600 });
      if (isRoot) execFileSync('chown', ['postgres', join(data, 'server.crt'), join(data, 'server.key')]);
      run('psql', ...at, '-U', 'psd2', '-d', 'postgres', '-XAtqc', 'alter system set ssl = on');
      run('pg_ctl', '-D', data, 'reload');
    },
    create: (database) => run('createdb', ...at, '-U', 'psd2', database),
    sql: (database, sql) =>
      run('psql', ...at, '-U', 'psd2', '-d', database, '-XAtqc', sql)
        .toString('utf8')
        .trimEnd(),
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
  throw new Error('PostgreSQL is not installed: apt-get install postgresql');
}

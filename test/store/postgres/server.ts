import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The databases of the tests of a file. */
export interface Databases {
  /** The value of `PSD2_STORE` for a database. */
  url(database: string): string;
  /** Makes an empty database. */
  create(database: string): void;
  /** Runs SQL as the owner. @returns the rows, with columns separated by `|` */
  sql(database: string, sql: string): string;
  stop(): void;
}

/** A real PostgreSQL server in a temporary folder, reached over a Unix socket. */
export interface Server extends Databases {
  folder: string;
  /** Like `url`, but over TCP, where users need their password. */
  tcp(database: string, user: string): string;
  /** Turns TLS on, with this certificate and key in PEM. */
  useCertificate(certificate: string, key: string): void;
  /** Stops the server as a power cut does. */
  crash(): void;
  start(): void;
}

const DEBIAN = '/usr/lib/postgresql';
const isRoot = process.getuid?.() === 0;

/**
 * Starts a server. `initdb` refuses to run as root, so under root the server runs as the user `postgres`.
 *
 * @param port makes the server also listen on this port of 127.0.0.1
 * @param settings of postgresql.conf, for example `fsync=off`
 */
export function startServer(port?: number, maxConnections = 60, settings: string[] = []): Server {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-pg-'));
  const data = join(folder, 'data');
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  execFileSync('chmod', ['755', folder]);
  makeCluster(data);
  if (port !== undefined) {
    writeFileSync(
      join(data, 'pg_hba.conf'),
      'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
    );
  }
  const listens = port === undefined ? 'listen_addresses=' : `listen_addresses=127.0.0.1 -c port=${port}`;
  const options = ['', listens, `max_connections=${maxConnections}`, ...FAST, ...settings].join(' -c ');
  const at = port === undefined ? ['-h', folder] : ['-h', folder, '-p', String(port)];
  const start = () =>
    run('pg_ctl', '-D', data, '-o', `-k ${folder}${options}`, '-w', '-l', join(folder, 'log'), 'start');
  start();
  return {
    folder,
    url: (database) => `${urlIn(folder, database)}${port === undefined ? '' : `&port=${port}`}`,
    tcp: (database, user) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    useCertificate: (certificate, key) => {
      writeFileSync(join(data, 'server.crt'), certificate);
      writeFileSync(join(data, 'server.key'), key, { mode: 0o600 });
      if (isRoot) execFileSync('chown', ['postgres', join(data, 'server.crt'), join(data, 'server.key')]);
      psql(at, 'postgres', 'alter system set ssl = on');
      run('pg_ctl', '-D', data, 'reload');
    },
    create: (database) => void psql(at, 'postgres', `create database ${database} strategy file_copy`),
    sql: (database, sql) => psql(at, database, sql),
    crash: () => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    start,
    stop: () => {
      run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The tests crash the server, and never the computer. So what the kernel has is kept. The tables are small. */
const FAST = ['fsync=off', 'full_page_writes=off', 'autovacuum=off'];

/** Makes the files of a new server. The first one of a run makes them for all, because a copy takes a tenth of the time. */
function makeCluster(data: string): void {
  const shared = process.env.TEST_RUN_FOLDER;
  if (shared === undefined) {
    initCluster(data);
    return;
  }
  const first = join(shared, 'pg');
  if (!existsSync(first)) {
    const made = mkdtempSync(join(shared, 'pg-'));
    if (isRoot) execFileSync('chown', ['postgres', made]);
    initCluster(join(made, 'data'));
    try {
      renameSync(made, first);
    } catch {
      // Another worker was faster.
      rmSync(made, { recursive: true, force: true });
    }
  }
  const copy = ['-a', join(first, 'data'), data];
  if (isRoot) execFileSync('runuser', ['-u', 'postgres', '--', 'cp', ...copy], { cwd: '/' });
  else execFileSync('cp', copy);
}

function initCluster(data: string): void {
  run('initdb', '-D', data, '-U', 'psd2', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C');
}

/** The address of a database of the server in this folder. */
export function urlIn(folder: string, database: string): string {
  return `postgres://psd2@/${database}?host=${encodeURIComponent(folder)}`;
}

/** Runs SQL as the owner, each text in a transaction of its own. @param at the options for the place of the server */
export function psql(at: string[], database: string, ...texts: string[]): string {
  const commands = texts.flatMap((text) => ['-c', text]);
  const args = [...at, '-U', 'psd2', '-d', database, '-XAtq', '-v', 'ON_ERROR_STOP=1', ...commands];
  return execFileSync(join(folderOfPrograms(), 'psql'), args, { stdio: 'pipe', encoding: 'utf8' }).trimEnd();
}

/** Runs a program of PostgreSQL, as a user whom it accepts. */
function run(program: string, ...args: string[]): Buffer {
  const path = join(folderOfPrograms(), program);
  return isRoot
    ? execFileSync('runuser', ['-u', 'postgres', '--', path, ...args], { cwd: '/', stdio: 'pipe' })
    : execFileSync(path, args, { stdio: 'pipe' });
}

function folderOfPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (found) return found;
  throw new Error('PostgreSQL is not installed: apt-get install postgresql');
}

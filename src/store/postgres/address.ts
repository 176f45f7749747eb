import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { isLoopback } from '../../domain/local-address.ts';
import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { isMissing, reasonOf } from '../disk/files.ts';
import { faultOf } from '../disk/permissions.ts';
import { containsPassword } from '../machine/store-choice.ts';

/** The address of a database in `PSD2_STORE`. */
export interface Address {
  /** How to connect. May contain the password. */
  config: ClientConfig;
  /** For messages: host, port and database, never a password. */
  shown: string;
  /** Host, port and database, with the port also for a socket. It names one database. */
  place: string;
}

/**
 * Parses the URL of a database as libpq does: `sslmode`, `sslrootcert`, `sslcert` and `sslkey` are options of the URL,
 * `PGPASSWORD` and `PGPASSFILE` come from the environment, and `PGSERVICE` or `service=` names a service of libpq's files
 * (store page, "One store, two homes"). What the URL leaves out comes from the service, then from the environment. psd2
 * connects to a server on another machine over TLS and verifies its certificate, unless the URL or the service has another
 * `sslmode`.
 *
 * @throws Psd2Error `config` if it is not such a URL, or a file that it names or the service cannot be read
 */
export function parseAddress(text: string, env: Environment): Address {
  // `postgres://ada@/bank` has a user but no host. The host is in the options, or it is this machine.
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/i, '$1localhost');
  const url = urlFrom(whole);
  if (!url || !/^postgres(ql)?:/i.test(text)) throw notAnAddress();
  const service = takeService(url, env);
  const urlHost = url.searchParams.get('host') || (whole === text && decodeURIComponent(url.hostname));
  const named = urlHost || service.get('host') || service.get('hostaddr') || env.PGHOST || '';
  const isLocal = named === '' || isThisMachine(named);
  if (!isLocal && !url.searchParams.has('sslmode')) url.searchParams.set('sslmode', 'verify-full');
  refuseUnknownTls(url);
  const config = configOf(url);
  const host = named.replace(/^\[(.+)\]$/, '$1') || config.host || '/var/run/postgresql';
  const port = config.port ?? Number(env.PGPORT || 5432);
  const user = config.user || service.get('user') || env.PGUSER || userInfo().username;
  const password = config.password || service.get('password');
  const database = config.database || service.get('dbname') || env.PGDATABASE || user;
  const place = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const connectionTimeoutMillis = secondsOf(url.searchParams.get('connect_timeout') ?? env.PGCONNECT_TIMEOUT);
  return {
    config: {
      ...config,
      host,
      port,
      user,
      database,
      ...(password && { password }),
      ...(connectionTimeoutMillis !== undefined && { connectionTimeoutMillis }),
    },
    shown: `${host.startsWith('/') ? host : place}/${database}`,
    place: `${place}/${database}`,
  };
}

/**
 * The address of a database without a password, as `profile set --store` takes it. If the text contains one, the options of
 * TLS are lost too.
 */
export function withoutPassword(text: string, { config }: Address): string {
  if (!containsPassword(text)) return text;
  const { user = '', host = '', port = 5432, database = '' } = config;
  const start = `postgres://${encodeURIComponent(user)}@`;
  return host.startsWith('/')
    ? `${start}/${encodeURIComponent(database)}?host=${encodeURIComponent(host)}&port=${port}`
    : `${start}${isIP(host) === 6 ? `[${host}]` : host}:${port}/${encodeURIComponent(database)}`;
}

const OF_THE_SERVER = new Set(['host', 'hostaddr', 'user', 'password', 'dbname']);

/** Reads the service, which is empty if none is named. Adds its options to the URL, unless the URL has them. */
function takeService(url: URL, env: Environment): Service {
  const name = url.searchParams.get('service') || env.PGSERVICE;
  url.searchParams.delete('service');
  if (!name) return new Map();
  const service = readService(name, env);
  for (const [key, value] of service) {
    const isGiven = url.searchParams.has(key) || (key === 'port' && url.port !== '');
    if (!isGiven && !OF_THE_SERVER.has(key)) url.searchParams.set(key, value);
  }
  return service;
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** With a wrong word the driver would choose for itself how far to trust the server. */
function refuseUnknownTls({ searchParams }: URL): void {
  const mode = searchParams.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new Psd2Error('config', `sslmode=${mode} in PSD2_STORE is not one that psd2 supports`, {
      hint: `Use ${SSL_MODES.slice(0, -1).join(', ')} or ${SSL_MODES.at(-1)}.`,
    });
  if (mode === 'verify-ca' && !searchParams.get('sslrootcert'))
    throw new Psd2Error('config', 'sslmode=verify-ca in PSD2_STORE needs the certificate of the authority', {
      hint: 'Name its file with sslrootcert=<file>, or use sslmode=verify-full.',
    });
}

function configOf(url: URL): ClientConfig {
  try {
    return toClientConfig(parse(url.href, { useLibpqCompat: true }));
  } catch (cause) {
    const file = ['sslrootcert', 'sslcert', 'sslkey'].find((name) => {
      const path = url.searchParams.get(name);
      return cause instanceof Error && 'path' in cause && path !== null && cause.path === path;
    });
    const what =
      file === undefined ? 'PSD2_STORE' : `The file ${url.searchParams.get(file)} of ${file} in PSD2_STORE`;
    const why = isMissing(cause) ? 'it does not exist' : reasonOf(cause);
    throw new Psd2Error('config', `${what} cannot be used: ${why}`, {
      hint: 'Check the files that sslrootcert, sslcert and sslkey name.',
      cause,
    });
  }
}

/** Converts seconds to milliseconds. 0 means no limit, as in libpq. Undefined if none are given. */
function secondsOf(text: string | undefined): number | undefined {
  const seconds = Number(text || Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function isThisMachine(host: string): boolean {
  return host.startsWith('/') || isLoopback(new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}`));
}

function notAnAddress(): Psd2Error {
  return new Psd2Error('config', 'PSD2_STORE is not the address of a database', {
    hint: 'Give postgres://user@host:5432/database, and the password in PGPASSWORD or a file that PGPASSFILE names.',
  });
}

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the machine's service file in Debian's libpq. */
const SYSTEM_FOLDER = '/etc/postgresql-common';

/** The options of a service, by libpq's names, for example `host` and `dbname`. */
type Service = ReadonlyMap<string, string>;

/**
 * Reads a service as libpq does (see "The Connection Service File" in its documentation): from the file that
 * `PGSERVICEFILE` names, else from `~/.pg_service.conf`. If the service is not there, from `pg_service.conf` in the
 * folder `PGSYSCONFDIR`. A parser for INI files would cut a password at `#` or `;`, which libpq does not do.
 *
 * @throws Psd2Error `config` if no file has the service, or the file is damaged, belongs to another user, can be changed
 *   by others, or contains the service's password and can be read by others
 */
function readService(name: string, env: Environment): Service {
  const files = [
    env.PGSERVICEFILE || ownFile(env),
    join(env.PGSYSCONFDIR || SYSTEM_FOLDER, 'pg_service.conf'),
  ];
  for (const path of files) {
    const service = serviceIn(path, name);
    if (service) return service;
  }
  throw new Psd2Error('config', `There is no service ${JSON.stringify(name)} in ${files.join(' or ')}`, {
    hint: 'Check PGSERVICE, or service= in PSD2_STORE. PGSERVICEFILE can name another file.',
  });
}

function ownFile(env: Environment): string {
  return process.platform === 'win32'
    ? join(env.APPDATA ?? homedir(), 'postgresql', '.pg_service.conf')
    : join(env.HOME || homedir(), '.pg_service.conf');
}

/** Undefined if the file does not exist or does not have the service. */
function serviceIn(path: string, name: string): Service | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw damaged(path, `cannot be read: ${reasonOf(cause)}`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw damaged(path, 'is not a file');
    const fault = faultOf(path, stats, 'public');
    if (fault) throw fault;
    const service = parseService(path, readFileSync(file, 'utf8'), name);
    if (service?.has('password') && faultOf(path, stats, 'secret'))
      throw new Psd2Error('config', `${path} contains a password, and can be read by others`, {
        hint: `Run: chmod 600 ${quoteForShell(path)}`,
      });
    return service;
  } finally {
    closeSync(file);
  }
}

/** The first section with that name. If an option is given twice, the first one counts. */
function parseService(path: string, content: string, name: string): Service | undefined {
  let service: Map<string, string> | undefined;
  for (const [index, whole] of content.split('\n').entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) {
      if (service) return service;
      if (line.startsWith(`[${name}]`)) service = new Map();
      continue;
    }
    if (!service) continue;
    const [, key, value] = /^([a-z_]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined || key === 'service')
      throw damaged(
        path,
        `is damaged: line ${index + 1} is not an option and its value, for example host=db.example`,
      );
    if (!service.has(key)) service.set(key, value);
  }
  return service;
}

function damaged(path: string, what: string): Psd2Error {
  return new Psd2Error('config', `The service file ${path} ${what}`, {
    hint: 'Repair it, or name another file in PGSERVICEFILE.',
  });
}

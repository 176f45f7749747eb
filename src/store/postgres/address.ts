import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { isLoopback } from '../../domain/loopback.ts';
import { Psd2Error } from '../../errors.ts';
import { reasonOf } from '../disk/system-error.ts';

/** The address of a database in `PSD2_STORE`. */
export interface Address {
  /** How to connect. May contain the password. */
  config: ClientConfig;
  /** For messages: host, port and database, never a password. */
  shown: string;
}

/** Environment variables, as `process.env` has them. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses the URL of a database as libpq does: `sslmode`, `sslrootcert`, `sslcert` and `sslkey` are options of the URL,
 * `PGPASSWORD` and `PGPASSFILE` come from the environment (store page, "One store, two homes"). psd2 connects to a server on
 * another machine over TLS and verifies its certificate, unless the URL has another `sslmode`.
 *
 * @throws Psd2Error `config` if it is not such a URL, or a file that it names cannot be read
 */
export function parseAddress(text: string, env: Environment): Address {
  // `postgres://ada@/bank` has a user but no host. The host is in the options, or it is this machine.
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/i, '$1localhost');
  if (!/^postgres(ql)?:/i.test(text) || !URL.canParse(whole)) throw notAnAddress();
  const url = new URL(whole);
  const named = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  const isLocal = named === '' || isThisMachine(named);
  if (!isLocal && !url.searchParams.has('sslmode')) url.searchParams.set('sslmode', 'verify-full');
  let config: ClientConfig;
  try {
    config = toClientConfig(parse(url.href, { useLibpqCompat: true }));
  } catch (cause) {
    throw new Psd2Error('config', `PSD2_STORE cannot be used: ${reasonOf(cause)}`, {
      hint: 'Check the files that sslrootcert, sslcert and sslkey name.',
      cause,
    });
  }
  const host = config.host || env.PGHOST || '/var/run/postgresql';
  const port = config.port ?? Number(env.PGPORT || 5432);
  const user = config.user || env.PGUSER || userInfo().username;
  const database = config.database || env.PGDATABASE || user;
  const place = host.startsWith('/') ? host : isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
  const connectionTimeoutMillis = secondsOf(url.searchParams.get('connect_timeout') ?? env.PGCONNECT_TIMEOUT);
  return {
    config: {
      ...config,
      host,
      port,
      user,
      database,
      ...(connectionTimeoutMillis !== undefined && { connectionTimeoutMillis }),
    },
    shown: `${place}/${database}`,
  };
}

/** Milliseconds; 0 is no limit, as with libpq. Undefined where none is given. */
function secondsOf(given: string | undefined): number | undefined {
  const seconds = Number(given || Number.NaN);
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

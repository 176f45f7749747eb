import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { isLoopback } from '../../domain/loopback.ts';
import { Psd2Error } from '../../errors.ts';
import { reasonOf } from '../disk/system-error.ts';

/** A database that `PSD2_STORE` names. */
export interface Address {
  /** How to connect; may hold the password. */
  config: ClientConfig;
  /** For messages: host, port and database, never a password. */
  shown: string;
}

/** Environment variables, as `process.env` has them. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the URL of a database as libpq does: `sslmode`, `sslrootcert`, `sslcert` and `sslkey` as options of the URL,
 * `PGPASSWORD` and `PGPASSFILE` of the environment (store page, "One store, two homes"). A server on another machine is
 * reached over TLS, and its certificate verified, unless the URL has another `sslmode`.
 *
 * @throws Psd2Error `config` when it is no such URL, or a file that it names can't be read
 */
export function parseAddress(text: string, env: Environment): Address {
  // A user without a host, `postgres://ada@/bank`: the host is in the options then, or it is this machine.
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

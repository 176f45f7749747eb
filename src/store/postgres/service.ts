import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { faultOf } from '../disk/permissions.ts';
import { isMissing, reasonOf } from '../disk/system-error.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the machine's service file in Debian's libpq. */
const SYSTEM_FOLDER = '/etc/postgresql-common';

/** The options of a service, by libpq's names, for example `host` and `dbname`. */
export type Service = ReadonlyMap<string, string>;

/**
 * Reads a service as libpq does (see "The Connection Service File" in its documentation): from the file that
 * `PGSERVICEFILE` names, else from `~/.pg_service.conf`. If the service is not there, from `pg_service.conf` in the
 * folder `PGSYSCONFDIR`. A parser for INI files would cut a password at `#` or `;`, which libpq does not do.
 *
 * @throws Psd2Error `config` if no file has the service, or the file is damaged, belongs to another user, can be changed
 *   by others, or contains the service's password and can be read by others
 */
export function readService(name: string, env: Environment): Service {
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
    if (service?.has('password') && faultOf(path, stats, 'secret')) {
      throw new Psd2Error('config', `${path} contains a password, and can be read by others`, {
        hint: `Run: chmod 600 ${quoteForShell(path)}`,
      });
    }
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

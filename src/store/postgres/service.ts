import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { faultOf } from '../disk/permissions.ts';
import { isMissing, reasonOf } from '../disk/system-error.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Debian's libpq has the file of the machine. */
const SYSTEM_FOLDER = '/etc/postgresql-common';

/** What a service file says of one service: values by libpq's names, as `host` and `dbname`. */
export type Service = ReadonlyMap<string, string>;

/**
 * Reads a service as libpq does ("The Connection Service File" of its documentation): in the file that `PGSERVICEFILE`
 * names, else `~/.pg_service.conf`; what is not there is looked for in `pg_service.conf` of the folder `PGSYSCONFDIR`. A
 * parser of INI files would cut a password at `#` or `;`, which libpq does not.
 *
 * @throws Psd2Error `config` when no file has the service, or the file is damaged, another user's, can be changed by others,
 *   or holds the service's password and can be read by others
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
    hint: 'Check PGSERVICE, or service= in PSD2_STORE; PGSERVICEFILE names another file.',
  });
}

function ownFile(env: Environment): string {
  return process.platform === 'win32'
    ? join(env.APPDATA ?? homedir(), 'postgresql', '.pg_service.conf')
    : join(env.HOME || homedir(), '.pg_service.conf');
}

/** Undefined where there is no such file, or it does not have the service. */
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
      throw new Psd2Error('config', `${path} holds a password, and can be read by others`, {
        hint: `Run: chmod 600 ${quoteForShell(path)}`,
      });
    }
    return service;
  } finally {
    closeSync(file);
  }
}

/** The first section of that name; of a value that is given twice, the first counts. */
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
      throw damaged(path, `is damaged: line ${index + 1} is not an option and its value, as host=db.example`);
    if (!service.has(key)) service.set(key, value);
  }
  return service;
}

function damaged(path: string, what: string): Psd2Error {
  return new Psd2Error('config', `The service file ${path} ${what}`, {
    hint: 'Mend it, or name another file in PGSERVICEFILE.',
  });
}

import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAddress, withoutPassword } from '../../../src/store/postgres/address.ts';
import { thrownBy } from '../../support/thrown.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const PASSWORD = 'it#has;both "marks" = 1';
const SERVICES = `# Of this team
[other]
host=other.example

[bank]
host=db.example
port=6432
dbname=bank
user=sync_1
password=${PASSWORD}
sslmode=require
password=the first one counts
  # indented

[socket]
host=/var/run/psd2
`;
let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(temporary, 'home-'));
  file = join(home, '.pg_service.conf');
  writeFileSync(file, SERVICES, { mode: 0o600 });
});
const parsed = (text: string, env: Record<string, string> = {}) => parseAddress(text, { HOME: home, ...env });

const refusal = (text: string) => thrownBy(() => parsed(text));

const WHOLE = {
  shown: 'db.example:6432/bank',
  config: {
    ...{ host: 'db.example', port: 6432, user: 'sync_1', database: 'bank', password: PASSWORD },
    ssl: { rejectUnauthorized: false },
  },
};
const ELSEWHERE = { PGUSER: 'eve', PGHOST: 'elsewhere.example', PGDATABASE: 'x', PGPORT: '1' };
const BOTH = { PGSERVICE: 'bank', ...ELSEWHERE };
const LEDGER = 'db.example:6432/ledger';
const HERE = { PGHOST: 'db.example', PGUSER: 'ada', PGPORT: '6000' };
const SOCKET = { PGHOST: '/tmp/x' };

const shows = (shown: string, config: object = {}) => ({ shown, config });
const VERIFIED = { sslmode: 'verify-full' };
const OF_SERVICE = { user: 'sync_1', ...VERIFIED, ssl: {} };
const OF_ADA = { user: 'ada', ...VERIFIED };

it.each<[string, string, Record<string, string>, object]>([
  ['a service gives what the address leaves out', '', { PGSERVICE: 'bank' }, WHOLE],
  ['the service of the address counts', '?service=bank', { PGSERVICE: 'nothing' }, WHOLE],
  // It counts before the environment.
  ['a service yields to the address', '/ledger?sslmode=verify-full', BOTH, shows(LEDGER, OF_SERVICE)],
  ['also to its user', 'ada:hers@/ledger', BOTH, shows(LEDGER, { user: 'ada', password: 'hers' })],
  ['and to its host', '127.0.0.1:5433', BOTH, shows('127.0.0.1:5433/bank')],
  // Another machine is verified by its certificate if nothing says sslmode.
  [
    'a service on another machine',
    '',
    { PGSERVICE: 'other' },
    { config: { host: 'other.example', ...VERIFIED } },
  ],
  ['the environment gives what is left out', '/bank', HERE, shows('db.example:6000/bank', OF_ADA)],
  ['an IPv6 address', '[::1]:1/bank', {}, shows('[::1]:1/bank')],
  ['a user without a host', 'eve@/bank', {}, shows('localhost:5432/bank')],
  ['the usual socket', '/bank', {}, shows('/var/run/postgresql/bank')],
  ['a socket in the host', 'eve@%2Ftmp%2Fx/bank', {}, shows('/tmp/x/bank')],
  ['a user alone', 'ada@', SOCKET, shows('/tmp/x/ada')],
  ['a user with a port', 'ada@?port=7', SOCKET, { place: '/tmp/x:7/ada' }],
  // Two servers may have one folder of sockets.
  ['a place has the port', '/bank?host=/tmp/x', {}, { shown: '/tmp/x/bank', place: '/tmp/x:5432/bank' }],
  ['and another port', '/bank?host=/tmp/x&port=5433', {}, { place: '/tmp/x:5433/bank' }],
  ['a place of an IPv6 address', 'ada@[::1]/bank', {}, { place: '[::1]:5432/bank' }],
])('%s: postgres://%s', (_what, text, env, expected) => {
  expect(parsed(`postgres://${text}`, env)).toMatchObject(expected);
});

describe("a service of libpq's files", () => {
  it('a service at a socket needs no TLS', () => {
    expect(parsed('postgres://', { PGSERVICE: 'socket' }).config.ssl).toBeUndefined();
  });

  it('a service is looked up in the file in PGSERVICEFILE, then in that of the machine', () => {
    const PGSYSCONFDIR = join(home, 'etc');
    mkdirSync(PGSYSCONFDIR);
    const inMachine = join(PGSYSCONFDIR, 'pg_service.conf');
    writeFileSync(inMachine, '[bank]\nhost=/machine\n[all]\nhost=/all\n');
    const PGSERVICEFILE = join(home, 'named.conf');
    const hostOf = (name: string, env = {}) =>
      parsed('postgres:///x', { PGSERVICE: name, PGSYSCONFDIR, ...env }).config.host;
    expect(hostOf('bank')).toBe('db.example');
    expect(hostOf('all')).toBe('/all');
    writeFileSync(PGSERVICEFILE, '[bank]\nhost=/named\n');
    expect(hostOf('bank', { PGSERVICEFILE })).toBe('/named');
    expect(() => hostOf('socket', { PGSERVICEFILE })).toThrow(
      `There is no service "socket" in ${PGSERVICEFILE} or ${inMachine}`,
    );
  });

  it('a service is refused if others can change its file, or read a password in it', () => {
    const refused = { code: 'config', hint: expect.stringContaining('chmod') };
    const load = (name: string) => () => parsed('postgres://', { PGSERVICE: name });
    chmodSync(file, 0o664);
    expect(thrownBy(load('other'))).toMatchObject({
      ...refused,
      message: `${file} can be changed by others (mode 0664)`,
    });
    chmodSync(file, 0o644);
    expect(load('other')().shown).toBe(`other.example:5432/${userInfo().username}`);
    expect(thrownBy(load('bank'))).toMatchObject({
      ...refused,
      message: `${file} contains a password, and can be read by others`,
    });
  });

  it.each(['host', ' host = x', 'service=other', '=x'])(
    'a service file with the line %j is refused',
    (line) => {
      writeFileSync(file, `[bank]\n${line}\n`);
      expect(() => parsed('postgres://', { PGSERVICE: 'bank' })).toThrow(
        `The service file ${file} is damaged: line 2 is not an option and its value, for example host=db.example`,
      );
    },
  );
});

describe('an address without a service', () => {
  it.each([
    ...['', 'bank', 'mypostgres://db.example/bank', 'https://postgres:1@db.example/bank'],
    ...['postgres://[db]/bank', 'postgres://db:x/b'],
  ])('%j is not the address of a database', (text) => {
    expect(refusal(text)).toMatchObject({
      code: 'config',
      message: 'PSD2_STORE is not the address of a database',
      hint: 'Give postgres://user@host:5432/database, and the password in PGPASSWORD or a file that PGPASSFILE names.',
    });
  });

  it('takes an IPv6 address with brackets or without', () => {
    for (const text of ['ada@[::1]:1/b', '/b?host=::1&port=1', '/b?host=[::1]&port=1']) {
      const { config, shown } = parsed(`postgres://${text}`, { PGPORT: '2' });
      expect([config.host, shown, config.ssl]).toEqual(['::1', '[::1]:1/b', undefined]);
    }
  });
});

it('connect_timeout is in seconds, as in libpq, and 0 means no limit', () => {
  const limit = (text: string, env = {}) => parsed(text, env).config.connectionTimeoutMillis;
  expect(limit('postgres:///bank?connect_timeout=5')).toBe(5_000);
  expect(limit('postgres:///bank', { PGCONNECT_TIMEOUT: '7' })).toBe(7_000);
  expect(limit('postgres:///bank?connect_timeout=0', { PGCONNECT_TIMEOUT: '7' })).toBe(0);
  for (const none of ['', '-1', 'soon', 'Infinity'])
    expect(limit('postgres:///bank', { PGCONNECT_TIMEOUT: none })).toBeUndefined();
  expect('connectionTimeoutMillis' in parsed('postgres:///bank').config).toBe(false);
});

describe('TLS in the address', () => {
  it.each(['verify_full', 'Require', 'allow', 'yes', ''])(
    'the sslmode %j is refused, with those that there are',
    (mode) => {
      expect(refusal(`postgres://ada@db.example/bank?sslmode=${mode}`)).toMatchObject({
        code: 'config',
        message: `sslmode=${mode} in PSD2_STORE is not one that psd2 supports`,
        hint: 'Use disable, prefer, require, verify-ca or verify-full.',
      });
    },
  );

  it.each(['sslrootcert', 'sslcert', 'sslkey'])('a file of %s that does not exist is named', (option) => {
    const path = join(temporary, 'nowhere.pem');
    expect(refusal(`postgres://ada@db.example/bank?${option}=${path}`)).toMatchObject({
      code: 'config',
      message: `The file ${path} of ${option} in PSD2_STORE cannot be used: it does not exist`,
      hint: 'Check the files that sslrootcert, sslcert and sslkey name.',
    });
  });

  it('of two files, the one that cannot be read is named', () => {
    const [there, nowhere] = [join(home, '.pg_service.conf'), join(temporary, 'nowhere.pem')];
    const text = `postgres://ada@db.example/bank?sslcert=${there}&sslkey=${nowhere}`;
    expect(() => parsed(text)).toThrow(
      `The file ${nowhere} of sslkey in PSD2_STORE cannot be used: it does not exist`,
    );
    expect(() => parsed(`postgres://ada@db.example/bank?sslcert=${temporary}`)).toThrow(
      'PSD2_STORE cannot be used: a folder has that name',
    );
  });

  it('verify-ca without the certificate of an authority is refused', () => {
    expect(refusal('postgres://ada@db.example/bank?sslmode=verify-ca')).toMatchObject({
      code: 'config',
      message: 'sslmode=verify-ca in PSD2_STORE needs the certificate of the authority',
      hint: 'Name its file with sslrootcert=<file>, or use sslmode=verify-full.',
    });
  });
});

describe('an address without its password', () => {
  const without = (text: string, env = {}) => withoutPassword(text, parsed(text, env));
  const SOCKET_OF_A = 'postgres://a%40da@/b%20ank';

  it('is the same text if it has none', () => {
    const text = 'postgres://ada@db.example/bank?sslmode=verify-full&sslrootcert=';
    expect(without(text)).toBe(text);
    expect(without('postgres:///bank', { PGPASSWORD: 'secret' })).toBe('postgres:///bank');
  });

  it.each([
    ['postgres://ada:secret@db.example/bank', 'postgres://ada@db.example:5432/bank'],
    ['postgres://ada@db.example:6000/bank?password=secret', 'postgres://ada@db.example:6000/bank'],
    ['postgres://ada:secret@[::1]:6000/bank', 'postgres://ada@[::1]:6000/bank'],
    ['postgres://a%40da:secret@db.example/b%20ank', 'postgres://a%40da@db.example:5432/b%20ank'],
    ['postgres://ada:secret@%2Ftmp%2Fx:6000/bank', 'postgres://ada@/bank?host=%2Ftmp%2Fx&port=6000'],
    ['postgres://a%40da:secret@/b%20ank?host=/tmp/x%261', `${SOCKET_OF_A}?host=%2Ftmp%2Fx%261&port=5432`],
  ])('%j becomes %j, which names the same database', (text, expected) => {
    expect(without(text)).toBe(expected);
    const { place, config } = parsed(expected);
    expect([place, config.user]).toEqual([parsed(text).place, parsed(text).config.user]);
  });
});

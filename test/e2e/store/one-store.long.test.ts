import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
let server: Server;
/** The address of each database. */
let url: (database: string) => string;

beforeAll(async () => {
  const port = await freePort();
  server = startServer(port);
  url = server.url;
  for (const database of ['bank', 'other', 'empty']) {
    server.create(database);
    const env = { PSD2_STORE: url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
    const made = await operator.psd2(['store', 'init', '--plain-tokens'], { env });
    expect(made, made.stderr).toMatchObject({ code: 0 });
  }
});
afterAll(() => server.stop());

let folders = 0;
/** Another machine with a copy of the operator's configuration folder. */
function newMachine(): string {
  folders += 1;
  const config = join(operator.folder, `machine-${folders}`);
  cpSync(operator.config, config, { recursive: true });
  return config;
}

/** Runs a command on a machine, where `PSD2_STORE` names the database, or is not set. */
const run = (config: string, args: string[], database?: string, more: Environment = {}) =>
  operator.psd2([...args, '--json'], {
    env: {
      PSD2_CONFIG_DIR: config,
      PSD2_STORE_PLAIN_TOKENS: '1',
      PSD2_STORE: database && (database.includes(':') ? database : url(database)),
      ...more,
    },
  });
async function succeeds(config: string, args: string[], database?: string, more: Environment = {}) {
  const ended = await run(config, args, database, more);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return ended;
}
/** A machine whose store was copied to the database. */
async function inDatabase(database: string): Promise<string> {
  server.sql(database, 'drop schema if exists psd2 cascade');
  const config = newMachine();
  await succeeds(config, ['store', 'init', '--plain-tokens'], database);
  await succeeds(config, ['store', 'copy', '--from', 'files', '--to', url(database)]);
  return config;
}
const pay = (reference: string) => [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00', '--reference', reference],
];

/** Every command that uses the data of the profile. */
const COMMANDS = [
  pay('r1'),
  ['transfer', 'list'],
  ['transfer', 'show', 'tr-2'],
  ['consent', 'list'],
  ['accounts', 'list'],
  ['auth', 'list'],
  ['auth', 'status'],
  ['auth', 'login'],
  ['auth', 'logout'],
  ['sync', '--out', 'out', '--all-customers', '--unattended-reads', '99'],
  ['sync', 'status'],
  ['expiring'],
];

describe('a machine remembers where the data of a profile is', () => {
  it.each(COMMANDS)(
    'psd2 %s %s refuses the files after the data was copied to a database',
    async (...args) => {
      const config = await inDatabase('bank');
      const error = readError(await run(config, args));
      const place = `PostgreSQL at ${server.folder}/bank`;
      expect(error).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: `The data of the profile "sandbox" is in ${place}, but this command would use the files in ${config}`,
        next: [
          ['psd2', 'profile', 'set', 'sandbox', '--store', url('bank')],
          ['psd2', 'store', 'copy', '--from', url('bank'), '--to', 'files'],
        ],
      });
      await succeeds(config, ['transfer', 'list'], 'bank');
    },
  );

  it.each(COMMANDS)('psd2 %s %s refuses an empty database if the files have the data', async (...args) => {
    const config = newMachine();
    const error = readError(await run(config, args, 'empty'));
    const place = `PostgreSQL at ${server.folder}/empty`;
    expect(error).toMatchObject({
      exitCode: 3,
      message: `The data of the profile "sandbox" is in the files in ${config}, but this command would use ${place}`,
      next: [
        ['psd2', 'store', 'copy', '--from', 'files', '--to', url('empty')],
        ['psd2', 'profile', 'set', 'sandbox', '--store', url('empty')],
      ],
    });
    expect(server.sql('empty', 'select count(*) from psd2.flows')).toBe('0');
  });

  it('another address of the same database is accepted, another database is not', async () => {
    const config = await inDatabase('bank');
    const tcp = server.tcp('bank', 'psd2');
    server.sql('bank', `alter role psd2 password 'pw-of-psd2'`);
    await succeeds(config, ['transfer', 'list'], tcp, { PGPASSWORD: 'pw-of-psd2' });
    const error = readError(await run(config, ['transfer', 'list'], 'other'));
    expect(error).toMatchObject({ exitCode: 3, message: expect.stringContaining('/other') });
  });

  it('a new database at the same address is refused', async () => {
    const config = await inDatabase('bank');
    server.sql('bank', 'drop schema if exists psd2 cascade');
    await succeeds(config, ['store', 'init', '--plain-tokens'], 'bank');
    const error = readError(await run(config, pay('r1'), 'bank'));
    expect(error).toMatchObject({
      exitCode: 3,
      message: `PostgreSQL at ${server.folder}/bank is not the database with the data of the profile "sandbox"`,
      next: [['psd2', 'profile', 'set', 'sandbox', '--store', url('bank')]],
    });
  });

  it('the memory does not rest on one file: without any one of them, no command uses the empty files', async () => {
    const config = await inDatabase('bank');
    // As on a machine that never had data in its files.
    for (const name of ['tokens', 'flows', 'store.json']) rmSync(join(config, name), { recursive: true });
    const files = readdirSync(config, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(config, join(entry.parentPath, entry.name)));
    expect(files.filter((name) => name.startsWith('stores/'))).toHaveLength(2);
    for (const name of files) {
      const damaged = `${config}-damaged`;
      rmSync(damaged, { recursive: true, force: true });
      cpSync(config, damaged, { recursive: true });
      rmSync(join(damaged, name));
      expect(await run(damaged, ['transfer', 'list']), name).toMatchObject({ code: 3 });
      // A lost file comes back.
      await run(damaged, ['transfer', 'list'], 'bank');
      if (name.startsWith('stores/')) expect(existsSync(join(damaged, name)), name).toBe(true);
    }
  });

  it('an old installation remembers the store of its first command', async () => {
    const config = await inDatabase('bank');
    for (const name of ['stores', 'store.json', 'tokens', 'flows'])
      rmSync(join(config, name), { recursive: true });
    await succeeds(config, ['transfer', 'list'], 'bank');
    expect(await run(config, ['transfer', 'list'])).toMatchObject({ code: 3 });
  });

  it('without data nothing is remembered: PSD2_STORE may be set later', async () => {
    const config = newMachine();
    for (const name of ['stores', 'tokens', 'flows']) rmSync(join(config, name), { recursive: true });
    await run(config, ['doctor']);
    await succeeds(config, ['transfer', 'list']);
    await succeeds(config, ['transfer', 'list'], 'empty');
    await succeeds(config, ['transfer', 'list']);
    expect(existsSync(join(config, 'stores'))).toBe(false);
  });

  it('after a logout without flows, the files do not count', async () => {
    const config = newMachine();
    rmSync(join(config, 'flows'), { recursive: true });
    await succeeds(config, ['auth', 'logout']);
    await succeeds(config, ['transfer', 'list'], 'empty');
  });

  it('of two first logins at once with different stores, one store is remembered', async () => {
    const config = newMachine();
    for (const name of ['stores', 'tokens', 'flows']) rmSync(join(config, name), { recursive: true });
    server.sql('other', 'drop schema if exists psd2 cascade');
    await succeeds(config, ['store', 'init', '--plain-tokens'], 'other');
    await Promise.all([run(config, ['auth', 'login']), run(config, ['auth', 'login'], 'other')]);
    const ends = [await run(config, pay('r1')), await run(config, pay('r1'), 'other')];
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 3]);
  });

  it.runIf(process.getuid?.() === 0)(
    'a read-only configuration folder does not prevent reading',
    async () => {
      const config = await inDatabase('bank');
      for (const name of ['stores', 'store.json', 'tokens', 'flows'])
        rmSync(join(config, name), { recursive: true });
      execFileSync('mount', ['--bind', config, config]);
      try {
        execFileSync('mount', ['-o', 'remount,ro,bind', config]);
        await succeeds(config, ['auth', 'list'], 'bank');
      } finally {
        execFileSync('umount', [config]);
      }
    },
  );

  it('psd2 store copy back makes the files the store again', async () => {
    const config = await inDatabase('bank');
    await succeeds(config, ['store', 'copy', '--from', 'postgres', '--to', 'files'], 'bank');
    await succeeds(config, ['accounts', 'list']);
    expect(await run(config, ['accounts', 'list'], 'bank')).toMatchObject({ code: 3 });
  });

  it('completion offers nothing from a store that a command would refuse', async () => {
    const config = await inDatabase('bank');
    const offered = (database?: string) =>
      operator.psd2(['__complete', 'psd2', '--customer', ''], {
        env: { PSD2_CONFIG_DIR: config, PSD2_STORE: database && url(database) },
      });
    expect(await offered('bank')).toMatchObject({ code: 0, stdout: expect.stringContaining('1048262') });
    expect(await offered()).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('1048262'),
      stderr: '',
    });
  });
});

describe('psd2 profile set --store', () => {
  it('a profile with a store needs no PSD2_STORE, and refuses another one in it', async () => {
    const config = await inDatabase('bank');
    const set = await succeeds(config, ['profile', 'set', 'sandbox', '--store', url('bank')]);
    expect(JSON.parse(set.stdout).settings.store).toEqual({ value: url('bank'), source: 'profile' });
    await succeeds(config, ['accounts', 'list']);
    const status = JSON.parse((await succeeds(config, ['store', 'status'])).stdout);
    expect(status).toMatchObject({ home: 'postgres', source: 'profile' });
    await succeeds(config, ['store', 'init']);
    expect(await run(config, ['accounts', 'list'], 'other')).toMatchObject({ code: 3 });
    await succeeds(config, ['store', 'copy', '--from', 'postgres', '--to', 'files']);
    await succeeds(config, ['accounts', 'list']);
  });

  it('psd2 asks before payments stay behind', async () => {
    const config = newMachine();
    await succeeds(config, pay('r1'));
    const set = ['profile', 'set', 'sandbox', '--store', url('empty')];
    expect(readError(await run(config, set))).toMatchObject({
      code: 'confirmation_needed',
      exitCode: 2,
      message: `1 payment of the profile sandbox would stay behind in the files in ${config}, 0 of them unfinished, and psd2 cannot ask without a terminal`,
    });
    await succeeds(config, ['transfer', 'list']);
    await succeeds(config, [...set, '--yes']);
    const list = await succeeds(config, ['transfer', 'list']);
    expect(JSON.parse(list.stdout)).toEqual([]);
    await succeeds(config, ['profile', 'set', 'sandbox', '--store', 'files']);
    expect(JSON.parse((await succeeds(config, ['transfer', 'list'])).stdout)).toHaveLength(1);
    expect(await run(config, ['transfer', 'list'], 'empty')).toMatchObject({ code: 3 });
  });

  it('psd2 asks too if it cannot look into the current store', async () => {
    const config = await inDatabase('bank');
    server.sql('bank', 'drop schema if exists psd2 cascade');
    const set = ['profile', 'set', 'sandbox', '--store', url('empty')];
    expect(readError(await run(config, set))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(
        /^Payments of the profile sandbox may stay behind in PostgreSQL at .+\/bank/,
      ),
    });
    await succeeds(config, [...set, '--yes']);
  });

  it('it takes no password, no other word, and no other setting beside it', async () => {
    const config = newMachine();
    const refusals: [string[], string][] = [
      [['--store', 'postgres://ada:pw-of-ada@db/bank'], '--store contains a password'],
      [['--store', 'mysql://db'], '--store does not name a store'],
      [['--store', 'postgres://db/bank?sslmode=no'], 'in --store'],
      [['--store', 'files', '--max-amount', '5.00'], '--store cannot be combined'],
    ];
    for (const [options, message] of refusals) {
      const ended = await run(config, ['profile', 'set', 'sandbox', ...options]);
      expect(readError(ended)).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
      expect(ended.stderr).not.toContain('pw-of-ada');
    }
    expect(readError(await run(config, ['profile', 'set', 'nobody', '--store', 'files']))).toMatchObject({
      code: 'no_profile',
    });
  });

  it('a store that was copied to another one cannot be set', async () => {
    const config = await inDatabase('bank');
    const ended = await run(config, ['profile', 'set', 'sandbox', '--store', 'files', '--yes']);
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('was copied to'),
    });
    await succeeds(config, ['transfer', 'list'], 'bank');
  });

  it('it can be set before psd2 store init, and for the profile of the environment', async () => {
    const config = join(operator.folder, 'of-the-environment');
    server.sql('other', 'drop schema if exists psd2 cascade');
    const alone = { PSD2_PROFILE: undefined, PSD2_BASE_URL: 'https://psd2.bank.example' };
    const inEnvironment = (...args: string[]) => succeeds(config, args, undefined, alone);
    await inEnvironment('profile', 'set', 'env', '--store', url('other'));
    await inEnvironment('store', 'init', '--plain-tokens');
    await inEnvironment('transfer', 'list');
    const elsewhere = await run(config, ['transfer', 'list'], 'empty', alone);
    expect(elsewhere).toMatchObject({ code: 3, stderr: expect.stringContaining('profile \\"env\\"') });
  });
});

describe('psd2 doctor and psd2 store status', () => {
  const doctor = async (config: string, database?: string) => {
    const { stdout } = await run(config, ['doctor'], database);
    return shapes.checks.parse(JSON.parse(stdout)).checks.find(({ name }) => name === 'store');
  };

  it('psd2 doctor names the store, and says where it is set', async () => {
    const files = newMachine();
    expect(await doctor(files)).toMatchObject({
      status: 'ok',
      detail: `files in ${files} (default; remembered)`,
    });
    const config = await inDatabase('bank');
    const place = `reached PostgreSQL at ${server.folder}/bank`;
    expect(await doctor(config, 'bank')).toMatchObject({
      status: 'ok',
      detail: `${place} (PSD2_STORE; remembered)`,
    });
    await succeeds(config, ['profile', 'set', 'sandbox', '--store', url('bank')]);
    expect(await doctor(config)).toMatchObject({
      detail: `${place} (setting of the profile; remembered)`,
    });
  });

  it.each([undefined, 'other'])('psd2 doctor fails if another store would be used: %s', async (database) => {
    const config = await inDatabase('bank');
    const { message } = readError(await run(config, ['transfer', 'list'], database));
    expect(await doctor(config, database)).toMatchObject({ status: 'fail', detail: message });
    const status = await run(config, ['store', 'status'], database);
    expect(status).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(JSON.stringify(message).slice(1, -1)),
    });
  });
});

it('a login after psd2 store init is remembered with its first token', async () => {
  const { config } = operator;
  const other = newMachine();
  for (const name of ['stores', 'tokens', 'flows']) rmSync(join(other, name), { recursive: true });
  server.sql('other', 'drop schema if exists psd2 cascade');
  await succeeds(other, ['store', 'init', '--plain-tokens'], 'other');
  await succeeds(other, ['auth', 'login'], 'other');
  expect(await run(other, ['auth', 'status'])).toMatchObject({ code: 3 });
  await succeeds(config, ['auth', 'status']);
});

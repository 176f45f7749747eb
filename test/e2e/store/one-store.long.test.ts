import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn, words } from '../support/psd2.ts';

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
    await operator.succeeds(['store', 'init', '--plain-tokens'], { env });
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
const pay = (reference: string) => words`transfer create --yes --from 0010482620 --to
  DE89370400440532013000 --name ${'Ada Lovelace'} --amount 1.00 --reference ${reference}`;

/** Commands of each kind that use the data of the profile. */
const COMMANDS = [
  pay('r1'),
  ['consent', 'list'],
  ['auth', 'login'],
  ['sync', '--out', 'out', '--all-customers', '--unattended-reads', '99'],
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
});

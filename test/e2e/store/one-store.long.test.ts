import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';

const operator = keepRunning(useLoggedIn());
let server: Server;
/** The address of each database. */
let url: (database: string) => string;

beforeAll(async () => {
  server = startServer(await freePort());
  url = server.url;
  for (const database of ['bank', 'empty']) {
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
const run = (config: string, args: string[], database?: string) =>
  operator.psd2([...args, '--json'], {
    env: {
      ...{ PSD2_CONFIG_DIR: config, PSD2_STORE_PLAIN_TOKENS: '1' },
      PSD2_STORE: database && url(database),
    },
  });
async function succeeds(config: string, args: string[], database?: string): Promise<void> {
  const ended = await run(config, args, database);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
}

/** Commands of each kind that use the data of the profile. */
const COMMANDS = [
  words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'}
    --amount 1.00`,
  ['consent', 'list'],
  ['auth', 'login'],
  ['sync', '--out', 'out', '--all-customers', '--unattended-reads', '99'],
];

it.each(COMMANDS)(
  'psd2 %s %s refuses the files after the data was copied to a database, and an empty database before',
  async (...args) => {
    const config = newMachine();
    const inFiles = `The data of the profile "sandbox" is in the files in ${config}`;
    const place = (database: string) => `PostgreSQL at ${server.folder}/${database}`;
    const early = readError(await run(config, args, 'empty'));
    expect(early).toMatchObject({
      ...{ code: 'config', exitCode: 3 },
      message: `${inFiles}, but this command would use ${place('empty')}`,
    });
    expect(server.sql('empty', 'select count(*) from psd2.flows')).toBe('0');

    server.sql('bank', 'drop schema if exists psd2 cascade');
    await succeeds(config, ['store', 'init', '--plain-tokens'], 'bank');
    await succeeds(config, ['store', 'copy', '--from', 'files', '--to', url('bank')]);
    const late = readError(await run(config, args));
    const inDatabase = `The data of the profile "sandbox" is in ${place('bank')}`;
    expect(late).toMatchObject({
      ...{ code: 'config', exitCode: 3 },
      message: `${inDatabase}, but this command would use the files in ${config}`,
      next: [
        ['psd2', 'profile', 'set', 'sandbox', '--store', url('bank')],
        ['psd2', 'store', 'copy', '--from', url('bank'), '--to', 'files'],
      ],
    });
    await succeeds(config, ['transfer', 'list'], 'bank');
  },
);

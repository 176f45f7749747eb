// The same customer at both interfaces of one sandbox, with the store in files and in PostgreSQL.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM } from './operator.js';
import { PLAIN } from './postgres.js';

/** The ids of the homes that others are compared with. */
export const CB = 'cb, files';
export const NEXTGENPSD2 = 'nextgenpsd2, files';

/** Options of the sandbox: a new consent does not end those of the other homes. */
export const SANDBOX_OF_HOMES = ['--variation', 'multiple-consents'];

/** Each interface and home of the store. `what` names it in a table. */
const HOMES = [
  { id: CB, interface: 'cb', what: 'cb' },
  { id: NEXTGENPSD2, interface: 'nextgenpsd2', what: 'NextGenPSD2' },
  { id: 'cb, postgres', interface: 'cb', inPostgres: true, what: 'cb, PostgreSQL' },
  {
    id: 'nextgenpsd2, postgres',
    interface: 'nextgenpsd2',
    inPostgres: true,
    what: 'NextGenPSD2, PostgreSQL',
  },
];

/**
 * Logs a customer in at each interface, in each home. Each has a configuration folder of its own, so that nothing depends on
 * what else a folder has.
 *
 * @param operator with the sandbox (operator.js)
 * @param server a PostgreSQL server; undefined: files alone
 * @param name of these homes, if an operator opens several
 * @param interfaces that the program knows
 * @returns `id`, `what` and `env` of each
 */
export function openHomes(
  operator,
  server,
  { node = process.execPath, program = PROGRAM, name = 'one', interfaces = ['cb', 'nextgenpsd2'] } = {},
) {
  return HOMES.filter(
    (home) => interfaces.includes(home.interface) && (!home.inPostgres || server !== undefined),
  ).map((home, number) => {
    const folder = join(operator.folder, `homes-${name}`, String(number));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const env = {
      ...operator.env,
      ...operator.json('sandbox', 'env', '--interface', home.interface),
      PSD2_CONFIG_DIR: folder,
      PSD2_PROFILE: 'env',
    };
    const run = (...words) =>
      execFileSync(node, [program, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    if (home.inPostgres) {
      const database = `bench_${name}_${number}`;
      server.create(database);
      Object.assign(env, PLAIN, { PSD2_STORE: server.url(database) });
      run('store', 'init', '--plain-tokens');
    }
    run('auth', 'login');
    if (home.interface === 'nextgenpsd2') run('consent', 'request');
    else run('consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts');
    return { id: home.id, what: home.what, env };
  });
}

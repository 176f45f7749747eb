import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { type Environment, logIn, useSandbox } from '../e2e/support/psd2.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { bySeed } from '../support/sample.ts';

const KILL = fileURLToPath(new URL('kill-at-step.js', import.meta.url));
const ANNA = '1048262';
const ACCOUNT = '0010482620';
const operator = useSandbox();
let server: Server | undefined;
beforeAll(() => {
  server = startServer(undefined, 20, ['fsync=off', 'full_page_writes=off']);
});
afterAll(() => server?.stop());

/** Forgetting a customer with a login, a consent, a payment and synced rows takes about so many steps. */
const POINTS = Array.from({ length: 60 }, (_, index) => 1 + index * 3);
const cases = (['files', 'PostgreSQL'] as const).flatMap((home) =>
  POINTS.map((nth) => [`in ${home}, killed at step ${nth}`, home, nth] as const),
);

let databases = 0;
async function storeIn(
  home: 'files' | 'PostgreSQL',
): Promise<{ env: Environment; database: string | undefined }> {
  if (home === 'files') return { env: {}, database: undefined };
  databases += 1;
  const database = `forget${databases}`;
  server?.create(database);
  const env = { PSD2_STORE: server?.url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
  const init = await operator.psd2(['store', 'init', '--plain-tokens'], { env });
  expect(init, init.stderr).toMatchObject({ code: 0 });
  return { env, database };
}

/** All that the store and this machine keep of psd2's own. */
function everything(database: string | undefined): string {
  const files = readdirSync(operator.config, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(operator.config, 'sandbox')));
  const texts = files.map((path) => `${path}\n${readFileSync(path, 'utf8')}`);
  if (database === undefined) return texts.join('\n');
  const tables =
    server?.sql(database, "select tablename from pg_tables where schemaname = 'psd2'").split('\n') ?? [];
  return [...texts, ...tables.map((table) => server?.sql(database, `select * from psd2.${table}`))].join(
    '\n',
  );
}

const order = (reference: string) => [
  ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '2.00', '--description', 'of anna', '--reference', reference],
];
const transfers = z.array(z.looseObject({ customerId: z.string(), amount: z.string() }));
const KILLED_AT = '^(?:before|half|after) (?!.*sandbox)(?:.* (?:flows|tokens|audit|log|\\.\\.)|.*psd2\\.)';

// All of them take longer than a run of all tests may: CRASH_MATRIX=all takes them.
const tried = process.env.CRASH_MATRIX === 'all' ? cases : bySeed(cases, ([name]) => name).slice(0, 2);
it.each(tried)(
  'a customer forgotten %s and again leaves no trace, and one pseudonym',
  async (name, home, nth) => {
    for (const folder of ['stores', 'flows', 'tokens', 'audit', 'audit-begun', 'log', 'sync-folders'])
      rmSync(join(operator.config, folder), { recursive: true, force: true });
    const { env, database } = await storeIn(home);
    Object.assign(operator.env, env);
    try {
      await logIn(operator);
      const paid = await operator.psd2(order(name.slice(-35)));
      expect(paid, paid.stderr).toMatchObject({ code: 0 });
      const synced = await operator.psd2([
        'sync',
        '--unattended-reads',
        '9999',
        '--out',
        join(operator.folder, 'out'),
      ]);
      expect(synced, synced.stderr).toMatchObject({ code: 0 });

      const forget = ['customer', 'forget', ANNA, '--yes', '--json'];
      const hit = { NODE_OPTIONS: `--import=${KILL}`, KILL_AT: KILLED_AT, KILL_NTH: String(nth) };
      await (await operator.start(forget, hit)).ended;
      // Ten seconds later, nobody holds the claims of the killed process.
      if (database !== undefined) server?.sql(database, 'update psd2.claims set until = clock_timestamp()');
      const again = await operator.psd2(forget, { ownProcess: true });
      expect(again, again.stderr).toMatchObject({ code: 0 });

      const left = everything(database);
      for (const word of [ANNA, ACCOUNT, 'of anna']) expect(left.includes(word), word).toBe(false);
      const listed = await operator.json(transfers, ['transfer', 'list', '--json']);
      const [newest] = listed;
      expect(newest).toMatchObject({ amount: '2.00', customerId: expect.stringMatching(/^pseudonym-/) });
      const consents = await operator.json(transfers.element.partial().array(), [
        'consent',
        'list',
        '--json',
      ]);
      expect(consents[0]?.customerId).toBe(newest?.customerId);
      expect(await operator.psd2(['audit', '--verify', '--json'])).toMatchObject({ code: 0 });
    } finally {
      for (const variable of Object.keys(env)) delete operator.env[variable];
    }
  },
);

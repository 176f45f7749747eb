// Commands that look at everything of a profile with 100 000 customers and 100 000 transfers, in both homes.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { figure, median } from './measure.js';
import { PROGRAM } from './operator.js';
import { PLAIN, startPostgres } from './postgres.js';
import { transfers, writeFlows, writeLogins } from './written-store.js';

/** Fewer show in seconds that the bench runs. Their figures say nothing. */
const MANY = Number(process.env.PSD2_BENCH_CUSTOMERS ?? 100_000);
const FEW = 100;
/** Transfers that need a person. */
const OPEN = 5;
const ROUNDS = 3;
/** The part of the time that the rounds of one home may take. The rest goes into writing both stores. */
const PART_OF_HOME = 0.2;

/** Words, exit code, and the limit of the ratio of many to few: they must look at each file, but read few. */
const CASES = [
  [['status'], 12, 60],
  [['transfer', 'list', '--attention', '--json'], 0, 25],
  [['transfer', 'list', '--state', 'unknown', '--json'], 0, 25],
  [['transfer', 'list', '--reference', 'INV-50', '--json'], 0, 25],
  [['transfer', 'list', '--amount', '99', '--json'], 0, 25],
  [['transfer', 'list', '--payee', 'Nobody', '--json'], 0, 25],
  [['transfer', 'list', '--customer', '5000002', '--json'], 0, 25],
  [['transfer', 'list', '--limit', '30', '--json'], 0, 10],
  [['consent', 'list', '--attention', '--json'], 0, 10],
  [['expiring', '--json'], 12, 60],
  [['auth', 'list', '--json'], 0, 150],
  [['batch', 'list', '--json'], 0, 3],
];

/** @param seconds for everything @returns figures */
export async function allOfMany(node, version, operator, seconds) {
  const capMs = seconds * 1000 * PART_OF_HOME;
  const { PSD2_CONFIG_DIR: _, ...bank } = operator.json('sandbox', 'env');
  const base = { ...process.env, ...bank, PSD2_PROFILE: '', PSD2_CUSTOMER: '' };
  const inFiles = Object.fromEntries(
    Object.entries({ few: FEW, many: MANY }).map(([which, count]) => {
      const folder = join(operator.folder, `all-${which}`);
      writeLogins(join(folder, 'tokens', 'env'), count, bank.PSD2_BASE_URL);
      writeFlows(join(folder, 'flows', 'env'), count, OPEN);
      return [which, { ...base, PSD2_CONFIG_DIR: folder }];
    }),
  );
  const figures = measure({ node, version, home: 'files', capMs }, inFiles);
  const server = await startPostgres();
  try {
    const inPostgres = {};
    for (const [which, count] of Object.entries({ few: FEW, many: MANY })) {
      server.create(`lists_${which}`);
      const env = {
        ...base,
        ...PLAIN,
        PSD2_CONFIG_DIR: join(operator.folder, `postgres-${which}`),
        PSD2_STORE: server.url(`lists_${which}`),
      };
      run(node, env, ['store', 'init', '--plain-tokens', '--yes'], 0);
      await fill(env.PSD2_STORE, count, bank.PSD2_BASE_URL);
      inPostgres[which] = env;
    }
    figures.push(...measure({ node, version, home: 'PostgreSQL', capMs }, inPostgres));
  } finally {
    server.stop();
  }
  return figures;
}

function measure({ node, version, home, capMs }, stores) {
  // The first look writes down what is at rest.
  for (const env of Object.values(stores)) run(node, env, ['status'], 12);
  const begun = performance.now();
  const figures = [];
  for (const [words, exitCode, limit] of CASES) {
    const times = { few: [], many: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round > 0 && performance.now() - begun > capMs) break;
      for (const which of ['few', 'many']) times[which].push(run(node, stores[which], words, exitCode));
    }
    const [few, many] = [median(times.few), median(times.many)];
    figures.push(
      figure({
        what: `psd2 ${words.filter((word) => word !== '--json').join(' ')} with ${MANY} customers and transfers in ${home}, Node ${version}`,
        ratio: many / few,
        against: `the same with ${FEW}`,
        limit,
        detail: `${many.toFixed(0)} ms against ${few.toFixed(0)} ms, medians of ${times.many.length}`,
      }),
    );
  }
  return figures;
}

function run(node, env, words, exitCode) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(node, [PROGRAM, ...words], { env, maxBuffer: 1e9 });
  if (status !== exitCode) throw new Error(`psd2 ${words.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

/** Fills the tables as workers do. */
async function fill(connectionString, count, baseUrl) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(
      `insert into psd2.tokens (profile, holder, generation, origin, base_url, access_token_expires_at, refresh_token_expires_at, scope, secrets)
       select 'env', (5000000 + n)::text, 1, 1, $2, now() + interval '1 hour', now() + interval '1 hour', 'oob',
         json_build_object('accessToken', n::text, 'refreshToken', n::text)
       from generate_series(1, $1) as n`,
      [count, new URL(baseUrl).href],
    );
    let rows = [];
    const write = async () => {
      await client.query(
        `with flow as (insert into psd2.flows (profile, flow, kind, state, standing, resource_id, transaction_id, reference, under_way, created_at, updated_at, events)
           select 'env', r.flow, 'transfer', r.state, r.standing, r.resource_id, r.transaction_id, r.reference, false, r.at, r.at, r.events
           from json_to_recordset($1::json) as r (flow text, state text, standing text, resource_id text, transaction_id text, reference text, at timestamptz, events integer))
         insert into psd2.flow_events (profile, flow, n, writer, at, event)
           select 'env', r.flow, e.n, 'bench', r.at, e.event from json_to_recordset($1::json) as r (flow text, at timestamptz, list json),
             json_array_elements(r.list) with ordinality as e (event, n)`,
        [JSON.stringify(rows)],
      );
      rows = [];
    };
    for (const { flow, resourceId, at, events } of transfers(count, OPEN)) {
      const isOpen = events.length < 9;
      const [{ transactionId, order }] = events;
      rows.push({
        ...{ flow, at, resource_id: resourceId, transaction_id: transactionId, list: events },
        ...{ state: isOpen ? 'authorizing' : 'executed', standing: isOpen ? 'open' : 'done' },
        ...{ reference: order.reference.toLowerCase(), events: events.length },
      });
      if (rows.length === 1_000) await write();
    }
    if (rows.length > 0) await write();
    await client.query('analyze');
  } finally {
    await client.end();
  }
}

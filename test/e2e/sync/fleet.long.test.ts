import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { grantedTokens } from '../support/granted-tokens.ts';
import {
  type Ended,
  giveRegistration,
  keepRunning,
  type Running,
  useOperator,
  words,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const CUSTOMERS = 16;
const IDS = Array.from({ length: CUSTOMERS }, (_, index) => String(5_000_001 + index));
const PATIENCE_MS = 180_000;
const preload = pathToFileURL(fileURLToPath(new URL('../../crash/bank-log.js', import.meta.url))).href;

const operator = keepRunning(useOperator());
operator.env.PSD2_PROFILE = 'sandbox';
const log = join(operator.folder, 'bank.ndjson');
let server: Server;
let count = 0;
let database: string;
let tokens: string;
/** The number of calls that the bank had received before the test. */
let heard = 0;

const received = z.object({ method: z.optional(z.string()), path: z.optional(z.string()) });

beforeAll(async () => {
  server = startServer();
  writeFileSync(log, '');
  giveRegistration(operator);
  await operator.succeeds(
    words`sandbox start --detach --port 0 --customers ${String(CUSTOMERS)} --transactions 5
      --no-enforce-consents --page-size 100 --token-ttl 86400`,
    { env: { NODE_OPTIONS: `--import=${preload}`, BANK_LOG: log } },
  );
  const granted = await grantedTokens(operator, IDS);
  const rows = granted.tokens.map(({ customerId, accessToken }) => {
    const secrets = JSON.stringify({ accessToken, refreshToken: null });
    return `('sandbox', '${customerId}', 1, 1, '${granted.baseUrl}', now() + interval '1 day', '${secrets}')`;
  });
  tokens = `insert into psd2.tokens (profile, holder, generation, origin, base_url, access_token_expires_at, secrets) values ${rows.join()}`;
}, PATIENCE_MS);
afterAll(async () => {
  server.stop();
  await operator.succeeds(['sandbox', 'stop']);
});

beforeEach(async () => {
  count += 1;
  database = `fleet_${count}`;
  server.create(database);
  operator.env.PSD2_STORE = server.url(database);
  operator.env.PSD2_STORE_PLAIN_TOKENS = '1';
  // Each test is another machine, which remembers no store.
  rmSync(join(operator.config, 'stores'), { recursive: true, force: true });
  await operator.succeeds(['store', 'init', '--plain-tokens']);
  server.sql(database, tokens);
  heard = linesOfBank().length;
});

const linesOfBank = () => readFileSync(log, 'utf8').split('\n').slice(0, -1);
/** How often each customer was synced. A sync begins with a call for the accounts. */
const timesSynced = () => {
  const times = new Map(IDS.map((id) => [id, 0]));
  for (const line of linesOfBank().slice(heard)) {
    const { path = '' } = received.parse(JSON.parse(line));
    const [, customer = ''] = /\/private\/customers\/(\d+)\/(?:accounts|products)$/.exec(path) ?? [];
    times.set(customer, (times.get(customer) ?? 0) + 1);
  }
  times.delete('');
  return times;
};
const SYNC = ['sync', '--all-customers', '--unattended-reads', '9999', '--cores', '1'];
const startSync = (...more: string[]) => operator.start([...SYNC, ...more, '--json', '--verbose']);
const reportOf = ({ code, stdout, stderr }: Ended) => {
  expect(code, stderr).toBe(0);
  return shapes.syncReport.parse(JSON.parse(stdout));
};
const status = () => operator.json(shapes.syncStatus, ['sync', 'status']);
const rows = () =>
  server.sql(database, 'select count(*), count(distinct customer_id) from psd2.transactions');
const begins = (worker: Running) => worker.prints(/"event":"call"/);

describe('psd2 sync --all-customers with PostgreSQL', () => {
  it(
    'workers share a sync: one of them syncs each customer, and both end when all are done',
    async () => {
      await operator.succeeds(['sandbox', 'fault', 'add', 'delay=150']);
      const workers = [await startSync('--concurrency', '2'), await startSync('--concurrency', '2')];
      const reports = (await Promise.all(workers.map(({ ended }) => ended))).map(reportOf);
      await operator.succeeds(['sandbox', 'fault', 'clear']);
      const shares = reports.map(({ totals }) => totals.customers);
      expect(Math.min(...shares)).toBeGreaterThan(0);
      expect(shares.reduce((a, b) => a + b)).toBe(CUSTOMERS);
      expect([...timesSynced().values()]).toEqual(IDS.map(() => 1));
      expect(reports[0]).toMatchObject({ out: null, customers: [] });
      expect(await status()).toMatchObject({
        due: 0,
        atWork: 0,
        done: { synced: CUSTOMERS, partly: 0, waiting: 0, failed: 0 },
        endedAt: expect.any(String),
        workers: [],
      });
      expect(rows().split('|')[1]).toBe(String(CUSTOMERS));
    },
    PATIENCE_MS,
  );

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'after %s another worker syncs the customers of the lost one, within the time of a claim',
    async (signal) => {
      const worker = await startSync('--concurrency', '2');
      await begins(worker);
      worker.kill(signal);
      reportOf(await (await startSync()).ended);
      expect(Math.min(...timesSynced().values())).toBe(1);
      expect(await status()).toMatchObject({ done: { synced: CUSTOMERS }, due: 0, atWork: 0 });
      if (signal === 'SIGSTOP') {
        const whole = rows();
        worker.kill('SIGCONT');
        const ended = await worker.ended;
        // Another worker now has the customers that this one began: it is refused and adds nothing, which is no failure.
        const late = reportOf(ended);
        expect(ended.stderr).toMatch(/Another psd2 sync has taken over customer \d+/);
        expect(late).toMatchObject({ customers: [], totals: { synced: late.totals.customers } });
        expect(Math.max(...timesSynced().values()), 'it tried again').toBeLessThanOrEqual(2);
        expect(rows()).toBe(whole);
      }
      // Only the customers that the worker had begun are synced twice.
      expect([...timesSynced().values()].filter((times) => times > 1).length).toBeLessThanOrEqual(2);
    },
    PATIENCE_MS,
  );

  it(
    'a worker waits for a database that is gone, and continues when it is back',
    async () => {
      const worker = await startSync('--concurrency', '2');
      await begins(worker);
      server.crash();
      await worker.prints(/The sync continues when the store is back/);
      server.start();
      const ended = await worker.ended;
      expect(reportOf(ended).totals).toMatchObject({ customers: CUSTOMERS, synced: CUSTOMERS });
      expect(ended.stderr).toContain('The store is back');
      expect(await status()).toMatchObject({ done: { synced: CUSTOMERS }, due: 0 });
    },
    PATIENCE_MS,
  );

  it(
    'psd2 sync --every starts a new round, and at SIGTERM finishes its current customers and exits with 0',
    async () => {
      const metrics = join(operator.folder, 'every.prom');
      const worker = await startSync('--every', '1s', '--psu-ip', '203.0.113.7', '--metrics-file', metrics);
      await worker.prints(/(A round has ended: 16 of 16.*\n(.*\n)*?.*){2}/);
      worker.kill('SIGTERM');
      const { totals } = reportOf(await worker.ended);
      expect(totals.synced).toBe(totals.customers);
      expect(totals.customers).toBeLessThanOrEqual(CUSTOMERS);
      // Every customer that was begun is complete.
      const times = [...timesSynced().values()].reduce((a, b) => a + b);
      expect(times).toBeGreaterThanOrEqual(2 * CUSTOMERS);
      expect(readFileSync(metrics, 'utf8')).toContain(
        `psd2_sync_customers_done_total{profile="sandbox",status="synced"} ${times}\n`,
      );
      expect((await status()).workers).toEqual([]);
    },
    PATIENCE_MS,
  );
});

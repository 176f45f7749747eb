import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { type Ended, keepRunning, useSandbox, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useSandbox(['--customers', '3', '--transactions', '60']));
const CUSTOMERS = ['customer-000001', 'customer-000002', 'customer-000003'];

beforeAll(async () => {
  for (const user of CUSTOMERS) {
    const env = { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --user ${user}` };
    for (const args of [
      ['auth', 'login'],
      ['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts'],
    ]) {
      await operator.succeeds(args, { env });
    }
  }
});

const IDS = ['5000001', '5000002', '5000003'];
const PRODUCTS = ['0050000010', '0050000018', '0150000015'];

const out = (name: string) => join(operator.folder, name);
const sync = (folder: string, ...more: string[]) =>
  operator.psd2(['sync', '--unattended-reads', '9999', '--out', folder, '--json', ...more]);
const lines = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const booked = (folder: string, customer: string, product: string) =>
  z.array(shapes.syncedRow).parse(lines(join(folder, customer, 'transactions', `${product}.ndjson`)));
const currentRow = z.looseObject({ kind: z.string() });
const current = (folder: string, customer: string, kind: string) =>
  z
    .array(currentRow)
    .parse(lines(join(folder, customer, 'current.ndjson')))
    .filter((row) => row.kind === kind);
/** Everything that was synced, sorted, so that two folders can be compared. */
const contentOf = (folder: string, customers = IDS) =>
  customers.flatMap((customer) => [
    // Without the minute of each balance: a sync that goes on may read it again.
    ...['account', 'balance', 'pending'].map((kind) =>
      current(folder, customer, kind).map((row) => ({ ...row, asOf: undefined })),
    ),
    ...readdirSync(join(folder, customer, 'transactions'))
      .sort()
      .map((file) => [customer, file, lines(join(folder, customer, 'transactions', file))]),
  ]);
const readReport = ({ stdout }: Ended) => shapes.syncReport.parse(JSON.parse(stdout));

describe('psd2 sync', () => {
  it('psd2 sync writes what the bank has, for all customers', async () => {
    const folder = out('whole');
    const ended = await sync(folder, '--all-customers');
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const report = readReport(ended);
    expect(report.customers.map(({ customerId, status }) => [customerId, status])).toEqual(
      IDS.map((id) => [id, 'synced']),
    );
    for (const customer of IDS) {
      const asked = ['--customer', customer];
      const accounts = await operator.json(shapes.accounts, ['accounts', 'list', ...asked]);
      const listed = accounts.map((account) => ({ kind: 'account', ...account }));
      expect(current(folder, customer, 'account')).toEqual(listed);
      expect(current(folder, customer, 'balance')).toHaveLength(accounts.length);
      expect(current(folder, customer, 'pending').length).toBeGreaterThan(0);
    }
    for (const product of ['0050000010', '0050000018']) {
      const listed = await operator.json(
        shapes.transactions,
        words`accounts transactions ${product}
        --booked --from ${report.since} --customer 5000001`,
      );
      const rows = booked(folder, '5000001', product);
      expect(rows.length).toBe(listed.length);
      expect(rows.length).toBeGreaterThan(5);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
      const days = rows.map(({ bookingDate }) => bookingDate ?? '');
      expect(days).toEqual([...days].sort());
    }
    expect(report.totals).toMatchObject({ synced: 3, accounts: 9 });
  });

  it.concurrent.each([1, 3, 5, 7, 9])(
    'psd2 sync continues after it was killed at call %i, without a lost or a double row',
    async (calls) => {
      const folder = out(`killed-${calls}`);
      const killed = await operator.start(words`sync --unattended-reads 9999 --out ${folder}
        --all-customers --verbose`);
      await killed.prints(new RegExp(`(GET [^\\n]*\\n[\\s\\S]*?){${calls}}`));
      killed.kill('SIGKILL');
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
      const ended = await sync(folder, '--all-customers');
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      const whole = out(`whole-${calls}`);
      await sync(whole, '--all-customers');
      expect(contentOf(folder)).toEqual(contentOf(whole));
    },
  );

  it('two syncs of one folder at the same time write each row once', async () => {
    const folder = out('both');
    const both = await Promise.all([
      sync(folder, '--customer', '5000001'),
      sync(folder, '--customer', '5000001'),
    ]);
    for (const ended of both) expect(ended, ended.stderr).toMatchObject({ code: 0 });
    for (const product of PRODUCTS) {
      const ids = booked(folder, '5000001', product).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it.concurrent.each([2, 3, 5])(
    'a sync that is stopped at call %i until another takes over its folder undoes nothing when it continues',
    async (calls) => {
      const folder = out(`stalled-${calls}`);
      const stalled = await operator.start(words`sync --unattended-reads 9999 --out ${folder} --customer
        5000001 --verbose`);
      await stalled.prints(new RegExp(`(GET [^\\n]*\\n[\\s\\S]*?){${calls}}`));
      stalled.kill('SIGSTOP');
      // This takes the real time after which a stopped sync counts as dead.
      const taken = await sync(folder, '--customer', '5000001');
      expect(taken, taken.stderr).toMatchObject({ code: 0 });
      const whole = contentOf(folder, ['5000001']);
      stalled.kill('SIGCONT');
      const ended = await stalled.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr).toContain(`Another psd2 sync has taken over the folder ${folder}/5000001`);
      expect(contentOf(folder, ['5000001'])).toEqual(whole);
      const again = readReport(await sync(folder, '--customer', '5000001'));
      expect(again.totals).toMatchObject({ newTransactions: 0, synced: 1 });
    },
  );

  it('psd2 sync --every starts a new round, serves its metrics meanwhile, and at SIGTERM exits with 0', async () => {
    const folder = out('every');
    // With the customer: without, few reads are due right after the bank's midnight.
    const worker = await operator.start(words`sync --all-customers --psu-ip 203.0.113.7 --out ${folder}
      --every 1s --json --metrics-port 0`);
    const [, address = ''] = await worker.prints(/Metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/);
    await worker.prints(/(A round has ended: 3 of 3.*\n(.*\n)*?.*){2}/);
    const get = async (path: string) => (await fetch(`${address}${path}`)).text();
    expect(await get('/healthz')).toBe('ok\n');
    const metrics = await get('/metrics');
    const done = 'psd2_sync_customers_done_total{profile="sandbox",status="synced"}';
    expect(Number(metrics.split(`${done} `)[1]?.split('\n')[0])).toBeGreaterThanOrEqual(6);
    expect(metrics).toMatch(/psd2_oldest_sync_age_seconds\{profile="sandbox"\} \d/);
    const taken = await sync(folder, '--metrics-port', new URL(address).port);
    expect(readError(taken)).toMatchObject({ code: 'config', exitCode: 3 });

    worker.kill('SIGTERM');
    const ended = await worker.ended;
    expect(ended.code, ended.stderr).toBe(0);
    // The totals are those of the last round.
    expect(readReport(ended).totals).toMatchObject({ customers: 3, synced: 3 });
    expect(await operator.json(shapes.syncStatus, ['sync', 'status'])).toMatchObject({
      ...{ atWork: 0, done: { partly: 0, waiting: 0, failed: 0 }, workers: [] },
    });
    expect(booked(folder, '5000001', '0050000010').length).toBeGreaterThan(0);
  });
});

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { manifest } from '../../../src/commands/accounts/export-all.ts';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
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
/** The files of the first customer alone, without the minute of each balance: a sync that goes on may read it again. */
const contentOf1 = (folder: string) =>
  ['transactions/0050000010.ndjson', 'transactions/0050000018.ndjson', 'current.ndjson'].map((name) =>
    lines(join(folder, '5000001', name)).map((row) => ({ ...Object(row), asOf: undefined })),
  );
const currentRow = z.looseObject({ kind: z.string() });
const current = (folder: string, customer: string, kind: string) =>
  z
    .array(currentRow)
    .parse(lines(join(folder, customer, 'current.ndjson')))
    .filter((row) => row.kind === kind);
/** Everything that was synced, sorted, so that two folders can be compared. */
const contentOf = (folder: string) =>
  IDS.flatMap((customer) => [
    current(folder, customer, 'pending'),
    ...readdirSync(join(folder, customer, 'transactions'))
      .sort()
      .map((file) => [customer, file, lines(join(folder, customer, 'transactions', file))]),
  ]);
const progress = z.looseObject({ products: z.record(z.string(), z.record(z.string(), z.unknown())) });
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

  it('psd2 sync continues with the other products of a customer if one fails', async () => {
    const pattern = 'GET /private/customers/5000001/products/0050000010/transactions/*';
    expect(await operator.psd2(['sandbox', 'fault', 'add', 'status=412', '--on', pattern])).toMatchObject({
      code: 0,
    });
    const folder = out('product-fails');
    const ended = await sync(folder, '--customer', '5000001');
    await operator.succeeds(['sandbox', 'fault', 'clear']);
    expect(ended.code).toBe(7);
    const [customer] = readReport(ended).customers;
    expect(customer).toMatchObject({ status: 'partly', errors: [{ productId: '0050000010' }] });
    expect(existsSync(join(folder, '5000001', 'transactions', '0050000010.ndjson'))).toBe(false);
    expect(booked(folder, '5000001', '0050000018').length).toBeGreaterThan(0);
  });

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
      const whole = contentOf1(folder);
      stalled.kill('SIGCONT');
      const ended = await stalled.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr).toContain(`Another psd2 sync has taken over the folder ${folder}/5000001`);
      expect(contentOf1(folder)).toEqual(whole);
      const again = readReport(await sync(folder, '--customer', '5000001'));
      expect(again.totals).toMatchObject({ newTransactions: 0, synced: 1 });
    },
  );

  it('after a sync with a clock that was far ahead, psd2 sync still finds what was booked since', async () => {
    const folder = out('ahead');
    await sync(folder, '--customer', '5000001');
    const path = join(folder, '5000001', 'transactions', '0050000010.ndjson');
    const state = join(folder, '5000001', 'sync-1.ndjson');
    const whole = readFileSync(path, 'utf8');
    const earlier = `${whole.split('\n').slice(0, -6).join('\n')}\n`;
    writeFileSync(path, earlier);
    const ended = progress.parse(lines(state).at(-1));
    const known = ended.products['0050000010'];
    const size = earlier.length;
    const ahead = { ...known, through: '2999-01-01', settled: size, size };
    const products = { ...ended.products, '0050000010': ahead };
    writeFileSync(state, `${JSON.stringify({ ...ended, products })}\n`);
    expect(readReport(await sync(folder, '--customer', '5000001')).totals.newTransactions).toBe(5);
    expect(readFileSync(path, 'utf8')).toBe(whole);
    expect(JSON.stringify(lines(join(folder, '5000001', 'sync-2.ndjson')).at(-1))).not.toContain('2999-01');
  });

  it('psd2 sync fetches the rows of a file again if the file was moved away', async () => {
    const folder = out('moved');
    await sync(folder, '--customer', '5000001');
    const path = join(folder, '5000001', 'transactions', '0050000010.ndjson');
    const whole = readFileSync(path, 'utf8');
    rmSync(path);
    await sync(folder, '--customer', '5000001');
    expect(readFileSync(path, 'utf8')).toBe(whole);
  });

  it('psd2 sync --every starts a new round, and at SIGTERM exits with 0; sync status shows the last round', async () => {
    const folder = out('every');
    const metrics = join(operator.folder, 'psd2.prom');
    const worker = await operator.start(words`sync --all-customers --psu-ip 203.0.113.7 --out ${folder}
      --every 1s --json --metrics-file ${metrics}`);
    const round = z.object({ begunAt: z.iso.datetime() });
    const begun: number[] = [];
    for (const ended of [/A round has ended: 3 of 3/, /(A round has ended: 3 of 3.*\n(.*\n)*?.*){2}/]) {
      await worker.prints(ended);
      const last = readFileSync(join(operator.config, 'tokens', 'sandbox', 'last-round.json'), 'utf8');
      begun.push(Date.parse(round.parse(JSON.parse(last)).begunAt));
    }
    const [first = Number.NaN, second = Number.NaN] = begun;
    // On a slow machine the second round may have begun before the file was read: then both times are that round's.
    expect(second === first || second >= first + 1000, `${second - first} ms`).toBe(true);
    worker.kill('SIGTERM');
    const ended = await worker.ended;
    expect(ended.code, ended.stderr).toBe(0);
    // The totals are those of the last round, and the metrics those of all rounds.
    expect(readReport(ended).totals).toMatchObject({ customers: 3, synced: 3 });
    const written = readFileSync(metrics, 'utf8');
    const sample = (name: string, labels = '') =>
      Number(new RegExp(`^psd2_sync_${name}\\{profile="sandbox"${labels}\\} (.+)$`, 'm').exec(written)?.[1]);
    const { calls } = readReport(ended).totals;
    expect(calls).toBeGreaterThan(0);
    expect(sample('calls_total')).toBeGreaterThan(calls);
    expect(sample('customers_done_total', ',status="synced"')).toBeGreaterThanOrEqual(6);
    expect(await operator.json(shapes.syncStatus, ['sync', 'status'])).toMatchObject({
      atWork: 0,
      done: { partly: 0, waiting: 0, failed: 0 },
      workers: [],
    });
    expect(booked(folder, '5000001', '0050000010').length).toBeGreaterThan(0);
  });

  it('after Ctrl-C psd2 sync --every finishes its current customers, and exits with 130', async () => {
    const worker = await operator.start(words`sync --all-customers --psu-ip 203.0.113.7 --out
      ${out('every-stopped')} --every 1d --json`);
    await worker.prints(/A round has ended: 3 of 3/);
    worker.kill('SIGINT');
    const ended = await worker.ended;
    expect(readError(ended)).toMatchObject({ code: 'interrupted', exitCode: 130 });
    expect(readReport(ended).totals).toMatchObject({ customers: 3, synced: 3 });
  });
});

it('psd2 sync serves its metrics and a health check, to this machine alone by default', async () => {
  // With the customer: without, few reads are due right after the bank's midnight.
  const worker = await operator.start(words`sync --psu-ip 203.0.113.7 --out ${out('served')}
    --all-customers --json --every 1h --metrics-port 0`);
  const [, address = ''] = await worker.prints(
    /Metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics[\s\S]*A round has ended/,
  );
  const get = async (path: string) => {
    const answer = await fetch(`${address}${path}`);
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
  const metrics = await get('/metrics');
  expect(metrics).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
  for (const line of [
    'psd2_sync_customers_done_total{profile="sandbox",status="synced"} 3',
    'psd2_sync_calls_by_result_total{profile="sandbox",result="5xx"} 0',
    'psd2_payments{profile="sandbox",state="unknown"} 0',
    'psd2_ending{profile="sandbox",kind="login"} 0',
  ])
    expect(metrics.text).toContain(line);
  expect(metrics.text).toMatch(/psd2_oldest_sync_age_seconds\{profile="sandbox"\} \d/);
  expect((await get('/other')).status).toBe(404);
  const port = address.split(':').at(-1) ?? '';
  const taken = await sync(out('served'), '--metrics-port', port);
  expect(readError(taken)).toMatchObject({ code: 'config', exitCode: 3 });
  worker.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

describe('reading from the store', () => {
  const [ID = '', PRODUCT = ''] = ['5000001', PRODUCTS[0]];
  const file = (name: string) => join(operator.folder, name);
  const exported = (...more: string[]) =>
    operator.psd2(['accounts', 'export', '--all-customers', '--format', 'camt053', '--json', ...more]);
  const day = (ago: number) => addDays(bankDay(new Date()), -ago);
  const calls = async () => (await operator.json(shapes.log, ['log', '--limit', '100000'])).length;

  it('a balance, an export and a report from the store are those of the bank, and cost no call', async () => {
    expect((await sync(out('stored'), '--all-customers')).code).toBe(0);
    const own = ['--customer', ID];
    const days = ['--from', day(60), '--to', day(10)];
    const ofBank = ['accounts', 'export', PRODUCT, '--format', 'csv', ...days, ...own];
    await operator.succeeds([...ofBank, '--file', file('bank.csv')]);
    const balance = ['accounts', 'balance', PRODUCT, '--json', ...own];
    const online: unknown = JSON.parse((await operator.psd2(balance)).stdout);
    const before = await calls();
    await operator.succeeds([...ofBank, '--from-store', '--file', file('stored.csv')]);
    expect(readFileSync(file('stored.csv'), 'utf8')).toBe(readFileSync(file('bank.csv'), 'utf8'));
    expect(JSON.parse((await operator.psd2([...balance, '--from-store'])).stdout)).toMatchObject(
      z
        .looseObject({ asOf: z.unknown() })
        .transform(({ asOf: _, ...rest }) => rest)
        .parse(online),
    );
    const report = ['accounts', 'report', PRODUCT, '--from-store', '--file', file('report.html'), ...own];
    await operator.succeeds(report);
    const named = [...balance, '--from-store', '--sync-folder'];
    await operator.succeeds([...named, out('stored')]);
    expect(readError(await operator.psd2([...named, out('nowhere')]))).toMatchObject({
      ...{ exitCode: 2, message: expect.stringContaining(`--sync-folder names ${out('nowhere')}`) },
    });
    expect(await calls()).toBe(before);
  });

  it('a month of all customers has a file for each account, with its hash, and is complete if it has ended', async () => {
    expect((await sync(out('stored'), '--all-customers')).code).toBe(0);
    // The month before is whole, and within the days that a first sync reads.
    const month = addDays(day(0), -Number(day(0).slice(8))).slice(0, 7);
    const folder = file('october');
    const ended = await exported('--month', month, '--out', folder);
    const { accounts } = manifest.read(JSON.parse(ended.stdout));
    expect(accounts.map(({ customerId }) => customerId)).toEqual(IDS.flatMap((id) => [id, id, id]));
    for (const account of accounts.filter(({ file: path }) => path !== null)) {
      const content = readFileSync(join(folder, account.file ?? ''), 'utf8');
      expect(createHash('sha256').update(content).digest('hex')).toBe(account.sha256);
      expect(content.split('<Ntry>')).toHaveLength(account.rows + 1);
      expect(account.gaps).toEqual([]);
    }
    const complete = accounts.every(({ problem }) => problem === null);
    expect(ended.code, ended.stderr).toBe(complete ? 0 : 12);
    expect(accounts.filter(({ rows }) => rows > 0).length).toBeGreaterThan(3);
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(JSON.parse(ended.stdout));
  });
});

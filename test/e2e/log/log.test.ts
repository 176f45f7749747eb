import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, REFUSING_CUSTOMER, useLoggedIn } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const TRANSFER = [
  ...['transfer', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '12.50'],
];
const operator = keepRunning(useLoggedIn());

const read = (...options: string[]) => operator.json(shapes.log, ['log', ...options]);
const newest = async (count: number) => (await read('--limit', String(count))).slice(0, count);

describe('psd2 log', () => {
  it('psd2 log lists every call, newest first, with the ids of both sides', async () => {
    const { productId } = (await operator.json(shapes.accounts, ['accounts', 'list']))[0] ?? {
      productId: '',
    };
    const shown = await operator.psd2(['accounts', 'balance', productId, '--verbose']);
    const [told] = callsOf(shown);
    const [balance, accounts] = await newest(2);
    expect(balance).toMatchObject({
      profile: 'sandbox',
      method: 'GET',
      path: told?.path,
      status: 200,
      failure: null,
      tppRequestId: told?.request,
      transactionId: told?.transaction,
      apiTrackId: told?.track,
      flow: null,
    });
    expect(accounts?.path).toMatch(/\/accounts$/);
    expect((accounts?.at ?? '') < (balance?.at ?? '')).toBe(true);
  });

  it('psd2 log --follow shows the last calls, and each new one once it has ended, until it is told to stop', async () => {
    const last = await newest(1);
    const following = await operator.start(['log', '--follow', '--limit', '1', '-o', 'ndjson']);
    await following.prints(new RegExp(last[0]?.tppRequestId ?? 'no call'));
    const refused = readError(await operator.psd2(['api', 'GET', '/followed', '--json']));
    await following.prints(new RegExp(refused.tppRequestId ?? 'no call'));
    following.kill('SIGTERM');
    const { code, stdout } = await following.ended;
    const paths = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).path);
    expect([code, paths]).toEqual([0, [last[0]?.path, '/followed']]);
    expect(readError(await operator.psd2(['log', '--follow', '--json']))).toMatchObject({ exitCode: 2 });
  });

  it("psd2 log has the bank's request id with every digit, also for a refusal", async () => {
    const refused = readError(await operator.psd2(['api', 'GET', '/nowhere', '--json']));
    expect(refused.requestId).toMatch(/^\d{24}$/);
    expect(await newest(1)).toMatchObject([
      { path: '/nowhere', status: 404, requestId: refused.requestId, tppRequestId: refused.tppRequestId },
    ]);
    expect(await read('--request', refused.requestId ?? '')).toHaveLength(1);
    expect(await read('--request', (refused.tppRequestId ?? '').slice(0, 13))).toMatchObject([
      { tppRequestId: refused.tppRequestId },
    ]);
  });

  it('psd2 log has the calls of a login, but none of their secrets', async () => {
    expect((await operator.psd2(['auth', 'login'])).code).toBe(0);
    expect((await operator.psd2(['auth', 'refresh'])).code).toBe(0);
    const [, , , , authorize] = (await newest(5)).map(({ method, path }) => `${method} ${path}`);
    expect(authorize).toBe('GET /auth/oauth/v2/authorize');
    const folder = join(operator.config, 'log');
    const log = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('');
    const secrets = secretsIn(operator.config);
    expect(secrets.length).toBeGreaterThan(10);
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toMatch(/[?&](code|state)=|Bearer/);
  });

  it('psd2 log has each attempt of a repeated call, with the reason for its failure', async () => {
    const url = `https://127.0.0.1:${await freePort()}`;
    const ended = await operator.psd2(['accounts', 'list', '--timeout', '5'], {
      env: { PSD2_BASE_URL: url },
    });
    // The tokens belong to another bank.
    expect(ended.code).toBe(4);
    const api = ['api', 'GET', '/anywhere', '--no-token'];
    expect((await operator.psd2(api, { env: { PSD2_BASE_URL: url } })).code).toBe(11);
    const attempts = await read('--failed', '--limit', '4');
    expect(new Set(attempts.map(({ tppRequestId }) => tppRequestId)).size).toBe(4);
    expect(new Set(attempts.map(({ transactionId }) => transactionId)).size).toBe(1);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({
        host: url.slice(8),
        path: '/anywhere',
        status: null,
        failure: `nothing listens at ${url.slice(8)}`,
        requestId: null,
      });
    }
  });

  it('only its owner can read the log, in the configuration folder or with the state of the user', async () => {
    const folder = join(operator.config, 'log');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'calls.ndjson')).mode & 0o777).toBe(0o600);
    const state = join(operator.folder, 'state');
    const settings = await operator.json(z.record(z.string(), z.string()), ['sandbox', 'env']);
    const env = { ...settings, PSD2_PROFILE: undefined, PSD2_CONFIG_DIR: undefined, XDG_STATE_HOME: state };
    expect((await operator.psd2(['auth', 'login'], { env })).code).toBe(0);
    expect(statSync(join(state, 'psd2', 'calls.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('a log that cannot be written gives one warning, and no failure', async () => {
    const config = join(operator.folder, 'blocked');
    mkdirSync(config, { mode: 0o700 });
    writeFileSync(join(config, 'log'), '');
    const settings = await operator.json(z.record(z.string(), z.string()), ['sandbox', 'env']);
    const env = { ...settings, PSD2_PROFILE: undefined, PSD2_CONFIG_DIR: config };
    const { code, stderr } = await operator.psd2(['auth', 'login'], { env });
    expect(code).toBe(0);
    expect(stderr.match(/The log of calls in \S+ cannot be written/g)).toHaveLength(1);
  });

  it('psd2 log can be limited to a time and to a profile', async () => {
    expect((await read('--since', '1h')).length).toBeGreaterThan(5);
    expect(await read('--since', '2099-01-01')).toEqual([]);
    expect(await read('--since', '2020-01-01T00:00:00Z', '--profile', 'other')).toEqual([]);
  });

  it.each([
    [['--since', 'yesterday'], '--since "yesterday" is not a time'],
    [['--since', '2026-13-01'], '--since "2026-13-01" is not a time'],
    [['--limit', '0'], '--limit "0" is not a whole number from 1'],
    [['--request', ''], 'The value of --request is empty'],
    [['--transaction', ''], 'The value of --transaction is empty'],
  ])('psd2 log refuses %j', async (options, message) => {
    expect(readError(await operator.psd2(['log', '--json', ...options]))).toMatchObject({
      code: 'usage',
      message,
    });
  });
});

describe('psd2 log --transaction', () => {
  it('psd2 log --transaction shows a flow from its beginning, with the journal events between the calls', async () => {
    const transfer = await operator.json(shapes.transfer, [...TRANSFER, '--instant', '--payee-verified']);
    const byFlow = await operator.psd2(['log', '--transaction', transfer.flow]);
    expect(byFlow).toMatchObject({ code: 0 });
    const steps = byFlow.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[1]?.replace(/^(\w+) .*\/(?=\w)/, '$1 '));
    expect(steps.slice(0, 15)).toEqual([
      ...['created', 'verify-sent', 'POST verify', 'verified', 'accepted'],
      ...['approach-sent', 'GET approach', 'sca-started', 'sca-returned'],
      ...[
        'GET status',
        'authorization (AUTHORIZED)',
        'execute-sent',
        'PUT execute',
        'executed',
        'GET status',
      ],
    ]);
    expect(steps.at(-1)).toBe('settlement (OK)');
    const byTransaction = await operator.psd2(['log', '--transaction', transfer.transactionId]);
    expect(byTransaction.stdout).toBe(byFlow.stdout);
    const calls = await read('--transaction', transfer.flow);
    expect(calls.length).toBe(steps.filter((step) => /^(GET|POST|PUT) /.test(step ?? '')).length);
    for (const call of calls)
      expect(call).toMatchObject({ flow: transfer.flow, transactionId: transfer.transactionId });
  });

  it('psd2 log --transaction includes the calls of later commands for the same flow', async () => {
    const ended = await operator.psd2([...TRANSFER, '--json'], { env: { PSD2_BROWSER: REFUSING_CUSTOMER } });
    expect(ended.code).toBe(6);
    const { flow } = shapes.transfer.parse(JSON.parse(ended.stdout));
    const before = await read('--transaction', flow);
    await operator.json(shapes.transfer, ['transfer', 'status', flow]);
    expect(await read('--transaction', flow)).toHaveLength(before.length + 1);
  });

  it('psd2 log --transaction also shows calls without a flow', async () => {
    await operator.json(shapes.accounts, ['accounts', 'list']);
    const [call] = await newest(1);
    const { stdout } = await operator.psd2(['log', '--transaction', call?.transactionId ?? '']);
    expect(stdout.split('\t')).toEqual([
      ...[call?.at, `GET ${call?.path}`, '200', String(call?.milliseconds)],
      ...[call?.tppRequestId, call?.requestId, `${call?.apiTrackId}\n`],
    ]);
  });

  it('psd2 log --transaction does not guess between two matches', async () => {
    const { code, stderr } = await operator.psd2(['log', '--transaction', 'tr-']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/"tr-" matches 2 transactions\.\n {2}Give more characters: \S+, /),
    ]);
  });

  it('psd2 log --transaction says if nothing matches', async () => {
    const { code, stderr } = await operator.psd2(['log', '--transaction', 'tr-nothing']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no transaction "tr-nothing"')]);
  });
});

describe('psd2 log bundle', () => {
  const bundle = z.strictObject({
    about: z.string(),
    made: z.iso.datetime(),
    psd2: z.string(),
    node: z.string(),
    platform: z.string(),
    hosts: z.array(z.string()),
    calls: z.array(shapes.loggedCall.omit({ profile: true })),
  });

  it('psd2 log bundle has what the support asks for, and identifies nobody', async () => {
    const transfer = await operator.json(shapes.transfer, TRANSFER);
    await operator.psd2(['api', 'GET', `/private/x/DE89370400440532013000/${ACCOUNT}`]);
    const { customerId } = await operator.json(shapes.customer, ['customer', 'id']);
    const encoded = ACCOUNT.replace('1', '%2531');
    await operator.psd2([
      'api',
      'GET',
      `/private/x/of-${encoded}-${customerId}/de89%203704%200044%200532%200130%2000`,
    ]);
    const file = join(operator.folder, 'bundle.json');
    const ended = await operator.psd2(['log', 'bundle', '--since', '1h', '--file', file]);
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    expect(ended.stderr).toMatch(/The file contains \d+ calls to 127\.0\.0\.1:\d+/);
    expect(ended.stderr).toContain('Replaced: 1 customer, 1 account, 1 IBAN.');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const content = readFileSync(file, 'utf8');
    for (const hidden of [customerId, ACCOUNT, encoded, 'Ada', 'sandbox"', ...secretsIn(operator.config)]) {
      expect(content).not.toContain(hidden);
    }
    // Not DE89 alone: the hexadecimal digits of an id can be these too.
    expect(content).not.toMatch(/DE89(?:%20| )?3704/i);
    const { calls } = bundle.parse(JSON.parse(content));
    const kept = await read('--since', '1h');
    const ids = (all: { tppRequestId: string; requestId: string | null }[]) =>
      all.map(({ tppRequestId, requestId }) => [tppRequestId, requestId]);
    expect(ids(calls).slice(0, -1)).toEqual(ids(kept.slice(-calls.length + 1).reverse()));
    const execute = calls.find(({ path, flow }) => path.endsWith('/execute') && flow === transfer.flow);
    expect(execute?.path).toBe(
      `/private/customers/customer-1/products/account-1/moneyTransfer/${transfer.resourceId}/execute`,
    );
    expect(calls.map(({ path }) => path)).toContain('/private/x/iban-1/account-1');
    expect(calls.map(({ path }) => path)).toContain('/private/x/of-account-1-customer-1/iban-1');
    expect(calls.map(({ path }) => path)).toContain('/private/customers/customerid-info');
  });

  it('psd2 log bundle has a default name, in the current folder', async () => {
    const made = await operator.json(shapes.logBundle, ['log', 'bundle', '--limit', '1']);
    expect(made.file).toMatch(/^psd2-log-\d{8}-\d{6}\.json$/);
    const file = join(operator.folder, made.file);
    expect(bundle.parse(JSON.parse(readFileSync(file, 'utf8'))).calls).toHaveLength(1);
    rmSync(file);
  });

  it('psd2 log bundle makes no file if there are no calls', async () => {
    const ended = await operator.psd2(['log', 'bundle', '--since', '2099-01-01', '--json']);
    expect(readError(ended)).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const TRANSFER = words`transfer --yes --from ${ACCOUNT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 12.50`;
const operator = keepRunning(useLoggedIn());

const read = (...options: string[]) => operator.json(shapes.log, ['log', ...options]);
const newest = async (count: number) => (await read('--limit', String(count))).slice(0, count);

describe('psd2 log', () => {
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

  it('psd2 log has the calls of a login, but none of their secrets', async () => {
    await operator.succeeds(['auth', 'login']);
    await operator.succeeds(['auth', 'refresh']);
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
});

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
  const ended = await operator.psd2(['log', 'bundle', '--since', '1h']);
  expect(ended).toMatchObject({ code: 0, stdout: '' });
  const [name = ''] = readdirSync(operator.folder).filter((each) =>
    /^psd2-log-\d{8}-\d{6}\.json$/.test(each),
  );
  const file = join(operator.folder, name);
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

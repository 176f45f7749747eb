import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { openProxy } from '../support/proxy.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const SAVINGS = '0010482638';
const operator = keepRunning(useLoggedIn(['--persona', 'lived-in']));
const certificate = (name: string) => join(operator.config, 'sandbox/certificates', name);

const totals = z.object({
  data: z.object({
    numberTransactionsAccounting: z.coerce.number(),
    // If the bank leaves out their number, they are all on the first page.
    numberTransactionsNotAccounting: z.coerce.number().optional(),
    transactionsNotAccounting: z.array(z.unknown()),
    totalEnter: z.object({ amount: z.string() }),
    totalOutput: z.object({ amount: z.string() }),
  }),
});

it.each([
  ['restarted cursors', ACCOUNT],
  ['_links.next', SAVINGS],
])('psd2 lists each transaction once, through %s', async (_, account) => {
  const { data } = await operator.json(totals, [
    ...['api', 'GET', `/private/customers/1048262/products/${account}/transactions/retrieve`],
  ]);
  const rows = await operator.json(shapes.transactions, ['accounts', 'transactions', account]);
  const booked = rows.filter(({ status }) => status === 'booked');
  expect(booked).toHaveLength(data.numberTransactionsAccounting);
  expect(rows.length - booked.length).toBe(
    data.numberTransactionsNotAccounting ?? data.transactionsNotAccounting.length,
  );
  const sum = (sign: 1 | -1) =>
    booked
      .map(({ amount }) => new Big(amount))
      .filter((amount) => amount.s === sign)
      .reduce((total, amount) => total.plus(amount), new Big(0));
  expect(sum(1).eq(data.totalEnter.amount)).toBe(true);
  expect(sum(-1).eq(data.totalOutput.amount)).toBe(true);
  expect(booked.length).toBeGreaterThan(10);
});

it('signed answers are refused with 11 when they do not match, and psd2 uses nothing of them', async () => {
  const request = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', ACCOUNT];
  const env = { PSD2_BANK_SIGNING_CERT: certificate('qseal.pem') };
  const ended = await operator.psd2([...request, '--json', '--verbose'], { env });
  const message = expect.stringContaining('wrong Signature');
  expect(readError(ended)).toMatchObject({ exitCode: 11, message });
  expect(readDocument(shapes.consent, ended.stdout)).toMatchObject({ resourceId: null });
  expect(callsOf(ended)).toMatchObject([{ step: 'request', outcome: message }]);
  const login = await operator.psd2(['auth', 'login', '--json'], { env });
  expect(readError(login)).toMatchObject({ exitCode: 11, message });
});

it.each(['http', 'https'])(
  'a proxy reached over %s carries the call, and sees neither token nor client certificate',
  async (scheme) => {
    const read = (name: string) => readFileSync(certificate(name), 'utf8');
    const pem = { cert: read('server.pem'), key: read('server-key.pem') };
    const proxy = await openProxy(scheme === 'https' ? { pem } : {});
    onTestFinished(proxy.close);
    const ended = await operator.succeeds(['accounts', 'list', '--json'], {
      env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate('ca.pem') },
    });
    expect(readDocument(shapes.accounts, ended.stdout)).toHaveLength(3);
    expect(proxy.asked).toHaveLength(1);
    expect(proxy.certificates).toEqual([]);

    const seen = Buffer.concat([Buffer.from(proxy.asked.join()), proxy.passed()]);
    expect(proxy.passed().length).toBeGreaterThan(1000);
    for (const secret of secretsIn(operator.config)) expect(seen.includes(secret)).toBe(false);
    const { raw } = new X509Certificate(read('qwac.pem'));
    expect(seen.includes(raw)).toBe(false);
    expect(seen.includes('/private/')).toBe(false);
  },
);

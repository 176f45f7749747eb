import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { bankDay } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { type ConnectProxy, openProxy, type ProxyOptions } from '../support/proxy.ts';
import { keepRunning, PROGRAM, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const SAVINGS = '0010482638';
const operator = keepRunning(useLoggedIn(['--persona', 'lived-in']));
const certificate = (name: string) => join(operator.config, 'sandbox/certificates', name);

describe('a bank whose answers have every unusual shape', () => {
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

  it('a 401 that asks for SCA renews no token', async () => {
    const ended = await operator.psd2(words`accounts transactions ${ACCOUNT} --from ${bankDay(-200)}
      --limit 1 --json --yes --verbose`);
    expect(readDocument(shapes.transactions, ended.stdout)).toHaveLength(1);
    expect(callsOf(ended).map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      'retrieve 401',
      'approach 200',
      'retrieve 200',
    ]);
  });
});

describe('answers that the bank signed', () => {
  const request = (bankCertificate: string) =>
    operator.psd2(
      ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', ACCOUNT, '--json', '--verbose'],
      {
        env: { PSD2_BANK_SIGNING_CERT: certificate(bankCertificate) },
      },
    );

  it("psd2 uses signed answers that match the bank's certificate", async () => {
    const ended = await request('bank-signing.pem');
    expect(readDocument(shapes.consent, ended.stdout)).toMatchObject({ state: 'confirmed' });
  });

  it('signed answers are refused with 11 when they do not match, and psd2 stores nothing of them', async () => {
    const ended = await request('qseal.pem');
    expect(readError(ended)).toMatchObject({
      exitCode: 11,
      message: expect.stringContaining('wrong Signature'),
    });
    expect(readDocument(shapes.consent, ended.stdout)).toMatchObject({ resourceId: null });
    const [call, ...others] = callsOf(ended);
    expect(call).toMatchObject({ step: 'request', outcome: expect.stringContaining('wrong Signature') });
    expect(others).toEqual([]);

    const tokens = secretsIn(join(operator.config, 'tokens'));
    const login = await operator.psd2(['auth', 'login', '--json'], {
      env: { PSD2_BANK_SIGNING_CERT: certificate('qseal.pem') },
    });
    expect(readError(login).exitCode).toBe(11);
    expect(secretsIn(join(operator.config, 'tokens'))).toEqual(tokens);
  });
});

describe('the export of transactions', () => {
  it.each([
    ['pdf', /^%PDF-/],
    ['xls', /^<\?xml .*\n<\?mso-application progid="Excel\.Sheet"/],
  ])("psd2 saves the bank's %s", async (format, content) => {
    const file = join(operator.folder, `transactions.${format}`);
    const args = ['accounts', 'transactions', ACCOUNT, '--export', format, '--file'];
    const ended = await operator.succeeds([...args, file]);
    expect(ended.stdout).toBe('');
    expect(readFileSync(file, 'latin1')).toMatch(content);
    expect(readdirSync(operator.folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    const piped = await operator.psd2([...args, '-']);
    expect(piped.stdout).toMatch(content);
  });

  it('the export does not go to a terminal, and needs a file', async () => {
    const args = ['accounts', 'transactions', ACCOUNT, '--export', 'pdf'];
    const command = [process.execPath, PROGRAM, ...args, '--file', '-'].map((word) => `'${word}'`).join(' ');
    const terminal = await operator.startProgram('script', ['-qefc', command, '/dev/null']);
    const shown = await terminal.ended;
    expect(shown.code).toBe(2);
    expect(shown.stdout).toContain('psd2 does not write it to a terminal');
    expect(shown.stdout).not.toContain('%PDF');
    const without = await operator.psd2([...args, '--json']);
    expect(readError(without).exitCode).toBe(2);
    const missing = join(operator.folder, 'no-folder/transactions.pdf');
    expect((await operator.psd2([...args, '--file', missing])).code).toBe(3);
    expect(existsSync(missing)).toBe(false);
  });
});

describe('a proxy', () => {
  async function openForTest(options: ProxyOptions = {}): Promise<ConnectProxy> {
    const proxy = await openProxy(options);
    onTestFinished(proxy.close);
    return proxy;
  }

  it.each(['http', 'https'])(
    'a proxy reached over %s carries the call, and sees neither token nor client certificate',
    async (scheme) => {
      const tls = { cert: certificate('server.pem'), key: certificate('server-key.pem') };
      const proxy = await openForTest(scheme === 'https' ? { tls } : {});
      const ended = await operator.succeeds(['accounts', 'list', '--json'], {
        env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate('ca.pem') },
      });
      expect(readDocument(shapes.accounts, ended.stdout)).toHaveLength(3);
      expect(proxy.asked).toHaveLength(1);
      expect(proxy.certificates).toEqual([]);

      const seen = Buffer.concat([Buffer.from(proxy.asked.join()), proxy.passed()]);
      expect(proxy.passed().length).toBeGreaterThan(1000);
      for (const secret of secretsIn(operator.config)) expect(seen.includes(secret)).toBe(false);
      const { raw } = new X509Certificate(readFileSync(certificate('qwac.pem')));
      expect(seen.includes(raw)).toBe(false);
      expect(seen.includes('/private/')).toBe(false);
    },
  );

  it('the proxy is left out for the hosts of NO_PROXY', async () => {
    const proxy = await openForTest();
    await operator.succeeds(['accounts', 'list'], {
      env: { HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost,127.0.0.1' },
    });
    expect(proxy.asked).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { readError } from '../support/errors.ts';
import { callsOf, saidBy } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

// A bank that wants a secret header in each call.
const KEY = 'key-of-the-test-7711';
const operator = useDoor({ headers: { static: { 'X-API-Key': KEY } } });
operator.env.PSD2_BANK_TEST_KEY = KEY;
const bankFile = () =>
  operator.write('client.json', { headers: { static: { 'X-API-Key': 'env:PSD2_BANK_TEST_KEY' } } });
const consent = z.looseObject({ flow: z.string(), resourceId: z.string() });
const PAYMENT = ['POST', '/v1/payments/sepa-credit-transfers', '--data', '{}'];

describe('psd2 api at a NextGenPSD2 bank', () => {
  it('signs a call in its way, and adds the Consent-ID of a flow', async () => {
    const env = { PSD2_BANK: bankFile() };
    const { flow, resourceId } = await operator.json(consent, ['consent', 'request'], { env });
    const read = ['api', 'GET', '/v1/accounts', '--consent', flow];
    const { accounts } = await operator.json(z.looseObject({ accounts: z.array(z.unknown()) }), read, {
      env,
    });
    expect(accounts.length).toBeGreaterThan(0);

    const shown = await operator.psd2([...read, '--dry-run', '--json'], { env });
    const { headers } = z
      .looseObject({ headers: z.record(z.string(), z.string()) })
      .parse(JSON.parse(shown.stdout));
    expect(headers).toMatchObject({ 'consent-id': resourceId, signature: expect.stringContaining('SN=') });
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('tpp-request-id');
    const curl = await operator.psd2([...read, '--curl'], { env });
    expect(curl.stdout).toContain(`consent-id: ${resourceId}`);
    expect(shown.stdout + curl.stdout).not.toContain(KEY);
  });

  it('reads all pages of a list with --paginate', async () => {
    const env = { PSD2_BANK: bankFile() };
    const { flow } = await operator.json(consent, ['consent', 'request', '--yes'], { env });
    const [account] = await operator.json(
      z.array(z.looseObject({ accountId: z.string() })),
      ['accounts', 'list'],
      {
        env,
      },
    );
    const path = `/v1/accounts/${account?.accountId}/transactions?bookingStatus=both&dateFrom=${addDays(bankDay(new Date()), -80)}`;
    const read = ['api', 'GET', path, '--consent', flow, '--paginate'];
    const page = z.looseObject({
      transactions: z.looseObject({ booked: z.array(z.looseObject({ transactionId: z.string() })) }),
    });
    const pages = await operator.json(z.array(page), read, { env });
    expect(pages.length).toBeGreaterThan(1);
    const ids = pages.flatMap(({ transactions }) => transactions.booked.map((row) => row.transactionId));
    expect(new Set(ids).size).toBe(ids.length);
    const lines = await operator.psd2([...read, '-o', 'ndjson'], { env });
    expect(lines.stdout.trimEnd().split('\n')).toHaveLength(pages.length);
    const count = await operator.psd2([...read, '--query', 'length(@)'], { env });
    expect(count.stdout).toBe(`${pages.length}\n`);
    for (const refused of [
      ['api', 'DELETE', path, '--paginate'],
      [...read, '--dry-run'],
      [...read, '--curl'],
    ]) {
      const ended = await operator.psd2([...refused, '--json', '--verbose'], { env });
      expect(readError(ended)).toMatchObject({ code: 'usage', exitCode: 2 });
      expect(callsOf(ended)).toEqual([]);
    }
  });

  it('without the consent the bank refuses, and an unknown flow is not sent', async () => {
    const env = { PSD2_BANK: bankFile() };
    const refused = await operator.psd2(['api', 'GET', '/v1/accounts', '--json'], { env });
    expect(readError(refused).exitCode).not.toBe(0);
    const read = ['api', 'GET', '/v1/accounts', '--consent', 'co-none', '--json', '--verbose'];
    const unknown = await operator.psd2(read, { env });
    expect(readError(unknown).exitCode).not.toBe(0);
    expect(callsOf(unknown)).toEqual([]);
  });

  it('initiates no payment, but shows the request', async () => {
    const env = { PSD2_BANK: bankFile() };
    const refused = await operator.psd2(['api', ...PAYMENT, '--json', '--verbose'], { env });
    expect(readError(refused)).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(callsOf(refused)).toEqual([]);
    const shown = await operator.psd2(['api', ...PAYMENT, '--curl'], { env });
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain('/nextgenpsd2/v1/payments/sepa-credit-transfers');
  });

  it('says which variable of the environment is not set', async () => {
    const env = { PSD2_BANK: bankFile(), PSD2_BANK_TEST_KEY: undefined };
    const ended = await operator.psd2(['api', 'GET', '/v1/accounts', '--json', '--verbose'], { env });
    expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
    expect(saidBy(ended)).toContain('PSD2_BANK_TEST_KEY');
    expect(callsOf(ended)).toEqual([]);
  });
});

describe('what a NextGenPSD2 bank lacks', () => {
  it.each([
    [['products', 'list'], 'products'],
    [['customer', 'id'], 'data of the customer'],
    [['transfer', 'prepare', '0010482620'], 'terms'],
    [['transfer', 'receipt', 'tr-1', '--file', 'x.pdf'], 'receipts'],
    [['operation', 'prepare', 'standingOrder', '--account', '0010482620'], 'operations'],
    [['operation', 'run', 'standingOrder', '--account', '0010482620'], 'operations'],
    [['accounts', 'transactions', '0010482620', '--export', 'pdf', '--file', 'x.pdf'], 'documents'],
  ])('psd2 %j ends with exit code 2 before anything is sent', async (words, what) => {
    const ended = await operator.psd2([...words, '--json', '--verbose']);
    expect(readError(ended)).toMatchObject({
      exitCode: 2,
      message: `The interface of this bank (nextgenpsd2) has no ${what}`,
    });
    expect(callsOf(ended)).toEqual([]);
  });
});

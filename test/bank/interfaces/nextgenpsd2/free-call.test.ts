import { describe, expect, it } from 'vitest';
import { nextgenpsd2 } from '../../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import { bankFile } from '../../../../src/bank-file/schema.ts';
import { json, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const described = (file: object = {}) => nextgenpsd2(bankFile.parse({ interface: 'nextgenpsd2', ...file }));
const free = { transactionId: TRANSACTION_ID, returnAddress: () => 'http://127.0.0.1/' };

describe('psd2 api', () => {
  it.each([
    '/v1/payments/sepa-credit-transfers',
    '/v1/bulk-payments/x',
    '/v2/periodic-payments/x',
    '/payments/x',
    '/V1/Payments/X',
    '/v1/payments/x/',
    '/v1/payments//x?a=b',
    '/v1/%70ayments/x',
    '/v1/%2570ayments/x',
    '/v1/consents/../payments/x',
    '/v1/payments;a=b/x',
    '\\v1\\payments\\x',
  ])('initiates no payment: POST %s', (path) => {
    expect(described().refusalOf('POST', path)).toMatchObject({ code: 'usage' });
    expect(described().refusalOf('GET', path)).toBeNull();
  });

  it.each([
    '/v1/consents',
    '/v1/payments/x/p1/authorisations',
    '/v1/funds-confirmations',
    '/v1/signing-baskets',
  ])('may POST %s', (path) => {
    expect(described().refusalOf('POST', path)).toBeNull();
  });

  it('initiates no payment at a path of the bank’s own', () => {
    const file = { api: { paths: { initiatePayment: '/Pay/{payment-service}/of/{payment-product}' } } };
    expect(described(file).refusalOf('POST', '/Pay/payments/of/x')).toMatchObject({ code: 'usage' });
  });

  it('signs a call, and gives the answer whatever it is', async () => {
    const { bank: opened } = open();
    bank.expect('POST', '/v1/funds-confirmations', json({ fundsAvailable: true }));
    const body = { account: { iban: 'x' } };
    expect(
      await opened.send({
        ...free,
        method: 'POST',
        path: '/v1/funds-confirmations',
        body,
        headers: { 'consent-id': 'c9' },
      }),
    ).toMatchObject({
      json: { fundsAvailable: true },
      refusal: null,
    });
    expect(bank.last.headers['consent-id']).toBe('c9');
    bank.expect('GET', '/v1/accounts', refusal(401, 'CONSENT_INVALID'));
    expect(await opened.send({ ...free, method: 'GET', path: '/v1/accounts', headers: {} })).toMatchObject({
      json: { tppMessages: expect.any(Array) },
      refusal: { code: 'not_logged_in' },
    });
  });

  it('the operator cannot set what psd2 signs, keeps secret, or the bank file names', () => {
    const { ownHeaders } = described({
      headers: { static: { 'X-API-Key': 'k' } },
      oauth: { tokenHeader: 'PSD2-AUTHORIZATION' },
    });
    expect(ownHeaders).toEqual(
      expect.arrayContaining([
        'authorization',
        'psd2-authorization',
        'x-api-key',
        'digest',
        'signature',
        'x-request-id',
        'host',
      ]),
    );
  });
});

describe('the name of a customer', () => {
  it.each(['default', 'a.b_c-1', 'x'.repeat(64)])('can be %s', (text) => {
    expect(described().readCustomerId(text)).toBe(text);
  });

  it.each(['', '..', 'a b', 'x'.repeat(65), 'ä', 'a/b'])('cannot be %s', (text) => {
    expect(() => described().readCustomerId(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

it.each([
  ['none', 'nobody'],
  ['integrated', 'with a consent'],
  ['pre-step', 'customers'],
  ['client-credentials', 'application'],
])('with oauth.mode %s, %s logs in', (mode, logsIn) => {
  expect(described({ oauth: { mode } }).logsIn).toBe(logsIn);
});

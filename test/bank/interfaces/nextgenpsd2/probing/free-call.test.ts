import { describe, expect, it } from 'vitest';
import type { BankCall, Signed } from '../../../../../src/bank/call/call.ts';
import { bankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { nextgenpsd2 } from '../../../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import { composeFreely } from '../../../../../src/bank/interfaces/nextgenpsd2/probing/free-call.ts';
import { pathsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import { json, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from '../client.ts';

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
    '/v1/%2570ayments/x',
    '/v1/consents/../payments/x',
    '/v1/payments;a=b/x',
    '\\v1\\payments\\x',
  ])('initiates no payment: POST %s', (path) => {
    expect(described().refusalOf('POST', path)).toMatchObject({
      ...{ code: 'usage', message: 'psd2 api does not initiate a payment' },
      context: { hint: 'psd2 transfer create does. --dry-run and --curl show the request.' },
    });
    expect(described().refusalOf('GET', path)).toBeNull();
  });

  it.each([
    '/v1/consents',
    '/v1/payments/x/p1/authorisations',
    '/v1/funds-confirmations',
    '/v1/signing-baskets',
    '/payments',
    '/v1/payments',
    '/v1/my-payments/x',
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
    const asked = { ...free, method: 'POST' as const, path: '/v1/funds-confirmations', body };
    expect(await opened.send({ ...asked, headers: { 'consent-id': 'c9' } })).toMatchObject({
      ...{ json: { fundsAvailable: true }, refusal: null },
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
    const secret = ['authorization', 'psd2-authorization', 'x-api-key'];
    const signed = ['digest', 'signature', 'tpp-signature-certificate', 'date', 'x-request-id'];
    const ofConnection = [
      'content-length',
      'host',
      'connection',
      'transfer-encoding',
      'expect',
      'te',
      'trailer',
    ];
    expect([...ownHeaders].sort()).toEqual([...secret, ...signed, ...ofConnection, 'upgrade'].sort());
  });
});

describe('the request of a free call, as it is shown', () => {
  const composed = async (
    file: object,
    path: string,
    token?: string,
    sent: Partial<Signed['request']> = {},
    signingString = 'signed',
  ) => {
    const description = bankFile.parse({ interface: 'nextgenpsd2', ...file });
    const calls: BankCall[] = [];
    const compose = async (call: BankCall): Promise<Signed> => {
      calls.push(call);
      const headers = { 'x-api-key': 'k', 'x-plain': 'p', ...call.headers };
      return {
        request: { method: 'POST', target: `/at${call.path}`, headers, body: undefined, ...sent },
        ...{ signingString, digest: null, tppRequestId: 'r' },
      };
    };
    const call = { ...free, method: 'GET' as const, path, headers: { 'x-own': 'o' } };
    const shown = await composeFreely(compose, description, pathsOf(description), call, token);
    return { shown, call: calls[0] };
  };

  it('has no secret of the bank file, and all else', async () => {
    const { shown, call } = await composed({ headers: { static: { 'X-API-Key': 'k' } } }, '/v1/x');
    expect(shown).toEqual({
      ...{ method: 'POST', target: '/at/v1/x', body: null, signingString: 'signed' },
      headers: { 'x-api-key': '<secret>', 'x-plain': 'p', 'x-own': 'o' },
    });
    expect(call).not.toHaveProperty('bearer');
    expect(call).not.toHaveProperty('returnAddress');
    const text = await composed({}, '/v1/x', undefined, { body: Buffer.from('{"a":"ü"}') });
    expect(text.shown).toMatchObject({ body: '{"a":"ü"}', headers: { 'x-api-key': 'k' } });
  });

  const perOperation = { getAccountList: { 'X-API-Key': 'k' } };
  it.each<[string, object, string, string]>([
    ['of all calls', { static: { 'X-API-Key': 'k' } }, '/v1/x', '<secret>'],
    ['of its operation', { perOperation }, '/v1/accounts?x=1', '<secret>'],
    ['of another operation', { perOperation }, '/v1/consents', 'k'],
    ['of no operation', { perOperation }, '/v1/x', 'k'],
    [
      'with a name of the bank',
      { static: { 'Api-Key': 'k' }, names: { 'Api-Key': 'X-API-Key' } },
      '/v1/x',
      '<secret>',
    ],
  ])('has no header that the bank file has %s, nor in what was signed', async (_, headers, path, value) => {
    const { shown } = await composed(
      { headers },
      path,
      undefined,
      {},
      'digest: d:e\nx-api-key: k\nx-plain: p',
    );
    expect(shown.headers).toMatchObject({ 'x-api-key': value, 'x-plain': 'p' });
    expect(shown.signingString).toBe(`digest: d:e\nx-api-key: ${value}\nx-plain: p`);
  });

  it.each([
    ['/v1/accounts', { reads: 'list', needsConsent: true }],
    ['/v1/accounts/a%201/balances?x=1', { reads: { account: 'a 1' }, needsConsent: true }],
    ['/v1/consents/c%201/status', { reads: null, needsConsent: false, ofConsent: 'c 1' }],
    ['/v1/other', { reads: null, needsConsent: false }],
  ])('is of what its path says: %s', async (path, facts) => {
    expect((await composed({}, path)).call?.facts).toEqual({ login: false, ...facts });
  });

  const OF_CONSENT = '/v1/accounts';
  const OTHER = '/v1/consents';
  const ELSEWHERE = {
    authorizationEndpoint: 'https://idp.example/a',
    tokenEndpoint: 'https://idp.example/t',
  };
  it.each([
    ['none', {}, OF_CONSENT, false],
    ['none', {}, OTHER, false],
    ['integrated', {}, OF_CONSENT, true],
    ['integrated', {}, OTHER, false],
    ['pre-step', ELSEWHERE, OF_CONSENT, true],
    ['pre-step', ELSEWHERE, OTHER, true],
    ['client-credentials', ELSEWHERE, OTHER, true],
  ])('has the token where the bank takes one: %s %j %s %s', async (mode, more, path, carries) => {
    const file = { oauth: { mode, ...more } };
    expect((await composed(file, path, 'T')).call?.bearer).toBe(carries ? 'T' : undefined);
    expect((await composed(file, path)).call).not.toHaveProperty('bearer');
  });
});

describe('psd2 api --paginate', () => {
  const LIST = '/v1/accounts/a1/transactions?bookingStatus=both';
  const PAGE_3 = `/v1/accounts/a1/transactions?page=3'|"`;
  const read = async (path: string, file: object = {}) => {
    const found: unknown[] = [];
    const headers = { 'consent-id': 'c9' };
    for await (const page of open({ file }).bank.pages({ ...free, method: 'GET', path, headers }))
      found.push(page.refusal ?? page.json);
    return found;
  };
  const report = (entry: string, next?: unknown) => ({
    transactions: { booked: [{ entry }], _links: next === undefined ? {} : { next } },
  });

  it('follows links in transactions and beside them by their query, with the headers of the first call', async () => {
    bank.expect('GET', LIST, json(report('1', { href: '/v1/accounts/a1/transactions?page=2' })));
    bank.expect(
      'GET',
      '/v1/accounts/a1/transactions?page=2',
      json({ _links: { next: `${bank.baseUrl}${PAGE_3}` } }),
    );
    bank.expect('GET', PAGE_3, json(report('3')));
    expect(await read(LIST)).toMatchObject([report('1'), {}, report('3')]);
    for (const { headers } of bank.received) expect(headers['consent-id']).toBe('c9');
  });

  it.each(['https://elsewhere.example/v1/x', '/v1/accounts/a2/transactions', 'accounts?a b'])(
    'does not go on without a query: %s',
    async (href) => {
      bank.expect('GET', LIST, json(report('1', { href })));
      await expect(read(LIST)).rejects.toMatchObject({
        ...{ code: 'bank_answer', message: `The bank's link next has no query: ${href}` },
        hint: expect.stringContaining('--paginate takes the query alone'),
      });
    },
  );

  it.each([
    'https://elsewhere.example/admin?page=2&x=%2f',
    '/v1/accounts/a2/transactions?page=2&x=%2f',
    '/v1/accounts/a1/transactions/..%2f..%2fa2?page=2&x=%2f',
  ])('takes the query alone of %s', async (href) => {
    bank.expect('GET', LIST, json(report('1', href)));
    bank.expect('GET', '/v1/accounts/a1/transactions?page=2&x=%2f', json(report('2')));
    expect(await read(LIST)).toHaveLength(2);
  });

  it('ends with the bank’s refusal', async () => {
    bank.expect('GET', LIST, json(report('1', { href: '?page=2' })));
    bank.expect('GET', '/v1/accounts/a1/transactions?page=2', refusal(401, 'CONSENT_INVALID'));
    expect(await read(LIST)).toMatchObject([{}, { code: 'not_logged_in' }]);
  });

  it('does not go in a circle, whatever the addresses', async () => {
    bank.expect('GET', LIST, json(report('1', { href: LIST.replace('both', 'x') })));
    bank.expect('GET', LIST.replace('both', 'x'), json(report('1', { href: LIST.replace('both', 'x') })));
    await expect(read(LIST)).rejects.toMatchObject({ message: expect.stringContaining('same page twice') });
  });

  it('says if the bank counts more pages than it links to', async () => {
    const counted = (body: object) => json(body, 200, { 'X-Total-Pages': '2' });
    bank.expect('GET', LIST, counted(report('1', { href: '?page=2' })));
    bank.expect('GET', '/v1/accounts/a1/transactions?page=2', counted(report('2')));
    expect(await read(LIST)).toHaveLength(2);
    bank.expect('GET', LIST, counted(report('1')));
    await expect(read(LIST)).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringMatching(/\bthis list\b/),
      hint: expect.stringContaining('accounts.paging'),
    });
  });

  it('counts no pages of a refusal', async () => {
    const { body } = refusal(401, 'CONSENT_INVALID');
    bank.expect('GET', LIST, { status: 401, headers: { 'X-Total-Pages': '2' }, body: body ?? '' });
    expect(await read(LIST)).toMatchObject([{ code: 'not_logged_in' }]);
  });

  it('does not follow the link in a refusal', async () => {
    const { tppMessages } = JSON.parse(`${refusal(401, 'CONSENT_INVALID').body}`);
    bank.expect('GET', LIST, json({ tppMessages, _links: { next: { href: '?page=2' } } }, 401));
    expect(await read(LIST)).toMatchObject([{ code: 'not_logged_in' }]);
  });

  it.each([
    ['page-index', LIST],
    ['page-index', LIST.replace('accounts', 'card-accounts')],
    [{ totalPagesHeader: 'X-Total', pageParameter: 'page' }, LIST],
  ])('sends nothing for transactions whose pages have numbers: %j, %s', async (paging, list) => {
    const file = { accounts: { paging } };
    await expect(read(list, file)).rejects.toMatchObject({
      ...{ code: 'usage', hint: 'psd2 accounts transactions reads all of them.' },
    });
    bank.expect('GET', '/v1/accounts', json({ accounts: [] }));
    expect(await read('/v1/accounts', file)).toHaveLength(1);
  });
});

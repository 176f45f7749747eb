import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { digestProblem, signatureProblem } from '../../../../signature/independent-verifier.ts';
import { thrownBy } from '../../../../support/thrown.ts';
import { publicKeyOf } from '../../../recorded-bank.ts';
import {
  CONSENT_ID,
  json,
  type NextGenOptions,
  refusal,
  silent,
  TRANSACTION_ID,
  useNextGen,
  useNextGenBank,
} from '../client.ts';

// The headers, the digest and the signature of requests, for each field of a bank file that changes them. The signatures are
// verified by a library that psd2 does not use.

const standard = useNextGenBank();
const openStandard = useNextGen(standard);

const CREATED = json({ consentId: 'c1', consentStatus: 'received', _links: {} }, 201);
const BALANCES = json({
  balances: [{ balanceType: 'closingBooked', balanceAmount: { amount: '1.00', currency: 'EUR' } }],
});
const REDIRECT = 'http://127.0.0.1:8910/callback?state=s1';

const REQUEST = {
  customerId: 'shop',
  categories: [],
  redirectUri: REDIRECT,
  transactionId: TRANSACTION_ID,
  beforeSend: silent,
};

async function readStandard(options: NextGenOptions = {}) {
  standard.expect('GET', '/v1/accounts/a1/balances', BALANCES);
  await openStandard(options).bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
  return standard.last.headers;
}

async function requestStandard(options: NextGenOptions = {}) {
  standard.expect('POST', '/v1/consents', CREATED);
  await openStandard(options).bank.consents.request(REQUEST);
  return standard.last.headers;
}

describe('requests of the standard', () => {
  it('a reading has the consent, a digest of the empty body, and no address of the customer', async () => {
    const headers = await readStandard();
    expect(headers).toMatchObject({
      ...{ 'consent-id': CONSENT_ID, accept: 'application/json' },
      digest: 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    });
    for (const name of [
      ...['psu-ip-address', 'content-type', 'date', 'tpp-redirect-uri', 'psu-id', 'authorization'],
    ])
      expect(headers).not.toHaveProperty(name);
  });

  it('while the customer is present, a reading says so', async () => {
    expect(await readStandard({ psuIpAddress: '203.0.113.9', language: 'it' })).toMatchObject({
      ...{ 'psu-ip-address': '203.0.113.9', 'psu-accept-language': 'it' },
    });
  });

  it('the interface has no IPv6 address', () => {
    expect(thrownBy(() => openStandard({ psuIpAddress: '2001:db8::1' }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('IPv4'),
    });
  });

  it('a request for a consent has the address of this machine, and where the browser returns to', async () => {
    const headers = await requestStandard();
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'psu-ip-address': '192.0.2.7' },
      ...{ 'tpp-redirect-uri': REDIRECT, 'tpp-nok-redirect-uri': REDIRECT, 'tpp-redirect-preferred': 'true' },
    });
    expect(headers).not.toHaveProperty('tpp-explicit-authorisation-preferred');
    expect(headers).not.toHaveProperty('tpp-decoupled-preferred');
  });

  it('the customer is named and signed at the calls that know the customer, and at no other', async () => {
    const psu = { id: 'PSU-1', idType: 'RETAIL', corporateId: 'CORP-9' };
    const headers = await requestStandard({ psu });
    expect(headers).toMatchObject({
      ...{ 'psu-id': 'PSU-1', 'psu-id-type': 'RETAIL', 'psu-corporate-id': 'CORP-9' },
      signature: expect.stringContaining('"digest x-request-id psu-id psu-corporate-id tpp-redirect-uri"'),
    });
    expect(await readStandard({ psu })).not.toHaveProperty('psu-id');
  });

  it('the start of an authorisation says where the browser returns to, and who the customer is', async () => {
    const start = json({ _links: { scaRedirect: { href: 'https://bank.example/sca' } } }, 201);
    standard.expect('POST', '/v1/consents/c1/authorisations', start);
    const psu = { id: 'PSU-1', idType: undefined, corporateId: undefined };
    await openStandard({ psu }).bank.sca.start({ ...REQUEST, resourceId: 'c1' });
    expect(standard.last.headers).toMatchObject({ 'tpp-redirect-uri': REDIRECT, 'psu-id': 'PSU-1' });
  });

  const personOf = (id: string) => ({ id, idType: `TYPE-${id}`, corporateId: `CORP-${id}` });
  it.each<[string | undefined, string | undefined, string | undefined]>([
    ['A', undefined, 'A'],
    ['A', 'B', 'B'],
    [undefined, 'B', 'B'],
    [undefined, undefined, undefined],
  ])('of the customer %j and who authorises, %j, the bank is told %j', async (customer, approver, told) => {
    standard.expect('POST', '/v1/consents/c1/authorisations', json({ psuMessage: 'Use the app' }, 201));
    await openStandard({ psu: customer === undefined ? undefined : personOf(customer) }).bank.sca.proceed?.({
      ...{ ...REQUEST, resourceId: 'c1', links: null },
      psu: approver === undefined ? undefined : personOf(approver),
      login: { clientId: 'c', redirectUri: REDIRECT, state: 's', codeVerifier: 'v' },
    });
    const names = ['psu-id', 'psu-id-type', 'psu-corporate-id'].map((name) => standard.last.headers[name]);
    expect(names).toEqual(['', 'TYPE-', 'CORP-'].map((before) => told && `${before}${told}`));
  });

  it('what gets tokens is not signed, has no other token, and may go to another host', async () => {
    const elsewhere = await standard.listen(standard.certificates.server);
    standard.expect('POST', '/own/token?role=AISP', json({ access_token: 't1' }));
    const tokens = { current: async () => 'other', renewed: async () => 'other' };
    const tokenEndpoint = `${elsewhere}/own/token?role=AISP`;
    const file = { oauth: { mode: 'pre-step' as const, tokenEndpoint } };
    const client = { clientId: 'PSDIT-BI-1', clientSecret: '' };
    const grant = { grant_type: 'refresh_token', refresh_token: 'r1' } as const;
    await openStandard({ file, tokens }).bank.login.tokens(client, grant, TRANSACTION_ID);
    const { headers, target } = standard.last;
    expect([headers.host, target]).toEqual([new URL(elsewhere).host, '/own/token?role=AISP']);
    expect([headers.signature, headers.authorization]).toEqual([undefined, undefined]);
  });

  it('the test of the signature reads no customer', async () => {
    standard.expect('GET', '/v1/accounts', refusal(403, 'CONSENT_UNKNOWN'));
    const { bank: opened, consentsFor } = openStandard();
    const { judge } = await opened.login.probe({ ...REQUEST, clientId: '', state: '' });
    expect(await judge()).toEqual({ says: expect.stringContaining('CONSENT_UNKNOWN') });
    expect(consentsFor).toEqual([]);
  });

  it('an address below a base URL with a path', async () => {
    standard.expect('GET', '/psd2/v1/accounts/a%2F1%3F/balances', BALANCES);
    const { bank } = openStandard({ baseUrl: `${standard.baseUrl}/psd2` });
    expect(await bank.accounts.balance('shop', 'a/1?', TRANSACTION_ID)).toHaveProperty('balances');
  });

  it('an access token goes where the bank wants it', async () => {
    const tokens = { current: async () => 't1', renewed: async () => 't2' };
    for (const [file, name] of [
      [{}, 'authorization'],
      [{ oauth: { tokenHeader: 'PSD2-AUTHORIZATION' } }, 'psd2-authorization'],
    ] as const)
      expect(await readStandard({ tokens, file })).toMatchObject({ [name]: 'Bearer t1' });
  });
});

describe('after a refusal', () => {
  const read = (answers: Parameters<typeof standard.expect>[2][], options: NextGenOptions = {}) => {
    for (const answer of answers) standard.expect('GET', '/v1/accounts/a1/balances', answer);
    const { bank: opened, sleeps } = openStandard(options);
    return { balance: opened.accounts.balance('shop', 'a1', TRANSACTION_ID), sleeps };
  };

  it('readings that are used up are not asked for again, and do not slow other calls down', async () => {
    const { balance, sleeps } = read([refusal(429, 'ACCESS_EXCEEDED')]);
    await expect(balance).rejects.toMatchObject({
      ...{ code: 'too_many_calls', lasts: true },
      hint: expect.stringContaining('tomorrow'),
    });
    expect(sleeps).toEqual([]);
  });

  it('another 429 is asked for again', async () => {
    const { balance, sleeps } = read([{ status: 429, headers: { 'retry-after': '1' } }, BALANCES]);
    await balance;
    expect(sleeps.length).toBeGreaterThan(0);
  });

  // test/bank/token-renewal.test.ts has what a refused token costs.
  it('a refused consent costs no new token', async () => {
    const renewed = () => Promise.reject(new TypeError('No token is refused'));
    const tokens = { current: async () => 'old', renewed };
    const { balance } = read([refusal(401, 'CONSENT_INVALID')], { tokens });
    await expect(balance).rejects.toMatchObject({ code: 'not_logged_in' });
  });
});

// From here on each bank differs from the standard, so each test says what is to be signed.
const bank = useNextGenBank(() => []);
const open = useNextGen(bank);

async function requestOf(file: Omit<BankFile, 'interface'>, more: object = {}) {
  const version = file.api?.version ?? 'v1';
  bank.expect('POST', file.api?.paths?.createConsent ?? `/${version}/consents`, CREATED);
  await open({ file, ...more }).bank.consents.request(REQUEST);
  return bank.last;
}

async function readingOf(file: Omit<BankFile, 'interface'>, more: object = {}) {
  bank.expect('GET', '/v1/accounts/a1/balances', BALANCES);
  await open({ file, ...more }).bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
  return bank.last;
}

describe('the fields of a bank file', () => {
  it('signing.headers, ifSent, keyId and date decide what is signed', async () => {
    const file = {
      headers: { date: 'signed' as const },
      signing: {
        headers: ['(request-target)', 'date', 'digest', 'x-request-id'],
        ifSent: ['tpp-redirect-uri', 'psu-id'],
        keyId: { form: 'fixed' },
      },
    };
    const { method, target, headers } = await requestOf(file);
    const signed = ['(request-target)', 'date', 'digest', 'x-request-id', 'tpp-redirect-uri'];
    const key = publicKeyOf(bank.certificates.qseal);
    expect(signatureProblem({ method, url: target, headers }, signed, 'fixed', key)).toBeNull();
    expect(new Date(headers.date ?? '').toString()).not.toBe('Invalid Date');
  });

  it('a header that must be signed but is not sent is a mistake in the bank file', async () => {
    const client = open({ file: { signing: { headers: ['digest', 'psu-id'] } } });
    await expect(client.bank.consents.request(REQUEST)).rejects.toMatchObject({
      code: 'config',
      message: 'The bank file wants the header psu-id signed, but this call has none',
      hint: 'Name it in signing.ifSent instead of signing.headers.',
    });
  });

  it('rsa-sha512 and SHA-512', async () => {
    const file = {
      signing: { algorithm: 'rsa-sha512' as const, digest: 'SHA-512' as const, keyId: { form: 'x' } },
    };
    const { method, target, headers, body } = await requestOf(file);
    const signed = ['digest', 'x-request-id', 'tpp-redirect-uri'];
    const key = publicKeyOf(bank.certificates.qseal);
    expect(signatureProblem({ method, url: target, headers }, signed, 'x', key, 'rsa-sha512')).toBeNull();
    expect(digestProblem(headers.digest, body, 'SHA-512')).toBeNull();
  });

  it.each([
    ['never', false, false],
    ['with-body', false, true],
    ['always', true, true],
  ] as const)('signing.when %s', async (when, reading, request) => {
    const names = ['signature', 'digest', 'tpp-signature-certificate'];
    const sent = (headers: Record<string, string>) => names.map((name) => name in headers);
    const file = { signing: { when } };
    expect(sent((await readingOf(file)).headers)).toEqual(names.map(() => reading));
    expect(sent((await requestOf(file)).headers)).toEqual(names.map(() => request));
  });

  it('signing.emptyBodyDigest: without it, a reading has no digest, and signs none', async () => {
    const { headers } = await readingOf({ signing: { emptyBodyDigest: false } });
    expect(headers).not.toHaveProperty('digest');
    expect(headers.signature).toContain('headers="x-request-id"');
  });

  it.each([
    ['never', false],
    ['always', true],
    ['signed', false],
  ] as const)('headers.date %s on a call that is not signed', async (date, isSent) => {
    const { headers } = await readingOf({ headers: { date }, signing: { when: 'never' } });
    expect('date' in headers).toBe(isSent);
  });

  it('a header is signed once that has two names, of which one is in headers and the other in ifSent', async () => {
    const headers = { names: { 'X-Request-ID': 'Own-ID' } };
    for (const [name, other] of [
      ['x-request-id', 'own-id'],
      ['own-id', 'x-request-id'],
    ] as const) {
      const signing = { headers: ['digest', name], ifSent: [other] };
      expect((await readingOf({ headers, signing })).headers.signature).toContain('headers="digest own-id"');
    }
  });

  it.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
    'an operation whose %s the bank file says has no other token',
    async (name) => {
      const tokens = { current: async () => 't1', renewed: async () => 't1' };
      const perOperation = { createConsent: { [name]: 'Basic own' } };
      expect((await requestOf({ headers: { perOperation } }, { tokens })).headers.authorization).toBe(
        'Basic own',
      );
      expect((await readingOf({ headers: { perOperation } }, { tokens })).headers.authorization).toBe(
        'Bearer t1',
      );
    },
  );

  it('headers.static, perOperation, accept and contentType', async () => {
    const file = {
      headers: {
        static: { 'X-API-Key': 'k', 'aspsp-code': '1' },
        perOperation: { createConsent: { 'aspsp-product-code': 'p' } },
        accept: 'JSON',
        contentType: 'application/json; charset=utf-8',
      },
    };
    const request = await requestOf(file);
    expect(request.headers).toMatchObject({
      ...{ 'x-api-key': 'k', 'aspsp-code': '1', 'aspsp-product-code': 'p', accept: 'JSON' },
      'content-type': 'application/json; charset=utf-8',
    });
    const { headers } = await readingOf(file);
    expect(headers).toMatchObject({ 'x-api-key': 'k' });
    expect(headers).not.toHaveProperty('aspsp-product-code');
  });

  it('a bank file cannot replace the id, the digest or the signature', async () => {
    const own = { 'X-Request-ID': 'x', Digest: 'y', Signature: 'z' };
    const { headers, body } = await requestOf({ headers: { static: own } });
    expect(headers['x-request-id']).not.toBe('x');
    expect(digestProblem(headers.digest, body)).toBeNull();
    expect(headers.signature).toMatch(/^keyId="SN=/);
  });

  it('api.version and api.paths', async () => {
    await requestOf({ api: { version: 'berlingroup/1.3.6' } });
    await requestOf({ api: { paths: { createConsent: '/special/v2/consents' } } });
    bank.expect('GET', '/own/a1/money', BALANCES);
    const file = { api: { paths: { getBalances: '/own/{account-id}/money' } } };
    const { accounts } = open({ file }).bank;
    expect(await accounts.balance('shop', 'a1', TRANSACTION_ID)).toHaveProperty('balances');
  });

  it.each(['id', 'idType', 'corporateId'] as const)(
    'psu.%s can be required, or never sent',
    async (field) => {
      const name = { id: 'psu-id', idType: 'psu-id-type', corporateId: 'psu-corporate-id' }[field];
      const psu = { id: undefined, idType: undefined, corporateId: undefined, [field]: 'value' };
      expect((await requestOf({ psu: { [field]: 'never' } }, { psu })).headers).not.toHaveProperty(name);
      expect((await requestOf({ psu: { [field]: 'required' } }, { psu })).headers[name]).toBe('value');
      const { bank: without } = open({ file: { psu: { [field]: 'required' } } });
      await expect(without.consents.request(REQUEST)).rejects.toMatchObject({
        code: 'usage',
        message: `This bank wants --${name}`,
      });
    },
  );

  it('psu.ip is a fixed address, or must be given', async () => {
    expect((await requestOf({ psu: { ip: '198.51.100.4' } })).headers['psu-ip-address']).toBe('198.51.100.4');
    const given = await requestOf({ psu: { ip: '198.51.100.4' } }, { psuIpAddress: '203.0.113.9' });
    expect(given.headers['psu-ip-address']).toBe('203.0.113.9');
    const required = open({ file: { psu: { ip: 'required' } } }).bank;
    await expect(required.consents.request(REQUEST)).rejects.toMatchObject({
      ...{ code: 'usage', hint: 'Give it with --psu-ip.' },
    });
    const reading = await readingOf({ psu: { ip: '198.51.100.4' } });
    expect(reading.headers).not.toHaveProperty('psu-ip-address');
  });

  it('sca.start and sca.approaches say what psd2 prefers', async () => {
    const explicit = await requestOf({ sca: { start: 'explicit' } });
    expect(explicit.headers['tpp-explicit-authorisation-preferred']).toBe('true');
    const decoupled = await requestOf({ sca: { approaches: ['decoupled', 'redirect'] } });
    expect(decoupled.headers).toMatchObject({
      'tpp-redirect-preferred': 'false',
      'tpp-decoupled-preferred': 'true',
    });
  });
});

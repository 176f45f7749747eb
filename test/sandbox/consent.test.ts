import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bankTimestamp } from '../../src/sandbox/ledger/bank-time.ts';
import { codeOf, detailOf, type Reply, refusalOf, resourceOf, useTestBank } from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';
const MINUTE = 60_000;
const RETURN = 'http://127.0.0.1:8910/callback?state=a%2Fb&flow=1';

const SUCCESS = { outcome: 'SUCCESS', requestId: expect.any(String), flushMessages: true, messages: [] };

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

const request = (categories?: object[]) => bank.tpp.requestConsent(token, categories);
const requested = async () => resourceOf(await request());

function approach(id: string, redirectUri: string | null = RETURN): Promise<Reply> {
  return bank.tpp.send({
    path: `/private/auth/security/sca/${id}/approach`,
    token,
    headers: { 'TPP-Redirect-URI': redirectUri },
  });
}

const confirm = (id: string, body?: string) => bank.tpp.confirmConsent(token, id, body);

function status(id: string): Promise<Reply> {
  return bank.tpp.send({ path: `/private/operations/${id}/status`, token });
}

describe('a consent', () => {
  test('the TPP requests a consent, the customer authorises it, and the TPP confirms it', async () => {
    const reply = await request([
      { name: 'ACCOUNT_INFO', products: ['0010482620', '0010482638', '0000093017'] },
      { name: 'PAYMENTS', products: ['0010482620'] },
    ]);
    const id = resourceOf(reply);
    const curies = [{ href: `${bank.sandbox.baseUrl}${CUSTOMER}/consent/{rel}`, name: 'consent' }];
    expect(reply.json).toEqual({
      result: SUCCESS,
      data: {
        categoriesOutcome: [
          { name: 'ACCOUNT_INFO', outcome: true },
          { name: 'PAYMENTS', outcome: true },
        ],
      },
      resources: { resourceId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      _links: {
        self: { href: 'request', method: 'POST' },
        next: { href: `request/${id}/confirm`, method: 'PUT' },
        curies,
      },
    });

    const sca = await approach(id);
    expect(sca.json).toEqual({
      result: SUCCESS,
      data: {
        scaRedirectURL: `${bank.sandbox.customerSiteUrl}/sca-authorize/?resourceId=${id}`,
        chosenScaApproach: 'REDIRECT',
      },
      resources: { resourceId: id },
    });
    const [current, savings, card] = [
      { productId: '0010482620', description: 'CONTO CORRENTE', iban: 'IT89F0999001600000010482620' },
      { productId: '0010482638', description: 'CONTO RISPARMIO', iban: 'IT31P0999001600000010482638' },
      { productId: '0000093017', description: 'CARTA DI CREDITO', iban: 'IT89F0999001600000010482620' },
    ];
    expect(bank.sandbox.customers.scaRequest(id)).toEqual({
      state: 'PENDING',
      request: {
        ...{ kind: 'consent', until: '2027-05-19', resourceId: id },
        ...{ tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
        categories: [
          { name: 'ACCOUNT_INFO', products: [current, savings, card] },
          { name: 'PAYMENTS', products: [current] },
        ],
      },
    });
    expect(bank.sandbox.customers.approveSca(id).href).toBe(RETURN);

    const confirmed = await confirm(id);
    expect(confirmed.json).toEqual({
      result: SUCCESS,
      data: {},
      resources: { resourceId: id },
      _links: {
        self: { href: `request/${id}/confirm`, method: 'PUT' },
        curies,
      },
    });
    expect((await status(id)).json.data).toMatchObject({
      authorizationStatus: 'AUTHORIZED',
      executionStatus: 'OK',
    });
  });

  test('the bank confirms a consent only once', async () => {
    const id = await requested();
    await approach(id);
    bank.sandbox.customers.approveSca(id);
    expect((await confirm(id)).status).toBe(200);
    expect(refusalOf(await confirm(id))).toBe('400 ALREADY_CONFIRMED');
  });

  test('the body that confirms a consent is an empty object', async () => {
    const id = await requested();
    expect(codeOf(await confirm(id, '{"data":{}}'))).toBe('FIELD_INVALID');
  });

  const [payments, savings] = ['0010482620', '0010482638'].map((id) => ({
    name: 'PAYMENTS',
    products: [id],
  }));
  test.each([
    [[], '417 FIELD_INVALID'],
    [[{ name: 'ACCOUNT_INFO', products: [] }], '417 FIELD_INVALID'],
    [[{ name: 'ACCOUNTS', products: ['0010482620'] }], '417 FIELD_INVALID'],
    [[{ name: 'PAYMENTS', products: ['10482620'] }], '417 FIELD_INVALID'],
    [[{ name: 'PAYMENTS', products: ['0020739150'] }], '412 PRODUCT_UNKNOWN'],
    [[{ name: 'PAYMENTS', products: ['0010482620', '0010482620'] }], '417 FIELD_INVALID'],
    [[{ ...payments }, { ...savings }], '417 FIELD_INVALID'],
  ])('the bank refuses a consent for %j', async (categories, refusal) => {
    expect(refusalOf(await request(categories))).toBe(refusal);
  });

  const CARD = '0000093017';
  test.each<[category: string, products: string[], isOffered: boolean]>([
    ['FUNDS_AVAILABILITY', ['0010482620'], true],
    ['FUNDS_AVAILABILITY', ['0010482620', '0010482638'], true],
    ['FUNDS_AVAILABILITY', [CARD], false],
    ['FUNDS_AVAILABILITY', ['0010482620', CARD], false],
    ['FUNDS_AVAILABILITY', [CARD, '0010482620'], false],
    ['ACCOUNT_INFO', [CARD], true],
    ['PAYMENTS', [CARD], true],
  ])('the bank offers %s for %j: %s', async (name, products, outcome) => {
    const { json } = await request([{ name, products }]);
    expect(json.data?.categoriesOutcome).toEqual([{ name, outcome }]);
  });

  test('the bank refuses a consent request with client credentials', async () => {
    const body = { data: { categories: [{ name: 'ACCOUNT_INFO', products: ['0010482620'] }] } };
    const call = { path: `${CUSTOMER}/consent/request`, body, ...(await bank.tpp.clientCredentials()) };
    expect(refusalOf(await bank.tpp.send({ method: 'POST', ...call }))).toBe('403 NOT_ALLOWED');
  });
});

describe('SCA', () => {
  test('SCA is pending until the customer decides', async () => {
    const id = await requested();
    expect(bank.sandbox.customers.scaRequest(id)).toBeUndefined();
    await approach(id);
    expect((await status(id)).json).toEqual({
      result: SUCCESS,
      data: {
        creationTimestamp: bankTimestamp(bank.clock.now()),
        authorizationStatus: 'PENDING',
        executionStatus: 'PENDING',
      },
      resources: { resourceId: id },
    });
    const early = await confirm(id);
    expect(refusalOf(early)).toBe('400 NOT_AUTHORIZED');
    expect(detailOf(early)).toBe('Expected: authorizationStatus AUTHORIZED. It is PENDING.');
  });

  test('SCA stays refused after the customer refused it', async () => {
    const id = await requested();
    await approach(id);
    expect(bank.sandbox.customers.refuseSca(id).href).toBe(RETURN);
    expect(bank.sandbox.customers.approveSca(id).href).toBe(RETURN);
    expect((await status(id)).json.data?.authorizationStatus).toBe('NOT_AUTHORIZED');
    expect(codeOf(await confirm(id))).toBe('NOT_AUTHORIZED');
    expect(refusalOf(await approach(id))).toBe('400 SCA_FINISHED');
  });

  test('SCA expires after ten minutes, and a later approval changes nothing', async () => {
    const id = await requested();
    await approach(id);
    bank.clock.advance(10 * MINUTE);
    expect((await status(id)).json.data?.authorizationStatus).toBe('PENDING');
    bank.clock.advance(1);
    expect((await status(id)).json.data?.authorizationStatus).toBe('EXPIRED');
    expect(bank.sandbox.customers.scaRequest(id)?.state).toBe('EXPIRED');
    bank.sandbox.customers.approveSca(id);
    expect((await status(id)).json.data?.authorizationStatus).toBe('EXPIRED');
    expect(codeOf(await confirm(id))).toBe('NOT_AUTHORIZED');
  });

  test('a TPP may start pending SCA again, and the customer then returns to the newer address', async () => {
    const id = await requested();
    await approach(id, 'https://tpp.example/first');
    bank.clock.advance(9 * MINUTE);
    await approach(id, 'https://tpp.example/second');
    bank.clock.advance(9 * MINUTE);
    expect(bank.sandbox.customers.approveSca(id).href).toBe('https://tpp.example/second');
    expect((await status(id)).json.data?.authorizationStatus).toBe('AUTHORIZED');
  });

  test('the bank does not start SCA without a valid address to return to', async () => {
    const id = await requested();
    expect(codeOf(await approach(id, null))).toBe('HEADER_MISSING');
    expect(codeOf(await approach(id, 'http://tpp.example/callback'))).toBe('REDIRECT_URI_INVALID');
  });
});

describe('a resource', () => {
  test.each([
    ['an unknown id', randomUUID(), '412 RESOURCE_UNKNOWN'],
    ['an id of the wrong form', 'latest', '417 FIELD_INVALID'],
  ])('the bank refuses a resource with %s', async (_name, id, refusal) => {
    for (const reply of [await status(id), await approach(id), await confirm(id)])
      expect(refusalOf(reply)).toBe(refusal);
  });

  test("the bank answers for another customer's resource as for an unknown one", async () => {
    const id = await requested();
    const other = (await bank.tpp.login('bruno')).accessToken;
    const reply = await bank.tpp.send({ path: `/private/operations/${id}/status`, token: other });
    expect(refusalOf(reply)).toBe('412 RESOURCE_UNKNOWN');
  });
});

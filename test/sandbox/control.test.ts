import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, describe, expect, test } from 'vitest';
import { readSeed } from '../../src/sandbox/seed/read-seed.ts';
import { codeOf, type Json, list, newTestBank, order, useTestBank } from './tpp.ts';

const ANNA = '1048262';
const CURRENT = '0010482620';
const BALANCE = `/private/customers/${ANNA}/products/${CURRENT}/balance/retrieve`;
const UUID = '2c3a4f4e-9d3b-4a6e-8a44-0c7b6fd1a111';

const folder = mkdtempSync(join(tmpdir(), 'psd2-seed-'));
afterAll(() => rmSync(folder, { recursive: true }));

function seedFile(content: object | string): string {
  const path = join(folder, 'seed.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const DORA = {
  user: 'dora',
  accounts: [
    {
      kind: 'current',
      opening: '100.00',
      transactions: [
        { day: '2026-11-02', amount: '-12.50', description: 'Bread' },
        { day: '2026-11-19', amount: '-1.00', description: 'Coffee', pending: true },
      ],
    },
    { kind: 'card' },
  ],
  consents: [{ category: 'ACCOUNT_INFO', givenOn: '2026-06-01' }],
  nextgenpsd2Consents: [{ consentId: UUID, validUntil: '2027-01-31' }],
};

const { sandbox, tpp } = await useTestBank({
  consents: 'enforced',
  seed: await readSeed(seedFile({ customers: [DORA] }), 0),
});

const give = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  order(sandbox, method, path, body);

async function tokenOf(customerId: string): Promise<string> {
  return String((await give('POST', '/tokens', { customerId })).json.accessToken);
}

/** The names of the fields in a schema, of its rows or of what it may be. */
function namedIn(schema: unknown): string[] {
  const { properties = {}, items, anyOf = [] } = Object(schema);
  return [...Object.keys(properties), ...[items, ...anyOf].filter(Boolean).flatMap(namedIn)];
}

describe('the orders to the bank', () => {
  test('the OpenAPI describes every order, and every real answer is as it says', async () => {
    const { json: api } = await give('GET', '/openapi.json');
    expect(api.openapi).toBe('3.1.0');
    const described = Object.entries(api.paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const calls: [method: 'GET' | 'POST' | 'DELETE', path: string, real: string, body?: object][] = [
      ['POST', '/faults', '/faults', { fault: 'delay=1', on: 'accounts', forSeconds: 5, customer: 'bruno' }],
      ['GET', '/faults', '/faults'],
      ['DELETE', '/faults/{id}', '/faults/1'],
      ['DELETE', '/faults', '/faults'],
      ['GET', '/clock', '/clock'],
      ['POST', '/clock', '/clock', { forwardSeconds: 1 }],
      ['GET', '/customers', '/customers'],
      ['POST', '/customers', '/customers', { user: 'emil' }],
      ['POST', '/customers/{user}/reset', '/customers/emil/reset'],
      ['POST', '/customers/{user}/revoke-consents', `/customers/${ANNA}/revoke-consents`],
      ['POST', '/tokens', '/tokens', { customerId: ANNA }],
      ['GET', '/nextgenpsd2/requests', '/nextgenpsd2/requests'],
      ['POST', '/nextgenpsd2/decide', '/nextgenpsd2/decide', { id: 'none', decision: 'refuse' }],
      ['POST', '/nextgenpsd2/revoke', '/nextgenpsd2/revoke', { consentId: UUID }],
      ['GET', '/nextgenpsd2/devices', '/nextgenpsd2/devices'],
      ['POST', '/customers/{user}/read-tan', '/customers/anna/read-tan'],
      ['GET', '/nextgenpsd2/payments', '/nextgenpsd2/payments'],
      ['POST', '/nextgenpsd2/execute', '/nextgenpsd2/execute', { paymentId: 'none' }],
      ['POST', '/reset', '/reset'],
    ];
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    for (const [method, path, real, body] of calls) {
      const { status, json } = await give(method, real, body);
      const described = api.paths?.[path]?.[method.toLowerCase()];
      const what = `${method} ${path} ${status}`;
      const schema = described?.responses?.[String(status)]?.content?.['application/json']?.schema;
      expect(schema, what).toBeDefined();
      const isRight = ajv.validate(JSON.parse(JSON.stringify(schema)), json);
      expect(isRight, `${what}: ${ajv.errorsText()}`).toBe(true);
      // An answer has what the OpenAPI names, and no more.
      const rows = Array.isArray(json) ? json : [json];
      expect(
        rows.flatMap((row) => Object.keys(row ?? {})).filter((name) => !namedIn(schema).includes(name)),
        what,
      ).toEqual([]);
      const bodySchema = described?.requestBody?.content?.['application/json']?.schema;
      if (body) expect(ajv.validate(JSON.parse(JSON.stringify(bodySchema)), body), path).toBe(true);
    }
    expect(calls.map(([method, path]) => `${method} ${path}`).toSorted()).toEqual(described.toSorted());
  });

  test.each([
    ['GET', '/nothing'],
    ['DELETE', '/clock'],
    ['GET', ''],
  ] as const)('%s /control%s is refused in JSON, as the OpenAPI says', async (method, path) => {
    expect(await give(method, path)).toEqual({
      status: 404,
      json: { error: `The sandbox control has no ${method} /control${path}` },
    });
  });

  test("the bank's time ends tokens and consents, and the client's own time still signs", async () => {
    await give('POST', '/reset');
    const before = await tokenOf(ANNA);
    await tpp.giveConsent(before);
    expect((await tpp.send({ path: BALANCE, token: before })).status).toBe(200);
    expect((await give('POST', '/clock', { forwardSeconds: 4000 })).json.aheadSeconds).toBe(4000);
    expect(codeOf(await tpp.send({ path: BALANCE, token: before }))).toBe('TOKEN_EXPIRED');
    const renewed = await tokenOf(ANNA);
    expect((await tpp.send({ path: BALANCE, token: renewed })).status).toBe(200);
    await give('POST', '/clock', { time: '2027-12-24T23:30:00+01:00' });
    const later = await tokenOf(ANNA);
    expect(codeOf(await tpp.send({ path: BALANCE, token: later }))).toBe('CONSENT_MISSING');
    const back = await give('POST', '/clock', { time: '2027-12-24T10:00:00Z' });
    expect([back.status, back.json.error]).toEqual([400, expect.stringContaining('only moves forward')]);
    await give('POST', '/reset');
    expect((await give('GET', '/clock')).json.aheadSeconds).toBe(0);
  });

  test('a reset of a customer ends what is theirs, and leaves the others alone', async () => {
    await give('POST', '/reset');
    const [anna, bruno] = [await tokenOf(ANNA), await tokenOf('2073915')];
    await tpp.giveConsent(anna);
    const name = { path: '/private/customers/customerid-info' };
    expect((await give('POST', '/customers/anna/reset')).status).toBe(200);
    expect(codeOf(await tpp.send({ ...name, token: anna }))).toBe('TOKEN_INVALID');
    expect((await tpp.send({ ...name, token: bruno })).status).toBe(200);
    expect(codeOf(await tpp.send({ path: BALANCE, token: await tokenOf(ANNA) }))).toBe('CONSENT_MISSING');
    expect((await give('POST', '/customers/nobody/reset')).json.error).toBe('There is no customer nobody');
  });

  test('a fault of one customer leaves the others alone, and ends by the time of the bank', async () => {
    await give('POST', '/reset');
    const [anna, bruno] = [await tokenOf(ANNA), await tokenOf('2073915')];
    await give('POST', '/faults', { fault: 'status=503', customer: 'bruno', forSeconds: 60 });
    const read = async (token: string) =>
      (await tpp.send({ path: '/private/customers/customerid-info', token })).status;
    expect([await read(anna), await read(bruno)]).toEqual([200, 503]);
    await give('POST', '/clock', { forwardSeconds: 61 });
    expect([await read(bruno), (await give('GET', '/faults')).json]).toEqual([200, []]);
    expect((await give('POST', '/faults', { fault: 'empty', customer: 'nobody' })).status).toBe(404);
  });
});

test.each<[what: string, path: string, as: 'anna' | 'bruno' | 'application', isChanged: boolean]>([
  ['their token', '/private/customers/customerid-info', 'bruno', true],
  ['the token of another one', '/private/customers/customerid-info', 'anna', false],
  ['the token of no customer', '/private/customers/customerid-info', 'application', false],
  ['their path, and the token of no customer', '/private/customers/2073915/accounts', 'application', true],
  ['their path within another one', '/private/prefix/customers/2073915/accounts', 'application', true],
  ['the path of another one', `/private/customers/${ANNA}/accounts`, 'application', false],
  ['the path of another one, and their token', `/private/customers/${ANNA}/accounts`, 'bruno', false],
  ['a longer number in the path', '/private/customers/20739150/accounts', 'application', false],
])('whose call it is, for a fault of a customer: %s', async (_, path, as, isChanged) => {
  await give('POST', '/reset');
  await give('POST', '/faults', { fault: 'status=503', customer: 'bruno' });
  const caller =
    as === 'application'
      ? await tpp.clientCredentials()
      : { token: await tokenOf(as === 'anna' ? ANNA : '2073915') };
  expect((await tpp.send({ path, ...caller })).status === 503).toBe(isChanged);
  await give('DELETE', '/faults');
});

test('a fault of a customer leaves a call without a token alone', async () => {
  await give('POST', '/reset');
  await give('POST', '/faults', { fault: 'status=503', customer: 'bruno' });
  expect(codeOf(await tpp.send({ path: '/private/customers/customerid-info' }))).toBe('TOKEN_MISSING');
  await give('DELETE', '/faults');
});

describe('a seed', () => {
  const doraBut = (...all: object[]) => ({ customers: all.map((changes) => ({ ...DORA, ...changes })) });
  const withAccount = (account: object) => doraBut({ accounts: [{ kind: 'current', ...account }] });
  const FIRST = 'customers[0]';
  const FOREIGN = { consents: [{ category: 'PAYMENTS', products: [CURRENT] }] };

  test('its customers have their accounts, transactions and consents, at both doors', async () => {
    await give('POST', '/reset');
    const { json } = await give('GET', '/customers');
    const dora = Object.values(json).find(({ user }) => String(user) === 'dora');
    expect(dora).toMatchObject({ customerId: '6000001', accounts: ['0060000010', '0160000011'] });
    const token = await tokenOf('6000001');
    const product = '/private/customers/6000001/products/0060000010';
    const { data } = (await tpp.send({ path: `${product}/balance/retrieve`, token })).json;
    expect(data).toMatchObject({
      accountBalance: { amount: '87.500' },
      availableBalance: { amount: '86.500' },
    });
    expect((await give('POST', '/customers/dora/revoke-consents')).json).toEqual({ revoked: 3 });
    expect(codeOf(await tpp.send({ path: `${product}/balance/retrieve`, token }))).toBe('CONSENT_MISSING');
  });

  test('its consents are for all accounts or those that it names, and were given today or on its day', async () => {
    const emil = {
      user: 'emil',
      accounts: [
        { kind: 'current', productId: '0060000010' },
        { kind: 'savings', productId: '0060000028' },
        { kind: 'card', productId: '0160000011' },
      ],
      consents: [
        { category: 'ACCOUNT_INFO' },
        { category: 'PAYMENTS', products: ['0060000010'], givenOn: '2026-06-01' },
        { category: 'FUNDS_AVAILABILITY', products: ['0060000010', '0160000011'] },
      ],
    };
    const seed = await readSeed(seedFile({ customers: [emil] }), 0);
    const own = await newTestBank({ consents: 'enforced', seed });
    const flows = await fetch(`${own.sandbox.customerSiteUrl}/console/flows`);
    const { doors }: Json = JSON.parse(await flows.text());
    const lines = list(doors?.cb?.consents).map(({ customer, category, productId, givenAt, endsAt }) => {
      const [from, to] = [givenAt, endsAt].map(String);
      const days = Math.round((Date.parse(to ?? '') - Date.parse(from ?? '')) / 86_400_000);
      return `${customer} ${category} ${productId} ${from?.slice(0, 10)} ${days}`;
    });
    expect(lines.toSorted()).toEqual([
      'emil ACCOUNT_INFO 0060000010 2026-11-20 180',
      'emil ACCOUNT_INFO 0060000028 2026-11-20 180',
      'emil ACCOUNT_INFO 0160000011 2026-11-20 180',
      'emil FUNDS_AVAILABILITY 0060000010 2026-11-20 180',
      'emil FUNDS_AVAILABILITY 0160000011 2026-11-20 180',
      'emil PAYMENTS 0060000010 2026-06-01 180',
    ]);
  });

  test.each([
    ['{"customers": [', 'is not valid JSON'],
    [[], 'the file: must be an object with a list "customers"'],
    [{ customers: 5 }, 'customers: must be a list'],
    [{ customers: [{}] }, 'customers[0].user: must be a text'],
    [withAccount({ kind: 'cheque' }), 'accounts[0].kind: must be "current" or "savings" or "card"'],
    [doraBut({ user: 'Dora' }), 'customers[0].user: must be 1 to 40 small letters'],
    [doraBut({ acounts: [] }), 'customers[0].acounts is not a field of a seed'],
    [doraBut({ user: 'anna' }), 'customers[0].user: the bank already has a customer anna'],
    [doraBut({}, { user: 'emil', customerId: '6000001' }), 'customers[1].customerId: the bank'],
    [
      withAccount({ productId: CURRENT }),
      `${FIRST}.accounts[0].productId: the bank already has an account ${CURRENT}`,
    ],
    [doraBut(FOREIGN), `${FIRST}.consents[0].products[0]: the customer has no account ${CURRENT}`],
    [withAccount({ opening: '1,00' }), `${FIRST}.accounts[0].opening: must be an amount with two decimals`],
  ])('a bad seed is refused with the path of what is wrong: %j', async (content, message) => {
    await expect(readSeed(seedFile(content), 0)).rejects.toThrow(message);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { codeOf, type Json, order, useTestBank } from '../tpp.ts';

const ANNA = '1048262';
const NAME = { path: '/private/customers/customerid-info' };
const TEN_YEARS = 3650 * 24 * 60 * 60;

// With generated customers, whom no list has.
const { sandbox, tpp } = await useTestBank({ customers: 3 });
const give = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  order(sandbox, method, path, body);
const reset = () => give('POST', '/reset');
beforeEach(reset);

const refused = (status: number, error: string) => ({ status, json: { error } });
const invalid = (what: string, fields: string) =>
  refused(400, `These fields of the ${what} are not valid: ${fields}`);

describe("the bank's time", () => {
  test.each<[body: object, ahead: number]>([
    [{ forwardSeconds: 1 }, 1],
    [{ forwardSeconds: TEN_YEARS }, TEN_YEARS],
    [{ time: '2026-11-20T12:00:00.000+01:00' }, 0],
    [{ time: '2026-11-20T11:00:10Z' }, 10],
    [{ time: '2036-11-17T11:00:00Z' }, TEN_YEARS],
  ])('moves forward by %j', async (body, aheadSeconds) => {
    const time = new Date(Date.parse('2026-11-20T11:00:00Z') + aheadSeconds * 1000).toISOString();
    expect(await give('POST', '/clock', body)).toEqual({ status: 200, json: { time, aheadSeconds } });
    expect(await give('GET', '/clock')).toEqual({ status: 200, json: { time, aheadSeconds } });
  });

  test.each<[body: object, refusal: object]>([
    [{ forwardSeconds: TEN_YEARS + 1 }, invalid('clock', 'forwardSeconds')],
    [{ forwardSeconds: 0 }, invalid('clock', 'forwardSeconds')],
    [{ forwardSeconds: 1.5 }, invalid('clock', 'the body')],
    [{ time: '2026-11-20' }, invalid('clock', 'time')],
    [{ time: '2036-11-17T11:00:01Z' }, refused(400, "The bank's time can move at most ten years at once")],
    [
      { time: '2026-11-20T10:59:59Z' },
      refused(
        400,
        "The bank's time is 2026-11-20T11:00:00.000Z. It only moves forward: a reset takes it back",
      ),
    ],
  ])('does not move by %j', async (body, refusal) => {
    expect(await give('POST', '/clock', body)).toEqual(refusal);
    expect((await give('GET', '/clock')).json.aheadSeconds).toBe(0);
  });
});

describe('customers', () => {
  const users = async () =>
    Object.values((await give('GET', '/customers')).json).map(({ user }) => String(user));

  test('are those of the bank, each with what it takes to log in', async () => {
    const [anna] = Object.values((await give('GET', '/customers')).json);
    expect(anna).toEqual({
      ...{ user: 'anna', password: 'anna-sandbox', customerId: ANNA, name: 'Anna Esposito' },
      accounts: ['0010482620', '0010482638', '0000093017'],
    });
    expect(await users()).toEqual(['anna', 'bruno', 'carla']);
  });

  test('can be added, as in a seed, until the next reset', async () => {
    const added = await give('POST', '/customers', { user: 'emil', firstName: 'Emil', lastName: 'Z' });
    expect(added).toEqual({
      status: 201,
      json: {
        ...{ user: 'emil', password: 'emil-sandbox', customerId: '6000001', name: 'Emil Z' },
        accounts: ['0060000010'],
      },
    });
    expect(await users()).toEqual(['anna', 'bruno', 'carla', 'emil']);
    const { json } = await give('POST', '/tokens', { customerId: '6000001' });
    expect((await tpp.send({ ...NAME, token: String(json.accessToken) })).status).toBe(200);
    await reset();
    expect(await users()).toEqual(['anna', 'bruno', 'carla']);
  });

  test.each<[body: object, refusal: object]>([
    [{ user: 'anna' }, refused(400, 'customer.user: the bank already has a customer anna')],
    [
      { user: 'customer-000003' },
      refused(400, 'customer.user: the bank already has a customer customer-000003'),
    ],
    [
      { user: 'emil', customerId: '5000003' },
      refused(400, 'customer.customerId: the bank already has a customer 5000003'),
    ],
    [
      { user: 'emil', customerId: ANNA },
      refused(400, `customer.customerId: the bank already has a customer ${ANNA}`),
    ],
    [
      { user: 'emil', consents: [{ category: 'PAYMENTS', products: ['0010482620'] }] },
      refused(400, 'customer.consents[0].products[0]: the customer has no account 0010482620'),
    ],
    [{ user: 'Emil' }, invalid('customer', 'user')],
    [{}, invalid('customer', 'user')],
    [{ user: 'emil', more: 1, less: 2 }, invalid('customer', 'more, less')],
  ])('%j is none', async (body, refusal) => {
    expect(await give('POST', '/customers', body)).toEqual(refusal);
    expect(await users()).toEqual(['anna', 'bruno', 'carla']);
  });

  test.each(['reset', 'revoke-consents', 'read-tan'])(
    '%s takes a user or an id, and no other name',
    async (what) => {
      const of = (name: string) => give('POST', `/customers/${name}/${what}`);
      expect((await of('anna')).status).toBe(200);
      expect(await of(ANNA)).toEqual(await of('anna'));
      expect(await of('nobody')).toEqual(refused(404, 'There is no customer nobody'));
      expect(await of('Anna')).toEqual(refused(404, 'There is no customer Anna'));
      for (const generated of ['customer-000001', 'customer-000003', '5000003'])
        expect((await of(generated)).status).toBe(200);
      for (const name of ['customer-000000', 'customer-000004', '5000000', '5000004'])
        expect(await of(name)).toEqual(refused(404, `There is no customer ${name}`));
    },
  );

  test('that withdraw their consents are told how many, once', async () => {
    const { json } = await give('POST', '/tokens', { customerId: ANNA });
    await tpp.giveConsent(String(json.accessToken));
    const revoke = async () => (await give('POST', '/customers/anna/revoke-consents')).json;
    expect([await revoke(), await revoke()]).toEqual([{ revoked: 1 }, { revoked: 0 }]);
  });
});

describe('tokens', () => {
  test('are those of a login, with how long they live, and not the secret of the application', async () => {
    const { status, json } = await give('POST', '/tokens', { customerId: ANNA });
    expect([status, json]).toEqual([
      200,
      {
        ...{ customerId: ANNA, accessToken: expect.any(String), refreshToken: expect.any(String) },
        ...{ accessTokenSeconds: 3500, refreshTokenSeconds: 2_592_000 },
      },
    ]);
    expect((await tpp.send({ ...NAME, token: String(json.accessToken) })).status).toBe(200);
    const { data } = (await tpp.refresh(String(json.refreshToken))).json;
    expect((await tpp.send({ ...NAME, token: String(data?.access_token) })).status).toBe(200);
  });

  test.each<[body: object, refusal: object]>([
    [
      { customerId: '0000000' },
      refused(400, 'The body names no customer of the sandbox: {"customerId":"..."}'),
    ],
    [{ customerId: 'anna' }, refused(400, 'The body names no customer of the sandbox: {"customerId":"..."}')],
    [{}, invalid('token order', 'customerId')],
    [{ customerId: 7 }, invalid('token order', 'customerId')],
  ])('are not issued for %j', async (body, refusal) => {
    expect(await give('POST', '/tokens', body)).toEqual(refusal);
  });
});

describe('faults', () => {
  const ids = async () => Object.values((await give('GET', '/faults')).json).map(({ id }) => Number(id));
  const add = async (body: object): Promise<Json> => (await give('POST', '/faults', body)).json;

  test('are removed one by one, or all at once, and the answer says how many', async () => {
    for (const fault of ['empty', 'delay=1', 'status=503']) await add({ fault });
    const [first, second, third] = await ids();
    expect([first, second, third].every((id) => id !== undefined)).toBe(true);
    const remove = async (path: string) => (await give('DELETE', path)).json;
    expect(await remove(`/faults/${second}`)).toEqual({ cleared: 1 });
    expect(await remove(`/faults/${second}`)).toEqual({ cleared: 0 });
    expect(await ids()).toEqual([first, third]);
    expect(await remove('/faults')).toEqual({ cleared: 2 });
    expect(await remove('/faults')).toEqual({ cleared: 0 });
  });

  test('of a customer are told to nobody else, and refused for none', async () => {
    await add({ fault: 'status=503', customer: 'bruno' });
    const { json } = await give('POST', '/tokens', { customerId: ANNA });
    expect((await tpp.send({ ...NAME, token: String(json.accessToken) })).status).toBe(200);
    expect(await give('POST', '/faults', { fault: 'empty', customer: 'nobody' })).toEqual(
      refused(404, 'There is no customer nobody'),
    );
    expect((await give('POST', '/faults', { fault: 'nonsense=' })).status).toBe(400);
    expect(await ids()).toHaveLength(1);
  });
});

test('a reset says so, and the bank is as at its start', async () => {
  const { json } = await give('POST', '/tokens', { customerId: ANNA });
  await give('POST', '/faults', { fault: 'empty' });
  await give('POST', '/clock', { forwardSeconds: 60 });
  expect(await reset()).toEqual({ status: 200, json: { reset: true } });
  expect(codeOf(await tpp.send({ ...NAME, token: String(json.accessToken) }))).toBe('TOKEN_INVALID');
  expect((await give('GET', '/faults')).json).toEqual([]);
  expect((await give('GET', '/clock')).json.aheadSeconds).toBe(0);
});

test.each([
  [{}, 'The control token of running.json is missing or wrong'],
  [{ authorization: 'Bearer x' }, 'The control token of running.json is missing or wrong'],
  [{ authorization: sandbox.running.controlToken }, 'The control token of running.json is missing or wrong'],
])('an order with %j is refused', async (headers, error) => {
  const answer = await fetch(`${sandbox.customerSiteUrl}/control/clock`, { headers });
  expect([answer.status, await answer.json()]).toEqual([401, { error }]);
  const described = await fetch(`${sandbox.customerSiteUrl}/control/openapi.json`, { headers });
  expect(described.status).toBe(200);
});

test.each([
  [16_000, 400],
  [16_385, 413],
])('a body of %i bytes is answered with %i', async (length, status) => {
  const body = JSON.stringify({ fault: 'x'.repeat(length - 12) });
  expect(body).toHaveLength(length);
  const authorization = `Bearer ${sandbox.running.controlToken}`;
  const answer = await fetch(`${sandbox.customerSiteUrl}/control/faults`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  expect(answer.status).toBe(status);
  if (status === 413) expect(await answer.json()).toEqual({ error: 'The body is too large' });
});

test('the OpenAPI says what each order does, takes and needs', async () => {
  const { json: api } = await give('GET', '/openapi.json');
  expect(api.info).toEqual({
    ...{ title: 'Control of the psd2 sandbox', version: '1' },
    description: 'Orders to the sandbox bank. Not a part of the PSD2 interface: no real bank has it.',
  });
  expect([api.servers, api.security, api.components]).toEqual([
    ...[[{ url: '/control' }], [{ controlToken: [] }]],
    { securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } } },
  ]);
  const operations = Object.entries(api.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const one = (name: string) => [{ name, in: 'path', required: true, schema: { type: 'string' } }];
  for (const { path, method, operation } of operations) {
    const { summary, parameters, requestBody, responses = {} } = operation;
    expect(String(summary), path).toMatch(/^[A-Z][^.]{5,}/);
    const [, name] = /\{(\w+)\}/.exec(path) ?? [];
    expect(parameters, path).toEqual(name === undefined ? undefined : one(name));
    if (requestBody !== undefined) expect([method, requestBody.required]).toEqual(['post', true]);
    const done = Object.keys(responses).filter((status) => status < '300');
    expect(Object.keys(responses).toSorted()).toEqual([...done, '400', '401', '403', '404', '413']);
    for (const [status, response] of Object.entries(responses))
      expect(String(response.description)).toBe(status < '300' ? 'Done' : 'Refused: `error` says why');
  }
});

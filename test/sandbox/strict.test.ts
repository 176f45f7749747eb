import { describe, expect, test } from 'vitest';
import { type Call, digestOf, type Reply, refusalOf, useTestBank } from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';
const CONSENT = `${CUSTOMER}/consent/request`;
const UUID = '0b8f2f5e-5d3c-4d55-9a0e-6a3f6a0e4b11';
const consent = { data: { categories: [{ name: 'ACCOUNT_INFO', products: ['0010482620'] }] } };

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

function get(changes: Partial<Call> = {}): Promise<Reply> {
  return bank.tpp.send({ path: `${CUSTOMER}/accounts`, token, ...changes });
}

function post(changes: Partial<Call> = {}): Promise<Reply> {
  return bank.tpp.send({ method: 'POST', path: CONSENT, token, body: consent, ...changes });
}

function inSeconds(seconds: number): string {
  return new Date(bank.clock.now().getTime() + seconds * 1000).toUTCString();
}

test('the bank serves a correct GET and a correct POST', async () => {
  expect(await get()).toMatchObject({ status: 200, json: { result: { outcome: 'SUCCESS' } } });
  expect(await post()).toMatchObject({ status: 200, json: { result: { outcome: 'SUCCESS' } } });
});

test('a refusal is an ERROR envelope with one message of the type ERROR', async () => {
  const { status, json } = await get({ headers: { Date: null } });
  expect(status).toBe(400);
  const says = {
    message: 'The header Date is missing',
    detail: 'Every request to this endpoint needs Date.',
  };
  expect(json).toEqual({
    result: {
      ...{ outcome: 'ERROR', requestId: expect.stringMatching(/^\d{24}$/), flushMessages: true },
      messages: [{ code: 'HEADER_MISSING', type: 'ERROR', ...says }],
    },
  });
});

// What only the bank itself can say. test/sandbox/strict has what is right and wrong within each header and body.
const digest = digestOf(JSON.stringify(consent));
const application = bank.tpp.registration.applications.clientCredentials;
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const large = `{"data":"${'a'.repeat(1024 * 1024)}"}`;
test.each<[what: string, call: () => Promise<Reply>, refusal: string]>([
  ['two right digests', () => post({ headers: { Digest: [digest, digest] } }), '400 HEADER_DUPLICATE'],
  ['a late Date', () => get({ signedValues: { date: inSeconds(301) } }), '400 DATE_OUT_OF_RANGE'],
  ['another target', () => get({ signedTarget: 'get /' }), '400 SIGNATURE_INVALID'],
  ['the name of another application', () => get({ application }), '400 SIGNATURE_KEY_ID'],
  ['no token', () => get({ headers: { Authorization: null } }), '401 TOKEN_MISSING'],
  ['no Bearer token', () => get({ headers: { Authorization: 'Basic abc' } }), '401 TOKEN_MISSING'],
  ['an unknown token', () => get({ token: UUID }), '401 TOKEN_INVALID'],
  ['a body that is no JSON', () => post({ body: '{"data":' }), '400 BODY_MALFORMED'],
  ['a form in place of JSON', () => post({ headers: form }), '400 CONTENT_TYPE_UNSUPPORTED'],
  ['a body above 1 MiB', () => post({ body: large }), '400 BODY_TOO_LARGE'],
  ['a body of another shape', () => post({ body: { categories: [] } }), '417 FIELD_INVALID'],
  ['a POST without a body', () => get({ method: 'POST', path: CONSENT }), '400 BODY_MISSING'],
])('the bank refuses %s', async (_what, call, refusal) => {
  const reply = await call();
  expect(refusalOf(reply)).toBe(refusal);
  expect(reply.text).not.toContain(UUID);
});

test('the bank refuses a repeated TPP-Request-ID, also in another case', async () => {
  const once = { signedValues: { 'tpp-request-id': UUID } };
  // A right signature uses up the id, whatever becomes of the call.
  expect((await get({ ...once, token: UUID })).status).toBe(401);
  const again = await get({ signedValues: { 'tpp-request-id': UUID.toUpperCase() } });
  expect(refusalOf(again)).toBe('400 REQUEST_ID_REUSED');
});

test('the bank refuses a refresh token as an access token', async () => {
  const { refreshToken } = await bank.tpp.login();
  const reply = await get({ token: refreshToken });
  expect(refusalOf(reply)).toBe('401 TOKEN_INVALID');
  expect(reply.text).not.toContain(refreshToken);
});

test.each([
  ['GET', '/private/customers/1048262/holdings'],
  ['GET', '/'],
  ['DELETE', '/private/customers/1048262/accounts'],
] as const)('%s %s is not an endpoint', async (method, path) => {
  expect(refusalOf(await bank.tpp.send({ method, path, token }))).toBe('404 ENDPOINT_UNKNOWN');
});

test('the bank does not answer a HEAD like a GET', async () => {
  expect((await get({ method: 'HEAD' })).status).toBe(404);
});

describe('cb-apitrack-id', () => {
  test('every answer, refusals included, has a cb-apitrack-id of ten digits', async () => {
    expect((await get()).headers['cb-apitrack-id']).toMatch(/^\d{10}$/);
    expect((await get({ headers: { Date: null } })).headers['cb-apitrack-id']).toMatch(/^\d{10}$/);
  });

  test('the bank keeps the cb-apitrack-id that a client sends back', async () => {
    const reply = await get({ headers: { 'cb-apitrack-id': '0123456789' } });
    expect(reply.headers['cb-apitrack-id']).toBe('0123456789');
  });
});

test('requestId often has a leading zero, which would get lost in a number', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) ids.push(String((await get()).json.result?.requestId));
  expect(ids.filter((id) => id.startsWith('0')).length).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(40);
});

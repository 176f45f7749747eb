import { get, request } from 'node:https';
import { describe, expect, test } from 'vitest';
import {
  askConsent,
  type Bank,
  consentBody,
  type DoorRequest,
  newDoor,
  refusalOf,
  type TestDoor,
  useDoor,
} from './door-client.ts';

const PATH = '/v1/consents/unknown/status';
const RIGHT = '403 CONSENT_UNKNOWN';

const door = await useDoor();

async function ask(at: TestDoor, headers: DoorRequest['headers'] = {}, more: Partial<DoorRequest> = {}) {
  return refusalOf(await at.client.send({ path: PATH, headers, ...more }));
}

test.each([
  ['tpp-certificate', 'AAAA'],
  ['tpp-transaction-id', 'x'],
  ['cb-trace-id', 'viewId=X'],
  ['date', 'Fri, 20 Nov 2026 11:00:00 GMT'],
  ['psu-id', 'anna'],
  ['tpp-redirect-uri', 'https://tpp.example/'],
  ['consent-id', 'x'],
  ['authorization', 'Bearer x'],
])('%s is no header of this call', async (name, value) => {
  expect((await ask(door, { [name]: value })).toLowerCase()).toBe(`400 format_error ${name}`);
});

test('a header may not come twice, and a header about the customer may not be empty', async () => {
  expect(await ask(door, { 'x-more': ['1', '2'] })).toBe('400 FORMAT_ERROR x-more');
  expect(refusalOf(await askConsent(door, {}, { 'psu-id': '' }))).toBe('400 FORMAT_ERROR psu-id');
});

test('Accept and Content-Type are exact', async () => {
  expect(await ask(door, { accept: 'application/json, */*' })).toBe('406 REQUESTED_FORMATS_INVALID Accept');
  const charset = { 'content-type': 'application/json; charset=utf-8' };
  expect(refusalOf(await askConsent(door, {}, charset))).toBe('415 FORMAT_ERROR Content-Type');
  const at = await newDoor({ headers: { accept: 'JSON', contentType: charset['content-type'] } });
  expect(await ask(at)).toBe('406 REQUESTED_FORMATS_INVALID Accept');
  expect(await ask(at, { accept: 'JSON' })).toBe(RIGHT);
  expect((await askConsent(at, {}, { accept: 'JSON', ...charset })).status).toBe(201);
});

test('headers.static come with every call, headers.perOperation with theirs alone', async () => {
  const headers = {
    static: { 'aspsp-code': '12345', 'X-API-Key': 'env:PSD2_BANK_TEST_WITHOUT_VALUE' },
    perOperation: { createConsent: { 'aspsp-product-code': 'P1' } },
  };
  const at = await newDoor({ headers });
  const common = { 'aspsp-code': '12345', 'x-api-key': 'any' };
  expect(await ask(at, common)).toBe(RIGHT);
  expect(await ask(at)).toBe('400 FORMAT_ERROR aspsp-code');
  expect(await ask(at, { ...common, 'aspsp-code': '99999' })).toBe('400 FORMAT_ERROR aspsp-code');
  expect(await ask(at, { 'aspsp-code': '12345' })).toBe('400 FORMAT_ERROR X-API-Key');
  const productCode = '400 FORMAT_ERROR aspsp-product-code';
  expect(await ask(at, { ...common, 'aspsp-product-code': 'P1' })).toBe(productCode);
  expect(refusalOf(await askConsent(at, {}, common))).toBe(productCode);
  expect((await askConsent(at, {}, { ...common, 'aspsp-product-code': 'P1' })).status).toBe(201);
});

describe('headers.date', () => {
  const now = { date: 'Fri, 20 Nov 2026 11:00:00 GMT' };

  test('always: within five minutes of the clock of the bank', async () => {
    const at = await newDoor({ headers: { date: 'always' } });
    expect(await ask(at)).toBe('400 FORMAT_ERROR Date');
    expect(await ask(at, now)).toBe(RIGHT);
    expect(await ask(at, { date: '2026-11-20T11:00:00Z' })).toBe('400 FORMAT_ERROR Date');
    at.clock.advance(300_001);
    expect(await ask(at, now)).toBe('400 TIMESTAMP_INVALID Date');
    expect(await ask(at, { ...now, 'x-sandbox-fault': 'clock=-5' })).toBe(RIGHT);
  });

  test('signed: with a signature, and not without', async () => {
    const signing: Bank['signing'] = { when: 'with-body', headers: ['digest', 'x-request-id', 'date'] };
    const at = await newDoor({ headers: { date: 'signed' }, signing });
    expect(await ask(at, {}, { unsigned: true })).toBe(RIGHT);
    expect(await ask(at, now, { unsigned: true })).toBe('400 FORMAT_ERROR Date');
    const post = (headers: DoorRequest['headers']) =>
      at.client.send({
        method: 'POST',
        path: '/v1/consents',
        body: consentBody(),
        headers: { 'psu-ip-address': '192.0.2.1', 'tpp-redirect-uri': 'https://tpp.example/', ...headers },
        signed: ['digest', 'x-request-id', 'date', 'tpp-redirect-uri'],
      });
    expect((await post(now)).status).toBe(201);
    expect(refusalOf(await post({}))).toBe('400 FORMAT_ERROR Date');
  });
});

describe('psu', () => {
  test.each([
    ['id', 'PSU-ID', 'anna'],
    ['idType', 'PSU-ID-Type', 'RETAIL'],
    ['corporateId', 'PSU-Corporate-ID', 'ACME'],
  ] as const)('psu.%s: %s is required, or never taken', async (field, name, value) => {
    const needs = await newDoor({ psu: { [field]: 'required' } });
    expect(refusalOf(await askConsent(needs))).toBe(`400 FORMAT_ERROR ${name}`);
    expect((await askConsent(needs, {}, { [name]: value })).status).toBe(201);
    const never = await newDoor({ psu: { [field]: 'never' } });
    expect((await askConsent(never)).status).toBe(201);
    expect(refusalOf(await askConsent(never, {}, { [name]: value }))).toBe(`400 FORMAT_ERROR ${name}`);
  });

  test('PSU-IP-Address is IPv4, and a consent needs it', async () => {
    const wrong = '400 FORMAT_ERROR PSU-IP-Address';
    expect(refusalOf(await askConsent(door, {}, { 'psu-ip-address': null }))).toBe(wrong);
    expect(await ask(door, { 'psu-ip-address': '2001:db8::1' })).toBe(wrong);
    expect(await ask(door, { 'psu-ip-address': '192.0.2.1' })).toBe(RIGHT);
  });

  test('PSU-ID is a customer of the bank', async () => {
    const reply = await askConsent(door, {}, { 'psu-id': 'nobody' });
    expect(refusalOf(reply)).toBe('401 PSU_CREDENTIALS_INVALID PSU-ID');
  });
});

describe('paths', () => {
  test('api.version is in every path, api.paths replace one', async () => {
    const api = { version: 'bg13', paths: { getConsentStatus: '/v3/ais/consents/{consentId}/state' } };
    const { client } = await newDoor({ api });
    expect(refusalOf(await client.get('/v3/ais/consents/x/state'))).toBe(RIGHT);
    expect(refusalOf(await client.get('/bg13/consents/x'))).toBe(RIGHT);
    expect(refusalOf(await client.get('/bg13/consents/x/status'))).toBe('404 RESOURCE_UNKNOWN');
    expect(refusalOf(await client.get('/v1/consents/x'))).toBe('404 RESOURCE_UNKNOWN');
  });

  test('an empty api.version is no part of the path', async () => {
    const { client } = await newDoor({ api: { version: '' } });
    expect(refusalOf(await client.get('/consents/x/status'))).toBe(RIGHT);
  });

  test('what the bank does not have is RESOURCE_UNKNOWN, SERVICE_INVALID with another method', async () => {
    expect(refusalOf(await door.client.get('/v1/nothing'))).toBe('404 RESOURCE_UNKNOWN');
    const deleted = await door.client.send({ method: 'DELETE', path: '/v1/accounts' });
    expect(refusalOf(deleted)).toBe('405 SERVICE_INVALID');
    expect((await door.client.send({ method: 'HEAD', path: '/v1/accounts' })).status).toBe(405);
  });
});

test('only the registered QWAC may call', async () => {
  const { hostname, port } = new URL(door.sandbox.baseUrl);
  const status = await new Promise((resolve, reject) => {
    const { ca } = door.client.tls;
    const tls = { ca, cert: door.client.read('qsealCertFile'), key: door.client.read('qsealKeyFile') };
    get({ hostname, port, path: `/nextgenpsd2${PATH}`, ...tls, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
  expect(status).toBe(401);
});

test('a client that hangs up while it sends a body does not stop the bank', async () => {
  const { hostname, port } = new URL(door.sandbox.baseUrl);
  await new Promise<void>((resolve) => {
    const { tls } = door.client;
    const headers = { 'content-length': 100 };
    const path = '/nextgenpsd2/v1/consents';
    const sent = request({ hostname, port, path, method: 'POST', headers, ...tls, agent: false });
    sent.on('error', () => resolve());
    sent.write('{', () => sent.destroy());
    sent.on('close', () => resolve());
  });
  expect(await ask(door)).toBe(RIGHT);
});

test('problem-json: the refusal has the form of RFC 7807, also by a fault', async () => {
  const problem = { title: 'The bank does not know this consent', code: 'CONSENT_UNKNOWN', status: 403 };
  const byFault = await door.client.get(PATH, undefined, { 'x-sandbox-fault': 'problem-json' });
  expect(byFault.json).toMatchObject(problem);
  const { client } = await newDoor({}, ['problem-json']);
  const { status, headers, json } = await client.get(PATH);
  expect([status, headers['content-type']]).toEqual([403, 'application/problem+json']);
  expect(json).toMatchObject(problem);
  expect(json.additionalErrors?.[0]?.code).toBe('CONSENT_UNKNOWN');
});

test.each([
  ['absolute-links', /^https:\/\/127\.0\.0\.1:\d+\/nextgenpsd2\/v1\/consents\//],
  ['base-links', /^\/v1\/consents\//],
] as const)('%s: links are whole addresses, or paths below the base URL', async (variation, begin) => {
  const at = await newDoor({}, [variation]);
  expect((await askConsent(at)).json._links?.self?.href).toMatch(begin);
});

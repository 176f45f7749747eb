import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Call, codeOf, detailOf, digestOf, type Reply, useTestBank } from './tpp.ts';

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
  expect(json).toEqual({
    result: {
      outcome: 'ERROR',
      requestId: expect.stringMatching(/^\d{24}$/),
      flushMessages: true,
      messages: [
        {
          code: 'HEADER_MISSING',
          message: 'The header Date is missing',
          type: 'ERROR',
          detail: 'Every request to this endpoint needs Date.',
        },
      ],
    },
  });
});

describe('headers', () => {
  test.each(['TPP-Transaction-ID', 'TPP-Request-ID', 'Date', 'TPP-Certificate', 'Signature'])(
    'the bank requires %s',
    async (name) => {
      const reply = await get({ headers: { [name]: null } });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MISSING']);
      expect(reply.json.result?.messages?.[0]?.message).toBe(`The header ${name} is missing`);
    },
  );

  test.each(['TPP-Transaction-ID', 'TPP-Request-ID'])('%s must be a UUID', async (name) => {
    const reply = await get({ headers: { [name]: `${UUID}0` } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MALFORMED']);
    expect(detailOf(reply)).toBe(`Expected: a UUID. Received: ${UUID}0.`);
  });

  test.each([
    'TPP-Transaction-ID',
    'TPP-Request-ID',
    'TPP-Certificate',
    'Signature',
    'Accept',
    'Authorization',
  ])('the bank refuses a repeated %s', async (name) => {
    const reply = await get({ headers: { [name]: ['one', 'two'] } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_DUPLICATE']);
    expect(detailOf(reply)).toBe(`Expected: ${name.toLowerCase()} once. Received: 2 times.`);
  });

  test('the bank refuses a repeated Digest even if both are right', async () => {
    const digest = digestOf(JSON.stringify(consent));
    expect(codeOf(await post({ headers: { Digest: [digest, digest] } }))).toBe('HEADER_DUPLICATE');
  });

  test.each([
    ['Accept', 'text/html', 'ACCEPT_UNSUPPORTED'],
    ['PSU-IP-Address', '10.0.0.256', 'HEADER_MALFORMED'],
    ['CB-Trace-Id', 'demo', 'HEADER_MALFORMED'],
  ])('the header %s may not be "%s"', async (name, value, code) => {
    const reply = await get({ headers: { [name]: value } });
    expect([reply.status, codeOf(reply)]).toEqual([400, code]);
  });

  test.each([
    ['Accept', '*/*'],
    ['Accept', 'text/plain, application/json;q=0.9'],
    ['PSU-IP-Address', '2001:db8::1'],
    ['CB-Trace-Id', 'viewId=psd2'],
  ])('the header %s may be "%s"', async (name, value) => {
    expect((await get({ headers: { [name]: value } })).status).toBe(200);
  });
});

describe('Date', () => {
  test.each([-300, 300])('the bank accepts a Date that is %d seconds off', async (seconds) => {
    expect((await get({ signedValues: { date: inSeconds(seconds) } })).status).toBe(200);
  });

  test.each([-301, 301])('the bank refuses a Date that is %d seconds off', async (seconds) => {
    const reply = await get({ signedValues: { date: inSeconds(seconds) } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'DATE_OUT_OF_RANGE']);
    expect(detailOf(reply)).toContain('Fri, 20 Nov 2026 11:00:00 GMT');
    expect(detailOf(reply)).toContain(inSeconds(seconds));
  });

  test.each([
    ['ISO 8601', '2026-11-20T11:00:00Z'],
    ['RFC 850', 'Friday, 20-Nov-26 11:00:00 GMT'],
    ['a wrong weekday', 'Thu, 20 Nov 2026 11:00:00 GMT'],
    ['another time zone', 'Fri, 20 Nov 2026 12:00:00 +0100'],
    ['no date at all', 'now'],
  ])('the bank refuses a Date in the wrong form: %s', async (_name, date) => {
    const reply = await get({ signedValues: { date } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MALFORMED']);
    expect(detailOf(reply)).toBe(
      `Expected: for example "Fri, 20 Nov 2026 11:00:00 GMT". Received: "${date}".`,
    );
  });
});

describe('TPP-Request-ID', () => {
  test('the bank refuses a repeated TPP-Request-ID, also in another case', async () => {
    const once = { signedValues: { 'tpp-request-id': UUID } };
    expect((await get(once)).status).toBe(200);
    const reply = await get({ signedValues: { 'tpp-request-id': UUID.toUpperCase() } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'REQUEST_ID_REUSED']);
  });

  test('a correctly signed request uses up its id, even if the bank refuses it for another reason', async () => {
    const used = { signedValues: { 'tpp-request-id': UUID.replace('0b', '1b') } };
    expect((await get({ ...used, token: UUID })).status).toBe(401);
    expect(codeOf(await get(used))).toBe('REQUEST_ID_REUSED');
  });

  test('a request that the TPP did not sign does not use up its id', async () => {
    const free = { signedValues: { 'tpp-request-id': UUID.replace('0b', '2b') } };
    expect((await get({ ...free, signedTarget: 'get /' })).status).toBe(400);
    expect((await get(free)).status).toBe(200);
  });
});

describe('TPP-Certificate', () => {
  const qsealPem = (): string => new X509Certificate(bank.tpp.read('qsealCertFile')).toString();

  test('TPP-Certificate may be the PEM text, percent-encoded', async () => {
    expect((await get({ headers: { 'TPP-Certificate': encodeURIComponent(qsealPem()) } })).status).toBe(200);
  });

  test('the bank refuses the QWAC as TPP-Certificate, and says that it is the QWAC', async () => {
    const { raw, fingerprint256 } = new X509Certificate(bank.tpp.read('qwacCertFile'));
    const reply = await get({ headers: { 'TPP-Certificate': raw.toString('base64') } });
    expect([reply.status, codeOf(reply)]).toEqual([403, 'TPP_CERTIFICATE_NOT_REGISTERED']);
    expect(reply.json.result?.messages?.[0]?.message).toContain('is the QWAC');
    expect(detailOf(reply)).toContain(
      `Received: SHA-256 ${fingerprint256.replaceAll(':', '').toLowerCase()}`,
    );
  });

  test('the bank refuses another certificate as TPP-Certificate', async () => {
    const { raw } = new X509Certificate(bank.tpp.read('bankSigningCertFile'));
    expect(codeOf(await get({ headers: { 'TPP-Certificate': raw.toString('base64') } }))).toBe(
      'TPP_CERTIFICATE_NOT_REGISTERED',
    );
  });

  test.each([
    ['the PEM text on one line, not encoded', () => qsealPem().replaceAll('\n', ' ')],
    ['base64url', () => new X509Certificate(qsealPem()).raw.toString('base64url')],
    ['a broken percent escape', () => encodeURIComponent(qsealPem()).replace('%2F', '%ZZ')],
  ])('the bank refuses a TPP-Certificate that is %s', async (_name, value) => {
    const reply = await get({ headers: { 'TPP-Certificate': value() } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MALFORMED']);
  });
});

describe('Digest', () => {
  test('a request with a body needs a Digest', async () => {
    expect(codeOf(await post({ headers: { Digest: null } }))).toBe('HEADER_MISSING');
  });

  test('the Digest must match the bytes of the body', async () => {
    const wrong = digestOf(`${JSON.stringify(consent)}\n`);
    const reply = await post({ signedValues: { digest: wrong } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'DIGEST_MISMATCH']);
    expect(detailOf(reply)).toBe(`Expected: ${digestOf(JSON.stringify(consent))}. Received: ${wrong}.`);
  });

  test('the bank compares bytes, not text that looks the same', async () => {
    const [composed, decomposed] = ['{"é":1}', '{"e\u0301":1}'];
    expect(codeOf(await post({ body: composed, signedValues: { digest: digestOf(decomposed) } }))).toBe(
      'DIGEST_MISMATCH',
    );
  });

  test('the Digest must say SHA-256', async () => {
    const digest = digestOf(JSON.stringify(consent)).replace('SHA-256=', 'sha-256=');
    expect(codeOf(await post({ signedValues: { digest } }))).toBe('DIGEST_MISMATCH');
  });

  test('a GET may have a Digest, but only of the empty body', async () => {
    expect((await get({ headers: { Digest: digestOf('') } })).status).toBe(200);
    expect(codeOf(await get({ headers: { Digest: digestOf('{}') } }))).toBe('DIGEST_MISMATCH');
  });
});

describe('Signature', () => {
  test('the answer to an invalid signature contains the signing string that the bank computed', async () => {
    const reply = await get({
      path: `${CUSTOMER}/accounts?a=%2f`,
      signedTarget: `get ${CUSTOMER}/accounts?a=%2F`,
      signedValues: { 'tpp-request-id': 'ffffffff-5d3c-4d55-9a0e-6a3f6a0e4b11' },
    });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_INVALID']);
    expect(detailOf(reply)).toBe(
      [
        `(request-target): get ${CUSTOMER}/accounts?a=%2f`,
        'tpp-request-id: ffffffff-5d3c-4d55-9a0e-6a3f6a0e4b11',
        'date: Fri, 20 Nov 2026 11:00:00 GMT',
      ].join('\n'),
    );
  });

  test('the signature covers the body through the digest', async () => {
    const other = JSON.stringify({ data: { categories: [] } });
    const reply = await post({ headers: { Digest: digestOf(other) }, body: consent });
    expect(codeOf(reply)).toBe('DIGEST_MISMATCH');
    const swapped = await post({
      body: other,
      signedValues: { digest: digestOf('{}') },
      headers: { Digest: digestOf(other) },
    });
    expect(codeOf(swapped)).toBe('SIGNATURE_INVALID');
    expect(detailOf(swapped)).toContain(`digest: ${digestOf(other)}`);
  });

  test.each(['date', 'tpp-request-id'])('the signature covers %s', async (name) => {
    const value = name === 'date' ? inSeconds(1) : 'eeeeeeee-5d3c-4d55-9a0e-6a3f6a0e4b11';
    expect(codeOf(await get({ headers: { [name]: value } }))).toBe('SIGNATURE_INVALID');
  });

  test("the answer to a signature with the QWAC's key says so", async () => {
    const reply = await get({ signingKey: bank.tpp.read('qwacKeyFile') });
    expect(codeOf(reply)).toBe('SIGNATURE_INVALID');
    expect(reply.json.result?.messages?.[0]?.message).toBe(
      "The signature was made with the QWAC's key, but must be made with the QSealC's key",
    );
  });

  test.each([
    ['a digest for a GET', '(request-target) digest tpp-request-id date', { digest: digestOf('') }],
    ['another order', 'date (request-target) tpp-request-id', {}],
    ['one header too few', '(request-target) date', {}],
    ['one header too many', '(request-target) tpp-request-id date accept', {}],
    ['capitals', '(request-target) TPP-Request-ID Date', {}],
  ])(
    'the signature of a GET must list the prescribed headers, not %s',
    async (_name, signedHeaders, signedValues) => {
      const reply = await get({ signedHeaders, signedValues });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_HEADERS']);
      expect(detailOf(reply)).toBe(
        `Expected: headers="(request-target) tpp-request-id date". Received: headers="${signedHeaders}".`,
      );
    },
  );

  test('the signature of a request with a body must list the digest', async () => {
    const reply = await post({ signedHeaders: '(request-target) tpp-request-id date' });
    expect(codeOf(reply)).toBe('SIGNATURE_HEADERS');
    expect(detailOf(reply)).toContain('Expected: headers="(request-target) digest tpp-request-id date"');
  });

  const right = 'keyId="psd2-sandbox",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date"';
  test.each([
    ['spaces after commas', `${right.replaceAll(',', ', ')}, signature="AAAA"`],
    ['no signature', right],
    ['an empty signature', `${right},signature=""`],
    ['a repeated part', `${right},keyId="psd2-sandbox",signature="AAAA"`],
    ['an unknown part', `${right},created="1",signature="AAAA"`],
    ['no quotes', `${right},signature=AAAA`],
    ['an extra comma', `${right},signature="AAAA",`],
    ['base64url', `${right},signature="-_-_"`],
    ['the scheme in front', `Signature ${right},signature="AAAA"`],
  ])('the bank refuses a malformed Signature: %s', async (_name, signature) => {
    const reply = await get({ headers: { Signature: signature } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_MALFORMED']);
  });

  test('the algorithm must be rsa-sha256', async () => {
    const reply = await get({
      headers: { Signature: `${right.replace('rsa-sha256', 'hs2019')},signature="AAAA"` },
    });
    expect(codeOf(reply)).toBe('SIGNATURE_ALGORITHM');
    expect(detailOf(reply)).toBe('Expected: algorithm="rsa-sha256". Received: algorithm="hs2019".');
  });

  test("the keyId must name the token's application", async () => {
    const reply = await get({ application: bank.tpp.registration.applications.clientCredentials });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_KEY_ID']);
    expect(detailOf(reply)).toBe('Expected: keyId="psd2-sandbox". Received: keyId="psd2-sandbox-cc".');
  });
});

describe('the access token', () => {
  test.each([
    ['must be present', null, 'TOKEN_MISSING'],
    ['must be a Bearer token', 'Basic abc', 'TOKEN_MISSING'],
    ['must come from the bank', `Bearer ${UUID}`, 'TOKEN_INVALID'],
  ])('the access token %s', async (_name, authorization, code) => {
    const reply = await get({ headers: { Authorization: authorization } });
    expect([reply.status, codeOf(reply)]).toEqual([401, code]);
    expect(reply.text).not.toContain(UUID);
  });

  test('the bank refuses a refresh token as an access token', async () => {
    const { refreshToken } = await bank.tpp.login();
    const reply = await get({ token: refreshToken });
    expect([reply.status, codeOf(reply)]).toEqual([401, 'TOKEN_INVALID']);
    expect(reply.text).not.toContain(refreshToken);
  });
});

describe('the body', () => {
  test.each([
    ['must be JSON', { body: '{"data":' }, 400, 'BODY_MALFORMED'],
    [
      'must be sent as application/json',
      { headers: { 'Content-Type': 'text/plain' } },
      400,
      'CONTENT_TYPE_UNSUPPORTED',
    ],
    ['must have a content type', { headers: { 'Content-Type': null } }, 400, 'CONTENT_TYPE_UNSUPPORTED'],
    [
      'must not be a form here',
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      400,
      'CONTENT_TYPE_UNSUPPORTED',
    ],
    ['must not exceed 1 MiB', { body: `{"data":"${'a'.repeat(1024 * 1024)}"}` }, 400, 'BODY_TOO_LARGE'],
    ['must have the shape of the endpoint', { body: { categories: [] } }, 417, 'FIELD_INVALID'],
  ])('the body %s', async (_name, changes, status, code) => {
    const reply = await post(changes);
    expect([reply.status, codeOf(reply)]).toEqual([status, code]);
  });

  test('the content type may name a charset', async () => {
    expect((await post({ headers: { 'Content-Type': 'application/json; charset=utf-8' } })).status).toBe(200);
  });

  test('POST needs a body, and GET must not have one', async () => {
    const { body: _, ...nothing } = { body: consent, method: 'POST' as const, path: CONSENT, token };
    expect(codeOf(await bank.tpp.send(nothing))).toBe('BODY_MISSING');
    expect(codeOf(await get({ body: '{}', signedHeaders: '(request-target) tpp-request-id date' }))).toBe(
      'BODY_NOT_ALLOWED',
    );
  });

  test('the answer to a wrong field names the field and its expected type', async () => {
    const reply = await post({
      body: { data: { categories: [{ name: 'PAYMENTS', product: 1 }], more: true } },
    });
    expect(codeOf(reply)).toBe('FIELD_INVALID');
    expect(detailOf(reply)).toContain('data.categories.0.products is missing.');
    expect(detailOf(reply)).toContain('data.categories.0 has no field product.');
    expect(detailOf(reply)).toContain('data has no field more.');
  });
});

test.each([
  ['GET', '/private/customers/1048262/holdings'],
  ['GET', '/'],
  ['DELETE', '/private/customers/1048262/accounts'],
] as const)('%s %s is not an endpoint', async (method, path) => {
  const reply = await bank.tpp.send({ method, path, token });
  expect([reply.status, codeOf(reply)]).toEqual([404, 'ENDPOINT_UNKNOWN']);
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

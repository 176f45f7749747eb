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

test('a right GET and a right POST are served', async () => {
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
    '%s is due',
    async (name) => {
      const reply = await get({ headers: { [name]: null } });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MISSING']);
      expect(reply.json.result?.messages?.[0]?.message).toBe(`The header ${name} is missing`);
    },
  );

  test.each(['TPP-Transaction-ID', 'TPP-Request-ID'])('%s is a UUID', async (name) => {
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
  ])('%s does not come twice', async (name) => {
    const reply = await get({ headers: { [name]: ['one', 'two'] } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_DUPLICATE']);
    expect(detailOf(reply)).toBe(`Expected: ${name.toLowerCase()} once. Received: 2 times.`);
  });

  test('a Digest that comes twice is refused even when both are right', async () => {
    const digest = digestOf(JSON.stringify(consent));
    expect(codeOf(await post({ headers: { Digest: [digest, digest] } }))).toBe('HEADER_DUPLICATE');
  });

  test.each([
    ['Accept', 'text/html', 'ACCEPT_UNSUPPORTED'],
    ['PSU-IP-Address', '10.0.0.256', 'HEADER_MALFORMED'],
    ['CB-Trace-Id', 'demo', 'HEADER_MALFORMED'],
  ])('%s may not be "%s"', async (name, value, code) => {
    const reply = await get({ headers: { [name]: value } });
    expect([reply.status, codeOf(reply)]).toEqual([400, code]);
  });

  test.each([
    ['Accept', '*/*'],
    ['Accept', 'text/plain, application/json;q=0.9'],
    ['PSU-IP-Address', '2001:db8::1'],
    ['CB-Trace-Id', 'viewId=psd2'],
  ])('%s may be "%s"', async (name, value) => {
    expect((await get({ headers: { [name]: value } })).status).toBe(200);
  });
});

describe('Date', () => {
  test.each([-300, 300])('may be %d seconds off', async (seconds) => {
    expect((await get({ signedValues: { date: inSeconds(seconds) } })).status).toBe(200);
  });

  test.each([-301, 301])('may not be %d seconds off', async (seconds) => {
    const reply = await get({ signedValues: { date: inSeconds(seconds) } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'DATE_OUT_OF_RANGE']);
    expect(detailOf(reply)).toContain('Fri, 20 Nov 2026 11:00:00 GMT');
    expect(detailOf(reply)).toContain(inSeconds(seconds));
  });

  test.each([
    ['ISO 8601', '2026-11-20T11:00:00Z'],
    ['RFC 850', 'Friday, 20-Nov-26 11:00:00 GMT'],
    ['a wrong weekday', 'Thu, 20 Nov 2026 11:00:00 GMT'],
    ['another zone', 'Fri, 20 Nov 2026 12:00:00 +0100'],
    ['no date', 'now'],
  ])('%s is not IMF-fixdate', async (_name, date) => {
    const reply = await get({ signedValues: { date } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MALFORMED']);
    expect(detailOf(reply)).toBe(
      `Expected: for example "Fri, 20 Nov 2026 11:00:00 GMT". Received: "${date}".`,
    );
  });
});

describe('TPP-Request-ID', () => {
  test('is refused the second time, in whatever case', async () => {
    const once = { signedValues: { 'tpp-request-id': UUID } };
    expect((await get(once)).status).toBe(200);
    const reply = await get({ signedValues: { 'tpp-request-id': UUID.toUpperCase() } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'REQUEST_ID_REUSED']);
  });

  test('is used up by a request that was signed right and refused for another reason', async () => {
    const used = { signedValues: { 'tpp-request-id': UUID.replace('0b', '1b') } };
    expect((await get({ ...used, token: UUID })).status).toBe(401);
    expect(codeOf(await get(used))).toBe('REQUEST_ID_REUSED');
  });

  test('is not used up by a request that was not signed by the TPP', async () => {
    const free = { signedValues: { 'tpp-request-id': UUID.replace('0b', '2b') } };
    expect((await get({ ...free, signedTarget: 'get /' })).status).toBe(400);
    expect((await get(free)).status).toBe(200);
  });
});

describe('TPP-Certificate', () => {
  const qsealPem = (): string => new X509Certificate(bank.tpp.read('qsealCertFile')).toString();

  test('may be the PEM text, percent-encoded', async () => {
    expect((await get({ headers: { 'TPP-Certificate': encodeURIComponent(qsealPem()) } })).status).toBe(200);
  });

  test('is not the QWAC, and the answer says so', async () => {
    const { raw, fingerprint256 } = new X509Certificate(bank.tpp.read('qwacCertFile'));
    const reply = await get({ headers: { 'TPP-Certificate': raw.toString('base64') } });
    expect([reply.status, codeOf(reply)]).toEqual([403, 'TPP_CERTIFICATE_NOT_REGISTERED']);
    expect(reply.json.result?.messages?.[0]?.message).toContain('is the QWAC');
    expect(detailOf(reply)).toContain(
      `Received: SHA-256 ${fingerprint256.replaceAll(':', '').toLowerCase()}`,
    );
  });

  test('is not another certificate', async () => {
    const { raw } = new X509Certificate(bank.tpp.read('bankSigningCertFile'));
    expect(codeOf(await get({ headers: { 'TPP-Certificate': raw.toString('base64') } }))).toBe(
      'TPP_CERTIFICATE_NOT_REGISTERED',
    );
  });

  test.each([
    ['the PEM text on one line, not encoded', () => qsealPem().replaceAll('\n', ' ')],
    ['base64url', () => new X509Certificate(qsealPem()).raw.toString('base64url')],
    ['a broken percent code', () => encodeURIComponent(qsealPem()).replace('%2F', '%ZZ')],
  ])('is not %s', async (_name, value) => {
    const reply = await get({ headers: { 'TPP-Certificate': value() } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'HEADER_MALFORMED']);
  });
});

describe('Digest', () => {
  test('is due with a body', async () => {
    expect(codeOf(await post({ headers: { Digest: null } }))).toBe('HEADER_MISSING');
  });

  test('is of the bytes of the body', async () => {
    const wrong = digestOf(`${JSON.stringify(consent)}\n`);
    const reply = await post({ signedValues: { digest: wrong } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'DIGEST_MISMATCH']);
    expect(detailOf(reply)).toBe(`Expected: ${digestOf(JSON.stringify(consent))}. Received: ${wrong}.`);
  });

  test('is judged over bytes, not over text that looks the same', async () => {
    const [composed, decomposed] = ['{"é":1}', '{"e\u0301":1}'];
    expect(codeOf(await post({ body: composed, signedValues: { digest: digestOf(decomposed) } }))).toBe(
      'DIGEST_MISMATCH',
    );
  });

  test('is SHA-256', async () => {
    const digest = digestOf(JSON.stringify(consent)).replace('SHA-256=', 'sha-256=');
    expect(codeOf(await post({ signedValues: { digest } }))).toBe('DIGEST_MISMATCH');
  });

  test('may come with a GET, and is then the one of no bytes', async () => {
    expect((await get({ headers: { Digest: digestOf('') } })).status).toBe(200);
    expect(codeOf(await get({ headers: { Digest: digestOf('{}') } }))).toBe('DIGEST_MISMATCH');
  });
});

describe('Signature', () => {
  test('that does not verify is answered with the signing string that the bank computed', async () => {
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

  test('covers the body through the digest', async () => {
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

  test.each(['date', 'tpp-request-id'])('covers %s', async (name) => {
    const value = name === 'date' ? inSeconds(1) : 'eeeeeeee-5d3c-4d55-9a0e-6a3f6a0e4b11';
    expect(codeOf(await get({ headers: { [name]: value } }))).toBe('SIGNATURE_INVALID');
  });

  test("that the QWAC's key made is told as such", async () => {
    const reply = await get({ signingKey: bank.tpp.read('qwacKeyFile') });
    expect(codeOf(reply)).toBe('SIGNATURE_INVALID');
    expect(reply.json.result?.messages?.[0]?.message).toBe(
      "The signature was made with the QWAC's key, but must be made with the QSealC's key",
    );
  });

  test.each([
    ['digest for a GET', '(request-target) digest tpp-request-id date', { digest: digestOf('') }],
    ['another order', 'date (request-target) tpp-request-id', {}],
    ['one too few', '(request-target) date', {}],
    ['one too many', '(request-target) tpp-request-id date accept', {}],
    ['capitals', '(request-target) TPP-Request-ID Date', {}],
  ])('lists the prescribed headers of a GET: not %s', async (_name, signedHeaders, signedValues) => {
    const reply = await get({ signedHeaders, signedValues });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_HEADERS']);
    expect(detailOf(reply)).toBe(
      `Expected: headers="(request-target) tpp-request-id date". Received: headers="${signedHeaders}".`,
    );
  });

  test('lists the digest with a body', async () => {
    const reply = await post({ signedHeaders: '(request-target) tpp-request-id date' });
    expect(codeOf(reply)).toBe('SIGNATURE_HEADERS');
    expect(detailOf(reply)).toContain('Expected: headers="(request-target) digest tpp-request-id date"');
  });

  const right = 'keyId="psd2-sandbox",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date"';
  test.each([
    ['blanks after commas', `${right.replaceAll(',', ', ')}, signature="AAAA"`],
    ['no signature', right],
    ['an empty signature', `${right},signature=""`],
    ['a part twice', `${right},keyId="psd2-sandbox",signature="AAAA"`],
    ['an unknown part', `${right},created="1",signature="AAAA"`],
    ['no quotes', `${right},signature=AAAA`],
    ['a comma too many', `${right},signature="AAAA",`],
    ['base64url', `${right},signature="-_-_"`],
    ['the scheme in front', `Signature ${right},signature="AAAA"`],
  ])('is well formed: not with %s', async (_name, signature) => {
    const reply = await get({ headers: { Signature: signature } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_MALFORMED']);
  });

  test('is rsa-sha256', async () => {
    const reply = await get({
      headers: { Signature: `${right.replace('rsa-sha256', 'hs2019')},signature="AAAA"` },
    });
    expect(codeOf(reply)).toBe('SIGNATURE_ALGORITHM');
    expect(detailOf(reply)).toBe('Expected: algorithm="rsa-sha256". Received: algorithm="hs2019".');
  });

  test("names the token's application", async () => {
    const reply = await get({ application: bank.tpp.registration.applications.clientCredentials });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'SIGNATURE_KEY_ID']);
    expect(detailOf(reply)).toBe('Expected: keyId="psd2-sandbox". Received: keyId="psd2-sandbox-cc".');
  });
});

describe('the access token', () => {
  test.each([
    ['is due', null, 'TOKEN_MISSING'],
    ['comes as Bearer', 'Basic abc', 'TOKEN_MISSING'],
    ['is one that the bank issued', `Bearer ${UUID}`, 'TOKEN_INVALID'],
  ])('%s', async (_name, authorization, code) => {
    const reply = await get({ headers: { Authorization: authorization } });
    expect([reply.status, codeOf(reply)]).toEqual([401, code]);
    expect(reply.text).not.toContain(UUID);
  });

  test('is not a refresh token', async () => {
    const { refreshToken } = await bank.tpp.login();
    const reply = await get({ token: refreshToken });
    expect([reply.status, codeOf(reply)]).toEqual([401, 'TOKEN_INVALID']);
    expect(reply.text).not.toContain(refreshToken);
  });
});

describe('the body', () => {
  test.each([
    ['is JSON', { body: '{"data":' }, 400, 'BODY_MALFORMED'],
    [
      'is sent as application/json',
      { headers: { 'Content-Type': 'text/plain' } },
      400,
      'CONTENT_TYPE_UNSUPPORTED',
    ],
    ['has a content type', { headers: { 'Content-Type': null } }, 400, 'CONTENT_TYPE_UNSUPPORTED'],
    [
      'is not a form here',
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      400,
      'CONTENT_TYPE_UNSUPPORTED',
    ],
    ['is at most a MiB', { body: `{"data":"${'a'.repeat(1024 * 1024)}"}` }, 400, 'BODY_TOO_LARGE'],
    ['has the shape of the endpoint', { body: { categories: [] } }, 417, 'FIELD_INVALID'],
  ])('%s', async (_name, changes, status, code) => {
    const reply = await post(changes);
    expect([reply.status, codeOf(reply)]).toEqual([status, code]);
  });

  test('may name its charset', async () => {
    expect((await post({ headers: { 'Content-Type': 'application/json; charset=utf-8' } })).status).toBe(200);
  });

  test('is due with POST and not allowed with GET', async () => {
    const { body: _, ...nothing } = { body: consent, method: 'POST' as const, path: CONSENT, token };
    expect(codeOf(await bank.tpp.send(nothing))).toBe('BODY_MISSING');
    expect(codeOf(await get({ body: '{}', signedHeaders: '(request-target) tpp-request-id date' }))).toBe(
      'BODY_NOT_ALLOWED',
    );
  });

  test('with wrong fields is told which, and which type was due', async () => {
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
] as const)('%s %s is no endpoint', async (method, path) => {
  const reply = await bank.tpp.send({ method, path, token });
  expect([reply.status, codeOf(reply)]).toEqual([404, 'ENDPOINT_UNKNOWN']);
});

test('a HEAD is not answered as a GET', async () => {
  expect((await get({ method: 'HEAD' })).status).toBe(404);
});

describe('cb-apitrack-id', () => {
  test('is given, ten digits, with refusals too', async () => {
    expect((await get()).headers['cb-apitrack-id']).toMatch(/^\d{10}$/);
    expect((await get({ headers: { Date: null } })).headers['cb-apitrack-id']).toMatch(/^\d{10}$/);
  });

  test('is kept when it is sent back', async () => {
    const reply = await get({ headers: { 'cb-apitrack-id': '0123456789' } });
    expect(reply.headers['cb-apitrack-id']).toBe('0123456789');
  });
});

test('requestId often has a leading zero, which a number would lose', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) ids.push(String((await get()).json.result?.requestId));
  expect(ids.filter((id) => id.startsWith('0')).length).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(40);
});

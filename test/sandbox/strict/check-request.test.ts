import { createHash, randomUUID, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkKeyId, checkRequest } from '../../../src/sandbox/strict/check-request.ts';
import type { RawRequest } from '../../../src/sandbox/strict/raw-request.ts';
import { SeenRequestIds } from '../../../src/sandbox/strict/seen-request-ids.ts';
import { certificateFingerprint, checkTppCertificate } from '../../../src/sandbox/strict/signature.ts';
import { answerTo, rawRequest } from './raw.ts';
import { keys, registered, stranger } from './registered.ts';

const NOW = new Date('2026-11-20T11:00:00Z');
const DATE = NOW.toUTCString();
const ID = '3f2b6c1e-9a4d-4b7f-8e10-5d6c7b8a9f00';
const TARGET = '/private/customers/1048262/accounts';

interface Signing {
  method?: string;
  body?: string;
  algorithm?: string;
  names?: string;
  key?: string;
  /** The text to sign instead of the right one. */
  text?: string;
}

const digestOf = (body: string) => `SHA-256=${createHash('sha256').update(body).digest('base64')}`;

/** The text that a client signs. */
function signedText(method: string, body: string): string {
  return [
    `(request-target): ${method.toLowerCase()} ${TARGET}`,
    ...(body === '' ? [] : [`digest: ${digestOf(body)}`]),
    `tpp-request-id: ${ID}`,
    `date: ${DATE}`,
  ].join('\n');
}

/** Returns a right request, but for what is given. */
function signed({
  method = 'GET',
  body = '',
  algorithm = 'rsa-sha256',
  key = keys.qseal,
  ...call
}: Signing = {}) {
  const names = call.names ?? `(request-target) ${body === '' ? '' : 'digest '}tpp-request-id date`;
  const text = call.text ?? signedText(method, body);
  const signature = sign('sha256', Buffer.from(text), key).toString('base64');
  return rawRequest({
    method,
    target: TARGET,
    headers: [
      ['TPP-Transaction-ID', randomUUID()],
      ['TPP-Request-ID', ID],
      ['Date', DATE],
      ['TPP-Certificate', registered.qseal.raw.toString('base64')],
      ...(body === '' ? [] : [['Digest', digestOf(body)] as const]),
      ['Signature', `keyId="app",algorithm="${algorithm}",headers="${names}",signature="${signature}"`],
    ],
    body,
    clientCertificate: registered.qwac.raw,
  });
}

function check(request: RawRequest, seen = new SeenRequestIds(), clock = NOW) {
  return checkRequest(request, registered, seen, NOW, clock);
}

function withoutHeader(request: RawRequest, name: string): RawRequest {
  return { ...request, headers: request.headers.filter(([sent]) => sent !== name) };
}

/** Replaces a header, or adds it. */
function withHeader(request: RawRequest, name: string, value: string): RawRequest {
  return { ...request, headers: [...withoutHeader(request, name).headers, [name, value]] };
}

describe('a request', () => {
  it.each([{}, { method: 'POST', body: '{}' }, { method: 'PUT', body: '{"a":"è"}' }, { method: 'DELETE' }])(
    "the bank accepts a right request and reads the application's name: %j",
    (call) => {
      expect(check(signed(call))).toBe('app');
    },
  );

  const TWICE = ['0', '1'].map((value) => ['cb-apitrack-id', value] as const);
  const QWAC = registered.qwac.raw.toString('base64');
  /** Ways to break each rule, in the order in which the bank checks the rules. */
  const BREAKS: [code: string, breakIt: (request: RawRequest) => RawRequest][] = [
    ['QWAC_NOT_REGISTERED', (request) => ({ ...request, clientCertificate: undefined })],
    ['HEADER_DUPLICATE', (request) => ({ ...request, headers: [...request.headers, ...TWICE] })],
    ['BODY_NOT_ALLOWED', (request) => ({ ...request, body: Buffer.from('{}') })],
    ['HEADER_MISSING', (request) => withoutHeader(request, 'TPP-Transaction-ID')],
    ['HEADER_MALFORMED', (request) => withHeader(request, 'TPP-Request-ID', '1')],
    ['DATE_OUT_OF_RANGE', (request) => withHeader(request, 'Date', 'Thu, 19 Nov 2026 11:00:00 GMT')],
    ['ACCEPT_UNSUPPORTED', (request) => withHeader(request, 'Accept', 'text/html')],
    ['TPP_CERTIFICATE_NOT_REGISTERED', (request) => withHeader(request, 'TPP-Certificate', QWAC)],
    ['DIGEST_MISMATCH', (request) => withHeader(request, 'Digest', digestOf('{ }'))],
    ['SIGNATURE_INVALID', (request) => ({ ...request, target: '/private' })],
  ];

  it('the first broken rule decides the answer', () => {
    const broken = fc.subarray(BREAKS, { minLength: 1 });
    fc.assert(
      fc.property(broken, (breaks) => {
        const request = breaks.reduce((so, [, breakIt]) => breakIt(so), signed());
        expect(answerTo(() => check(request))[0]).toBe(breaks[0]?.[0]);
      }),
      { numRuns: 50 },
    );
  });

  it('a request id is used up by a right request only', () => {
    const seen = new SeenRequestIds();
    for (const [, breakIt] of BREAKS)
      expect(answerTo(() => check(breakIt(signed()), seen))).not.toBe('accepted');
    expect(check(signed(), seen)).toBe('app');
    expect(answerTo(() => check(signed(), seen))).toEqual([
      'REQUEST_ID_REUSED',
      'TPP-Request-ID was already used',
      `Each request needs a new UUID. ${ID} was received at 2026-11-20T11:00:00.000Z.`,
    ]);
  });

  it("a fault can make the bank's clock wrong, and then a right Date is refused", () => {
    const clock = new Date('2026-11-20T11:10:00Z');
    expect(answerTo(() => check(signed(), undefined, clock))[0]).toBe('DATE_OUT_OF_RANGE');
    expect(checkRequest(signed(), registered, new SeenRequestIds(), clock, NOW)).toBe('app');
  });

  it.each([
    ['no certificate', undefined, 'The TLS client certificate is not the registered QWAC'],
    ['the QSealC', registered.qseal.raw, 'The TLS client certificate is the QSealC, but must be the QWAC'],
    ['another certificate', stranger.raw, 'The TLS client certificate is not the registered QWAC'],
  ])('the bank refuses a connection with %s', (_, clientCertificate, message) => {
    const received = clientCertificate
      ? `SHA-256 ${certificateFingerprint(clientCertificate)}`
      : 'no certificate';
    expect(answerTo(() => check({ ...signed(), clientCertificate }))).toEqual([
      'QWAC_NOT_REGISTERED',
      message,
      `Expected: SHA-256 ${certificateFingerprint(registered.qwac.raw)}. Received: ${received}.`,
    ]);
  });

  it('the keyId of a signature is the name of the application', () => {
    expect(answerTo(() => checkKeyId('app', 'app'))).toBe('accepted');
    expect(answerTo(() => checkKeyId('app', 'other'))).toEqual([
      'SIGNATURE_KEY_ID',
      "The signature's keyId is not the name of the application of the token or client id",
      'Expected: keyId="other". Received: keyId="app".',
    ]);
  });

  it('a fingerprint is the one that other programs show, in lower case', () => {
    expect(certificateFingerprint(registered.qwac.raw)).toBe(
      registered.qwac.fingerprint256.replaceAll(':', '').toLowerCase(),
    );
  });
});

describe('TPP-Certificate', () => {
  const pem = registered.qseal.toString();
  const withCrLf = `${pem.replaceAll('\n', '\r\n')}\r\n`;
  const sent = (value: string) =>
    answerTo(() => checkTppCertificate(withHeader(signed(), 'TPP-Certificate', value), registered));

  it.each([
    ['the DER in base64', registered.qseal.raw.toString('base64')],
    ['the PEM text', encodeURIComponent(pem)],
    ['the PEM text without its last line break', encodeURIComponent(pem.trim())],
    ['the PEM text with CR LF and an empty line at the end', encodeURIComponent(withCrLf)],
    ['the PEM text with only its line breaks encoded', pem.replaceAll('\n', '%0A').replaceAll(' ', '%20')],
  ])('the bank accepts %s', (_, value) => {
    expect(sent(value)).toBe('accepted');
  });

  it.each([
    ['the DER in base64url', registered.qseal.raw.toString('base64url')],
    ['the DER in base64 with a space', `${registered.qseal.raw.toString('base64')} `],
    ['the PEM text on one line', pem.replaceAll('\n', ' ')],
    ['a broken percent-encoding', encodeURIComponent(pem).replace('%0A', '%ZZ')],
    ['a PEM text of a key', encodeURIComponent(pem.replaceAll('CERTIFICATE', 'PUBLIC KEY'))],
    ['a PEM text without its end', encodeURIComponent(pem.replace(/-----END.*/s, ''))],
    ['a PEM text with more after it', encodeURIComponent(`${pem}more`)],
    ['a PEM text without content', encodeURIComponent(pem.replace(/-----\n.*\n-----/s, '-----\n\n-----'))],
    ['two PEM texts', encodeURIComponent(pem + pem)],
  ])('the bank refuses %s', (_, value) => {
    expect(sent(value)).toEqual([
      'HEADER_MALFORMED',
      'TPP-Certificate is not a certificate',
      `Expected: the DER in base64 on one line, or the PEM text percent-encoded. Received: ${value}.`,
    ]);
  });

  it.each([
    ['the QWAC', registered.qwac, 'is the QWAC, but must be the QSealC that signs the requests'],
    ['another certificate', stranger, 'is not the registered QSealC'],
  ])('the bank refuses %s, and shows the fingerprints', (_, { raw }, message) => {
    expect(sent(raw.toString('base64'))).toEqual([
      'TPP_CERTIFICATE_NOT_REGISTERED',
      `TPP-Certificate ${message}`,
      `Expected: SHA-256 ${certificateFingerprint(registered.qseal.raw)}. Received: SHA-256 ${certificateFingerprint(raw)}.`,
    ]);
  });
});

describe('Digest and Signature', () => {
  const post = { method: 'POST', body: '{"a":1}' };

  it('a body needs its digest, and without a body a digest must be that of no bytes', () => {
    const bare = withoutHeader(signed(post), 'Digest');
    const missing = ['HEADER_MISSING', 'The header Digest is missing'];
    expect(answerTo(() => check(bare)).slice(0, 2)).toEqual(missing);
    expect(answerTo(() => check(withHeader(signed(post), 'Digest', digestOf('{"a": 1}'))))).toEqual([
      'DIGEST_MISMATCH',
      'Digest does not match the 7 bytes of the body',
      `Expected: ${digestOf('{"a":1}')}. Received: ${digestOf('{"a": 1}')}.`,
    ]);
    const lower = withHeader(signed(post), 'Digest', digestOf(post.body).replace('SHA', 'sha'));
    expect(answerTo(() => check(lower))[0]).toBe('DIGEST_MISMATCH');
    expect(check(withHeader(signed(), 'Digest', digestOf('')))).toBe('app');
    expect(answerTo(() => check(withHeader(signed(), 'Digest', digestOf('{}'))))[1]).toBe(
      'Digest does not match the 0 bytes of the body',
    );
  });

  it('the algorithm is rsa-sha256', () => {
    expect(answerTo(() => check(signed({ algorithm: 'hs2019' })))).toEqual([
      'SIGNATURE_ALGORITHM',
      'The algorithm of the signature is not rsa-sha256',
      'Expected: algorithm="rsa-sha256". Received: algorithm="hs2019".',
    ]);
  });

  const BARE = '(request-target) tpp-request-id date';
  it.each([
    ['without', {}, BARE, '(request-target) digest tpp-request-id date'],
    ['without', {}, BARE, 'date (request-target) tpp-request-id'],
    ['without', {}, BARE, `${BARE} accept`],
    ['without', {}, BARE, '(request-target) TPP-Request-ID Date'],
    ['with', post, '(request-target) digest tpp-request-id date', BARE],
  ])('a request %s a body signs exactly the prescribed headers', (what, call, prescribed, names) => {
    expect(answerTo(() => check(signed({ ...call, names })))).toEqual([
      'SIGNATURE_HEADERS',
      `The signed headers are not those of a request ${what} a body`,
      `Expected: headers="${prescribed}". Received: headers="${names}".`,
    ]);
  });

  it('the answer to an invalid signature shows the text that the bank computed', () => {
    const text = signedText('POST', post.body);
    expect(answerTo(() => check(signed({ ...post, text: `${text}\n` })))).toEqual([
      'SIGNATURE_INVALID',
      'The signature does not verify with the registered QSealC over the signing string that the bank computed',
      text,
    ]);
    expect(answerTo(() => check(signed({ key: keys.qwac })))).toEqual([
      'SIGNATURE_INVALID',
      "The signature was made with the QWAC's key, but must be made with the QSealC's key",
      signedText('GET', ''),
    ]);
  });
});

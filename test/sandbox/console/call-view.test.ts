import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { Refusal } from '../../../src/sandbox/answers/refusal.ts';
import { CallLog, type Seen, type SeenCall } from '../../../src/sandbox/console/call-log.ts';
import { detailOf, shownCall } from '../../../src/sandbox/console/call-view.ts';
import { type Fault, parseFault } from '../../../src/sandbox/faults/fault.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { DoorRefusal } from '../../../src/sandbox/nextgenpsd2/refusal.ts';
import { rawRequest } from '../strict/raw.ts';
import { registered, stranger } from '../strict/registered.ts';

const AT = new Date('2026-11-20T11:00:00Z');

/** What the log has of a call. */
interface Happened extends Omit<NonNullable<Parameters<typeof rawRequest>[0]>, 'oversized'> {
  status?: number;
  answer?: string;
  answerHeaders?: Record<string, string>;
  faults?: Fault[];
  refusal?: Error;
  title?: string;
  warnings?: string[];
}

function seen(how: Happened = {}): SeenCall {
  const {
    status = 200,
    answer = '',
    answerHeaders = {},
    faults = [],
    refusal,
    title,
    warnings = [],
    ...request
  } = how;
  const log = new CallLog();
  log.addCall({
    ...{ at: AT, milliseconds: 12, faults, refusal, title, warnings, caller: 'the TPP' },
    request: rawRequest(request),
    answer: { status, headers: new Headers(answerHeaders), body: Buffer.from(answer) },
  });
  const [call] = log.list();
  return call === undefined || 'reason' in call ? expect.unreachable() : call;
}

const line = (how: Happened) => shownCall(seen(how), 10);
const detail = (how: Happened) => detailOf(seen(how), registered, 10);

test('a failed handshake has no status, and says why', () => {
  const handshake: Seen = { id: 7, at: AT, reason: 'peer did not return a certificate' };
  expect(shownCall(handshake, 10)).toEqual({
    ...{ id: 7, at: AT.toISOString(), title: 'TLS handshake', method: 'TLS' },
    ...{ target: 'peer did not return a certificate', status: 0, decision: 'no connection', tone: 'bad' },
  });
});

describe('what the bank decided', () => {
  const known = new DoorRefusal('CONSENT_UNKNOWN', 'no');
  const [delay, cutBefore, cutAfter] = ['delay=1', 'cut-before-effect', 'cut-after-effect'].map(parseFault);
  const faults = (...all: (Fault | undefined)[]) => all.filter((one) => one !== undefined);
  test.each<[how: Happened, status: number, decision: string, tone: string]>([
    [{}, 200, 'served', 'good'],
    [{ status: 302 }, 302, 'served', 'good'],
    [{ status: 399 }, 399, 'served', 'good'],
    [{ status: 400 }, 400, 'refused', 'bad'],
    [{ status: 503 }, 503, 'refused', 'bad'],
    [{ status: 403, refusal: known }, 403, 'CONSENT_UNKNOWN', 'bad'],
    [{ status: 500, refusal: new Error('a defect') }, 500, 'INTERNAL_ERROR', 'bad'],
    // A problem of the bank's own interface may have a status of success.
    [{ status: 200, refusal: known }, 200, 'CONSENT_UNKNOWN', 'bad'],
    [{ faults: faults(delay) }, 200, 'delay=1', 'fault'],
    [{ status: 403, refusal: known, faults: faults(delay) }, 403, 'CONSENT_UNKNOWN', 'fault'],
    [{ faults: faults(delay, cutAfter) }, 0, 'delay=1, cut-after-effect', 'fault'],
    [{ faults: faults(cutBefore) }, 0, 'cut-before-effect', 'fault'],
    [{ status: 404, refusal: known, faults: faults(cutBefore) }, 0, 'CONSENT_UNKNOWN', 'fault'],
  ])('of %j: %i, %s (%s)', (how, status, decision, tone) => {
    expect(line(how)).toMatchObject({ status, decision, tone, at: AT.toISOString(), method: 'GET' });
  });

  test.each<[refusal: Error | undefined, explanation: string]>([
    [undefined, ''],
    [known, 'no.'],
    [
      new DoorRefusal('FORMAT_ERROR', 'Wrong', 'Expected: a. Received: b.'),
      'Wrong. Expected: a. Received: b.',
    ],
    [new Error('A defect'), 'A defect.'],
    [new Refusal('FIELD_INVALID', 'Wrong', 'Expected: a.'), 'Wrong. Expected: a.'],
    // The console shows the signing string of the first door beside it, and that of the second one has no other place.
    [new Refusal('SIGNATURE_INVALID', 'Wrong', 'Signing string: x'), 'Wrong.'],
    [new DoorRefusal('SIGNATURE_INVALID', 'Wrong', 'Signing string: x'), 'Wrong. Signing string: x'],
  ])('is explained: %s: %s', async (refusal, explanation) => {
    expect((await detail({ ...(refusal && { refusal }) })).explanation).toBe(explanation);
  });
});

describe('a title', () => {
  const transactions = '/private/customers/1048262/products/0010482620/transactions/retrieve';
  test.each<[target: string, method: string, body: string, title: string]>([
    ['/nowhere?a=1', 'GET', '', '/nowhere'],
    ['/auth/oauth/v2/authorize?client_id=x', 'GET', '', 'authorise'],
    ['/auth/oauth/v2/token', 'POST', 'grant_type=refresh_token&a=1', 'token refresh_token'],
    ['/auth/oauth/v2/token', 'POST', '{"grant_type": "client_credentials"}', 'token client_credentials'],
    ['/auth/oauth/v2/token', 'POST', '', 'token'],
    [transactions, 'GET', '', 'transactions'],
    [`${transactions}?nextAccounting=10`, 'GET', '', 'transactions page 1'],
    [`${transactions}?nextAccounting=11`, 'GET', '', 'transactions page 2'],
    [`${transactions}?nextAccounting=1`, 'GET', '', 'transactions'],
    [`${transactions}?nextAccounting=2`, 'GET', '', 'transactions page 1'],
    [`${transactions}?nextNotAccounting=21&nextAccounting=11`, 'GET', '', 'transactions page 3'],
    [`${transactions}?nextNotAccounting=11&nextAccounting=21`, 'GET', '', 'transactions page 3'],
    [transactions.replace('transactions', 'balance'), 'GET', '', 'balance'],
  ])('of %s (%s %s): %s', (target, method, body, title) => {
    expect(line({ target, method, body }).title).toBe(title);
  });

  test('of a call at the second door is its operation, and a page has other rows there', () => {
    expect(line({ target: '/nextgenpsd2/v1/accounts', title: 'getAccountList' }).title).toBe(
      'getAccountList',
    );
    expect(shownCall(seen({ target: `${transactions}?nextAccounting=11` }), 5).title).toBe(
      'transactions page 3',
    );
  });
});

describe('a secret', () => {
  const SECRET = 'abcdef-0123456789';
  const SHOWN = 'abcdef…';
  const NAMES = ['client_secret', 'access_token', 'refresh_token', 'token', 'code'];
  const CREDENTIALS = ['password', 'additionalPassword', 'encryptedPassword', 'scaAuthenticationData'];

  test.each(NAMES)(
    '%s is shown with its beginning alone, in a body, a query and a redirect',
    async (name) => {
      const body = `{"${name}" : "${SECRET}","more":"${SECRET}"}`;
      const shown = await detail({
        ...{ target: `/a?x=1&${name}=${SECRET}&more=1`, body, answer: `${name}=${SECRET}` },
        answerHeaders: { location: `https://tpp.example/?${name}=${SECRET}` },
      });
      expect(shown.target).toBe(`/a?x=1&${name}=${SHOWN}&more=1`);
      expect(shown.request.head).toBe(`GET /a?x=1&${name}=${SHOWN}&more=1 HTTP/1.1`);
      expect(shown.request.body).toBe(`{"${name}" : "${SHOWN}","more":"${SECRET}"}`);
      expect(shown.answer.body).toBe(`${name}=${SHOWN}`);
      expect(shown.answer.head).toBe(`HTTP/1.1 200\nlocation: https://tpp.example/?${name}=${SHOWN}`);
    },
  );

  test.each(CREDENTIALS)('%s of a customer is not shown at all', async (name) => {
    const body = (value: string) => `{"a":{"${name}": "${value}"},"b":"c"}`;
    for (const value of ['1', 'pin-anna', 'with \\" a quote', '']) {
      expect((await detail({ body: body(value) })).request.body).toBe(body('…'));
    }
  });

  test.each([
    ['a short value stays', '{"code":"abcdef-01234567"}', '{"code":"abcdef-01234567"}'],
    ['a longer one does not', '{"code":"abcdef-012345678"}', '{"code":"abcdef…"}'],
    [
      'the end of another name is none',
      '{"postcode":"abcdef-0123456789"}',
      '{"postcode":"abcdef-0123456789"}',
    ],
    ['the end of another name is none in a form', 'postcode=abcdef-0123456789', 'postcode=abcdef-0123456789'],
    ['two in one body', `{"token":"${SECRET}","code":"${SECRET}"}`, `{"token":"${SHOWN}","code":"${SHOWN}"}`],
    ['two in one form', `token=${SECRET}&code=${SECRET}`, `token=${SHOWN}&code=${SHOWN}`],
    ['two of a customer', '{"password":"a"},{"password":"b"}', '{"password":"…"},{"password":"…"}'],
  ])('%s: %s', async (_, body, shown) => {
    expect((await detail({ body })).request.body).toBe(shown);
  });

  test.each([
    ['Authorization', `Bearer ${SECRET}`, 'Bearer abcdef…'],
    ['authorization', `Bearer ${SECRET}`, 'Bearer abcdef…'],
    ['Authorization', 'Bearer abcdef', 'Bearer abcdef'],
    ['X-Authorization', `Bearer ${SECRET}`, `Bearer ${SECRET}`],
    ['X-Location', `/?code=${SECRET}`, `/?code=${SECRET}`],
    ['Location', `/?code=${SECRET}`, `/?code=${SHOWN}`],
  ])('in the header %s: %s is shown as %s', async (name, value, shown) => {
    const { request } = await detail({
      target: '/a',
      headers: [
        ['Host', 'x'],
        [name, value],
      ],
    });
    expect(request.head).toBe(`GET /a HTTP/1.1\nHost: x\n${name}: ${shown}`);
  });
});

describe('a body', () => {
  const zero = (at: number) => Buffer.concat([Buffer.from('x'.repeat(at)), Buffer.from([0])]);
  test.each<[what: string, body: string | Buffer, shown: string]>([
    ['of text', 'ü', 'ü'],
    ['of bytes', zero(0), '(not text)'],
    ['with a zero in what is looked at', zero(511), '(not text)'],
    ['with a zero after it', zero(512), `${'x'.repeat(512)}\0`],
    ['that is kept whole', 'x'.repeat(16_384), 'x'.repeat(16_384)],
    ['of which the beginning is kept', 'x'.repeat(16_385), `${'x'.repeat(16_384)}\n… 16385 bytes in all`],
  ])('%s', async (_, body, shown) => {
    expect((await detail({ body })).request.body).toBe(shown);
  });
});

describe('what a call is checked with', () => {
  const certificates = (how: Happened) => detail(how).then(({ certificates: all }) => all);
  const QWAC = 'TLS client certificate (QWAC)';
  const SEAL = 'TPP-Certificate (QSealC)';
  const sealed = (der: Buffer): [string, string][] => [['TPP-Certificate', der.toString('base64')]];

  test.each<[what: string, how: Happened, shown: [use: string, isRegistered: boolean][]]>([
    ['none', {}, []],
    ['the registered QWAC', { clientCertificate: registered.qwac.raw }, [[QWAC, true]]],
    ['another one', { clientCertificate: stranger.raw }, [[QWAC, false]]],
    ['the QSealC in its place', { clientCertificate: registered.qseal.raw }, [[QWAC, false]]],
    ['the registered QSealC', { headers: sealed(registered.qseal.raw) }, [[SEAL, true]]],
    ['the QWAC in its place', { headers: sealed(registered.qwac.raw) }, [[SEAL, false]]],
    ['one that is none', { headers: [['TPP-Certificate', 'x']] }, []],
    [
      'both',
      { clientCertificate: registered.qwac.raw, headers: sealed(registered.qseal.raw) },
      [
        [QWAC, true],
        [SEAL, true],
      ],
    ],
  ])('certificates: %s', async (_, how, shown) => {
    expect((await certificates(how)).map(({ use, registered: is }) => [use, is])).toEqual(shown);
  });

  test('a certificate says what it has, and is empty where it has nothing', async () => {
    const [qwac] = await certificates({ clientCertificate: registered.qwac.raw });
    const { validFrom, validTo, subject, issuer, fingerprint256 } = registered.qwac;
    expect(qwac).toMatchObject({
      ...{ organizationIdentifier: 'PSDIT-BI-12345', qcType: 'web', roles: 'PSP_AI, PSP_PI, PSP_IC' },
      ...{ authority: 'Bank of Italy, IT-BI' },
      validFrom: new Date(validFrom).toISOString(),
      validTo: new Date(validTo).toISOString(),
      sha256: expect.stringMatching(new RegExp(fingerprint256.replaceAll(':', ':?'), 'i')),
    });
    for (const [shown = '', name] of [
      [qwac?.subject, subject],
      [qwac?.issuer, issuer],
    ])
      for (const part of String(name)
        .split('\n')
        .filter((each) => each.startsWith('CN=')))
        expect(shown).toContain(part);
    const { serverCertFile } = await loadOrCreateRegistration(inject('registration'));
    const plainOne = new X509Certificate(readFileSync(serverCertFile));
    const [plain] = await certificates({ clientCertificate: plainOne.raw });
    expect(plain).toMatchObject({ organizationIdentifier: '', qcType: '', roles: '', authority: '' });
  });

  const DIGEST = 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
  test.each<[what: string, how: Happened, digest: object | undefined]>([
    ['nothing', {}, undefined],
    ['a body', { body: '{}' }, { computed: expect.stringMatching(/^SHA-256=(?!47DE)/), received: undefined }],
    ['a digest of nothing', { headers: [['Digest', 'x']] }, { computed: DIGEST, received: 'x' }],
    // The second door's refusal says all of it.
    ['a body at the second door', { body: '{}', title: 'createConsent' }, undefined],
  ])('the digest of %s', async (_, how, digest) => {
    expect((await detail(how)).digest).toEqual(digest);
  });
});

test.each([
  [undefined, true],
  ['createConsent', false],
])('the signature of a call is explained at the first door: %s', async (title, isExplained) => {
  const headers: [string, string][] = [['Signature', 'x']];
  const { signature } = await detail({ headers, ...(title !== undefined && { title }) });
  expect(signature !== undefined).toBe(isExplained);
});

test('a call has what the bank ignored, its faults, its caller and its time', async () => {
  const faults = [parseFault('delay=1'), parseFault('empty')];
  expect(await detail({ faults, warnings: ['ignored'] })).toMatchObject({
    ...{ id: 1, milliseconds: 12, caller: 'the TPP', faults: ['delay=1', 'empty'], warnings: ['ignored'] },
  });
});

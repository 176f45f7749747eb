import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { DoorRules } from '../../../../src/sandbox/nextgenpsd2/door-rules.ts';
import type { Addressed } from '../../../../src/sandbox/nextgenpsd2/operations.ts';
import { checkBodyPresence } from '../../../../src/sandbox/nextgenpsd2/strict/body.ts';
import {
  checkClientCertificate,
  checkRequest,
} from '../../../../src/sandbox/nextgenpsd2/strict/check-request.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { rawRequest } from '../../strict/raw.ts';
import { registered, stranger } from '../../strict/registered.ts';
import { answerTo, bankOf } from '../refused.ts';

const NOW = new Date('2026-11-20T11:00:00Z');
const DATE = 'Fri, 20 Nov 2026 11:00:00 GMT';
type File = Omit<BankFile, 'interface'>;
type Headers = [name: string, value: string][];

const CALLS = {
  status: { id: 'getConsentStatus', kind: 'resource', parameters: new Map<string, string>() },
  consent: { id: 'createConsent', kind: 'start', parameters: new Map<string, string>() },
  list: { id: 'getAccountList', kind: 'reading', parameters: new Map<string, string>() },
} as const satisfies Record<string, Addressed>;

/** Checks a call at a bank that takes no signature, unless its file says otherwise. */
function check(
  headers: Headers,
  {
    call = 'status',
    file = {},
    body = '',
    strict = false,
    variations = [],
  }: {
    call?: keyof typeof CALLS;
    file?: File;
    body?: string;
    strict?: boolean;
    variations?: Variation[];
  } = {},
) {
  const own: BankFile = { interface: 'nextgenpsd2', signing: { when: 'never' }, ...file };
  const rules: DoorRules = {
    description: bankOf({ signing: { when: 'never' }, ...file }),
    own,
    strict,
    variations,
  };
  const method = body === '' ? 'GET' : 'POST';
  return checkRequest(rawRequest({ method, headers, body }), CALLS[call], rules, registered, NOW);
}

const UNUSED = 'the call does not use this header';

describe('the bank ignores', () => {
  const own: File = { headers: { perOperation: { createConsent: { 'X-Own': '1' } } } };
  test.each<[header: [string, string], call: keyof typeof CALLS, file: File, reason: string | undefined]>([
    [['X-More', '1'], 'status', {}, undefined],
    [['PSU-ID', 'anna'], 'status', {}, UNUSED],
    [['PSU-ID', 'anna'], 'consent', {}, undefined],
    [['PSU-ID', ''], 'consent', {}, 'it is empty'],
    [['PSU-ID', ''], 'consent', { psu: { id: 'empty' } }, undefined],
    [['PSU-Device-ID', ''], 'status', {}, 'it is empty'],
    [['TPP-More', ''], 'status', {}, 'it is empty'],
    [['X-More', ''], 'status', {}, undefined],
    [['Consent-ID', 'x'], 'status', {}, UNUSED],
    [['Consent-ID', 'x'], 'list', {}, undefined],
    [['TPP-Redirect-URI', 'x'], 'list', {}, UNUSED],
    [['TPP-Certificate', 'x'], 'list', {}, UNUSED],
    [['Date', 'x'], 'status', {}, UNUSED],
    [['Date', DATE], 'status', { headers: { date: 'always' } }, undefined],
    [['Digest', 'x'], 'status', {}, UNUSED],
    [['Signature', 'x'], 'status', {}, UNUSED],
    [['TPP-Signature-Certificate', 'x'], 'status', {}, UNUSED],
    [['Content-Type', 'x'], 'status', {}, UNUSED],
    // The token, where the bank has none, or has another header for it.
    [['Authorization', 'x'], 'list', {}, UNUSED],
    [['Authorization', 'x'], 'list', { oauth: { mode: 'integrated' } }, undefined],
    [['Authorization', 'x'], 'list', { oauth: { mode: 'integrated', tokenHeader: 'X-Token' } }, UNUSED],
    [['X-Token', 'x'], 'list', { oauth: { mode: 'integrated', tokenHeader: 'X-Token' } }, undefined],
    [['X-Token', 'x'], 'list', { oauth: { mode: 'none', tokenHeader: 'X-Token' } }, UNUSED],
    // A header of the bank's own, at its call and at another one.
    [['X-Own', '1'], 'consent', own, undefined],
    [['X-Own', '1'], 'list', own, UNUSED],
  ])('%j of %s at a bank with %j: %s', (header, call, file, reason) => {
    const basic: Headers = [
      ['X-Request-ID', 'x'],
      ['PSU-IP-Address', '192.0.2.1'],
    ];
    const more: Headers = call === 'consent' && header[0] !== 'X-Own' && file.headers ? [['X-Own', '1']] : [];
    const { request, warnings } = check([...basic, ...more, header], { call, file });
    expect(warnings).toEqual(reason === undefined ? [] : [`The bank ignores ${header[0]}: ${reason}.`]);
    expect(request.headers.some(([name]) => name === header[0])).toBe(reason === undefined);
  });

  test.each<[headers: Headers, warnings: string[]]>([
    [
      [
        ['X-More', '1'],
        ['x-more', '2'],
      ],
      ['The bank ignores x-more: it came before.'],
    ],
    [
      [
        ['X-More', '1'],
        ['x-more', '2'],
        ['X-MORE', '3'],
      ],
      ['The bank ignores x-more: it came before.', 'The bank ignores X-MORE: it came before.'],
    ],
    [
      [
        ['Accept', '*/*'],
        ['Accept', 'text/html'],
      ],
      [],
    ],
  ])('what comes again and nobody reads: %j', (headers, warnings) => {
    expect(check(headers).warnings).toEqual(warnings);
  });

  test.each<[headers: Headers, name: string]>([
    [
      [
        ['X-Request-ID', '1'],
        ['x-request-id', '2'],
      ],
      'x-request-id',
    ],
    [
      [
        ['PSU-IP-Address', '192.0.2.1'],
        ['psu-ip-address', '192.0.2.1'],
      ],
      'psu-ip-address',
    ],
  ])('no second one of what it reads: %j', (headers, name) => {
    expect(answerTo(() => check(headers))).toBe(`400 FORMAT_ERROR ${name}: The header ${name} came twice.`);
  });

  test('nothing, if it is strict', () => {
    const accept: [string, string] = ['Accept', 'application/json'];
    expect(check([accept, ['X-More', '']], { strict: true })).toMatchObject({ warnings: [] });
    expect(answerTo(() => check([accept, ['PSU-ID', 'anna']], { strict: true }))).toBe(
      '400 FORMAT_ERROR PSU-ID: PSU-ID is no header of this call.',
    );
    expect(answerTo(() => check([['Accept', '*/*']], { strict: true }))).toContain(
      '406 REQUESTED_FORMATS_INVALID',
    );
  });
});

describe('the types are read as the bank writes them', () => {
  const typesOf = (headers: Headers, file: File = {}, body = '') => {
    const { request } = check([...headers, ['PSU-IP-Address', '192.0.2.1']], { call: 'consent', file, body });
    return request.headers
      .filter(([name]) => /^(accept|content-type)$/i.test(name))
      .map(([, value]) => value);
  };
  const JSON_TYPE = 'application/json';
  test.each<[headers: Headers, body: string, types: string[]]>([
    [[], '', [JSON_TYPE]],
    [
      [
        ['Accept', 'text/html'],
        ['accept', '*/*;q=0.1'],
      ],
      '',
      [JSON_TYPE],
    ],
    [[['Content-Type', 'Application/JSON; charset=UTF-8']], '{}', [JSON_TYPE, JSON_TYPE]],
  ])('%j with "%s": %j', (headers, body, types) => {
    expect(typesOf(headers, {}, body)).toEqual(types);
  });

  test('and stay as they were sent, if the bank file has its own', () => {
    const contentType = 'application/json; charset=utf-8';
    const ask = (sent: string) =>
      answerTo(() => typesOf([['Content-Type', sent]], { headers: { contentType } }, '{}'));
    expect([ask(contentType), ask(JSON_TYPE)]).toEqual([
      ...['taken', expect.stringContaining('415 FORMAT_ERROR Content-Type')],
    ]);
  });
});

test.each<[variations: Variation[], headers: Headers, answer: string]>([
  [[], [], 'taken'],
  [['date-wanted'], [], expect.stringContaining('400 FORMAT_ERROR Date: Date is not an IMF-fixdate.')],
  [['date-wanted'], [['Date', DATE]], 'taken'],
])('with %j, a call with %j: %s', (variations, headers, answer) => {
  expect(answerTo(() => check(headers, { variations }))).toEqual(answer);
});

test('a body that is too large is refused before all else', () => {
  const oversized = { length: 2_000_000, sha256: Buffer.alloc(32) };
  const rules = {
    description: bankOf(),
    own: { interface: 'nextgenpsd2' },
    strict: true,
    variations: [],
  } as const;
  const request = rawRequest({ body: 'x', oversized });
  expect(answerTo(() => checkRequest(request, CALLS.status, rules, registered, NOW))).toBe(
    '413 FORMAT_ERROR: The body is larger than 1 MiB.',
  );
});

test.each([
  ['GET', '', 'taken'],
  ['DELETE', '', 'taken'],
  ['POST', '', 'taken'],
  ['POST', '{}', 'taken'],
  ['PUT', '{}', 'taken'],
  ['GET', '{}', '400 FORMAT_ERROR: A GET must not have a body. Received: 2 bytes.'],
  ['DELETE', 'x', '400 FORMAT_ERROR: A DELETE must not have a body. Received: 1 bytes.'],
])('%s with the body "%s": %s', (method, body, answer) => {
  expect(answerTo(() => checkBodyPresence(rawRequest({ method, body })))).toBe(answer);
});

test('only the registered QWAC may call', () => {
  const wrong = '401 CERTIFICATE_INVALID: The TLS client certificate is not the registered QWAC.';
  const by = (clientCertificate: Buffer | undefined) =>
    answerTo(() => checkClientCertificate(rawRequest({ clientCertificate }), registered));
  expect([registered.qwac.raw, registered.qseal.raw, stranger.raw, undefined].map(by)).toEqual([
    ...['taken', wrong, wrong, wrong],
  ]);
});

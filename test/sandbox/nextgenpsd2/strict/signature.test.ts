import { createHash, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { exactness } from '../../../../src/sandbox/nextgenpsd2/door-rules.ts';
import { keyIdsOf } from '../../../../src/sandbox/nextgenpsd2/strict/key-id.ts';
import {
  checkSigning,
  digestOf,
  hasDigest,
  mustBeSigned,
  signedNames,
} from '../../../../src/sandbox/nextgenpsd2/strict/signature.ts';
import { rawRequest } from '../../strict/raw.ts';
import { keys, registered } from '../../strict/registered.ts';
import { answerTo, bankOf } from '../refused.ts';

const ID = '5b0a4c0e-5f6e-4c3d-9a57-6d1f0a6f1b11';
const KEY_ID = keyIdsOf(bankOf().signing.keyId, registered.qseal)[0];
const FORM = 'keyId="…",algorithm="…",headers="…",signature="…"';

const sha = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');

/** How a request is signed, and what of it is wrong. */
interface Signed {
  body?: string;
  /** Headers besides those of a signature. */
  headers?: [string, string][];
  digest?: string | null;
  /** The names in the signature. */
  names?: string;
  keyId?: string;
  algorithm?: string;
  hash?: string;
  key?: string;
  /** Replaces the whole header Signature. */
  signature?: string;
}

/** A request, signed as the standard says. */
function signed(how: Signed = {}) {
  const { body = '', headers = [], names = 'digest x-request-id', algorithm = 'rsa-sha256' } = how;
  const {
    keyId = KEY_ID,
    hash = 'RSA-SHA256',
    key = keys.qseal,
    digest = `SHA-256=${sha('sha256', body)}`,
  } = how;
  const all: [string, string][] = [
    ['X-Request-ID', ID],
    ...(digest === null ? [] : [['Digest', digest] as [string, string]]),
    ['TPP-Signature-Certificate', registered.qseal.raw.toString('base64')],
    ...headers,
  ];
  const request = rawRequest({ method: 'POST', target: '/nextgenpsd2/v1/x', body, headers: all });
  const text = textOf(names, all);
  const bytes = sign(hash, Buffer.from(text), key).toString('base64');
  const value =
    how.signature ?? `keyId="${keyId}",algorithm="${algorithm}",headers="${names}",signature="${bytes}"`;
  return { ...request, headers: [...all, ['Signature', value] as [string, string]] };
}

/** The signing string of these names. */
function textOf(names: string, headers: readonly (readonly [string, string])[]): string {
  // The door has given the bank's name for it the name of the standard.
  const nameOf = (name: string) => (name === 'tpp-request-id' ? 'x-request-id' : name);
  const sentAs = (name: string) => headers.find(([sent]) => sent.toLowerCase() === nameOf(name))?.[1];
  return names
    .toLowerCase()
    .split(' ')
    .map(
      (name) => `${name}: ${name === '(request-target)' ? 'post /nextgenpsd2/v1/x' : (sentAs(name) ?? '')}`,
    )
    .join('\n');
}

type File = Omit<BankFile, 'interface'>;

function answer(request: ReturnType<typeof rawRequest>, file: File = {}, strict = true): string {
  const own: BankFile = { interface: 'nextgenpsd2', ...file };
  const description = bankOf(file);
  const exact = exactness({ strict, own, description, variations: [] });
  return answerTo(() => checkSigning(request, description, registered, { exact, received: request }));
}

/** The refusal without its signing string, and that string. */
function invalid(request: ReturnType<typeof rawRequest>, file?: File, strict?: boolean): [string, string] {
  const [refusal = '', text = ''] = answer(request, file, strict).split(' Signing string:\n');
  return [refusal, text.replace(/\.$/, '')];
}
const says = (message: string, expected: string, received: string) =>
  `401 SIGNATURE_INVALID Signature: ${message}. Expected: ${expected}. Received: ${received}.`;

describe('which requests are signed', () => {
  test.each([
    ['always', '', true],
    ['always', '{}', true],
    ['with-body', '', false],
    ['with-body', '{}', true],
    ['never', '', false],
    ['never', '{}', false],
  ] as const)('%s, with the body "%s": %s', (when, body, isSigned) => {
    expect(mustBeSigned(bankOf({ signing: { when } }), rawRequest({ body }))).toBe(isSigned);
  });

  test.each(['Digest', 'Signature', 'TPP-Signature-Certificate'])(
    'a request that is not signed has no %s',
    (name) => {
      const never = { signing: { when: 'never' } } as const;
      expect(answer(rawRequest({ headers: [[name.toLowerCase(), 'x']] }), never)).toBe(
        `400 FORMAT_ERROR ${name}: The bank does not take ${name} with this call.`,
      );
      expect(answer(rawRequest({ headers: [['X-More', 'x']] }), never)).toBe('taken');
    },
  );

  test('a request without a signature is refused where the bank wants one', () => {
    expect(answer(rawRequest())).toBe('401 SIGNATURE_MISSING Signature: The request has no Signature.');
  });
});

describe('the digest', () => {
  test.each<[signing: BankFile['signing'], body: string, has: boolean, digest: string]>([
    [{}, '', true, `SHA-256=${sha('sha256', '')}`],
    [{}, '{"a":1}', true, `SHA-256=${sha('sha256', '{"a":1}')}`],
    [{ digest: 'SHA-512' }, '{"a":1}', true, `SHA-512=${sha('sha512', '{"a":1}')}`],
    [{ emptyBodyDigest: false }, '', false, `SHA-256=${sha('sha256', '')}`],
    [{ emptyBodyDigest: false }, 'x', true, `SHA-256=${sha('sha256', 'x')}`],
    [{ emptyBody: '{}' }, '', true, `SHA-256=${sha('sha256', '{}')}`],
    [{ emptyBody: '{}' }, 'x', true, `SHA-256=${sha('sha256', 'x')}`],
  ])('%j of "%s"', (own, body, has, digest) => {
    const { signing } = bankOf({ signing: own });
    expect([hasDigest(signing, rawRequest({ body })), digestOf(signing, Buffer.from(body))]).toEqual([
      has,
      digest,
    ]);
  });

  const NOTHING = `SHA-256=${sha('sha256', '')}`;
  const wrong = (bytes: number, expected: string, received: string) =>
    `400 FORMAT_ERROR Digest: Digest does not match the ${bytes} bytes of the body. Expected: ${expected}. Received: ${received}.`;
  test.each<
    [body: string, digest: string | null, strict: boolean, signing: BankFile['signing'], answer: string]
  >([
    ['', NOTHING, true, {}, 'taken'],
    ['{}', NOTHING, true, {}, wrong(2, `SHA-256=${sha('sha256', '{}')}`, NOTHING)],
    ['', 'SHA-256=AAAA', true, {}, wrong(0, NOTHING, 'SHA-256=AAAA')],
    ['', NOTHING.toLowerCase(), true, {}, wrong(0, NOTHING, NOTHING.toLowerCase())],
    // Who is not strict takes the other hash of the standard, in any case.
    ['', NOTHING.replace('SHA', 'sha'), false, {}, 'taken'],
    ['', `SHA-512=${sha('sha512', '')}`, false, {}, 'taken'],
    ['', `sha-512=${sha('sha512', '')}`, false, {}, 'taken'],
    ['', `SHA-512=${sha('sha512', '')}`, true, {}, wrong(0, NOTHING, `SHA-512=${sha('sha512', '')}`)],
    [
      '',
      `SHA-512=${sha('sha512', '')}`,
      false,
      { digest: 'SHA-256' },
      wrong(0, NOTHING, `SHA-512=${sha('sha512', '')}`),
    ],
    ['', `SHA-512=${sha('sha256', '')}`, false, {}, wrong(0, NOTHING, `SHA-512=${sha('sha256', '')}`)],
    ['', `MD5=${sha('md5', '')}`, false, {}, wrong(0, NOTHING, `MD5=${sha('md5', '')}`)],
    ['', `x${NOTHING}`, false, {}, wrong(0, NOTHING, `x${NOTHING}`)],
    ['', `${NOTHING} x`, false, {}, wrong(0, NOTHING, `${NOTHING} x`)],
    ['', sha('sha256', ''), false, {}, wrong(0, NOTHING, sha('sha256', ''))],
    ['', `SHA-256=${sha('sha256', '{}')}`, false, { emptyBody: '{}' }, 'taken'],
  ])('of "%s" is %s, strict %s, at a bank with %j: %s', (body, digest, strict, signing, expected) => {
    expect(answer(signed({ body, digest }), { signing }, strict)).toBe(expected);
  });

  test('of nothing does not come, if the bank does not want it', () => {
    const file = { signing: { emptyBodyDigest: false } };
    expect(answer(signed({ digest: null, names: 'x-request-id' }), file)).toBe('taken');
    expect(answer(signed({ names: 'x-request-id' }), file)).toBe(
      wrong(0, 'no Digest without a body', NOTHING),
    );
    expect(answer(signed({ digest: null, names: 'x-request-id' }))).toBe(wrong(0, NOTHING, 'nothing'));
  });
});

test.each<[signing: BankFile['signing'], body: string, sent: string[], names: string[]]>([
  [{}, '', [], ['digest', 'x-request-id']],
  [{}, '', ['PSU-ID'], ['digest', 'x-request-id', 'psu-id']],
  [
    {},
    '',
    ['TPP-Redirect-URI', 'PSU-Corporate-ID', 'Consent-ID', 'PSU-ID'],
    ['digest', 'x-request-id', 'psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
  ],
  [{ emptyBodyDigest: false }, '', [], ['x-request-id']],
  [{ emptyBodyDigest: false }, 'x', [], ['digest', 'x-request-id']],
  [{ headers: ['x-request-id', 'digest'], ifSent: [] }, '', ['PSU-ID'], ['x-request-id', 'digest']],
  [{ headers: ['digest'], ifSent: ['(request-target)', 'date'] }, '', [], ['digest', '(request-target)']],
])('at a bank with %j, a request with "%s" and %j covers %j', (own, body, sent, names) => {
  const { signing } = bankOf({ signing: own });
  const request = rawRequest({ body, headers: sent.map((name) => [name, 'x']) });
  expect(signedNames(signing, request)).toEqual(names);
});

describe('a signature', () => {
  const LIST = 'digest x-request-id';
  const TEXT = textOf(LIST, signed().headers);

  test.each<[what: string, how: Signed, file?: File]>([
    ['as the standard says', {}],
    ['of a body', { body: '{"a":1}' }],
    ['with what was sent', { headers: [['PSU-ID', 'anna']], names: `${LIST} psu-id` }],
    [
      'with SHA-512',
      { algorithm: 'rsa-sha512', hash: 'RSA-SHA512' },
      { signing: { algorithm: 'rsa-sha512' } },
    ],
    [
      'with SHA-384',
      { algorithm: 'SHA384withRSA', hash: 'RSA-SHA384' },
      { signing: { algorithm: 'SHA384withRSA' } },
    ],
    [
      'over the names of the bank',
      { names: 'digest tpp-request-id' },
      { headers: { names: { 'X-Request-ID': 'TPP-Request-ID' } } },
    ],
  ])('%s is right', (_, how, file = {}) => {
    expect(answer(signed(how), file)).toBe('taken');
  });

  const received = (algorithm: string) => `algorithm="${algorithm}"`;
  const TAKES = 'The bank takes another algorithm';
  const COVERS = 'The signature covers other headers';
  const WRONG = 'The signature does not verify over the signing string that the bank computed';
  const KEY = 'a signature with the key of the registered QSealC';
  const listed = (names: string) => `headers="${names}"`;
  test.each<[what: string, how: Signed, refusal: string]>([
    [
      'another keyId',
      { keyId: 'SN=1' },
      says("The signature's keyId is not that of the certificate", `keyId="${KEY_ID}"`, 'keyId="SN=1"'),
    ],
    [
      'another algorithm',
      { algorithm: 'rsa-sha512' },
      says(TAKES, received('rsa-sha256'), received('rsa-sha512')),
    ],
    [
      'another spelling',
      { algorithm: 'RSA-SHA256' },
      says(TAKES, received('rsa-sha256'), received('RSA-SHA256')),
    ],
    [
      'another order',
      { names: 'x-request-id digest' },
      says(COVERS, listed(LIST), listed('x-request-id digest')),
    ],
    ['capitals', { names: 'Digest x-request-id' }, says(COVERS, listed(LIST), listed('Digest x-request-id'))],
    ['fewer headers', { names: 'digest' }, says(COVERS, listed(LIST), listed('digest'))],
    [
      'more headers',
      { names: `${LIST} date`, headers: [['Date', 'x']] },
      says(COVERS, listed(LIST), listed(`${LIST} date`)),
    ],
    ['the key of the QWAC', { key: keys.qwac }, says(WRONG, KEY, "a signature with the QWAC's key")],
    [
      'another key',
      { key: keys.other },
      says(WRONG, KEY, 'a signature over another text, or with another key'),
    ],
    [
      'another hash',
      { hash: 'RSA-SHA512' },
      says(WRONG, KEY, 'a signature over another text, or with another key'),
    ],
    ['another form', { signature: 'x' }, says('The Signature header has another form', FORM, 'x')],
  ])('with %s is refused, with the signing string', (_, how, refusal) => {
    expect(invalid(signed(how))).toEqual([refusal, TEXT]);
  });

  test('that lacks what was sent is refused, and the signing string has it', () => {
    const sent: [string, string] = ['PSU-ID', 'anna'];
    expect(invalid(signed({ headers: [sent] }))).toEqual([
      says(COVERS, listed(`${LIST} psu-id`), listed(LIST)),
      `${TEXT}\npsu-id: anna`,
    ]);
  });

  test.each<[what: string, how: Signed]>([
    ['another order', { names: 'x-request-id digest' }],
    ['capitals', { names: 'Digest X-Request-ID' }],
    ['more headers', { names: `${LIST} date`, headers: [['Date', 'x']] }],
    ['the target', { names: `(request-target) ${LIST}` }],
  ])('may have %s at a bank that is not strict', (_, how) => {
    expect(answer(signed(how), {}, false)).toBe('taken');
  });

  test.each<[how: Signed, refusal: string]>([
    [{ names: 'x-request-id' }, says(COVERS, listed(LIST), listed('x-request-id'))],
    [
      { names: `${LIST} date` },
      says('The signature covers date, which did not come', listed(LIST), listed(`${LIST} date`)),
    ],
    [
      { names: `${LIST} date accept` },
      says(
        'The signature covers date, accept, which did not come',
        listed(LIST),
        listed(`${LIST} date accept`),
      ),
    ],
  ])('is refused at such a bank, too: %j', (how, refusal) => {
    expect(invalid(signed(how), {}, false)[0]).toBe(refusal);
  });

  test.each<[word: string, own: string | undefined, isTaken: boolean]>([
    ...['RSA-SHA256', 'rsa-sha-256', 'SHA256withRSA', 'sha256RSA', 'SHA-256', 'sha256', 'rsa-sha512'].map(
      (word): [string, undefined, boolean] => [word, undefined, true],
    ),
    ['hs2019', undefined, false],
    ['xrsa-sha256', undefined, false],
    ['rsa-sha256x', undefined, false],
    // The word of a bank file is exact, but programs spell those of the standard in their own way.
    ['SHA256withRSA', 'rsa-sha256', true],
    ['SHA512withRSA', 'rsa-sha256', false],
    ['rsa-sha256', 'SHA256withRSA', false],
    ['SHA256withRSA', 'SHA256withRSA', true],
  ])('with the word %s at a bank that is not strict and names %s: %s', (algorithm, own, isTaken) => {
    const hash = algorithm.includes('512') ? 'RSA-SHA512' : 'RSA-SHA256';
    const file = own === undefined ? {} : { signing: { algorithm: own } };
    const [refusal] = invalid(signed({ algorithm, hash }), file, false);
    expect(refusal).toBe(isTaken ? 'taken' : says(TAKES, received(own ?? 'rsa-sha256'), received(algorithm)));
  });

  const part = (name: string, value: string) => `${name}="${value}"`;
  const PARTS = { keyId: KEY_ID ?? '', algorithm: 'rsa-sha256', headers: LIST, signature: 'AAAA' };
  test.each(Object.keys(PARTS))('without %s has another form, strict or not', (name) => {
    const parts = Object.entries(PARTS).filter(([each]) => each !== name);
    for (const value of [
      parts.map(([each, text]) => part(each, text)).join(','),
      [...parts.map(([each, text]) => part(each, text)), part(name, '')].join(','),
    ])
      for (const strict of [true, false])
        expect(invalid(signed({ signature: value }), {}, strict)[0]).toBe(
          says('The Signature header has another form', FORM, value),
        );
  });
});

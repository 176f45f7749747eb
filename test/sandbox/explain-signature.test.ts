import { constants, createHash, type Hash, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainSignature } from '../../src/sandbox/strict/explain-signature.ts';
import type { RawRequest } from '../../src/sandbox/strict/raw-request.ts';
import { keys, registered, stranger } from './strict/registered.ts';

const ID = '3f2b6c1e-9a4d-4b7f-8e10-5d6c7b8a9f00';
const DATE = 'Fri, 20 Nov 2026 11:00:00 GMT';
const TARGET = '/private/x?dateFrom=01%2F11%2F2026';
const BODY = '{"a":1}';

interface Signing {
  method?: string;
  body?: string;
  /** Makes the text to sign from the text that the bank computes. */
  text?: (computed: string) => string | Buffer;
  key?: string;
  algorithm?: string;
  declared?: string;
  padding?: number;
  headers?: [string, string][];
  target?: string;
  id?: string;
  date?: string;
  /** The value of `Digest`. */
  digest?: string;
  /** The value of `TPP-Certificate`. */
  certificate?: string;
  /** A header that the client does not send. */
  without?: string;
  /** The value of `Signature`. */
  signatureHeader?: string;
}

function explain({ method = 'GET', body = '', text = (t) => t, ...call }: Signing) {
  const { target = TARGET, id = ID, date = DATE } = call;
  const { digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}` } = call;
  const { certificate = registered.qseal.raw.toString('base64') } = call;
  const lines = [
    `(request-target): ${method.toLowerCase()} ${target}`,
    ...(body === '' ? [] : [`digest: ${digest}`]),
    `tpp-request-id: ${id}`,
    `date: ${date}`,
  ];
  const computed = lines.join('\n');
  const signature = sign(call.algorithm ?? 'sha256', Buffer.from(text(computed)), {
    key: call.key ?? keys.qseal,
    ...(call.padding !== undefined && { padding: call.padding }),
  }).toString('base64');
  const declared = call.declared ?? lines.map((line) => line.split(': ')[0]).join(' ');
  const parameters = `keyId="a",algorithm="rsa-sha256",headers="${declared}",signature="${signature}"`;
  const headers: [string, string][] = [
    ['TPP-Request-ID', id],
    ['Host', '127.0.0.1:8443'],
    ['TPP-Transaction-ID', '00000000-0000-4000-8000-000000000000'],
    ['date', date],
    ['TPP-Certificate', certificate],
    ...(body === '' ? [] : [['Digest', digest] satisfies [string, string]]),
    ['Signature', call.signatureHeader ?? parameters],
    ...(call.headers ?? []),
  ];
  const request: RawRequest = {
    method,
    target,
    headers: headers.filter(([name]) => name !== call.without),
    body: Buffer.from(body),
    clientCertificate: undefined,
  };
  const finding = explainSignature(request, createHash('sha256').update(body).digest(), registered);
  if (!finding) throw new Error('The request must have a signature');
  expect(finding.computed).toBe(computed);
  return finding;
}

test.each([{}, { method: 'POST', body: BODY }])(
  'the explanation of a right signature says that it is valid: %j',
  (signing) => {
    expect(explain(signing)).toMatchObject({
      verdict: 'right',
      differsAt: undefined,
      says: ['The signature is valid.'],
    });
  },
);

/** Makes another text of the right one. */
type Text = (right: string) => string;
const swap =
  (from: string | RegExp, to: string): Text =>
  (text) =>
    text.replace(from, to);
const REVERSED: Text = (text) => text.split('\n').toReversed().join('\n');
const sha = (text: string) => createHash('sha256').update(text);
const POST = { method: 'POST', body: BODY };

describe('the explanation names one mistake and where the two texts first differ', () => {
  const LINES = '(request-target), tpp-request-id, date';
  const WITH_DIGEST = '(request-target), digest, tpp-request-id, date';
  const OWN: Signing = { declared: '(request-target) date x-own', headers: [['X-Own', '7']] };
  const at = (target: string): Signing => ({ target: `/private/${target}` });
  const TRANSACTION = '00000000-0000-4000-8000-000000000000';
  const EURO = at('x?a=%e2%82%acuro');
  const CAPITALS = swap('tpp-request-id', 'TPP-Request-ID');
  const digestIs = (text: string) => swap(/SHA-256=.*/, text);

  test.each<[says: string, text: Text, more?: Signing]>([
    // the lines
    [`The lines are date, tpp-request-id, (request-target), not ${LINES}`, REVERSED],
    [`The lines are date, not ${LINES}`, () => `date: ${DATE}`],
    [`The lines are ${LINES}, not ${WITH_DIGEST}`, swap(/\ndigest: .*/, ''), POST],
    ...['host: 127.0.0.1:8443', `tpp-transaction-id: ${TRANSACTION}`, 'content-type: ', 'psu-ip-address: ']
      .concat(`tpp-certificate: ${registered.qseal.raw.toString('base64')}`)
      .map((line): [string, Text] => [
        `The lines are ${LINES}, ${line.split(':')[0]}, not ${LINES}`,
        (t) => `${t}\n${line}`,
      ]),
    [`The lines are (request-target), date, x-own, not ${LINES}`, swap(/tpp.*\n(.*)/, '$1\nx-own: 7'), OWN],
    // the request target
    ['(request-target) has no query', swap(/\?\S+/, '')],
    ['(request-target) has its method in capitals', swap('get /', 'GET /')],
    ['(request-target) is percent-decoded', (t) => decodeURIComponent(t)],
    ['(request-target) has its percent-encoding in lower case', (t) => t.replaceAll('%2F', '%2f')],
    ['(request-target) has its percent-encoding in capitals', swap('%e2%82%ac', '%E2%82%AC'), EURO],
    ['(request-target) has another percent-encoding', swap('%20', '+'), at('x?a=1%202&b=*')],
    ['(request-target) has another percent-encoding', swap(' b', '%20b'), at("a b's%20c%C3%A8")],
    ['(request-target) has no method', swap('get /', '/')],
    ['(request-target) has no space after the method', swap('get /', 'get/')],
    ['(request-target) is the whole address', swap('get ', 'get https://127.0.0.1:8443')],
    ['(request-target) does not have the first part of the path', swap('/private', '')],
    ['(request-target) does not have the first slash of the path', swap('/private', 'private')],
    ['(request-target) has a slash after the path', swap('?', '/?')],
    ['(request-target) ends with HTTP/1.1', swap('2026\n', '2026 HTTP/1.1\n')],
    ['(request-target) has the method get', swap('post /', 'get /'), POST],
    ['(request-target) has the method post', swap('get /', 'post /')],
    ['(request-target) has the method put', swap('get /', 'put /')],
    ['(request-target) has the method delete', swap('get /', 'delete /')],
    // the form of the lines
    ['A line break follows the last line', (t) => `${t}\n`],
    ['CR LF follows the last line', (t) => `${t}\r\n`, { target: '/%ZZ', without: 'Host' }],
    ['CR LF follows the last line', (t) => `${t}\r\n`],
    ['The lines are separated by CR LF, not LF', (t) => t.replaceAll('\n', '\r\n')],
    ['Nothing separates the lines', (t) => t.replaceAll('\n', '')],
    ['A space separates the lines, not LF', (t) => t.replaceAll('\n', ' ')],
    ['A backslash and an n separate the lines, not LF', (t) => t.replaceAll('\n', '\\n')],
    ['No space follows the colons', (t) => t.replaceAll(': ', ':')],
    ['A space is before the colons', (t) => t.replaceAll(': ', ' : ')],
    ['The names are not in lower case', CAPITALS],
    ['The names are not in lower case', (t) => CAPITALS(t).replace(/^d/gm, 'D'), POST],
    // the digest
    ['The digest has no SHA-256= before it', (t) => t.replace('SHA-256=', ''), POST],
    ['The digest has sha-256= in lower case', (t) => t.replace('SHA-256=', 'sha-256='), POST],
    ['The digest is in hexadecimal', digestIs(`SHA-256=${sha(BODY).digest('hex')}`), POST],
    ['The digest is in hexadecimal, without SHA-256=', digestIs(sha(BODY).digest('hex')), POST],
    ['The digest is that of an empty body', digestIs(`SHA-256=${sha('').digest('base64')}`), POST],
    ['The digest is that of the body {}', digestIs(`SHA-256=${sha('{}').digest('base64')}`), POST],
    // other values
    ['The date is written in ISO 8601', (t) => t.replace(DATE, '2026-11-20T11:00:00.000Z')],
    ['The date is that of 2 s before the Date header', (t) => t.replace('11:00:00', '10:59:58')],
    ['The date is that of 1 s before the Date header', (t) => t.replace('11:00:00', '10:59:59')],
    ['The date is that of 1 s after the Date header', (t) => t.replace('11:00:00', '11:00:01')],
    ['The date is that of 2 s after the Date header', (t) => t.replace('11:00:00', '11:00:02')],
    ['TPP-Request-ID is in capitals', (t) => t.replace(ID, ID.toUpperCase())],
    ['TPP-Request-ID is in lower case', (t) => t.replace(ID.toUpperCase(), ID), { id: ID.toUpperCase() }],
    ['TPP-Transaction-ID is in the place of TPP-Request-ID', (t) => t.replace(ID, TRANSACTION)],
  ])('the explanation names the mistake: %s', (says, text, more) => {
    const { verdict, says: said, computed, received, differsAt } = explain({ ...more, text });
    expect([verdict, said]).toEqual(['found', [`${says}.`]]);
    expect(received).toBe(text(computed));
    const at = differsAt ?? Number.NaN;
    expect(computed.slice(0, at)).toBe(received?.slice(0, at));
    expect(computed[at]).not.toBe(received?.[at]);
  });

  test('the digest that was signed can match the body, although the Digest header does not', () => {
    const right = `SHA-256=${sha(BODY).digest('base64')}`;
    const wrong = `SHA-256=${sha('other').digest('base64')}`;
    const { says, received } = explain({ ...POST, digest: wrong, text: (t) => t.replace(wrong, right) });
    expect(says).toEqual(['The digest matches the body, but differs from the Digest header.']);
    expect(received).toContain(`digest: ${right}\n`);
  });

  test.each<[string, (hash: Hash) => string | Buffer]>([
    ['', (hash) => hash.digest()],
    [' in hexadecimal', (hash) => hash.digest('hex')],
    [' in base64', (hash) => hash.digest('base64')],
  ])('the explanation recognises a text that was hashed%s before it was signed', (form, digest) => {
    const { verdict, says, received, computed, differsAt } = explain({ text: (t) => digest(sha(t)) });
    const sentence = `The SHA-256 of the text${form} was signed, so it was hashed twice.`;
    expect([verdict, says, differsAt]).toEqual(['found', [sentence], undefined]);
    expect(received).toBe(computed);
  });

  test('a Date that is not a date has no other dates near it', () => {
    expect(explain({ date: 'soon', text: (t) => `${t}\n` }).says).toEqual([
      'A line break follows the last line.',
    ]);
  });
});

test('the explanation names three mistakes made together, but not four', () => {
  const three = (text: string) => `${text.replace('get /', 'GET /').replaceAll('\n', '\r\n')}\r\n`;
  expect(explain({ text: three })).toMatchObject({
    verdict: 'found',
    says: [
      '(request-target) has its method in capitals.',
      'CR LF follows the last line.',
      'The lines are separated by CR LF, not LF.',
    ],
  });
  expect(explain({ text: (text) => three(text).replaceAll(': ', ':') }).verdict).toBe('unknown');
});

test('for an unknown text, the explanation gives both hashes and how to show the text', () => {
  const { verdict, says, received, differsAt, computed } = explain({ text: () => 'something else' });
  expect([verdict, received, differsAt]).toEqual(['unknown', undefined, undefined]);
  expect(says).toEqual([
    'The signature is over another text, and no common mistake explains it.',
    `Its hash is ${sha('something else').digest('hex')}. The hash of the bank's text is ${sha(computed).digest('hex')}.`,
    'To see the difference, send the text that you sign as X-Sandbox-Signing-String, in base64.',
  ]);
});

test("the explanation trusts the client's own signing string only if the signature matches it", () => {
  const header = (text: string): [string, string][] => [
    ['X-Sandbox-Signing-String', Buffer.from(text).toString('base64')],
  ];
  expect(explain({ text: () => 'something else', headers: header('something else') })).toMatchObject({
    verdict: 'sent',
    received: 'something else',
    differsAt: 0,
    says: ['The client sent the text that it signed.'],
  });
  const lie = explain({ text: () => 'something else', headers: header('a lie') });
  expect(lie).toMatchObject({ verdict: 'unknown', received: undefined });
  expect(lie.says.at(-1)).toBe('X-Sandbox-Signing-String is not the text that was signed.');
  // The bank's own text needs no explanation.
  const right = explain({});
  expect(explain({ headers: header(right.computed) })).toEqual(right);
});

test('where one text is the beginning of the other, they differ at its end', () => {
  const { computed, differsAt } = explain({ text: (text) => `${text}\n` });
  expect(differsAt).toBe(computed.length);
});

const DAMAGED =
  'The signature is damaged, or its key matches neither the QSealC nor the QWAC nor TPP-Certificate.';

describe('the key and the hash', () => {
  test('the explanation names the wrong key, also beside another mistake', () => {
    const wrongKey = "The signature was made with the QWAC's key, but must be made with the QSealC's key.";
    expect(explain({ key: keys.qwac })).toMatchObject({
      verdict: 'found',
      says: [wrongKey],
      differsAt: undefined,
    });
    expect(explain({ key: keys.qwac, text: (text) => `${text}\n` }).says).toEqual([
      wrongKey,
      'A line break follows the last line.',
    ]);
    expect(explain({ key: keys.qwac, text: () => 'x' }).says[0]).toBe(wrongKey);
  });

  test("the explanation knows the key of the client's own certificate", () => {
    const certificate = stranger.raw.toString('base64');
    expect(explain({ key: keys.stranger, certificate }).says).toEqual([
      'The signature was made with the key of TPP-Certificate, which is not the registered QSealC.',
    ]);
    expect(explain({ certificate: 'no certificate' }).verdict).toBe('right');
  });

  test.each([
    ["a stranger's key", () => explain({ key: keys.other })],
    ['MD5', () => explain({ algorithm: 'md5' })],
  ])('the explanation cannot read a signature with %s', (_, explained) => {
    expect(explained()).toMatchObject({ verdict: 'other-key', received: undefined, says: [DAMAGED] });
  });

  test.each(['sha1', 'sha384', 'sha512'])('the explanation names the wrong hash %s', (algorithm) => {
    const wrongHash = `The text was hashed with ${algorithm.toUpperCase()}, but must be hashed with SHA-256.`;
    expect(explain({ algorithm })).toMatchObject({ verdict: 'found', says: [wrongHash] });
    expect(explain({ algorithm, text: (text) => `${text}\n` }).says).toEqual([
      wrongHash,
      'A line break follows the last line.',
    ]);
  });

  test('the explanation names the wrong padding, if the text is right', () => {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    expect(explain({ padding })).toMatchObject({
      verdict: 'other-key',
      says: ['The text is right, but it was signed with RSASSA-PSS. rsa-sha256 means RSASSA-PKCS1-v1_5.'],
    });
    expect(explain({ padding, text: () => 'another text' }).says).toEqual([DAMAGED]);
  });
});

test('the explanation of a header that cannot be read says what is wrong with it', () => {
  const value = 'keyId="a",algorithm="rsa-sha256",headers="date"';
  expect(explain({ signatureHeader: value })).toMatchObject({
    verdict: 'malformed',
    received: undefined,
    differsAt: undefined,
    says: [
      'The Signature header has no signature.',
      expect.stringMatching(/^Expected: .* Received: keyId="a"/),
    ],
  });
});

test("a signed header that the client did not send is empty in the bank's text", () => {
  const { computed, says } = explain({ date: '', without: 'date', text: (text) => `${text}${DATE}` });
  expect(computed).toMatch(/\ndate: $/);
  expect(says[0]).toBe('The signature is over another text, and no common mistake explains it.');
});

test('a client that does not send its certificate signs with one of the registered keys', () => {
  expect(explain({ without: 'TPP-Certificate' }).verdict).toBe('right');
  expect(explain({ without: 'TPP-Certificate', key: keys.stranger }).verdict).toBe('other-key');
});

test('a request without a signature has no explanation', () => {
  const request = {
    method: 'GET',
    target: TARGET,
    headers: [],
    body: Buffer.alloc(0),
    clientCertificate: undefined,
  };
  expect(explainSignature(request, Buffer.alloc(32), registered)).toBeUndefined();
});

test('for any signed text, the explanation names the mistake or says that the text is unknown', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['found', 'unknown']).toContain(explain({ text: () => text }).verdict);
    }),
    { numRuns: 5 },
  );
});

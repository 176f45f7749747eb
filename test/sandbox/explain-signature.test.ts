import { constants, createHash, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeCertificateSet } from '../../src/sandbox/folder/certificate-set.ts';
import { explainSignature } from '../../src/sandbox/strict/explain-signature.ts';
import type { RawRequest } from '../../src/sandbox/strict/raw-request.ts';

const set = await makeCertificateSet({ from: new Date(), days: 30 });
const registered = {
  qwac: new X509Certificate(set.qwac.certificate),
  qseal: new X509Certificate(set.qseal.certificate),
};
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
}

function explain({ method = 'GET', body = '', text = (t) => t, ...call }: Signing) {
  const digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
  const lines = [
    `(request-target): ${method.toLowerCase()} ${TARGET}`,
    ...(body === '' ? [] : [`digest: ${digest}`]),
    `tpp-request-id: ${ID}`,
    `date: ${DATE}`,
  ];
  const computed = lines.join('\n');
  const signature = sign(call.algorithm ?? 'sha256', Buffer.from(text(computed)), {
    key: call.key ?? set.qseal.key,
    ...(call.padding !== undefined && { padding: call.padding }),
  }).toString('base64');
  const declared = call.declared ?? lines.map((line) => line.split(': ')[0]).join(' ');
  const request: RawRequest = {
    method,
    target: TARGET,
    headers: [
      ['Host', '127.0.0.1:8443'],
      ['TPP-Request-ID', ID],
      ['TPP-Transaction-ID', '00000000-0000-4000-8000-000000000000'],
      ['date', DATE],
      ['TPP-Certificate', registered.qseal.raw.toString('base64')],
      ...(body === '' ? [] : [['Digest', digest] satisfies [string, string]]),
      ['Signature', `keyId="a",algorithm="rsa-sha256",headers="${declared}",signature="${signature}"`],
      ...(call.headers ?? []),
    ],
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

describe('the explanation names one mistake and where the two texts first differ', () => {
  const swap = (text: string, one: number, other: number) => {
    const lines = text.split('\n');
    [lines[one], lines[other]] = [lines[other] ?? '', lines[one] ?? ''];
    return lines.join('\n');
  };
  test.each<[string, Signing, RegExp]>([
    ['decoded', { text: (t) => decodeURIComponent(t) }, /percent-decoded/],
    ['lower-case escapes', { text: (t) => t.replaceAll('%2F', '%2f') }, /percent-encoding in lower case/],
    ['no query', { text: (t) => t.replace(/\?\S+/, '') }, /has no query/],
    ['capitals', { text: (t) => t.replace('get /', 'GET /') }, /method in capitals/],
    ['other method', { text: (t) => t.replace('get /', 'post /') }, /method post/],
    ['whole address', { text: (t) => t.replace('get ', 'get https://127.0.0.1:8443') }, /whole address/],
    ['base path', { text: (t) => t.replace('/private', '') }, /first part of the path/],
    ['line break at the end', { text: (t) => `${t}\n` }, /line break follows/],
    ['CR LF', { text: (t) => t.replaceAll('\n', '\r\n') }, /CR LF/],
    ['names as sent', { text: (t) => t.replace('tpp-request-id', 'TPP-Request-ID') }, /not in lower case/],
    ['no space', { text: (t) => t.replaceAll(': ', ':') }, /no space follows/i],
    ['order', { method: 'POST', body: BODY, text: (t) => swap(t, 1, 3) }, /lines are .* not/],
    [
      'no digest',
      { method: 'POST', body: BODY, text: (t) => t.replace(/\ndigest: .*/, '') },
      /lines are .* not/,
    ],
    [
      'bare digest',
      { method: 'POST', body: BODY, text: (t) => t.replace('SHA-256=', '') },
      /no SHA-256= before/,
    ],
    [
      'hexadecimal digest',
      {
        method: 'POST',
        body: BODY,
        text: (t) => t.replace(/SHA-256=.*/, `SHA-256=${createHash('sha256').update(BODY).digest('hex')}`),
      },
      /hexadecimal/,
    ],
    ['other date', { text: (t) => t.replace('11:00:00', '11:00:01') }, /1 s after the Date header/],
    [
      'transaction id',
      {
        text: (t) => t.replace(ID, '00000000-0000-4000-8000-000000000000'),
      },
      /TPP-Transaction-ID is in the place/,
    ],
    [
      'declared',
      { text: (t) => `${t}\nhost: 127.0.0.1:8443`, declared: '(request-target) tpp-request-id date host' },
      /host/,
    ],
  ])('the explanation names the mistake: %s', (_name, signing, says) => {
    const { verdict, says: said, computed, received, differsAt } = explain(signing);
    expect([verdict, said]).toEqual(['found', [expect.stringMatching(says)]]);
    const text = signing.text?.(computed);
    expect(received).toBe(text);
    const at = differsAt ?? Number.NaN;
    expect(computed.slice(0, at)).toBe(received?.slice(0, at));
    expect(computed[at]).not.toBe(received?.[at]);
  });
});

test('the explanation names three mistakes made together', () => {
  const { verdict, says } = explain({
    text: (text) => `${text.replace('get /', 'GET /').replaceAll('\n', '\r\n')}\r\n`,
  });
  expect(verdict).toBe('found');
  expect(says).toHaveLength(3);
});

test('the explanation recognises a text that was hashed before it was signed', () => {
  const { verdict, says, differsAt } = explain({
    text: (text) => createHash('sha256').update(text).digest(),
  });
  expect([verdict, says, differsAt]).toEqual(['found', [expect.stringContaining('hashed twice')], undefined]);
});

test('for an unknown text, the explanation gives both hashes and how to show the text', () => {
  const { verdict, says, received } = explain({ text: () => 'something else' });
  expect([verdict, received]).toEqual(['unknown', undefined]);
  expect(says.join(' ')).toContain(createHash('sha256').update('something else').digest('hex'));
  expect(says.join(' ')).toContain('X-Sandbox-Signing-String');
});

test("the explanation trusts the client's own signing string only if the signature matches it", () => {
  const header = (text: string): [string, string][] => [
    ['X-Sandbox-Signing-String', Buffer.from(text).toString('base64')],
  ];
  expect(explain({ text: () => 'something else', headers: header('something else') })).toMatchObject({
    verdict: 'told',
    received: 'something else',
    differsAt: 0,
  });
  const lie = explain({ text: () => 'something else', headers: header('a lie') });
  expect(lie).toMatchObject({ verdict: 'unknown', received: undefined });
  expect(lie.says.join(' ')).toContain('is not the text that was signed');
});

test('the explanation names the wrong key', () => {
  expect(explain({ key: set.qwac.key }).says).toEqual([
    "The signature was made with the QWAC's key, but must be made with the QSealC's key.",
  ]);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = explain({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() });
  expect(stranger).toMatchObject({
    verdict: 'other-key',
    says: [expect.stringContaining('its key matches neither')],
  });
});

test('the explanation names the wrong algorithm', () => {
  expect(explain({ algorithm: 'sha512' }).says).toEqual([
    'The text was hashed with SHA512, but must be hashed with SHA-256.',
  ]);
  expect(explain({ padding: constants.RSA_PKCS1_PSS_PADDING }).says).toEqual([
    expect.stringContaining('RSASSA-PSS'),
  ]);
});

test('for any signed text, the explanation names the mistake or says that the text is unknown', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['found', 'unknown']).toContain(explain({ text: () => text }).verdict);
    }),
    { numRuns: 5 },
  );
});

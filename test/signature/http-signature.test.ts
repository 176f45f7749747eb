import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SIGNED_WITH_BODY, SIGNED_WITHOUT_BODY } from '../../src/bank/interfaces/cb/interface.ts';
import {
  digestHeader,
  keySigner,
  signatureHeader,
  signingString,
} from '../../src/signature/http-signature.ts';
import { named } from '../support/named.ts';
import { digestProblem, signatureProblem } from './independent-verifier.ts';

interface SignatureVectors {
  request: { method: string; target: string; headers: Record<string, string>; body: string };
  cases: { name: string; method?: string; headers: string; signature: string }[];
}

const vectors: SignatureVectors = JSON.parse(readFileSync('test/vectors/cavage-09.json', 'utf8'));
const privateKey = createPrivateKey(readFileSync('test/vectors/cavage-test-key.pem'));
const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
const sign = keySigner(privateKey);

describe('the vectors of draft-cavage-http-signatures-09', () => {
  it.each(named(vectors.cases))(
    'the signature of case %s is the one in the draft',
    async (_name, { method, headers, signature }) => {
      const names = headers.split(' ');
      const request = { ...vectors.request, method: method ?? vectors.request.method };
      expect(await sign(signingString(request, names))).toBe(signature);
      expect(await signatureHeader(request, names, 'Test', sign)).toBe(
        `keyId="Test",algorithm="rsa-sha256",headers="${headers}",signature="${signature}"`,
      );
    },
  );

  it('the digest of the body is the one in the draft', () => {
    expect(digestHeader(Buffer.from(vectors.request.body))).toBe(vectors.request.headers.digest);
  });
});

it("psd2 signs the headers in the bank's order, with and without a body", () => {
  const of = (names: string) => vectors.cases.find(({ name }) => name === names)?.headers.split(' ');
  expect(SIGNED_WITH_BODY).toEqual(of('bank, with a body'));
  expect(SIGNED_WITHOUT_BODY).toEqual(of('bank, GET of the same target'));
});

it('the signing string has one line per header, the target as sent, and no final newline', () => {
  const request = {
    method: 'GET',
    target: '/private/x?dateFrom=30%2F06%2F2024&a=b c',
    headers: { 'tpp-request-id': 'id', date: 'now', digest: 'unused' },
  };
  expect(signingString(request, SIGNED_WITHOUT_BODY)).toBe(
    '(request-target): get /private/x?dateFrom=30%2F06%2F2024&a=b c\ntpp-request-id: id\ndate: now',
  );
});

it('a header that must be signed cannot be missing', () => {
  expect(() => signingString({ method: 'GET', target: '/', headers: {} }, ['date'])).toThrow(
    'The header date must be signed but is missing',
  );
});

it('the digest of an empty body with SHA-512 is the published one (FIPS 180-4)', () => {
  const hex =
    'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e';
  expect(digestHeader(Buffer.alloc(0), 'SHA-512')).toBe(
    `SHA-512=${Buffer.from(hex, 'hex').toString('base64')}`,
  );
});

it('an independent verifier accepts a signature with SHA-512, and not as one with SHA-256', async () => {
  const headers: Record<string, string> = { date: new Date().toUTCString() };
  const request = { method: 'GET', target: '/x', headers };
  headers.signature = await signatureHeader(request, ['date'], 'x', sign, 'rsa-sha512');
  const received = { method: 'GET', url: '/x', headers };
  expect(signatureProblem(received, ['date'], 'x', publicKey, 'rsa-sha512')).toBeNull();
  headers.signature = headers.signature.replace('sha512', 'sha256');
  expect(signatureProblem(received, ['date'], 'x', publicKey)).not.toBeNull();
});

it.each([
  ['ecdsa-sha256', 'sha256'],
  ['SHA384withECDSA', 'sha384'],
  ['SHA512withECDSA', 'sha512'],
])('an EC key signs with %s, and with no algorithm for RSA', async (algorithm, hash) => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = keySigner(keys.privateKey);
  const signature = Buffer.from(await signer('text', algorithm), 'base64');
  expect(verify(hash, Buffer.from('text'), keys.publicKey, signature)).toBe(true);
  await expect(signer('text')).rejects.toMatchObject({
    code: 'certificate',
    message:
      'The key of the signing certificate has the type ec, and psd2 would sign with "rsa-sha256", which is for rsa keys',
  });
  await expect(sign('text', algorithm)).rejects.toThrow(`with "${algorithm}", which is for ec keys`);
});

it.each(['SHA256withRSA', 'sha256RSA', 'SHA-256'])(
  'an RSA key signs with SHA-256 if a bank calls that %s',
  async (algorithm) => {
    expect(await sign('text', algorithm)).toBe(await sign('text'));
  },
);

it('the digest of an empty body is the published one', () => {
  expect(digestHeader(Buffer.alloc(0))).toBe('SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=');
});

describe('an independent verifier', () => {
  const target = fc
    .tuple(fc.webPath(), fc.option(fc.webQueryParameters(), { nil: null }))
    .map(([path, query]) => `/private${path}${query === null ? '' : `?${query}`}`);
  const keyId = fc.stringMatching(/^[A-Za-z0-9 ._-]{1,30}$/);

  it('an independent verifier accepts every request with a body, and its digest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('POST', 'PUT', 'DELETE'),
        target,
        fc.uuid(),
        keyId,
        fc.uint8Array({ maxLength: 200, size: 'max' }),
        async (method, url, requestId, name, content) => {
          const body = Buffer.from(content);
          const headers: Record<string, string> = {
            digest: digestHeader(body),
            'tpp-request-id': requestId,
            date: new Date().toUTCString(),
          };
          headers.signature = await signatureHeader(
            { method, target: url, headers },
            SIGNED_WITH_BODY,
            name,
            sign,
          );
          const order = ['(request-target)', 'digest', 'tpp-request-id', 'date'];
          expect(signatureProblem({ method, url, headers }, order, name, publicKey)).toBeNull();
          expect(digestProblem(headers.digest, body)).toBeNull();
          expect(digestProblem(headers.digest, Buffer.concat([body, Buffer.from(' ')]))).not.toBeNull();
        },
      ),
    );
  });

  it('an independent verifier accepts every GET, and refuses its signature for another target', async () => {
    await fc.assert(
      fc.asyncProperty(target, fc.uuid(), keyId, async (url, requestId, name) => {
        const headers: Record<string, string> = {
          'tpp-request-id': requestId,
          date: new Date().toUTCString(),
        };
        headers.signature = await signatureHeader(
          { method: 'GET', target: url, headers },
          SIGNED_WITHOUT_BODY,
          name,
          sign,
        );
        const order = ['(request-target)', 'tpp-request-id', 'date'];
        expect(signatureProblem({ method: 'GET', url, headers }, order, name, publicKey)).toBeNull();
        expect(signatureProblem({ method: 'GET', url: `${url}x`, headers }, order, name, publicKey)).toBe(
          'has a signature that does not verify',
        );
      }),
    );
  });
});

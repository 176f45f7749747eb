import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { RawRequest } from '../../src/sandbox/strict/raw-request.ts';
import { checkDigest, checkSignature, type TppCertificates } from '../../src/sandbox/strict/signature.ts';

/**
 * The published vectors of draft-cavage-http-signatures-09, and signatures by the bank's rule over the same request.
 */
const vectors = z
  .object({
    request: z.object({
      method: z.string(),
      target: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
    cases: z.array(
      z.object({
        name: z.string(),
        method: z.optional(z.string()),
        headers: z.string(),
        signature: z.string(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('../vectors/cavage-09.json', import.meta.url), 'utf8')));

let registered: TppCertificates;

beforeAll(() => {
  const key = fileURLToPath(new URL('../vectors/cavage-test-key.pem', import.meta.url));
  const pem = execFileSync('openssl', ['req', '-x509', '-new', '-key', key, '-subj', '/CN=vector'], {
    encoding: 'utf8',
  });
  const certificate = new X509Certificate(pem);
  registered = { qwac: certificate, qseal: certificate };
});

function vectorRequest(name: string): RawRequest {
  const { request, cases } = vectors;
  const found = cases.find((one) => one.name === name);
  const method = found?.method ?? request.method;
  const signature = `keyId="Test",algorithm="rsa-sha256",headers="${found?.headers}",signature="${found?.signature}"`;
  return {
    method,
    target: request.target,
    headers: [...Object.entries(request.headers), ['Signature', signature]],
    body: Buffer.from(method === 'GET' ? '' : request.body),
    clientCertificate: undefined,
  };
}

test.each(['bank, with a body', 'bank, GET of the same target'])(
  'the bank verifies the vector "%s"',
  (name) => {
    const request = vectorRequest(name);
    expect(checkSignature(request, registered)).toBe('Test');
    const moved = { ...request, target: request.target.replace('value', 'valuE') };
    expect(() => checkSignature(moved, registered)).toThrowError(
      expect.objectContaining({ code: 'SIGNATURE_INVALID' }),
    );
  },
);

test.each(['draft, default', 'draft, basic', 'draft, all headers'])(
  'the bank refuses the vector "%s", which does not sign the prescribed headers',
  (name) => {
    expect(() => checkSignature(vectorRequest(name), registered)).toThrowError(
      expect.objectContaining({ code: 'SIGNATURE_HEADERS' }),
    );
  },
);

test("the bank accepts the vectors' digest only with its own body", () => {
  const request = vectorRequest('bank, with a body');
  expect(() => checkDigest(request)).not.toThrow();
  expect(() => checkDigest({ ...request, body: Buffer.from('{"hello": "World"}') })).toThrowError(
    expect.objectContaining({ code: 'DIGEST_MISMATCH' }),
  );
});

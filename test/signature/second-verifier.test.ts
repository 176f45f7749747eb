import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  parseRequestSignature,
  verifyDigestHeader,
  verifyDraftSignature,
} from '@misskey-dev/node-http-message-signatures';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SIGNED_WITH_BODY, SIGNED_WITHOUT_BODY } from '../../src/bank/interfaces/cb/interface.ts';
import { digestHeader, keySigner, signatureHeader } from '../../src/signature/http-signature.ts';

// A second verifier, on Web Crypto. It shares no code with psd2 or the first verifier.

const privateKey = createPrivateKey(readFileSync('test/vectors/cavage-test-key.pem'));
const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
const sign = keySigner(privateKey);
const target = fc
  .tuple(fc.webPath(), fc.option(fc.webQueryParameters(), { nil: null }))
  .map(([path, query]) => `/private${path}${query === null ? '' : `?${query}`}`);

async function verify(
  request: { method: string; url: string; headers: Record<string, string> },
  signed: string[],
) {
  const parsed = parseRequestSignature(request, {
    requiredComponents: { draft: signed },
    clockSkew: { now: new Date(), delay: 300_000, forward: 300_000 },
  });
  if (parsed.version !== 'draft') throw new TypeError("The library did not recognise the draft's signature");
  return verifyDraftSignature(parsed.value, publicKey);
}

it('a second verifier accepts every request with a body and its digest, and no other body', async () => {
  await fc.assert(
    fc.asyncProperty(
      target,
      fc.uuid(),
      fc.uint8Array({ minLength: 1, maxLength: 200, size: 'max' }),
      async (url, id, content) => {
        const body = Buffer.from(content);
        const headers: Record<string, string> = {
          digest: digestHeader(body),
          'tpp-request-id': id,
          date: new Date().toUTCString(),
        };
        headers.signature = await signatureHeader(
          { method: 'POST', target: url, headers },
          SIGNED_WITH_BODY,
          'app',
          sign,
        );
        const request = { method: 'POST', url, headers };
        expect(await verify(request, SIGNED_WITH_BODY)).toBe(true);
        expect(await verifyDigestHeader(request, body)).toBe(true);
        expect(await verifyDigestHeader(request, Buffer.concat([body, Buffer.from(' ')]))).toBe(false);
      },
    ),
  );
});

it('a second verifier accepts every GET, and refuses its signature for another target', async () => {
  await fc.assert(
    fc.asyncProperty(target, fc.uuid(), async (url, id) => {
      const headers: Record<string, string> = { 'tpp-request-id': id, date: new Date().toUTCString() };
      headers.signature = await signatureHeader(
        { method: 'GET', target: url, headers },
        SIGNED_WITHOUT_BODY,
        'app',
        sign,
      );
      expect(await verify({ method: 'GET', url, headers }, SIGNED_WITHOUT_BODY)).toBe(true);
      expect(await verify({ method: 'GET', url: `${url}x`, headers }, SIGNED_WITHOUT_BODY)).toBe(false);
    }),
  );
});

import { createHash, timingSafeEqual } from 'node:crypto';
import httpSignature from 'http-signature';

/** A request as a server receives it. Header names are in lower case. */
export interface ReceivedRequest {
  method: string;
  /** The target of the request: path and query exactly as received. */
  url: string;
  headers: Readonly<Record<string, string>>;
}

declare module 'http-signature/lib/parser.js' {
  // The types describe only a client's request. The library reads only these three fields.
  export function parseRequest(request: ReceivedRequest, options?: ParseOptions): ParseResponse;
}

/**
 * Checks a request's `Signature` with the package http-signature, which shares no code with psd2.
 *
 * @param signed the headers that must be signed, in order
 * @param publicKey SPKI PEM
 * @param algorithm the only one that counts
 * @returns what is wrong with the signature, or null
 */
export function signatureProblem(
  request: ReceivedRequest,
  signed: readonly string[],
  keyId: string,
  publicKey: string,
  algorithm = 'rsa-sha256',
): string | null {
  // The library prefers an Authorization header, but here that is the bearer token.
  const { authorization: _bearer, ...headers } = request.headers;
  try {
    const parsed = httpSignature.parseRequest(
      { ...request, headers },
      { headers: signed, algorithms: [algorithm], strict: true, clockSkew: 300 },
    );
    const list = /(?:^|,)headers="([^"]*)"/.exec(headers.signature ?? '')?.[1];
    if (list !== signed.join(' ')) return `signs "${list}" instead of "${signed.join(' ')}"`;
    if (parsed.params.keyId !== keyId) return `has the keyId ${parsed.params.keyId} instead of ${keyId}`;
    return httpSignature.verifySignature(parsed, publicKey) ? null : 'has a signature that does not verify';
  } catch (error) {
    return `has a Signature that cannot be read: ${error}`;
  }
}

/** Returns what is wrong with a request's `Digest` header as the SHA-256 of its body, or null. */
export function digestProblem(
  digest: string | undefined,
  body: Buffer,
  algorithm: 'SHA-256' | 'SHA-512' = 'SHA-256',
): string | null {
  const hash = createHash(algorithm.replace('-', '').toLowerCase()).update(body).digest('base64');
  const expected = Buffer.from(`${algorithm}=${hash}`);
  const given = Buffer.from(digest ?? '');
  if (given.length === expected.length && timingSafeEqual(given, expected)) return null;
  return `has the digest ${digest} instead of ${expected}`;
}

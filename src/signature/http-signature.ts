import { hash, type KeyObject, sign } from 'node:crypto';

/** The parts of a request that can be signed. Header names are in lower case. */
export interface SignableRequest {
  method: string;
  /** Path and query exactly as sent, with their percent-encoding. */
  target: string;
  headers: Readonly<Record<string, string>>;
}

/** The hash of a signature. */
export type SignatureHash = 'sha256' | 'sha512';

/** Makes the base64 RSASSA-PKCS1-v1_5 signature of a signing string, with SHA-256 unless another hash is named. */
export type Signer = (signingString: string, hash?: SignatureHash) => Promise<string>;

/**
 * The signing string of draft-cavage-http-signatures-09, section 2.3: one `name: value` line per header
 * of `names`, joined by newlines, none at the end.
 *
 * @throws TypeError if a header of `names` is not in the request
 */
export function signingString(request: SignableRequest, names: readonly string[]): string {
  return names
    .map((name) => {
      if (name === '(request-target)') return `${name}: ${request.method.toLowerCase()} ${request.target}`;
      const value = request.headers[name];
      if (value === undefined) throw new TypeError(`The header ${name} must be signed but is missing`);
      return `${name}: ${value}`;
    })
    .join('\n');
}

/**
 * The value of the `Signature` header (draft-cavage-http-signatures-09, section 4): parameters separated
 * by commas without spaces.
 *
 * @param keyId the application name as registered at the bank, or what names its certificate
 * @param algorithm the word for it at the bank. One with `512` in it means SHA-512
 */
export async function signatureHeader(
  request: SignableRequest,
  names: readonly string[],
  keyId: string,
  signer: Signer,
  algorithm = 'rsa-sha256',
): Promise<string> {
  const text = signingString(request, names);
  const signature = await (algorithm.includes('512') ? signer(text, 'sha512') : signer(text));
  return `keyId="${keyId}",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${signature}"`;
}

/** A signer with the private key in memory. It is synchronous, because waking another thread would cost 10% more. */
export function keySigner(key: KeyObject): Signer {
  return async (text, hash = 'sha256') => sign(hash, Buffer.from(text), key).toString('base64');
}

/** The `Digest` header of a body: `SHA-256=<base64>` (interface specification, "Headers"; RFC 3230). */
export function digestHeader(body: Uint8Array, algorithm: 'SHA-256' | 'SHA-512' = 'SHA-256'): string {
  return `${algorithm}=${hash(algorithm === 'SHA-512' ? 'sha512' : 'sha256', body, 'base64')}`;
}

import { hash, type KeyObject, sign } from 'node:crypto';
import { Psd2Error } from '../errors.ts';

/** The parts of a request that can be signed. Header names are in lower case. */
export interface SignableRequest {
  method: string;
  /** Path and query exactly as sent, with their percent-encoding. */
  target: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Makes the base64 signature of a signing string, as the bank's word for the algorithm says ({@link hashOf}): RSASSA-PKCS1-v1_5, or ECDSA
 * with its DER. It throws Psd2Error `certificate` if the key is of another kind.
 */
export type Signer = (signingString: string, algorithm?: string) => Promise<string>;

const RSA_SHA256 = 'rsa-sha256';

/** The hash that a word for an algorithm names by its number: `rsa-sha512`, `SHA384withECDSA`. Without one it is SHA-256. */
export function hashOf(algorithm: string): 'sha256' | 'sha384' | 'sha512' {
  if (algorithm.includes('512')) return 'sha512';
  return algorithm.includes('384') ? 'sha384' : 'sha256';
}

/** @throws Psd2Error `certificate` if a key does not make signatures of an algorithm. One with `ECDSA` in its word is for EC keys */
export function refuseOtherKey({ asymmetricKeyType: type }: KeyObject, algorithm: string): void {
  const wanted = /ecdsa/i.test(algorithm) ? 'ec' : 'rsa';
  if (type === wanted) return;
  throw new Psd2Error(
    'certificate',
    `The key of the signing certificate has the type ${type}, and psd2 would sign with ${JSON.stringify(algorithm)}, which is for ${wanted} keys`,
    {
      hint: 'Use another signing certificate, or name the algorithm of the bank in its bank file: signing.algorithm, for example "ecdsa-sha256".',
    },
  );
}

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
 * @param algorithm the word for it at the bank
 */
export async function signatureHeader(
  request: SignableRequest,
  names: readonly string[],
  keyId: string,
  signer: Signer,
  algorithm = RSA_SHA256,
): Promise<string> {
  const signature = await signer(signingString(request, names), algorithm);
  return `keyId="${keyId}",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${signature}"`;
}

/** A signer with the private key in memory. It is synchronous, because waking another thread would cost 10% more. */
export function keySigner(key: KeyObject): Signer {
  return async (text, algorithm = RSA_SHA256) => {
    refuseOtherKey(key, algorithm);
    return sign(hashOf(algorithm), Buffer.from(text), key).toString('base64');
  };
}

/** The `Digest` header of a body: `SHA-256=<base64>` (interface specification, "Headers"; RFC 3230). */
export function digestHeader(body: Uint8Array, algorithm: 'SHA-256' | 'SHA-512' = 'SHA-256'): string {
  return `${algorithm}=${hash(algorithm === 'SHA-512' ? 'sha512' : 'sha256', body, 'base64')}`;
}

import { verify, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../errors.ts';
import { digestHeader, type SignableRequest, signingString } from './http-signature.ts';

/** What a bank may prove its answers with. */
export interface Proofs {
  digests: readonly ('SHA-256' | 'SHA-512')[];
  /** The hashes of signatures by their algorithm, in small letters. */
  hashes: Readonly<Record<string, string>>;
}

/** What to say of an answer that does not match its digest or signature. */
export const CHANGED =
  'psd2 did not use the answer. Someone may have changed it on the way, or the bank has a new certificate.';

/**
 * Checks the `Digest` of an answer, and with the bank's certificate its `Signature` (draft-cavage-http-signatures-09). Banks need not send
 * either.
 *
 * @param certificate the bank's signing certificate. Without it, only the digest is checked
 * @returns what is wrong with the answer, which must not be used then. Undefined: nothing
 */
export function problemOfAnswer(
  { headers, body }: { headers: Readonly<Record<string, string>>; body: Uint8Array },
  { method, target }: Pick<SignableRequest, 'method' | 'target'>,
  certificate: X509Certificate | undefined,
  { digests, hashes }: Proofs,
): string | undefined {
  // Base64 has no comma.
  const digestValues = headers.digest?.split(',').map((value) => value.trim());
  for (const algorithm of digests) {
    const digest = digestValues?.find((value) => value.toUpperCase().startsWith(`${algorithm}=`));
    if (digest !== undefined && digest.slice(8) !== digestHeader(body, algorithm).slice(8))
      return 'does not match its Digest';
  }
  if (!certificate || headers.signature === undefined) return undefined;
  const parts = Object.fromEntries(
    [...headers.signature.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const names = (parts.headers ?? 'date').toLowerCase().split(' ');
  const algorithm = parts.algorithm?.toLowerCase() ?? '';
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  if (!hash || !parts.signature) return 'has a Signature in an unknown format';
  if (body.length > 0 && !names.includes('digest')) return 'has a Signature that does not cover its body';
  const missing = names.find((name) => name !== '(request-target)' && headers[name] === undefined);
  if (missing !== undefined) return `has a Signature over the header ${missing}, which is missing`;
  const signed = Buffer.from(signingString({ method, target, headers }, names));
  const signature = Buffer.from(parts.signature, 'base64');
  return verify(hash, signed, certificate.publicKey, signature) ? undefined : 'has a wrong Signature';
}

/** The certificate that was read last. A sync opens the bank for each customer, and to read it takes half as long as a signature. */
let last: { pem: string; certificate: X509Certificate } | undefined;

/** The certificate with which a bank signs its answers. @throws Psd2Error `certificate` */
export function readBankCertificate(pem: string | undefined): X509Certificate | undefined {
  try {
    if (pem !== undefined && last?.pem !== pem) last = { pem, certificate: new X509Certificate(pem) };
    return pem === undefined ? undefined : last?.certificate;
  } catch (cause) {
    throw new Psd2Error('certificate', 'The bank signing certificate is not a PEM certificate', { cause });
  }
}

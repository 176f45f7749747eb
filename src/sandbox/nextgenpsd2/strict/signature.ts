import { createHash, verify, type X509Certificate } from 'node:crypto';
import type { BankDescription } from '../../../bank-file/schema.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { TppCertificates } from '../../strict/signature.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { isKeyId, keyIdsOf } from './key-id.ts';
import { checkSignatureCertificate } from './signature-certificate.ts';

/** The headers that a request without a signature must not have. */
const SIGNING_HEADERS = ['Digest', 'Signature', 'TPP-Signature-Certificate'];

/** Whether the bank wants this request signed. */
export function mustBeSigned({ signing }: BankDescription, { body }: RawRequest): boolean {
  return signing.when === 'always' || (signing.when === 'with-body' && body.length > 0);
}

/**
 * Checks `Digest`, `TPP-Signature-Certificate` and `Signature` (draft-cavage-http-signatures-10) in the form of the bank file, or
 * that none of them was sent.
 *
 * @throws DoorRefusal `SIGNATURE_MISSING`, `CERTIFICATE_MISSING`, `CERTIFICATE_INVALID`, `FORMAT_ERROR`, or
 * `SIGNATURE_INVALID` with the signing string that the bank expected
 */
export function checkSigning(
  request: RawRequest,
  description: BankDescription,
  registered: TppCertificates,
): void {
  const { signing } = description;
  if (!mustBeSigned(description, request)) {
    refuseSigning(request);
    return;
  }
  const value = header(request, 'signature');
  if (value === undefined) {
    throw new DoorRefusal('SIGNATURE_MISSING', 'The request has no Signature', '', { path: 'Signature' });
  }
  checkSignatureCertificate(request, signing.certificate, registered);
  checkDigest(request, signing);
  checkSignature(request, value, signing, registered);
}

function refuseSigning(request: RawRequest): void {
  for (const name of SIGNING_HEADERS) {
    if (header(request, name.toLowerCase()) === undefined) continue;
    throw new DoorRefusal('FORMAT_ERROR', `The bank does not take ${name} with this call`, '', {
      path: name,
    });
  }
}

type Signing = BankDescription['signing'];

/** Whether `Digest` belongs to the request: with a body always, without one if the bank wants the digest of nothing. */
function hasDigest({ emptyBodyDigest }: Signing, { body }: RawRequest): boolean {
  return body.length > 0 || emptyBodyDigest;
}

/** The `Digest` of a body (RFC 3230). */
export function digestOf({ digest }: Pick<Signing, 'digest'>, body: Buffer): string {
  const algorithm = digest === 'SHA-256' ? 'sha256' : 'sha512';
  return `${digest}=${createHash(algorithm).update(body).digest('base64')}`;
}

function checkDigest(request: RawRequest, signing: Signing): void {
  const received = header(request, 'digest');
  const expected = hasDigest(signing, request) ? digestOf(signing, request.body) : undefined;
  if (received === expected) return;
  throw unexpected(
    'FORMAT_ERROR',
    'Digest',
    `Digest does not match the ${request.body.length} bytes of the body`,
    expected ?? 'no Digest without a body',
    received,
  );
}

/** The names of the headers that the signature must cover, in their order. */
export function signedNames(signing: Signing, request: RawRequest): string[] {
  const isSent = (name: string): boolean =>
    name === '(request-target)' || header(request, name.toLowerCase()) !== undefined;
  return [
    ...signing.headers.filter((name) => name.toLowerCase() !== 'digest' || hasDigest(signing, request)),
    ...signing.ifSent.filter(isSent),
  ].map((name) => name.toLowerCase());
}

/** The text that the signature covers (draft-cavage-http-signatures-10, section 2.3). */
export function signingString(names: readonly string[], request: RawRequest): string {
  return names
    .map((name) => {
      const target = `${request.method.toLowerCase()} ${request.target}`;
      return `${name}: ${name === '(request-target)' ? target : (header(request, name) ?? '')}`;
    })
    .join('\n');
}

/** Four parts in the order of the standard. A `keyId` in the form of RFC 1779 may have quotes, which some programs escape. */
const PARTS = /^keyId="(.+)",algorithm="([^"]+)",headers="([^"]*)",signature="([^"]+)"$/;

function checkSignature(
  request: RawRequest,
  value: string,
  signing: Signing,
  { qseal, qwac }: TppCertificates,
): void {
  const names = signedNames(signing, request);
  const text = signingString(names, request);
  const invalid = (message: string, expected: string, received: string): DoorRefusal =>
    new DoorRefusal(
      'SIGNATURE_INVALID',
      message,
      `Expected: ${expected}. Received: ${received}. Signing string:\n${text}`,
      { path: 'Signature' },
    );
  const [, keyId = '', algorithm = '', headers = '', base64 = ''] = PARTS.exec(value) ?? [];
  if (base64 === '') {
    throw invalid(
      'The Signature header has another form',
      'keyId="…",algorithm="…",headers="…",signature="…"',
      value,
    );
  }
  const keyIds = keyIdsOf(signing.keyId, qseal);
  if (!isKeyId(keyId, keyIds) && !isKeyId(keyId.replaceAll('\\"', '"'), keyIds)) {
    throw invalid(
      "The signature's keyId is not that of the certificate",
      `keyId="${keyIds[0]}"`,
      `keyId="${keyId}"`,
    );
  }
  if (algorithm !== signing.algorithm) {
    throw invalid(
      'The bank takes another algorithm',
      `algorithm="${signing.algorithm}"`,
      `algorithm="${algorithm}"`,
    );
  }
  if (headers !== names.join(' ')) {
    throw invalid(
      'The signature covers other headers',
      `headers="${names.join(' ')}"`,
      `headers="${headers}"`,
    );
  }
  const signedWith = ({ publicKey }: X509Certificate): boolean =>
    verify(hashOf(signing.algorithm), Buffer.from(text), publicKey, Buffer.from(base64, 'base64'));
  if (signedWith(qseal)) return;
  throw invalid(
    'The signature does not verify over the signing string that the bank computed',
    'a signature with the key of the registered QSealC',
    signedWith(qwac)
      ? "a signature with the QWAC's key"
      : 'a signature over another text, or with another key',
  );
}

/** The hash that an algorithm's word means. */
function hashOf(algorithm: string): 'RSA-SHA256' | 'RSA-SHA512' {
  return algorithm.includes('512') ? 'RSA-SHA512' : 'RSA-SHA256';
}

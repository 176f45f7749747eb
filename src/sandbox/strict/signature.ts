import { createHash, verify, type X509Certificate } from 'node:crypto';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import { header, requiredHeader } from './headers.ts';
import type { RawRequest } from './raw-request.ts';
import { parseSignatureHeader } from './signature-header.ts';

const WITH_BODY = '(request-target) digest tpp-request-id date';
const WITHOUT_BODY = '(request-target) tpp-request-id date';

/**
 * Checks `Digest` against the bytes of the body. A body needs it. Without a body it is optional, but must be right.
 *
 * @throws Refusal `HEADER_MISSING`, `DIGEST_MISMATCH`
 */
export function checkDigest(request: RawRequest): void {
  const received = request.body.length > 0 ? requiredHeader(request, 'Digest') : header(request, 'digest');
  const expected = `SHA-256=${createHash('sha256').update(request.body).digest('base64')}`;
  if (received !== undefined && received !== expected)
    throw wrongValue(
      'DIGEST_MISMATCH',
      `Digest does not match the ${request.body.length} bytes of the body`,
      expected,
      received,
    );
}

/**
 * Checks that `TPP-Certificate` is the registered QSealC: its DER in base64 on one line, or its PEM text
 * percent-encoded.
 *
 * @throws Refusal `HEADER_MISSING`, `HEADER_MALFORMED`, `TPP_CERTIFICATE_NOT_REGISTERED`
 */
export function checkTppCertificate(request: RawRequest, registered: TppCertificates): void {
  const der = readTppCertificate(requiredHeader(request, 'TPP-Certificate'));
  if (der.equals(registered.qseal.raw)) return;
  throw wrongValue(
    'TPP_CERTIFICATE_NOT_REGISTERED',
    der.equals(registered.qwac.raw)
      ? 'TPP-Certificate is the QWAC, but must be the QSealC that signs the requests'
      : 'TPP-Certificate is not the registered QSealC',
    `SHA-256 ${certificateFingerprint(registered.qseal.raw)}`,
    `SHA-256 ${certificateFingerprint(der)}`,
  );
}

/**
 * The DER in `TPP-Certificate`.
 *
 * @throws Refusal `HEADER_MALFORMED`
 */
export function readTppCertificate(value: string): Buffer {
  const text =
    value.startsWith('-----BEGIN') && !/\s/.test(value) ? pemContent(percentDecoded(value)) : value;
  const der = Buffer.from(text, 'base64');
  if (der.length > 0 && der.toString('base64') === text) return der;
  throw wrongValue(
    'HEADER_MALFORMED',
    'TPP-Certificate is not a certificate',
    'the DER in base64 on one line, or the PEM text percent-encoded',
    value,
  );
}

/** The base64 content of a PEM text, without line breaks. */
function pemContent(pem: string): string {
  const content = /^-----BEGIN CERTIFICATE-----\s([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/.exec(
    pem,
  )?.[1];
  return content?.replace(/\s/g, '') ?? '';
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The certificates that the TPP registered. */
export interface TppCertificates {
  qwac: X509Certificate;
  qseal: X509Certificate;
}

/** The SHA-256 of a certificate's DER, in hexadecimal. */
export function certificateFingerprint(der: Buffer): string {
  return createHash('sha256').update(der).digest('hex');
}

/**
 * Checks the `Signature` header (draft-cavage-http-signatures-09, and "Headers" of the interface specification):
 * its parts, the algorithm, exactly the prescribed headers in the prescribed order, and the signature itself.
 *
 * @returns the `keyId`. The caller compares it with the application's name.
 * @throws Refusal `HEADER_MISSING`, `SIGNATURE_MALFORMED`, `SIGNATURE_ALGORITHM`, `SIGNATURE_HEADERS`, or
 * `SIGNATURE_INVALID` with the signing string that the bank computed.
 */
export function checkSignature(request: RawRequest, registered: TppCertificates): string {
  const { keyId, algorithm, headers, signature } = parseSignatureHeader(requiredHeader(request, 'Signature'));
  if (algorithm !== 'rsa-sha256')
    throw wrongValue(
      'SIGNATURE_ALGORITHM',
      'The algorithm of the signature is not rsa-sha256',
      'algorithm="rsa-sha256"',
      `algorithm="${algorithm}"`,
    );
  const prescribed = signingNames(request);
  if (headers !== prescribed)
    throw wrongValue(
      'SIGNATURE_HEADERS',
      `The signed headers are not those of a request ${request.body.length > 0 ? 'with' : 'without'} a body`,
      `headers="${prescribed}"`,
      `headers="${headers}"`,
    );
  const text = signingString(request, prescribed.split(' '), (name) => requiredHeader(request, name));
  const signedWith = (certificate: X509Certificate): boolean =>
    verify('RSA-SHA256', Buffer.from(text), certificate.publicKey, signature);
  if (!signedWith(registered.qseal))
    throw new Refusal(
      'SIGNATURE_INVALID',
      signedWith(registered.qwac)
        ? "The signature was made with the QWAC's key, but must be made with the QSealC's key"
        : 'The signature does not verify with the registered QSealC over the signing string that the bank computed',
      text,
    );
  return keyId;
}

/** The names of the signed headers, in the format of the signature's `headers`. */
export function signingNames({ body }: RawRequest): string {
  return body.length > 0 ? WITH_BODY : WITHOUT_BODY;
}

/**
 * The signing string of a request (draft-cavage-http-signatures-09, section 2.3).
 *
 * @param names those of the signed headers, in lower case
 * @param value gives the value of a header. Default: as it came
 */
export function signingString(
  request: RawRequest,
  names: readonly string[],
  value: (name: string) => string = (name) => header(request, name) ?? '',
): string {
  const target = `${request.method.toLowerCase()} ${request.target}`;
  return names.map((name) => `${name}: ${name === '(request-target)' ? target : value(name)}`).join('\n');
}

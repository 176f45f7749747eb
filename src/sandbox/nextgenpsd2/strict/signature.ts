import { createHash, verify, type X509Certificate } from 'node:crypto';
import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { signingString, type TppCertificates } from '../../strict/signature.ts';
import type { Exactness } from '../door-rules.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { atBank, withBanksNames } from './header-names.ts';
import { isKeyId, isSameKey, keyIdsOf } from './key-id.ts';
import { checkSignatureCertificate } from './signature-certificate.ts';

/** The headers that a request without a signature must not have. */
export const SIGNING_HEADERS = ['Digest', 'Signature', 'TPP-Signature-Certificate'];

/** Whether the bank wants this request signed. */
export function mustBeSigned({ signing }: BankDescription, { body }: RawRequest): boolean {
  return signing.when === 'always' || (signing.when === 'with-body' && body.length > 0);
}

/**
 * Checks `Digest`, `TPP-Signature-Certificate` and `Signature` (draft-cavage-http-signatures-10) in the form of the bank file, or
 * that none of them was sent.
 *
 * @param request as the bank reads it
 *
 * @throws DoorRefusal `SIGNATURE_MISSING`, `CERTIFICATE_MISSING`, `CERTIFICATE_INVALID`, `FORMAT_ERROR`, or
 * `SIGNATURE_INVALID` with the signing string that the bank expected
 */
export function checkSigning(
  request: RawRequest,
  description: BankDescription,
  registered: TppCertificates,
  { exact, received }: SignedRequest,
): void {
  const { signing } = description;
  if (!mustBeSigned(description, request)) {
    refuseSigning(request);
    return;
  }
  const value = header(request, 'signature');
  if (value === undefined)
    throw new DoorRefusal('SIGNATURE_MISSING', 'The request has no Signature', '', { path: 'Signature' });
  checkSignatureCertificate(request, exact.certificate ? signing.certificate : undefined, registered);
  checkDigest(request, signing, exact);
  // A signature has the names as they were sent.
  const { names } = description.headers;
  const own = { ...signing, headers: atBank(names, signing.headers), ifSent: atBank(names, signing.ifSent) };
  const sent = { exact, received: withBanksNames(received, names) };
  checkSignature(withBanksNames(request, names), value, own, registered, sent);
}

/** How a request is held against its signature. */
interface SignedRequest {
  exact: Exactness;
  /** With the headers that the call does not use: the signature may cover them. */
  received: RawRequest;
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
export function hasDigest({ emptyBodyDigest }: Signing, { body }: RawRequest): boolean {
  return body.length > 0 || emptyBodyDigest;
}

/** The `Digest` of a body (RFC 3230). */
export function digestOf({ digest, emptyBody }: Pick<Signing, 'digest' | 'emptyBody'>, body: Buffer): string {
  const algorithm = digest === 'SHA-256' ? 'sha256' : 'sha512';
  const digested = body.length === 0 ? Buffer.from(emptyBody ?? '') : body;
  return `${digest}=${createHash(algorithm).update(digested).digest('base64')}`;
}

function checkDigest(request: RawRequest, signing: Signing, exact: Exactness): void {
  const received = header(request, 'digest');
  const expected = hasDigest(signing, request) ? digestOf(signing, request.body) : undefined;
  if (received === expected || (!exact.digest && isDigestOf(received ?? '', request.body, signing))) return;
  throw unexpected(
    'FORMAT_ERROR',
    'Digest',
    `Digest does not match the ${request.body.length} bytes of the body`,
    expected ?? 'no Digest without a body',
    received,
  );
}

/** Whether a `Digest` has one of the standard's hashes, and the right one. The name of the hash has any case (RFC 3230). */
function isDigestOf(value: string, body: Buffer, { emptyBody }: Signing): boolean {
  const [, hash, base64] = /^(SHA-256|SHA-512)=(\S+)$/i.exec(value.trim()) ?? [];
  const digest = hash?.toUpperCase() === 'SHA-512' ? 'SHA-512' : 'SHA-256';
  return base64 !== undefined && `${digest}=${base64}` === digestOf({ digest, emptyBody }, body);
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

/** Four parts in the order of the standard. A `keyId` in the form of RFC 1779 may have quotes, which some programs escape. */
const PARTS = /^keyId="(.+)",algorithm="([^"]+)",headers="([^"]*)",signature="([^"]+)"$/;

/** A part of the header in any order, with blanks around it. */
const PART = /\s*([a-z]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s",]+))\s*(?:,|$)/giy;

interface SignatureParts {
  keyId: string;
  algorithm: string;
  headers: string;
  signature: string;
}

/** @returns undefined if the header has another form */
function partsOf(value: string, isExact: boolean): SignatureParts | undefined {
  const [, keyId = '', algorithm = '', headers = '', signature = ''] = PARTS.exec(value) ?? [];
  if (signature !== '') return { keyId, algorithm, headers, signature };
  if (isExact) return undefined;
  const parts = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(PART))
    parts.set(name.toLowerCase(), quoted ?? plain);
  const part = (name: string): string => parts.get(name) ?? '';
  const fields = {
    keyId: part('keyid'),
    algorithm: part('algorithm'),
    headers: part('headers'),
    signature: part('signature'),
  };
  return Object.values(fields).includes('') ? undefined : fields;
}

function checkSignature(
  request: RawRequest,
  value: string,
  signing: Signing,
  { qseal, qwac }: TppCertificates,
  { exact, received }: SignedRequest,
): void {
  const parts = partsOf(value, exact.signedHeaders);
  const { expected, names, problem } = coverageOf(parts?.headers ?? '', signing, request, {
    exact,
    received,
  });
  const text = signingString(received, names);
  const invalid = (message: string, wanted: string, got: string): DoorRefusal =>
    new DoorRefusal(
      'SIGNATURE_INVALID',
      message,
      `Expected: ${wanted}. Received: ${got}. Signing string:\n${text}`,
      { path: 'Signature' },
    );
  if (!parts) {
    const form = 'keyId="…",algorithm="…",headers="…",signature="…"';
    throw invalid('The Signature header has another form', form, value);
  }
  const { keyId, algorithm, headers, signature } = parts;
  const keyIds = keyIdsOf(signing.keyId, qseal);
  const isRight = exact.keyId
    ? (id: string) => isKeyId(id, keyIds, signing.keyId)
    : (id: string) => isSameKey(id, signing.keyId, qseal);
  if (!isRight(keyId) && !isRight(keyId.replaceAll('\\"', '"')))
    throw invalid(
      "The signature's keyId is not that of the certificate",
      `keyId="${keyIds[0]}"`,
      `keyId="${keyId}"`,
    );
  if (!isAlgorithm(algorithm, signing, exact))
    throw invalid(
      'The bank takes another algorithm',
      `algorithm="${signing.algorithm}"`,
      `algorithm="${algorithm}"`,
    );
  if (problem !== undefined)
    throw invalid(problem, `headers="${expected.join(' ')}"`, `headers="${headers}"`);
  const signedWith = ({ publicKey }: X509Certificate): boolean =>
    verify(hashName(algorithm), Buffer.from(text), publicKey, Buffer.from(signature, 'base64'));
  if (signedWith(qseal)) return;
  throw invalid(
    'The signature does not verify over the signing string that the bank computed',
    'a signature with the key of the registered QSealC',
    signedWith(qwac)
      ? "a signature with the QWAC's key"
      : 'a signature over another text, or with another key',
  );
}

/** What a signature covers, and what is wrong with that. @param headers the names that it lists */
function coverageOf(
  headers: string,
  signing: Signing,
  request: RawRequest,
  { exact, received }: SignedRequest,
): { expected: string[]; names: string[]; problem: string | undefined } {
  const expected = signedNames(signing, exact.signedHeaders ? received : request);
  const names = headers.toLowerCase().trim().split(/\s+/);
  const absent = names.filter(isNotIn(received));
  const lacksOne = expected.some((name) => !names.includes(name));
  const hasMore = names.length !== expected.length;
  const isOther = exact.spelling
    ? headers !== expected.join(' ')
    : lacksOne || (exact.signedHeaders && hasMore);
  if (isOther) return { expected, names: expected, problem: 'The signature covers other headers' };
  const problem =
    absent.length > 0 ? `The signature covers ${absent.join(', ')}, which did not come` : undefined;
  return { expected, names, problem };
}

/** Whether a signature that lists a name cannot cover it: the header did not come. */
function isNotIn(request: RawRequest): (name: string) => boolean {
  return (name) => name !== '(request-target)' && header(request, name) === undefined;
}

/** Whether a word for the algorithm is the bank's. Java and .NET have words of their own for what the standard calls `rsa-sha256`. */
function isAlgorithm(word: string, signing: Signing, exact: Exactness): boolean {
  if (word === signing.algorithm) return true;
  if (exact.spelling) return false;
  const isStandard = /^rsa-sha(256|512)$/i.test(signing.algorithm);
  if (exact.algorithm && !(isStandard && hashName(word) === hashName(signing.algorithm))) return false;
  return /^((rsa-)?sha-?(256|512)|sha(256|512)(withrsa|rsa))$/i.test(word);
}

/** The hash that an algorithm's word means. */
function hashName(algorithm: string): string {
  return `sha${/384|512/.exec(algorithm)?.[0] ?? '256'}`;
}

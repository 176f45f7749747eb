import { constants, createHash, type KeyObject, publicDecrypt, verify, X509Certificate } from 'node:crypto';
import { Refusal } from '../answers/refusal.ts';
import { header } from './headers.ts';
import type { RawRequest } from './raw-request.ts';
import { readTppCertificate, signingNames, signingString, type TppCertificates } from './signature.ts';
import { parseSignatureHeader, type SignatureHeader } from './signature-header.ts';
import { type Candidate, signingCandidates } from './signing-variants.ts';

/** What the bank found out about a signature. */
export interface SignatureFinding {
  verdict: 'right' | 'found' | 'sent' | 'unknown' | 'other-key' | 'malformed';
  /** The signing string that the bank computed from the received request. */
  computed: string;
  /** The signing string that the client signed, if the bank could find it. */
  received: string | undefined;
  /** The index of the first difference. Undefined if they are equal, or if `received` is unknown. */
  differsAt: number | undefined;
  /** The explanation, one sentence each. */
  says: string[];
}

/** For debugging, a client may send its signing string in base64. */
const SIGNING_STRING_HEADER = 'x-sandbox-signing-string';

/** The beginning of a DigestInfo (RFC 8017, section 9.2, note 1), in hexadecimal. */
const DIGEST_INFO = [
  ['sha256', '3031300d060960864801650304020105000420'],
  ['sha1', '3021300906052b0e03021a05000414'],
  ['sha384', '3041300d060960864801650304020205000430'],
  ['sha512', '3051300d060960864801650304020305000440'],
] as const;

/**
 * Finds out what a client signed. An RSA signature reveals the hash but not the text, so this hashes the signing strings of
 * common mistakes until one matches.
 *
 * @param bodySha256 the hash of the whole body. The request may hold only a part of it
 * @returns undefined if the request has no signature
 */
export function explainSignature(
  request: RawRequest,
  bodySha256: Buffer,
  registered: TppCertificates,
): SignatureFinding | undefined {
  const value = header(request, 'signature');
  if (!value) return undefined;
  const prescribed = signingNames(request);
  const computed = signingString(request, prescribed.split(' '));
  const base = { computed, received: undefined, differsAt: undefined };
  const parsed = readHeader(value);
  if (parsed instanceof Refusal)
    return { ...base, verdict: 'malformed', says: [`${parsed.message}.`, parsed.detail] };
  const recovered = recover(parsed.signature, keysOf(request, registered));
  if (!recovered)
    return { ...base, verdict: 'other-key', says: [withoutHash(computed, parsed.signature, registered)] };
  const sent = header(request, SIGNING_STRING_HEADER);
  const fits = (signed: Buffer): boolean =>
    createHash(recovered.algorithm).update(signed).digest().equals(recovered.digest);
  const remarks = [...keyRemark(recovered.owner), ...algorithmRemark(recovered.algorithm)];
  const compare = (received: string) => ({
    ...base,
    received,
    differsAt: firstDifference(computed, received),
  });

  const sentText = sent === undefined ? undefined : Buffer.from(sent, 'base64').toString('utf8');
  if (sentText !== undefined && fits(Buffer.from(sentText)) && sentText !== computed)
    return {
      ...compare(sentText),
      verdict: 'sent',
      says: [...remarks, 'The client sent the text that it signed.'],
    };
  const candidate = search(fits, { request, prescribed, declared: parsed.headers, bodySha256 });
  if (candidate) {
    const { text, mistakes } = candidate;
    const right = mistakes.length === 0 && remarks.length === 0;
    const says = right ? ['The signature is valid.'] : [...remarks, ...mistakes.map(sentence)];
    return { ...compare(text), verdict: right ? 'right' : 'found', says };
  }
  const unknown = [
    'The signature is over another text, and no common mistake explains it.',
    `Its hash is ${recovered.digest.toString('hex')}. The hash of the bank's text is ${createHash(recovered.algorithm).update(computed).digest('hex')}.`,
    sent === undefined
      ? 'To see the difference, send the text that you sign as X-Sandbox-Signing-String, in base64.'
      : 'X-Sandbox-Signing-String is not the text that was signed.',
  ];
  return { ...base, verdict: 'unknown', says: [...remarks, ...unknown] };
}

function readHeader(value: string): SignatureHeader | Refusal {
  try {
    return parseSignatureHeader(value);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function search(
  fits: (signed: Buffer) => boolean,
  signable: Parameters<typeof signingCandidates>[0],
): Candidate | undefined {
  for (const candidate of signingCandidates(signable)) if (fits(candidate.signed)) return candidate;
  return undefined;
}

type Owner = 'qseal' | 'qwac' | 'sent';

/** The keys that the client may have used. The right one is first. */
function keysOf(request: RawRequest, { qseal, qwac }: TppCertificates): [Owner, KeyObject][] {
  const registered: [Owner, KeyObject][] = [
    ['qseal', qseal.publicKey],
    ['qwac', qwac.publicKey],
  ];
  try {
    const sent = new X509Certificate(readTppCertificate(header(request, 'tpp-certificate') ?? ''));
    return [...registered, ['sent', sent.publicKey]];
  } catch {
    return registered;
  }
}

interface Recovered {
  owner: Owner;
  algorithm: (typeof DIGEST_INFO)[number][0];
  digest: Buffer;
}

/** Extracts the hash from an RSASSA-PKCS1-v1_5 signature (RFC 8017, section 8.2.2). */
function recover(signature: Buffer, keys: readonly [Owner, KeyObject][]): Recovered | undefined {
  for (const [owner, key] of keys) {
    const info = decrypted(key, signature)?.toString('hex') ?? '';
    const digestKind = DIGEST_INFO.find(([, prefix]) => info.startsWith(prefix));
    if (digestKind)
      return {
        owner,
        algorithm: digestKind[0],
        digest: Buffer.from(info.slice(digestKind[1].length), 'hex'),
      };
  }
  return undefined;
}

/** Undefined if the key does not match the signature. */
function decrypted(key: KeyObject, signature: Buffer): Buffer | undefined {
  try {
    return publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    return undefined;
  }
}

function withoutHash(computed: string, signature: Buffer, { qseal }: TppCertificates): string {
  const pss = verify(
    'sha256',
    Buffer.from(computed),
    {
      key: qseal.publicKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_AUTO,
    },
    signature,
  );
  return pss
    ? 'The text is right, but it was signed with RSASSA-PSS. rsa-sha256 means RSASSA-PKCS1-v1_5.'
    : 'The signature is damaged, or its key matches neither the QSealC nor the QWAC nor TPP-Certificate.';
}

function keyRemark(owner: Owner): string[] {
  switch (owner) {
    case 'qseal':
      return [];
    case 'qwac':
      return ["The signature was made with the QWAC's key, but must be made with the QSealC's key."];
    case 'sent':
      return ['The signature was made with the key of TPP-Certificate, which is not the registered QSealC.'];
  }
}

function algorithmRemark(algorithm: Recovered['algorithm']): string[] {
  return algorithm === 'sha256'
    ? []
    : [`The text was hashed with ${algorithm.toUpperCase()}, but must be hashed with SHA-256.`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function firstDifference(one: string, other: string): number | undefined {
  if (one === other) return undefined;
  let index = 0;
  while (one[index] === other[index]) index += 1;
  return index;
}

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../errors.ts';

/** A certificate in a PEM text. */
export const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The TPP's two certificates: the QWAC for mutual TLS, the QSealC for signatures. */
export type PairName = 'QWAC' | 'QSealC';

/** A certificate with its private key. They match, and the certificate is valid now. */
export interface KeyPair {
  certificate: X509Certificate;
  /** PEM: the certificate, then its chain, each issued by the next. A root is not among them: nobody sends it. */
  certificatePem: string;
  key: KeyObject;
}

export interface PemPair {
  name: PairName;
  certificate: string;
  key: string;
  passphrase: string | undefined;
  now: Date;
}

/** A passphrase is missing or wrong. The caller may ask for it. */
export class WrongPassphrase extends Psd2Error {}

/**
 * Reads a certificate and its private key, both PEM.
 *
 * @throws WrongPassphrase if the key is encrypted and the passphrase is missing or wrong
 * @throws Psd2Error `certificate`: unreadable, of a kind that psd2 cannot use, mismatched, expired or not yet valid.
 */
export function readKeyPair({ name, certificate: pem, key: keyPem, passphrase, now }: PemPair): KeyPair {
  const certificates = readCertificates(`The ${name} certificate`, pem);
  const key = readPrivateKey(name, keyPem, passphrase);
  refuseOtherKinds(`${name} key`, key);
  const chain = chainOf(certificates, now, key);
  const [certificate] = chain;
  if (!certificate?.checkPrivateKey(key))
    throw new Psd2Error('certificate', `The ${name} key does not belong to the ${name} certificate`, {
      hint: 'Give the key that the certificate was requested with.',
    });
  refuseOutOfDate(name, certificate, now);
  return { certificate, certificatePem: chain.map(String).join(''), key };
}

/**
 * Reads a certificate whose key is stored elsewhere.
 *
 * @throws Psd2Error `certificate`: unreadable, of a kind that psd2 cannot use, expired or not yet valid.
 */
export function readValidCertificate(name: PairName, pem: string, now: Date): X509Certificate {
  const [certificate] = chainOf(readCertificates(`The ${name} certificate`, pem), now);
  if (!certificate) throw new TypeError('A text with certificates has a chain');
  refuseOtherKinds(`key of the ${name} certificate`, certificate.publicKey);
  refuseOutOfDate(name, certificate, now);
  return certificate;
}

/** @throws Psd2Error `certificate` */
function refuseOtherKinds(what: string, { asymmetricKeyType: type }: KeyObject): void {
  if (type === 'rsa' || type === 'ec') return;
  throw new Psd2Error('certificate', `The ${what} has the type ${type}. psd2 works with RSA and EC keys`);
}

/**
 * The certificate of a key and its chain (RFC 8446, section 4.4.2): each certificate is issued by the next one. The order of the file
 * does not matter. A root is left out, and so is what does not belong to the chain.
 *
 * @param key undefined if it is stored elsewhere: then the certificate is the one that is not an authority's. Of several, the newest that is valid counts
 */
export function chainOf(
  certificates: readonly X509Certificate[],
  now: Date,
  key?: KeyObject,
): X509Certificate[] {
  const own = certificates.filter((each) => key && each.checkPrivateKey(key));
  const candidates = own.length > 0 ? own : certificates.filter(({ ca }) => !ca);
  const newest = (candidates.length > 0 ? candidates : certificates).toSorted(
    (one, other) => Date.parse(other.validTo) - Date.parse(one.validTo),
  );
  const first = newest.find(({ validFrom }) => Date.parse(validFrom) <= now.getTime()) ?? newest[0];
  const chain: X509Certificate[] = [];
  for (let last = first; last; ) {
    chain.push(last);
    const issued = last;
    last = certificates.find(
      (each) => !chain.includes(each) && !isIssuedBy(each, each) && isIssuedBy(issued, each),
    );
  }
  return chain;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function refuseOutOfDate(name: PairName, certificate: X509Certificate, now: Date): void {
  if (new Date(certificate.validTo) < now)
    throw new Psd2Error(
      'certificate',
      `The ${name} certificate expired on ${new Date(certificate.validTo).toISOString().slice(0, 10)}`,
      { hint: 'Put the new certificate into the profile and register it at the bank.' },
    );
  if (new Date(certificate.validFrom) > now)
    throw new Psd2Error(
      'certificate',
      `The ${name} certificate is not valid before ${new Date(certificate.validFrom).toISOString()}`,
      { hint: "Check this computer's clock." },
    );
}

/** Whether a file is PKCS#12: a SEQUENCE that starts with the version 3 (RFC 7292, section 4). */
export function isPkcs12(bytes: Uint8Array): boolean {
  const [, length = 0] = bytes;
  const lengthOctets = length & 0x80 ? length & 0x7f : 0;
  const content = bytes.subarray(2 + lengthOctets);
  return bytes[0] === 0x30 && content[0] === 0x02 && content[1] === 0x01 && content[2] === 0x03;
}

/** Whether a PEM text is a request for a certificate (PKCS#10). */
export function isRequest(text: string): boolean {
  return /-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(text);
}

/** The certificates of a PEM text. @param what it is, at the beginning of a sentence. @throws Psd2Error `certificate` */
export function readCertificates(what: string, pem: string): X509Certificate[] {
  try {
    return (pem.match(CERTIFICATE) ?? [pem]).map((each) => new X509Certificate(each));
  } catch (cause) {
    if (isRequest(pem))
      throw new Psd2Error('certificate', `${what} is a certificate request, not a certificate`, {
        hint: 'Give the certificate that the authority has issued for it.',
        cause,
      });
    throw new Psd2Error('certificate', `${what} is not a PEM certificate`, {
      hint: isDer(pem)
        ? 'It looks like DER. Convert it: openssl x509 -inform der -in <file> -out <file>.pem'
        : 'A PEM certificate begins with -----BEGIN CERTIFICATE-----.',
      cause,
    });
  }
}

/**
 * Reads a private key in PEM.
 *
 * @param name the key's name in messages
 * @throws WrongPassphrase if it is encrypted and the passphrase is missing or wrong
 * @throws Psd2Error `certificate` if it is not a private key
 */
export function readPrivateKey(name: string, pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch (cause) {
    if (/ENCRYPTED/.test(pem))
      throw new WrongPassphrase(
        'certificate',
        passphrase === undefined
          ? `The ${name} key is encrypted, and no passphrase was given`
          : `The passphrase does not open the ${name} key`,
        { hint: 'Set PSD2_KEY_PASSPHRASE.', cause },
      );
    throw new Psd2Error('certificate', `The ${name} key is not a PEM private key`, {
      hint: isDer(pem)
        ? 'It looks like DER. Convert it: openssl pkey -inform der -in <file> -out <file>.pem'
        : 'A PEM key begins with -----BEGIN PRIVATE KEY----- or -----BEGIN RSA PRIVATE KEY-----.',
      cause,
    });
  }
}

/** Whether a text is DER that was read as UTF-8: a SEQUENCE with a long length. */
function isDer(text: string): boolean {
  return text.startsWith('0\u{FFFD}');
}

/** The encoding of the signing certificate in the `TPP-Certificate` header. The bank does not document it. */
export type TppCertificateEncoding = 'der-base64' | 'pem-urlencoded' | 'none';

/** The value of the `TPP-Certificate` header, or undefined for `none`. */
export function tppCertificateHeader(
  certificate: X509Certificate,
  encoding: TppCertificateEncoding,
): string | undefined {
  if (encoding === 'der-base64') return certificate.raw.toString('base64');
  return encoding === 'pem-urlencoded' ? encodeURIComponent(certificate.toString()) : undefined;
}

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../errors.ts';

/** What a certificate of the TPP is for, as the user knows it: mutual TLS, or signatures. */
export type PairName = 'QWAC' | 'QSealC';

/** A certificate with its private key, seen to fit each other and to be valid now. */
export interface KeyPair {
  certificate: X509Certificate;
  /** The PEM text as given, chain included. */
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

/** A passphrase is missing or wrong, so it is worth asking for. */
export class WrongPassphrase extends Psd2Error {}

/**
 * Reads a certificate and its private key, both PEM.
 *
 * @throws WrongPassphrase when the key is encrypted and the passphrase is missing or wrong
 * @throws Psd2Error `certificate`: unreadable, not RSA, mismatched, expired or not yet valid.
 */
export function readKeyPair({ name, certificate: pem, key: keyPem, passphrase, now }: PemPair): KeyPair {
  const certificate = readCertificate(name, pem);
  const key = readPrivateKey(name, keyPem, passphrase);
  if (key.asymmetricKeyType !== 'rsa') {
    throw new Psd2Error(
      'certificate',
      `The ${name} key is of the type ${key.asymmetricKeyType}, and the bank signs with RSA only`,
    );
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new Psd2Error('certificate', `The ${name} key does not belong to the ${name} certificate`, {
      hint: 'Give the key that the certificate was requested with.',
    });
  }
  refuseOutOfDate(name, certificate, now);
  return { certificate, certificatePem: pem, key };
}

/**
 * Reads a certificate whose key is elsewhere.
 *
 * @throws Psd2Error `certificate`: unreadable, not RSA, expired or not yet valid.
 */
export function readValidCertificate(name: PairName, pem: string, now: Date): X509Certificate {
  const certificate = readCertificate(name, pem);
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') {
    throw new Psd2Error(
      'certificate',
      `The ${name} certificate is not for an RSA key, and the bank signs with RSA only`,
    );
  }
  refuseOutOfDate(name, certificate, now);
  return certificate;
}

function refuseOutOfDate(name: PairName, certificate: X509Certificate, now: Date): void {
  if (new Date(certificate.validTo) < now) {
    throw new Psd2Error(
      'certificate',
      `The ${name} certificate expired on ${new Date(certificate.validTo).toISOString().slice(0, 10)}`,
      {
        hint: 'Install its successor in the profile and register it at the bank.',
      },
    );
  }
  if (new Date(certificate.validFrom) > now) {
    throw new Psd2Error(
      'certificate',
      `The ${name} certificate is valid only from ${new Date(certificate.validFrom).toISOString()}`,
      {
        hint: "Check this computer's clock.",
      },
    );
  }
}

/** Whether a file is PKCS#12: a SEQUENCE that begins with the version 3 (RFC 7292, section 4). */
export function isPkcs12(bytes: Uint8Array): boolean {
  const lengthOctets = (bytes[1] ?? 0) > 0x80 ? (bytes[1] ?? 0) & 0x7f : 0;
  const content = bytes.subarray(2 + lengthOctets);
  return bytes[0] === 0x30 && content[0] === 0x02 && content[1] === 0x01 && content[2] === 0x03;
}

function readCertificate(name: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Psd2Error('certificate', `The ${name} certificate is not a PEM certificate`, {
      hint: isDer(pem)
        ? 'It looks like DER: openssl x509 -inform der -in <file> -out <file>.pem makes it PEM.'
        : 'It begins with -----BEGIN CERTIFICATE-----.',
      cause,
    });
  }
}

/**
 * Reads a private key in PEM.
 *
 * @param name of what it belongs to, for messages
 * @throws WrongPassphrase when it is encrypted and the passphrase is missing or wrong
 * @throws Psd2Error `certificate` when it is no private key
 */
export function readPrivateKey(name: string, pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey(passphrase === undefined ? pem : { key: pem, passphrase });
  } catch (cause) {
    if (/ENCRYPTED/.test(pem)) {
      throw new WrongPassphrase(
        'certificate',
        passphrase === undefined
          ? `The ${name} key is encrypted, and no passphrase was given`
          : `The passphrase does not open the ${name} key`,
        { hint: 'Set PSD2_KEY_PASSPHRASE.', cause },
      );
    }
    throw new Psd2Error('certificate', `The ${name} key is not a PEM private key`, {
      hint: isDer(pem)
        ? 'It looks like DER: openssl pkey -inform der -in <file> -out <file>.pem makes it PEM.'
        : 'It begins with -----BEGIN PRIVATE KEY----- or -----BEGIN RSA PRIVATE KEY-----.',
      cause,
    });
  }
}

/** Whether a text was DER before it was taken for UTF-8: a SEQUENCE whose length takes two octets. */
function isDer(text: string): boolean {
  return text.startsWith('0\u{FFFD}');
}

/** How the `TPP-Certificate` header carries the signing certificate; the bank does not document it. */
export type TppCertificateEncoding = 'der-base64' | 'pem-urlencoded' | 'none';

/** The value of the `TPP-Certificate` header, or undefined for `none`. */
export function tppCertificateHeader(
  certificate: X509Certificate,
  encoding: TppCertificateEncoding,
): string | undefined {
  switch (encoding) {
    case 'der-base64':
      return certificate.raw.toString('base64');
    case 'pem-urlencoded':
      return encodeURIComponent(certificate.toString());
    case 'none':
      return undefined;
  }
}

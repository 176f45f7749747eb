import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../errors.ts';

/** A certificate with its private key, seen to fit each other and to be valid now. */
export interface KeyPair {
  certificate: X509Certificate;
  /** The PEM text as given, chain included. */
  certificatePem: string;
  key: KeyObject;
}

export interface PemPair {
  /** What the pair is for, as the user knows it: `QWAC` or `QSealC`. */
  name: 'QWAC' | 'QSealC';
  certificate: string;
  key: string;
  passphrase: string | undefined;
  now: Date;
}

/**
 * Reads a certificate and its private key, both PEM.
 *
 * @throws Psd2Error `certificate`: unreadable, not RSA, mismatched, expired or not yet valid.
 */
export function readKeyPair({
  name,
  certificate: certificatePem,
  key: keyPem,
  passphrase,
  now,
}: PemPair): KeyPair {
  const certificate = readCertificate(name, certificatePem);
  const key = readKey(name, keyPem, passphrase);
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
  return { certificate, certificatePem, key };
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

function readKey(name: string, pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey(passphrase === undefined ? pem : { key: pem, passphrase });
  } catch (cause) {
    if (/ENCRYPTED/.test(pem)) {
      throw new Psd2Error(
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

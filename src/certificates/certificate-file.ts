import { X509Certificate } from 'node:crypto';
import { Psd2Error } from '../errors.ts';
import { CERTIFICATE, isPkcs12, isRequest } from './key-pair.ts';

interface CertificateFile {
  /** In the file's order. In a PKCS#12 file, the key's own certificate comes first. */
  certificates: X509Certificate[];
  /** PEM, possibly encrypted. Undefined if the file has no key. */
  key: string | undefined;
}

/** An encrypted PKCS#1 key has headers, and one of them contains a hyphen. */
const KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----.+?-----END \1-----/s;

/**
 * Reads a certificate file: PEM with one or more certificates, DER, or PKCS#12.
 *
 * @param path used in messages
 * @throws WrongPassphrase for a PKCS#12 file
 * @throws Psd2Error `certificate` if the file has no certificate
 */
export async function readCertificateFile(
  bytes: Uint8Array,
  passphrase: string | undefined,
  path: string,
): Promise<CertificateFile> {
  if (isPkcs12(bytes)) {
    const { readPkcs12 } = await import('./pkcs12.ts');
    const { certificates, key } = readPkcs12(bytes, passphrase, { name: path, path });
    if (certificates.length === 0) throw holdsNone(path);
    return { certificates: certificates.map((pem) => new X509Certificate(pem)), key };
  }
  const text = Buffer.from(bytes).toString('latin1');
  const pems = text.match(CERTIFICATE) ?? [];
  try {
    const certificates = (pems.length > 0 ? pems : [bytes]).map((each) => new X509Certificate(each));
    return { certificates, key: KEY.exec(text)?.[0] };
  } catch (cause) {
    throw holdsNone(path, cause, text);
  }
}

/** The error for a file without a certificate. A request for one is named, because it looks like one. */
export function holdsNone(path: string, cause?: unknown, text = ''): Psd2Error {
  if (isRequest(text))
    return new Psd2Error('certificate', `${path} is a certificate request, not a certificate`, {
      hint: 'Give the certificate that the authority has issued for it.',
      cause,
    });
  return new Psd2Error('certificate', `${path} has no readable certificate`, {
    hint: 'Use a PEM (-----BEGIN CERTIFICATE-----), DER or PKCS#12 file.',
    cause,
  });
}

// @peculiar/x509 uses tsyringe, which needs this import to be first.
import 'reflect-metadata';
import { createPrivateKey, X509Certificate as NodeCertificate, webcrypto } from 'node:crypto';
import { Extension, PemConverter, Pkcs10CertificateRequestGenerator, X509Certificate } from '@peculiar/x509';
import { Psd2Error } from '../errors.ts';
import { keptStatements, QC_STATEMENTS_OID } from './qc-statements.ts';

/** Key usage, extended key usage and subject alternative name: a request asks for those of the old certificate. */
const KEPT_EXTENSIONS = ['2.5.29.15', '2.5.29.37', '2.5.29.17'];
const MIN_RSA_BITS = 2048;
/** The curves by the name that Node.js gives them, with the hash that fits. */
const CURVES = new Map([
  ['prime256v1', { namedCurve: 'P-256', hash: 'SHA-256' }],
  ['secp384r1', { namedCurve: 'P-384', hash: 'SHA-384' }],
  ['secp521r1', { namedCurve: 'P-521', hash: 'SHA-512' }],
]);

/** A certificate request with its new private key, both PEM. */
export interface CertificateRequest {
  request: string;
  /** PKCS#8, encrypted if a passphrase was given. */
  key: string;
  keyType: 'RSA' | 'EC';
  keyBits: number;
}

/**
 * Makes a new private key and a request (PKCS#10, RFC 2986) for the successor of a certificate. The subject, the key usages and
 * the names stay. Of the qcStatements, those stay that are about the TPP (ETSI EN 319 412-5, TS 119 495): the others are the
 * authority's, or say where the old key is. The key has the type and size of the old one, with RSA at least 2048 bits.
 *
 * @param old DER
 * @param passphrase encrypts the new key; undefined: the key is not encrypted
 * @throws Psd2Error `certificate` if the qcStatements are malformed, or the key is neither RSA nor on a NIST curve
 */
export async function requestSuccessor(
  old: Uint8Array,
  passphrase: string | undefined,
): Promise<CertificateRequest> {
  const certificate = new X509Certificate(Uint8Array.from(old));
  const extensions = extensionsOf(certificate);
  const { keys, hash, keyType, keyBits } = await keysLike(new NodeCertificate(old));
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: certificate.subjectName,
    keys,
    signingAlgorithm: { name: keyType === 'RSA' ? 'RSASSA-PKCS1-v1_5' : 'ECDSA', hash },
    extensions,
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  return {
    request: `${PemConverter.encode(request.rawData, 'CERTIFICATE REQUEST')}\n`,
    key: key.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString(),
    keyType,
    keyBits,
  };
}

function extensionsOf(certificate: X509Certificate): Extension[] {
  const extensions = certificate.extensions.filter(({ type }) => KEPT_EXTENSIONS.includes(type));
  const statements = certificate.getExtension(QC_STATEMENTS_OID);
  if (!statements) return extensions;
  const value = keptStatements(new Uint8Array(statements.value));
  return [...extensions, new Extension(QC_STATEMENTS_OID, statements.critical, Uint8Array.from(value))];
}

interface NewKeys {
  keys: webcrypto.CryptoKeyPair;
  hash: string;
  keyType: CertificateRequest['keyType'];
  keyBits: number;
}

async function keysLike({ publicKey }: NodeCertificate): Promise<NewKeys> {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  if (type === 'rsa' || type === 'rsa-pss') {
    const keyBits = Math.max(MIN_RSA_BITS, details?.modulusLength ?? 0);
    const keys = await webcrypto.subtle.generateKey(
      {
        name: 'RSASSA-PKCS1-v1_5',
        hash: 'SHA-256',
        modulusLength: keyBits,
        publicExponent: Uint8Array.of(1, 0, 1),
      },
      true,
      ['sign', 'verify'],
    );
    return { keys, hash: 'SHA-256', keyType: 'RSA', keyBits };
  }
  const curve = CURVES.get(details?.namedCurve ?? '');
  if (!curve)
    throw new Psd2Error(
      'certificate',
      `psd2 cannot create a key of the kind that the certificate has: ${type}`,
      {
        hint: 'Make the key and the request with openssl.',
      },
    );
  const { namedCurve, hash } = curve;
  const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
  return { keys, hash, keyType: 'EC', keyBits: Number(namedCurve.slice(2)) };
}

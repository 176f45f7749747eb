import { createDecipheriv, createPrivateKey, pbkdf2Sync, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type AsnType, Integer } from 'asn1js';
import { Psd2Error } from '../errors.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { bytesOf, childrenOf, oidOf, readBer } from './asn1.ts';
import { WrongPassphrase } from './key-pair.ts';

interface Pkcs12Content {
  /** The key's own certificate first, then the others in the file's order. May be empty. */
  certificates: string[];
  /** PKCS#8, not encrypted. Undefined if the file has no key. */
  key: string | undefined;
}

/** The file's name for messages and for the command that converts it. */
interface Pkcs12File {
  /** `QWAC`, or the file's path. */
  name: string;
  /** Its path. Undefined if a profile stores its content. */
  path: string | undefined;
}

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';

/** The kinds of bags (RFC 7292, section 4.2). */
const KEY_BAG = '1.2.840.113549.1.12.10.1.1';
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3';

const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';

/** PBKDF2's hash by the OID of its pseudo-random function (RFC 8018, appendix B.1). */
const PRF: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

const CIPHERS: Readonly<Record<string, { name: string; keyLength: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyLength: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyLength: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyLength: 32 },
};

/** The legacy ciphers of PKCS#12 (RFC 7292, appendix C). */
const OLD_CIPHERS: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.12.1.1': 'RC4 with 128 bits',
  '1.2.840.113549.1.12.1.2': 'RC4 with 40 bits',
  '1.2.840.113549.1.12.1.3': 'triple DES',
  '1.2.840.113549.1.12.1.4': 'double DES',
  '1.2.840.113549.1.12.1.5': 'RC2 with 128 bits',
  '1.2.840.113549.1.12.1.6': 'RC2 with 40 bits',
};

/**
 * Reads a PKCS#12 file (RFC 7292) that is protected by a passphrase with PBES2, the default of OpenSSL 3, Java 17 and
 * Windows.
 *
 * @throws WrongPassphrase if the passphrase is missing or does not open it
 * @throws Psd2Error `certificate` if it is not a PKCS#12 file, or uses legacy ciphers. The hint then has a command that
 *   converts it
 */
export function readPkcs12(
  bytes: Uint8Array,
  passphrase: string | undefined,
  file: Pkcs12File,
): Pkcs12Content {
  try {
    const parts = pkcsParts(bytes);
    refuseOldCiphers(parts, file);
    checkIntegrity(bytes, passphrase, file);
    const certificates: X509Certificate[] = [];
    let key: string | undefined;
    for (const part of parts) {
      for (const { kind, value } of bagsOf(
        part.encryption ? decrypt(part.content, part.encryption, passphrase ?? '') : part.content,
      )) {
        if (kind === CERTIFICATE_BAG) certificates.push(readCertificate(value));
        else if (kind === KEY_BAG) key ??= readKey(value);
        else if (kind === SHROUDED_KEY_BAG) key ??= readKey(value, passphrase ?? '');
      }
    }
    const own = key === undefined ? undefined : createPrivateKey(key);
    const isOwn = (certificate: X509Certificate) => own !== undefined && certificate.checkPrivateKey(own);
    const ownFirst = [...certificates.filter(isOwn), ...certificates.filter((each) => !isOwn(each))];
    return { certificates: ownFirst.map((certificate) => certificate.toString()), key };
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error(
      'certificate',
      `The PKCS#12 file ${file.name} is not readable: it is damaged or has an unusual format`,
      { hint: 'Get a new copy of the file, or give certificate and key as PEM.', cause },
    );
  }
}

/** One of the `SafeContents`. It may be encrypted. */
interface Part {
  content: Uint8Array;
  /** Its `AlgorithmIdentifier`. */
  encryption: AsnType | undefined;
}

function pkcsParts(bytes: Uint8Array): Part[] {
  const [, authSafe] = childrenOf(readBer(bytes));
  const [, safe] = childrenOf(authSafe);
  return childrenOf(readBer(bytesOf(childrenOf(safe)[0]))).flatMap((info): Part[] => {
    const [type, wrapped] = childrenOf(info);
    const [content] = childrenOf(wrapped);
    switch (oidOf(type)) {
      case DATA:
        return [{ content: bytesOf(content), encryption: undefined }];
      case ENCRYPTED_DATA: {
        const [, algorithm, encrypted] = childrenOf(childrenOf(content)[1]);
        return [{ content: bytesOf(encrypted), encryption: algorithm }];
      }
      default:
        return [];
    }
  });
}

function bagsOf(content: Uint8Array): { kind: string; value: AsnType | undefined }[] {
  return childrenOf(readBer(content)).map((bag) => {
    const [kind, value] = childrenOf(bag);
    return { kind: oidOf(kind), value: childrenOf(value)[0] };
  });
}

function refuseOldCiphers(parts: Part[], file: Pkcs12File): void {
  const algorithms = parts.flatMap(({ content, encryption }) => {
    if (encryption) return oidOf(childrenOf(encryption)[0]);
    return bagsOf(content).flatMap(({ kind, value }) =>
      kind === SHROUDED_KEY_BAG ? oidOf(childrenOf(childrenOf(value)[0])[0]) : [],
    );
  });
  const other = algorithms.find((algorithm) => algorithm !== PBES2);
  if (other === undefined) return;
  throw new Psd2Error(
    'certificate',
    `The PKCS#12 file ${file.name} is encrypted with ${OLD_CIPHERS[other] ?? `the cipher ${other}`}, which is no longer safe`,
    { hint: `Convert it, and use the new file for certificate and key: ${conversion(file)}` },
  );
}

/** The command that converts the file to one PEM file. The key stays encrypted. */
function conversion({ path }: Pkcs12File): string {
  const old = path ?? 'old.p12';
  const pem = `${old.replace(/\.(p12|pfx)$/i, '')}.pem`;
  return `openssl pkcs12 -legacy -in ${quoteForShell(old)} -out ${quoteForShell(pem)}`;
}

/** Lets OpenSSL check the MAC, to distinguish a wrong passphrase from a damaged file. */
function checkIntegrity(bytes: Uint8Array, passphrase: string | undefined, file: Pkcs12File): void {
  try {
    createSecureContext({ pfx: Buffer.from(bytes), passphrase: passphrase ?? '' });
  } catch (cause) {
    // Any other error is about the content, for example a missing key.
    if (!(cause instanceof Error && cause.message.includes('mac verify failure'))) return;
    throw wrongPassphrase(passphrase, file, cause);
  }
}

function wrongPassphrase(passphrase: string | undefined, { name }: Pkcs12File, cause: unknown): Psd2Error {
  return new WrongPassphrase(
    'certificate',
    passphrase === undefined
      ? `The PKCS#12 file ${name} is protected by a passphrase, and none was given`
      : `The passphrase does not open the PKCS#12 file ${name}`,
    { hint: 'Set PSD2_KEY_PASSPHRASE.', cause },
  );
}

/** PBES2 (RFC 8018, section 6.2): PBKDF2 and AES-CBC. */
function decrypt(content: Uint8Array, algorithm: AsnType, passphrase: string): Uint8Array {
  const [derivation, scheme] = childrenOf(childrenOf(algorithm)[1]);
  const [derivationId, derivationParameters] = childrenOf(derivation);
  const [schemeId, iv] = childrenOf(scheme);
  const [salt, iterations, ...further] = childrenOf(derivationParameters);
  // The key's length may come between the iterations and the pseudo-random function.
  const prf = further.find((each) => childrenOf(each).length > 0);
  const hash = prf ? PRF[oidOf(childrenOf(prf)[0])] : 'sha1';
  const cipher = CIPHERS[oidOf(schemeId)];
  if (oidOf(derivationId) !== PBKDF2 || !(iterations instanceof Integer) || !hash || !cipher)
    throw new TypeError('The encryption is unknown');
  const key = pbkdf2Sync(passphrase, bytesOf(salt), Number(iterations.toBigInt()), cipher.keyLength, hash);
  const decipher = createDecipheriv(cipher.name, key, bytesOf(iv));
  return Buffer.concat([decipher.update(content), decipher.final()]);
}

function readCertificate(bag: AsnType | undefined): X509Certificate {
  const [, wrapped] = childrenOf(bag);
  return new X509Certificate(Buffer.from(bytesOf(childrenOf(wrapped)[0])));
}

/** @param passphrase for a key that is itself encrypted */
function readKey(bag: AsnType | undefined, passphrase?: string): string {
  const key = createPrivateKey({
    key: Buffer.from(bag?.toBER() ?? new ArrayBuffer(0)),
    format: 'der',
    type: 'pkcs8',
    passphrase,
  });
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

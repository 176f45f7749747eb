import { createCipheriv, createPrivateKey, pbkdf2Sync, randomBytes, X509Certificate } from 'node:crypto';
import {
  type AsnType,
  Constructed,
  fromBER,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
} from 'asn1js';

/** The algorithms of PBES2 that other programs use, and OpenSSL's command does not write. */
export interface Encryption {
  passphrase: string;
  cipher: { oid: string; name: string; keyLength: number };
  /** Undefined: the file names none, which means HMAC with SHA-1. */
  prf?: { oid: string; hash: string };
  /** PBKDF2 by default. */
  derivation?: string;
  /** Whether the file has the length of the key, as Java's do. */
  hasKeyLength?: boolean;
  /** Whether the encrypted content comes in two pieces, as BER allows. */
  isSplit?: boolean;
}

const CONTEXT = { tagClass: 3, tagNumber: 0 };
const ITERATIONS = 1000;

const sequence = (...value: AsnType[]) => new Sequence({ value });
const oid = (value: string) => new ObjectIdentifier({ value });
const octets = (bytes: Uint8Array) => new OctetString({ valueHex: Uint8Array.from(bytes) });
const tagged = (...value: AsnType[]) => new Constructed({ idBlock: CONTEXT, value });
const encoded = (value: AsnType) => Buffer.from(value.toBER());
const decoded = (der: Uint8Array) => fromBER(Uint8Array.from(der)).result;

/** A PKCS#12 file (RFC 7292) without a MAC. */
export function pkcs12Of(...parts: AsnType[]): Buffer {
  return encoded(sequence(new Integer({ value: 3 }), plainPart(...parts)));
}

/** A part, or the whole, that is not encrypted. */
export function plainPart(...content: AsnType[]): AsnType {
  return part('1.2.840.113549.1.7.1', octets(encoded(sequence(...content))));
}

/** A part of any kind. */
export function part(kind: string, content: AsnType): AsnType {
  return sequence(oid(kind), tagged(content));
}

/** A part with an encryption that the file names in full, over any bytes. */
export function encryptedPart(algorithm: AsnType, encrypted: AsnType): AsnType {
  const content = sequence(oid('1.2.840.113549.1.7.1'), algorithm, encrypted);
  return part('1.2.840.113549.1.7.6', sequence(new Integer({ value: 0 }), content));
}

/** A part with an encryption that has no parameters. */
export function partEncryptedWith(algorithm: string): AsnType {
  return encryptedPart(sequence(oid(algorithm)), new Primitive({ idBlock: CONTEXT }));
}

/** A part that is encrypted with PBES2 (RFC 8018). */
export function pbes2Part(bags: AsnType[], how: Encryption): AsnType {
  const { passphrase, cipher, prf, hasKeyLength = false, isSplit = false } = how;
  const [salt, iv] = [randomBytes(8), randomBytes(16)];
  const key = pbkdf2Sync(passphrase, salt, ITERATIONS, cipher.keyLength, prf?.hash ?? 'sha1');
  const encryption = createCipheriv(cipher.name, key, iv);
  const bytes = Buffer.concat([encryption.update(encoded(sequence(...bags))), encryption.final()]);
  const derivation = sequence(
    octets(salt),
    new Integer({ value: ITERATIONS }),
    ...(hasKeyLength ? [new Integer({ value: cipher.keyLength })] : []),
    ...(prf ? [sequence(oid(prf.oid), new Null())] : []),
  );
  const algorithm = sequence(
    oid('1.2.840.113549.1.5.13'),
    sequence(
      sequence(oid(how.derivation ?? '1.2.840.113549.1.5.12'), derivation),
      sequence(oid(cipher.oid), octets(iv)),
    ),
  );
  const content = isSplit
    ? tagged(octets(bytes.subarray(0, 20)), octets(bytes.subarray(20)))
    : new Primitive({ idBlock: CONTEXT, valueHex: Uint8Array.from(bytes) });
  return encryptedPart(algorithm, content);
}

/** A bag of any kind. */
export function bag(kind: string, value: AsnType): AsnType {
  return sequence(oid(kind), tagged(value));
}

export function certificateBag(pem: string): AsnType {
  const certificate = sequence(oid('1.2.840.113549.1.9.22.1'), tagged(octets(new X509Certificate(pem).raw)));
  return bag('1.2.840.113549.1.12.10.1.3', certificate);
}

export function keyBag(pem: string): AsnType {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return bag('1.2.840.113549.1.12.10.1.1', decoded(der));
}

/** A bag with a key that is itself encrypted. */
export function shroudedKeyBag(pem: string, passphrase: string): AsnType {
  const how = { type: 'pkcs8', format: 'der', cipher: 'aes-256-cbc', passphrase } as const;
  return bag('1.2.840.113549.1.12.10.1.2', decoded(createPrivateKey(pem).export(how)));
}

export { octets };

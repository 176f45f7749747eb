import { Psd2Error } from '../errors.ts';

/**
 * The part of DER (ITU-T X.690) that qcStatements use: SEQUENCE, OBJECT IDENTIFIER and UTF8String.
 */
export const DER_SEQUENCE = 0x30;
export const DER_OID = 0x06;
export const DER_UTF8_STRING = 0x0c;

/** One value. `content` does not include tag and length. */
export interface DerValue {
  tag: number;
  content: Uint8Array;
}

/** A SEQUENCE (or SEQUENCE OF) of encoded values. */
export function derSequence(...items: readonly Uint8Array[]): Uint8Array {
  return derValue(DER_SEQUENCE, Buffer.concat(items));
}

/** An OBJECT IDENTIFIER from its dotted form: `0.4.0.1862.1.1`. */
export function derOid(oid: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  return derValue(DER_OID, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** A UTF8String. */
export function derUtf8String(text: string): Uint8Array {
  return derValue(DER_UTF8_STRING, Buffer.from(text));
}

function derValue(tag: number, content: Uint8Array): Uint8Array {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Uint8Array.of(tag, length), content]);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) octets.unshift(rest & 0xff);
  return Buffer.concat([Uint8Array.of(tag, 0x80 | octets.length, ...octets), content]);
}

function base128(arc: number): number[] {
  const octets = [arc & 0x7f];
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) octets.unshift(0x80 | (rest & 0x7f));
  return octets;
}

/**
 * Reads the consecutive values in `bytes`.
 *
 * @throws Psd2Error `certificate` if `bytes` end within a value or have a length form that DER forbids.
 */
export function readDer(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  let at = 0;
  const octet = (): number => {
    const value = bytes[at];
    if (value === undefined) throw malformed();
    at += 1;
    return value;
  };
  while (at < bytes.length) {
    const tag = octet();
    let length = octet();
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count === 0 || count > 4) throw malformed();
      length = 0;
      for (let i = 0; i < count; i += 1) length = length * 256 + octet();
    }
    if (at + length > bytes.length) throw malformed();
    values.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return values;
}

/** The dotted form of an OBJECT IDENTIFIER's content. */
export function readDerOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f);
    if (octet < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const [joined = 0, ...rest] = arcs;
  const first = Math.min(Math.floor(joined / 40), 2);
  return [first, joined - first * 40, ...rest].join('.');
}

function malformed(): Psd2Error {
  return new Psd2Error('certificate', 'The qcStatements of the certificate are not valid DER', {
    hint: 'Ask the certificate authority for a correct certificate.',
  });
}

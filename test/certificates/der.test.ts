import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DER_OID,
  DER_SEQUENCE,
  DER_UTF8_STRING,
  derOid,
  derSequence,
  derUtf8String,
  readDer,
  readDerOid,
} from '../../src/certificates/der.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Buffer.from(text, 'hex');

/** Values of X.690 and of registered identifiers. */
const OIDS = [
  ['2.5.4.97', '0603550461'],
  ['2.999', '06028837'],
  ['0.4.0.1862.1.1', '060604008e460101'],
  ['0.4.0.19495.2', '0606040081982702'],
  ['1.2.840.113549.1.1.11', '06092a864886f70d01010b'],
  ['1.39.127.128.16384', '06074f7f8100818000'],
] as const;

describe('DER', () => {
  it.each(OIDS)('the object identifier %s is %s', (oid, encoded) => {
    const [only, ...more] = readDer(bytesOf(encoded));
    expect(hex(derOid(oid))).toBe(encoded);
    expect(only?.tag).toBe(DER_OID);
    expect(readDerOid(only?.content ?? new Uint8Array())).toBe(oid);
    expect(more).toEqual([]);
  });

  it.each([
    [0, '0c00'],
    [1, '0c01'],
    [127, '0c7f'],
    [128, '0c8180'],
    [255, '0c81ff'],
    [256, '0c820100'],
    [65_535, '0c82ffff'],
    [65_536, '0c83010000'],
  ])('a text of %d bytes begins with %s', (length, beginning) => {
    const encoded = derUtf8String('x'.repeat(length));
    expect(hex(encoded)).toBe(beginning + '78'.repeat(length));
    const [value] = readDer(encoded);
    expect(value?.tag).toBe(DER_UTF8_STRING);
    expect(value?.content).toHaveLength(length);
  });

  it('a text is UTF-8, and a sequence has its values one after the other', () => {
    expect(hex(derSequence(derUtf8String('è'), derSequence()))).toBe('30060c02c3a83000');
  });

  it('psd2 reads back what it wrote', () => {
    const arcs = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 6 });
    const oids = fc
      .oneof(fc.tuple(fc.nat(1), fc.nat(39)), fc.tuple(fc.constant(2), fc.nat(1000)))
      .chain((first) => arcs.map((rest) => [...first, ...rest].join('.')));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(oids, fc.string({ maxLength: 300, size: 'max' })), { maxLength: 5 }),
        (pairs) => {
          const encoded = derSequence(...pairs.flatMap(([oid, text]) => [derOid(oid), derUtf8String(text)]));
          const [sequence, ...more] = readDer(encoded);
          expect([sequence?.tag, more]).toEqual([DER_SEQUENCE, []]);
          const read = readDer(sequence?.content ?? new Uint8Array()).map(({ tag, content }) =>
            tag === DER_OID ? readDerOid(content) : Buffer.from(content).toString(),
          );
          expect(read).toEqual(pairs.flat());
        },
      ),
    );
  });

  it('psd2 reads a length of four octets', () => {
    expect(readDer(bytesOf('0c840000000178'))).toEqual([{ tag: DER_UTF8_STRING, content: bytesOf('78') }]);
  });

  it.each([
    ['an indefinite length', '30800000'],
    ['an indefinite length before 128 octets', `3080${'00'.repeat(128)}`],
    ['a length of five octets', '0c85000000000178'],
    ['a tag without a length', '30'],
    ['a length that is cut off', '0c8201'],
    ['less content than its length says', '0c0278'],
    ['a good value before a bad one', '0c01780c'],
  ])('psd2 refuses %s', (_, encoded) => {
    expect(() => readDer(bytesOf(encoded))).toThrow(
      expect.objectContaining({
        code: 'certificate',
        message: 'The qcStatements of the certificate are not valid DER',
        hint: 'Ask the certificate authority for a correct certificate.',
      }),
    );
  });
});

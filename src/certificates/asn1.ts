import { type AsnType, Constructed, fromBER, ObjectIdentifier, OctetString, Primitive } from 'asn1js';

/**
 * Reads one value in BER, which allows all that DER does. Some programs write lengths that DER forbids.
 *
 * @throws TypeError if it is not BER
 */
export function readBer(bytes: Uint8Array): AsnType {
  const { offset, result } = fromBER(Uint8Array.from(bytes));
  if (offset === -1) throw new TypeError('This is not BER');
  return result;
}

/** The values in a SEQUENCE, a SET or a tagged value. Empty for any other value. */
export function childrenOf(value: AsnType | undefined): AsnType[] {
  return value instanceof Constructed ? value.valueBlock.value : [];
}

/** The dotted form of an OBJECT IDENTIFIER. Empty for any other value. */
export function oidOf(value: AsnType | undefined): string {
  return value instanceof ObjectIdentifier ? value.getValue() : '';
}

/** The bytes of an OCTET STRING. It may be split, or have its own tag. */
export function bytesOf(value: AsnType | undefined): Uint8Array {
  if (value instanceof OctetString) return new Uint8Array(value.getValue());
  if (value instanceof Primitive) return value.valueBlock.valueHexView;
  return Buffer.concat(childrenOf(value).map(bytesOf));
}

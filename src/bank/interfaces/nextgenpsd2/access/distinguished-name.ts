import type { X509Certificate } from 'node:crypto';

/** An attribute of a distinguished name. */
interface Attribute {
  /** The type, with dots. */
  oid: string;
  value: string;
  /** The value in DER. */
  der: Buffer;
}

/** How programs write a distinguished name. */
export type NameFormat = 'rfc2253' | 'rfc2253-oid' | 'openssl' | 'rfc1779' | 'java' | 'dotnet' | 'one-line';

type Names = Readonly<Record<string, string>>;

const RFC_1779: Names = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
};
const RFC_2253: Names = {
  ...RFC_1779,
  '0.9.2342.19200300.100.1.25': 'DC',
  '0.9.2342.19200300.100.1.1': 'UID',
};
const EMAIL = '1.2.840.113549.1.9.1';
const OPENSSL: Names = {
  ...RFC_2253,
  '2.5.4.9': 'street',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.12': 'title',
  '2.5.4.13': 'description',
  '2.5.4.15': 'businessCategory',
  '2.5.4.17': 'postalCode',
  '2.5.4.42': 'GN',
  '2.5.4.43': 'initials',
  '2.5.4.44': 'generationQualifier',
  '2.5.4.46': 'dnQualifier',
  '2.5.4.65': 'pseudonym',
  '2.5.4.97': 'organizationIdentifier',
  [EMAIL]: 'emailAddress',
};
const JAVA: Names = {
  ...RFC_2253,
  '2.5.4.4': 'SURNAME',
  '2.5.4.5': 'SERIALNUMBER',
  '2.5.4.12': 'T',
  '2.5.4.42': 'GIVENNAME',
  '2.5.4.43': 'INITIALS',
  '2.5.4.44': 'GENERATION',
  '2.5.4.46': 'DNQ',
  [EMAIL]: 'EMAILADDRESS',
};
const DOTNET: Names = {
  ...RFC_1779,
  '2.5.4.4': 'SN',
  '2.5.4.5': 'SERIALNUMBER',
  '2.5.4.8': 'S',
  '2.5.4.12': 'T',
  '2.5.4.42': 'G',
  '2.5.4.43': 'I',
  '0.9.2342.19200300.100.1.25': 'DC',
  [EMAIL]: 'E',
};

/** The name of a certificate's issuer or subject, as the programs of a bank write it. `docs/banks.md` has an example of each. */
export function writeName(
  certificate: X509Certificate,
  whose: 'issuer' | 'subject',
  format: NameFormat,
): string {
  const attributes = attributesOf(certificate.raw, whose);
  // A name begins with the country. All forms but this one begin with what is most specific.
  if (format === 'one-line')
    return attributes.map(({ oid, value }) => `/${OPENSSL[oid] ?? oid}=${inAscii(value, '\\x')}`).join('');
  const separator = format === 'openssl' || format.startsWith('rfc2253') ? ',' : ', ';
  return attributes.toReversed().map(writers[format]).join(separator);
}

const writers: Readonly<Record<Exclude<NameFormat, 'one-line'>, (attribute: Attribute) => string>> = {
  rfc2253: ({ oid, value, der }) =>
    keyed(RFC_2253, oid, value) ?? `${oid}=#${der.toString('hex').toUpperCase()}`,
  'rfc2253-oid': ({ oid, value, der }) => keyed(RFC_2253, oid, value) ?? `${oid}=#${der.toString('hex')}`,
  openssl: ({ oid, value }) => keyed(OPENSSL, oid, value) ?? `${oid}=${escaped(value)}`,
  rfc1779: ({ oid, value }) => `${RFC_1779[oid] ?? `OID.${oid}`}=${inQuotes(value)}`,
  java: ({ oid, value }) => `${JAVA[oid] ?? `OID.${oid}`}=${inQuotes(value)}`,
  dotnet: ({ oid, value }) => `${DOTNET[oid] ?? `OID.${oid}`}=${inQuotes(value)}`,
};

/** Undefined if these names have none for the type. */
function keyed(names: Names, oid: string, value: string): string | undefined {
  const name = names[oid];
  return name === undefined ? undefined : `${name}=${escaped(value)}`;
}

/** A value with its special characters escaped (RFC 2253, section 2.4). */
function escaped(value: string): string {
  return inAscii(value.replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&'), '\\');
}

/** A value in quotes if it has special characters (RFC 1779, section 2.3). The quotes are escaped for the header. */
function inQuotes(value: string): string {
  const plain = value.replaceAll('"', '');
  return inAscii(/[,+="<>#;\n\\]|^ | $/.test(value) ? `\\"${plain}\\"` : plain, '\\');
}

/** A header carries no other characters: they become the bytes of UTF-8 in hexadecimal. */
function inAscii(text: string, before: string): string {
  return text.replace(/[^\x20-\x7e]+/g, (odd) =>
    [...Buffer.from(odd)]
      .map((byte) => `${before}${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

/** The bytes of the serial number as the certificate has them: those of a positive number may begin with 00. */
export function serialBytes({ raw }: X509Certificate): Buffer {
  return fieldsOfCertificate(raw)[0]?.content ?? Buffer.alloc(0);
}

/** A value in DER. */
interface Der {
  tag: number;
  content: Buffer;
  whole: Buffer;
}

/** The values in a value. Node.js has read the certificate before, so its lengths are right. */
function valuesIn(content: Buffer): Der[] {
  const values: Der[] = [];
  for (let at = 0; at < content.length; ) {
    const first = content[at + 1] ?? 0;
    const more = first < 0x80 ? 0 : first - 0x80;
    const begin = at + 2 + more;
    const end = begin + (more === 0 ? first : content.readUIntBE(at + 2, more));
    values.push({
      tag: content[at] ?? 0,
      content: content.subarray(begin, end),
      whole: content.subarray(at, end),
    });
    at = end;
  }
  return values;
}

const VERSION = 0xa0;

/** The fields of a certificate after its version (RFC 5280, section 4.1): serial number, algorithm, issuer, validity, subject. */
function fieldsOfCertificate(certificate: Buffer): Der[] {
  const [toBeSigned] = valuesIn(valuesIn(certificate)[0]?.content ?? certificate);
  return valuesIn(toBeSigned?.content ?? certificate).filter(({ tag }) => tag !== VERSION);
}

function attributesOf(certificate: Buffer, whose: 'issuer' | 'subject'): Attribute[] {
  const name = fieldsOfCertificate(certificate)[whose === 'issuer' ? 2 : 4];
  const sets = valuesIn(name?.content ?? Buffer.alloc(0));
  return sets
    .flatMap(({ content }) => valuesIn(content))
    .flatMap((each) => {
      const [type, value] = valuesIn(each.content);
      return type && value ? [{ oid: oidOf(type.content), value: textOf(value), der: value.whole }] : [];
    });
}

/** X.690, section 8.19: base 128, and the first two parts in one. */
function oidOf(content: Buffer): string {
  const parts: number[] = [];
  let part = 0;
  for (const byte of content) {
    part = part * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      parts.push(part);
      part = 0;
    }
  }
  const [first = 0, ...rest] = parts;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...rest].join('.');
}

const BMP_STRING = 0x1e;
const UTF8_STRING = 0x0c;

function textOf({ tag, content }: Der): string {
  if (tag === BMP_STRING) return Buffer.from(content).swap16().toString('utf16le');
  return content.toString(tag === UTF8_STRING ? 'utf8' : 'latin1');
}

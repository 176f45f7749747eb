import type { X509Certificate } from 'node:crypto';
import type { BankDescription } from '../../../bank-file/schema.ts';

type KeyIdForm = BankDescription['signing']['keyId'];

/** The attribute that names the TPP (ETSI TS 119 412-1). Programs write its type in several ways. */
const ORGANIZATION_ID = 'organizationIdentifier';
const ORGANIZATION_OID = '2.5.4.97';

/**
 * The texts that a signature's `keyId` may have in the form of the bank file, for the certificate that signs. Most forms
 * allow one text. If a name has an attribute that RFC 2253 and RFC 1779 have no short name for, programs write it by its name, by its
 * number, or as a number with the DER in hexadecimal, and all of them are right.
 */
export function keyIdsOf(form: KeyIdForm, certificate: X509Certificate): string[] {
  switch (form.form) {
    case 'sn-ca':
      return namesOf(form, certificate).map(
        (name) => `SN=${serialOf(form, certificate)}${form.separator}CA=${name}`,
      );
    case 'sn':
      return [`SN=${serialOf(form, certificate)}`];
    case 'organization-id':
      return [organizationIdOf(certificate) ?? ''];
    default:
      return [form.form];
  }
}

/** A serial number without leading zeros, so that it does not matter whether a program writes them. */
function serialOf({ serial, case: letters }: KeyIdForm, { serialNumber }: X509Certificate): string {
  const number = BigInt(`0x${serialNumber}`);
  if (serial === 'decimal') return number.toString();
  const hex = number.toString(16);
  return letters === 'upper' ? hex.toUpperCase() : hex;
}

/** Whether a received `keyId` is one of those. Leading zeros of a serial number do not count. */
export function isKeyId(received: string, expected: readonly string[]): boolean {
  return expected.includes(received.replace(/^SN=0+(?=[0-9a-fA-F])/, 'SN='));
}

/**
 * Whether a `keyId` names a certificate by its serial number and its issuer (NextGenPSD2, "Requirements on the Signature Header"), however a program
 * writes them: letters, blanks, escapes, quotes and the order of the attributes do not count.
 */
export function isSameKey(received: string, form: KeyIdForm, certificate: X509Certificate): boolean {
  const [, serial, issuer] = /^\s*SN\s*=\s*(?:0x)?([0-9a-f]+)\s*,\s*CA\s*=\s*(.+)$/is.exec(received) ?? [];
  if (form.form !== 'sn-ca' || serial === undefined || issuer === undefined)
    return isKeyId(received, keyIdsOf(form, certificate));
  const expected = attributesOf(certificate.issuer).map(normalized).toSorted();
  const given = writtenAttributes(issuer.replaceAll('%20', ' ')).map(normalized).toSorted();
  return (
    BigInt(`0x${serial}`) === BigInt(`0x${certificate.serialNumber}`) &&
    given.length === expected.length &&
    given.every((one, index) => one === expected[index])
  );
}

/** An attribute as names are compared (RFC 5280, section 7.1): without regard to letters and blanks. */
function normalized({ type, value }: Attribute): string {
  return `${type.trim()}=${value.trim().replace(/\s+/g, ' ')}`.toLowerCase();
}

/** The attributes of a name in the form of RFC 2253, RFC 1779, or of OpenSSL with slashes. */
function writtenAttributes(name: string): Attribute[] {
  const separated = name.startsWith('/') ? name.slice(1).replaceAll('/', ',') : name;
  const parts = separated.match(/(?:"(?:\\.|[^"\\])*"|\\.|[^,;+"\\])+/gs) ?? [];
  return parts.map((part) => {
    const at = part.indexOf('=');
    const value = part.slice(at + 1).trim();
    const bare = /^"(.*)"$/s.exec(value)?.[1] ?? value;
    return { type: part.slice(0, at), value: bare.replace(/\\(.)/g, '$1') };
  });
}

/** The identifier of the TPP in its certificate, `PSDIT-BI-12345`. */
export function organizationIdOf({ subject }: X509Certificate): string | undefined {
  return attributesOf(subject).find(({ type }) => type === ORGANIZATION_ID)?.value;
}

interface Attribute {
  type: string;
  /** Not escaped. */
  value: string;
}

/** The distinguished name in the form of the bank file: the last attribute of the certificate first. */
function namesOf(form: KeyIdForm, certificate: X509Certificate): string[] {
  const attributes = attributesOf(form.dn === 'issuer' ? certificate.issuer : certificate.subject).reverse();
  const separator = form.format === 'rfc2253' ? ',' : ', ';
  const write = form.format === 'rfc2253' ? escaped : quoted;
  const spellings = attributes.some(({ type }) => type === ORGANIZATION_ID)
    ? SPELLINGS
    : SPELLINGS.slice(0, 1);
  return spellings.map((spell) =>
    spaced(
      form.spaces,
      attributes
        .map(({ type, value }) =>
          type === ORGANIZATION_ID ? spell(value, write) : `${type}=${write(value)}`,
        )
        .join(separator),
    ),
  );
}

const SPELLINGS: readonly ((value: string, write: (value: string) => string) => string)[] = [
  (value, write) => `${ORGANIZATION_ID}=${write(value)}`,
  (value, write) => `${ORGANIZATION_OID}=${write(value)}`,
  (value, write) => `OID.${ORGANIZATION_OID}=${write(value)}`,
  (value) => `${ORGANIZATION_OID}=#${derOf(0x0c, value)}`,
  (value) => `${ORGANIZATION_OID}=#${derOf(0x13, value)}`,
];

/** A UTF8String (0x0c) or a PrintableString (0x13) as DER, in hexadecimal. */
function derOf(tag: number, value: string): string {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]).toString('hex');
}

function spaced(spaces: KeyIdForm['spaces'], name: string): string {
  if (spaces === 'keep') return name;
  return name.replaceAll(' ', spaces === 'percent' ? '%20' : '');
}

/** RFC 2253, section 2.4. */
function escaped(value: string): string {
  return value
    .replace(/[,+"\\<>;]/g, '\\$&')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ');
}

/** RFC 1779, section 2.3. */
function quoted(value: string): string {
  return /[,+="<>#;\n]|^ | $/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}

/** The attributes of a name as Node.js writes it: a line for each, values escaped as in RFC 2253. */
function attributesOf(name: string): Attribute[] {
  return name.split('\n').map((line) => {
    const at = line.indexOf('=');
    return { type: line.slice(0, at), value: line.slice(at + 1).replace(/\\(.)/g, '$1') };
  });
}

import type { X509Certificate } from 'node:crypto';
import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';

type KeyIdForm = BankDescription['signing']['keyId'];

/** The attribute that names the TPP (ETSI TS 119 412-1). Programs write its type in several ways. */
const ORGANIZATION_ID = 'organizationIdentifier';
const ORGANIZATION_OID = '2.5.4.97';

/**
 * The texts that a signature's `keyId` may have in the form of the bank file, for the certificate that signs. Most forms
 * allow one text. The DER of an attribute that RFC 2253 has no name for may be one of two kinds of text.
 */
export function keyIdsOf(form: KeyIdForm, certificate: X509Certificate): string[] {
  const { separator } = form;
  const forms: Record<string, string> = {
    'sn-ca': `SN={serial}${separator}CA={dn}`,
    sn: 'SN={serial}',
    serial: '{serial}',
    'organization-id': '{organizationId}',
  };
  const text = (forms[form.form] ?? form.form)
    .replaceAll('{serial}', serialOf(form, certificate))
    .replaceAll('{organizationId}', organizationIdOf(certificate) ?? '');
  return issuerNames(form, certificate).map((name) => text.replaceAll('{dn}', () => name));
}

/** The serial number: as a number, in two digits for each byte, or with the 00 that a certificate has before a byte from 80 on. */
function serialOf({ serial, case: letters }: KeyIdForm, { serialNumber }: X509Certificate): string {
  const number = BigInt(`0x${serialNumber}`);
  if (serial === 'decimal') return number.toString();
  const even = number.toString(16).replace(/^(?=(?:..)*.$)/, '0');
  const hex = serial === 'hex' ? number.toString(16) : even;
  const written = serial === 'hex-der' ? hex.replace(/^(?=[89a-f])/, '00') : hex;
  return letters === 'upper' ? written.toUpperCase() : written;
}

/** Whether a received `keyId` is one of those. Leading zeros of a serial number do not count, unless the form says which it has. */
export function isKeyId(received: string, expected: readonly string[], { serial }: KeyIdForm): boolean {
  const plain = serial.startsWith('hex-') ? received : received.replace(/^SN=0+(?=[0-9a-fA-F])/, 'SN=');
  return expected.includes(plain);
}

/**
 * Whether a `keyId` names a certificate by its serial number and its issuer (NextGenPSD2, "Requirements on the Signature Header"), however a program
 * writes them: letters, blanks, escapes, quotes and the order of the attributes do not count.
 */
export function isSameKey(received: string, form: KeyIdForm, certificate: X509Certificate): boolean {
  const [, serial, issuer] = /^\s*SN\s*=\s*(?:0x)?([0-9a-f]+)\s*,\s*CA\s*=\s*(.+)$/is.exec(received) ?? [];
  if (form.form !== 'sn-ca' || serial === undefined || issuer === undefined)
    return isKeyId(received, keyIdsOf(form, certificate), form);
  const expected = attributesOf(certificate.issuer).map(normalized).toSorted();
  const written = writtenAttributes(issuer.replaceAll('%20', ' ')).map(normalized).toSorted();
  return (
    BigInt(`0x${serial}`) === BigInt(`0x${certificate.serialNumber}`) &&
    written.length === expected.length &&
    written.every((one, index) => one === expected[index])
  );
}

/** An attribute as names are compared (RFC 5280, section 7.1): without regard to letters and blanks. */
function normalized({ type, value }: Attribute): string {
  const name = type.trim().replace(/^(OID\.)?2\.5\.4\.97$/i, ORGANIZATION_ID);
  const [, der] = /^#[0-9a-f]{4}([0-9a-f]+)$/i.exec(value) ?? [];
  const text = der === undefined ? value : Buffer.from(der, 'hex').toString();
  return `${name}=${text.trim().replace(/\s+/g, ' ')}`.toLowerCase();
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

/** The distinguished name in the form of the bank file. */
function issuerNames(form: KeyIdForm, certificate: X509Certificate): string[] {
  const attributes = attributesOf(form.dn === 'issuer' ? certificate.issuer : certificate.subject);
  const spellings = attributes.some(({ type }) => type === ORGANIZATION_ID)
    ? SPELLINGS[form.format]
    : SPELLINGS[form.format].slice(0, 1);
  return spellings.map((spell) => spaced(form.spaces, written(form.format, attributes, spell)));
}

type Spell = (value: string) => string;

/** Only this form begins with the country. */
function written(format: KeyIdForm['format'], attributes: Attribute[], spell: Spell): string {
  const write = format === 'one-line' ? String : /2253|openssl/.test(format) ? escapedRfc2253 : quotedRfc1779;
  const parts = attributes.map(({ type, value }) =>
    type === ORGANIZATION_ID ? spell(value) : `${type}=${write(value)}`,
  );
  if (format === 'one-line') return parts.map((part) => `/${part}`).join('');
  return parts.reverse().join(write === escapedRfc2253 ? ',' : ', ');
}

const byDer = (upper: boolean): Spell[] =>
  [0x0c, 0x13].map((tag) => (value) => {
    const der = derOf(tag, value);
    return `${ORGANIZATION_OID}=#${upper ? der.toUpperCase() : der}`;
  });
const byNumber: Spell = (value) => `OID.${ORGANIZATION_OID}=${quotedRfc1779(value)}`;
const byName: Spell = (value) => `${ORGANIZATION_ID}=${value}`;

const SPELLINGS: Readonly<Record<KeyIdForm['format'], readonly Spell[]>> = {
  rfc2253: byDer(true),
  'rfc2253-oid': byDer(false),
  openssl: [(value) => byName(escapedRfc2253(value))],
  'one-line': [byName],
  rfc1779: [byNumber],
  java: [byNumber],
  dotnet: [byNumber],
};

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
function escapedRfc2253(value: string): string {
  return value
    .replace(/[,+"\\<>;]/g, '\\$&')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ');
}

/** RFC 1779, section 2.3. */
function quotedRfc1779(value: string): string {
  return /[,+="<>#;\n]|^ | $/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}

/** The attributes of a name as Node.js writes it: a line for each, values escaped as in RFC 2253. */
function attributesOf(name: string): Attribute[] {
  return name.split('\n').map((line) => {
    const at = line.indexOf('=');
    return { type: line.slice(0, at), value: line.slice(at + 1).replace(/\\(.)/g, '$1') };
  });
}

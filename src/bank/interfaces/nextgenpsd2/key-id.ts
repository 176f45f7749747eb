import type { X509Certificate } from 'node:crypto';
import type { BankDescription } from '../../../bank-file/schema.ts';
import { Psd2Error } from '../../../errors.ts';

type KeyIdForm = BankDescription['signing']['keyId'];

/**
 * The `keyId` of a signature (NextGenPSD2, section 1, `signing.keyId`): how the bank finds the certificate.
 *
 * @throws Psd2Error `certificate` if the certificate lacks what the form names
 */
export function keyIdOf(certificate: X509Certificate, form: KeyIdForm): string {
  switch (form.form) {
    case 'sn-ca':
      return `SN=${serialOf(certificate, form)}${form.separator}CA=${nameOf(certificate, form)}`;
    case 'sn':
      return `SN=${serialOf(certificate, form)}`;
    case 'organization-id':
      return organizationIdOf(certificate, 'signing certificate');
    default:
      return form.form;
  }
}

/** The serial number without leading zeros. */
function serialOf({ serialNumber }: X509Certificate, form: Pick<KeyIdForm, 'serial' | 'case'>): string {
  const serial = BigInt(`0x${serialNumber}`);
  if (form.serial === 'decimal') return serial.toString();
  const hex = serial.toString(16);
  return form.case === 'upper' ? hex.toUpperCase() : hex;
}

function nameOf(certificate: X509Certificate, { dn, format, spaces }: KeyIdForm): string {
  const parts = partsOf(certificate[dn]);
  const name = format === 'rfc2253' ? parts.map(inAscii).join(',') : parts.map(as1779).join(', ');
  if (spaces === 'keep') return name;
  return name.replaceAll(' ', spaces === 'percent' ? '%20' : '');
}

/** The parts of a name, most specific first (RFC 2253, section 2.1). Node writes one a line, escaped, the other way round. */
function partsOf(name: string): string[] {
  return name.split('\n').reverse();
}

/** A header carries no other characters: they become the bytes of UTF-8 in hexadecimal (RFC 2253, section 2.4). */
function inAscii(part: string): string {
  return part.replace(/[^\x20-\x7e]+/g, (text) =>
    [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

/** A part with its value in quotes if it has special characters (RFC 1779, section 2.3). The quotes are escaped for the header. */
function as1779(part: string): string {
  const at = part.indexOf('=') + 1;
  const value = part.slice(at);
  if (!value.includes('\\')) return inAscii(part);
  const plain = value.replace(/\\(.)/g, '$1').replaceAll('"', '');
  return inAscii(`${part.slice(0, at)}\\"${plain}\\"`);
}

/**
 * The organization identifier of a certificate's subject (ETSI TS 119 495, section 5.2.1).
 *
 * @throws Psd2Error `certificate`
 */
export function organizationIdOf(certificate: X509Certificate, name: string): string {
  const found = /^organizationIdentifier=(.*)$/m.exec(certificate.subject)?.[1];
  if (found) return found.replace(/\\(.)/g, '$1');
  throw new Psd2Error(
    'certificate',
    `The ${name} has no organization identifier, which names the application here`,
    {
      hint: 'Use an eIDAS certificate, or a bank file with another signing.keyId or oauth.clientId.',
    },
  );
}

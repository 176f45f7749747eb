import type { X509Certificate } from 'node:crypto';
import { Psd2Error } from '../../../../errors.ts';
import type { BankDescription } from '../description/schema.ts';
import { serialBytes, writeName } from './distinguished-name.ts';

type KeyIdForm = BankDescription['signing']['keyId'];

/** What stands for a part of the certificate in a fixed text. */
const PLACEHOLDER = /\{(serial|dn|organizationId)\}/g;

/**
 * The `keyId` of a signature (NextGenPSD2, section 1, `signing.keyId`): how the bank finds the certificate.
 *
 * @throws Psd2Error `certificate` if the certificate lacks what the form names
 */
export function keyIdOf(certificate: X509Certificate, form: KeyIdForm): string {
  return templateOf(form).replace(PLACEHOLDER, (_, part: string) => {
    if (part === 'serial') return serialOf(certificate, form);
    return part === 'dn'
      ? distinguishedName(certificate, form)
      : organizationIdOf(certificate, 'signing certificate');
  });
}

function templateOf({ form, separator }: KeyIdForm): string {
  switch (form) {
    case 'sn-ca':
      return `SN={serial}${separator}CA={dn}`;
    case 'sn':
      return 'SN={serial}';
    case 'serial':
      return '{serial}';
    case 'organization-id':
      return '{organizationId}';
    default:
      return form;
  }
}

function serialOf(certificate: X509Certificate, form: KeyIdForm): string {
  const bytes = serialBytes(certificate);
  const number = BigInt(`0x${certificate.serialNumber}`);
  const written = {
    decimal: () => number.toString(),
    hex: () => number.toString(16),
    'hex-even': () => certificate.serialNumber.toLowerCase(),
    'hex-der': () => bytes.toString('hex'),
  }[form.serial]();
  return form.case === 'upper' ? written.toUpperCase() : written;
}

function distinguishedName(certificate: X509Certificate, { dn, format, spaces }: KeyIdForm): string {
  const name = writeName(certificate, dn, format);
  if (spaces === 'keep') return name;
  return name.replaceAll(' ', spaces === 'percent' ? '%20' : '');
}

/**
 * The organization identifier of a certificate's subject (ETSI TS 119 495, section 5.2.1).
 *
 * @throws Psd2Error `certificate`
 */
export function organizationIdOf(certificate: X509Certificate, name: string): string {
  const organizationId = /^organizationIdentifier=(.*)$/m.exec(certificate.subject)?.[1];
  if (organizationId) return organizationId.replace(/\\(.)/g, '$1');
  throw new Psd2Error(
    'certificate',
    `The ${name} has no organization identifier, which names the application here`,
    { hint: 'Use an eIDAS certificate, or a bank file with another signing.keyId or oauth.clientId.' },
  );
}

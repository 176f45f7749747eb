import type { X509Certificate } from 'node:crypto';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import type { Column } from '../../terminal/output/fields.ts';
import { flag, list, object, oneOf, orNull, text, time, type ValueOf } from '../../terminal/output/fields.ts';
import { examples, verb } from '../declare.ts';
import { certificatesOfFile, certificatesOfProfile } from './certificates.ts';

const certificate = object({
  subject: text('distinguished name'),
  issuer: text('distinguished name'),
  serialNumber: text('hexadecimal'),
  notBefore: time('valid from'),
  notAfter: time('valid until'),
  sha256: text('fingerprint, hexadecimal'),
  organizationIdentifier: orNull(text('PSD<country>-<authority>-<number>')),
  qcType: orNull(oneOf(['web', 'eseal', 'esign'], 'web: a QWAC; eseal: a QSealC')),
  roles: list(
    text(),
    'PSP_AI, PSP_PI, PSP_IC, PSP_AS, PSP_CB, PSP_PA, VOP_RS, VOP_VS; a role that psd2 does not know has its number',
  ),
  ncaName: orNull(text('name of the competent authority')),
  ncaId: orNull(text('id of the competent authority')),
  keyMatches: orNull(flag('true if the key matches; null if the key is not known')),
});

const certificates = list(certificate);

type InspectedCertificate = ValueOf<typeof certificate>;

const QC_TYPES: Readonly<Record<string, string>> = { web: 'QWAC', eseal: 'QSealC', esign: 'signature' };

const FIELDS: Column<InspectedCertificate>[] = [
  { title: 'Subject', value: ({ subject }) => subject },
  { title: 'Issuer', value: ({ issuer }) => issuer },
  { title: 'Serial number', value: ({ serialNumber }) => serialNumber },
  { title: 'Valid from', value: ({ notBefore }) => notBefore, kind: 'time' },
  { title: 'Valid until', value: ({ notAfter }) => notAfter, kind: 'time' },
  { title: 'SHA-256', value: ({ sha256 }) => sha256 },
  { title: 'Organization', value: ({ organizationIdentifier }) => organizationIdentifier },
  { title: 'QcType', value: ({ qcType }) => qcType && `${qcType} (${QC_TYPES[qcType] ?? 'not known'})` },
  { title: 'Roles', value: ({ roles }) => roles.join(' ') },
  {
    title: 'Authority',
    value: ({ ncaName, ncaId }) => (ncaName === null ? null : `${ncaName} (${ncaId})`),
  },
  {
    title: 'Key',
    value: (shown) =>
      shown.keyMatches === null ? 'not known' : shown.keyMatches ? 'matches' : 'does not match',
  },
];

/** `psd2 cert inspect [file]`: shows certificates, also expired ones; without a file, those of the profile. */
export const inspect = verb(
  {
    prints: { what: 'certificates', shape: certificates },
    help: examples(
      'psd2 cert inspect',
      'psd2 cert inspect qseal.p12',
      'psd2 cert inspect qwac.pem --key qwac-key.pem --json',
    ),
  },
  (command) =>
    command
      .argument('[file]', 'PEM with one or several certificates, DER or PKCS#12')
      .option('--key <file>', 'private key: check that it belongs to the certificate'),
  async (context, file, { key: keyFile }) => {
    const found =
      file === undefined
        ? await certificatesOfProfile(context)
        : await certificatesOfFile(context, file, keyFile);
    const inspected = found.map(({ certificate, keyMatches }) => toInspected(certificate, keyMatches));
    const { output } = context;
    if (output.format !== 'table') return output.table(inspected, [], '', certificates);
    for (const [index, each] of inspected.entries()) {
      if (index > 0 && context.stdoutIsTerminal) output.text('');
      output.record(each, FIELDS, certificate);
    }
  },
);

function toInspected({ raw }: X509Certificate, keyMatches: boolean | null): InspectedCertificate {
  const { isForClients: _, ...said } = readEidasCertificate(raw);
  return {
    ...said,
    notBefore: said.notBefore.toISOString(),
    notAfter: said.notAfter.toISOString(),
    organizationIdentifier: said.organizationIdentifier ?? null,
    qcType: said.qcType ?? null,
    ncaName: said.ncaName ?? null,
    ncaId: said.ncaId ?? null,
    keyMatches,
  };
}

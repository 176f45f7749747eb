import type { X509Certificate } from 'node:crypto';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { certificatesOfFile, certificatesOfProfile } from './certificates.ts';
import { certificate, certificates } from './shape.ts';

/** What `cert inspect` shows of a certificate. */
type InspectedCertificate = Printed<typeof certificate>;

/** `psd2 cert inspect [file]`: shows certificates, also expired ones; without a file, those of the profile. */
export async function certInspect(
  context: Context,
  file: string | undefined,
  keyFile: string | undefined,
): Promise<void> {
  const found =
    file === undefined
      ? await certificatesOfProfile(context)
      : await certificatesOfFile(context, file, keyFile);
  const inspected = found.map(({ certificate, keyMatches }) => inspect(certificate, keyMatches));
  const { output } = context;
  if (output.format !== 'table') return output.table(inspected, [], '', certificates);
  for (const [index, each] of inspected.entries()) {
    if (index > 0 && context.stdoutIsTerminal) output.text('');
    output.record(each, FIELDS, certificate);
  }
}

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
    value: (shown) => (shown.keyMatches === null ? 'not known' : shown.keyMatches ? 'fits' : 'does not fit'),
  },
];

function inspect({ raw }: X509Certificate, keyMatches: boolean | null): InspectedCertificate {
  const { organizationIdentifier, qcType, ncaName, ncaId, ...said } = readEidasCertificate(raw);
  return {
    subject: said.subject,
    issuer: said.issuer,
    serialNumber: said.serialNumber,
    notBefore: said.notBefore.toISOString(),
    notAfter: said.notAfter.toISOString(),
    sha256: said.sha256,
    organizationIdentifier: organizationIdentifier ?? null,
    qcType: qcType ?? null,
    roles: said.roles,
    ncaName: ncaName ?? null,
    ncaId: ncaId ?? null,
    keyMatches,
  };
}

import type { X509Certificate } from 'node:crypto';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import { flag, list, object, orNull, text, time, type ValueOf } from '../../terminal/output/fields.ts';
import { examples, verb } from '../declare.ts';
import { certificatesOfFile, certificatesOfProfile, eidasData, eidasFields } from './certificates.ts';

const QC_TYPES: Readonly<Record<string, string>> = { web: 'QWAC', eseal: 'QSealC', esign: 'signature' };

const certificate = object({
  subject: text('distinguished name').as('Subject'),
  issuer: text('distinguished name').as('Issuer'),
  serialNumber: text('hexadecimal').as('Serial number'),
  notBefore: time('valid from').as('Valid from'),
  notAfter: time('valid until').as('Valid until'),
  sha256: text('fingerprint, hexadecimal').as('SHA-256'),
  ...eidasFields(),
  qcType: eidasFields().qcType.written((type) => type && `${type} (${QC_TYPES[type] ?? 'not known'})`),
  keyMatches: orNull(flag('true if the key matches; null if the key is not known'))
    .as('Key')
    .written((matches) => (matches === null ? 'not known' : matches ? 'matches' : 'does not match')),
});

const certificates = list(certificate);

type InspectedCertificate = ValueOf<typeof certificate>;

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
    const opened =
      file === undefined
        ? await certificatesOfProfile(context)
        : await certificatesOfFile(context, file, keyFile);
    const inspected = opened.map(({ certificate, keyMatches }) => toInspected(certificate, keyMatches));
    const { output } = context;
    if (output.format !== 'table') return output.table(inspected, certificate, '');
    for (const [index, each] of inspected.entries()) {
      if (index > 0 && context.stdoutIsTerminal) output.text('');
      output.record(each, certificate);
    }
  },
);

function toInspected({ raw }: X509Certificate, keyMatches: boolean | null): InspectedCertificate {
  const { isForClients: _, ...eidas } = readEidasCertificate(raw);
  return {
    ...eidas,
    notBefore: eidas.notBefore.toISOString(),
    notAfter: eidas.notAfter.toISOString(),
    ...eidasData(eidas),
    keyMatches,
  };
}

import type { X509Certificate } from 'node:crypto';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import { Psd2Error } from '../../errors.ts';
import { flag, list, object } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { printChecks } from '../shared/checks.ts';
import { readWholeNumber } from '../shared/option-values.ts';
import { certificateCheck, checkCertificate } from './certificate-checks.ts';
import { certificatesOfFile } from './certificates.ts';
import { checkProfileCertificates, neededByConsents } from './profile-certificates.ts';

const shape = object({
  ok: flag('true if no check failed'),
  checks: list(certificateCheck, 'one for each certificate'),
});

/**
 * `psd2 cert check [file]`: checks that certificates suit their use and do not expire soon; without a file, those of the
 * profile.
 */
export const check = verb(
  {
    prints: { what: 'checks of certificates', shape },
    help: examples(
      'psd2 cert check',
      'psd2 --profile mybank cert check --days 45 --quiet',
      'psd2 cert check new-qwac.pem',
    ),
  },
  (command) =>
    command
      .argument('[file]', 'PEM with one or several certificates, DER or PKCS#12')
      .option('--days <n>', 'also fail if the certificate expires within this many days', '30'),
  (context, file, { days }) => checkCertificates(context, file, days),
);

/** @throws Psd2Error `certificate` if one is wrong, or expires within `days` */
async function checkCertificates(context: Context, file: string | undefined, days: string): Promise<void> {
  const limits = {
    now: context.world.now(),
    days: readWholeNumber('--days', days, 0, 9999),
    soon: 'fail' as const,
  };
  const checks =
    file === undefined
      ? await checkProfileCertificates(context, await context.unsealed(), {
          ...limits,
          ...(await neededByConsents(context)),
        })
      : (await certificatesOfFile(context, file, undefined)).map(({ certificate, keyMatches }) => {
          const { qcType, roles } = readEidasCertificate(certificate.raw);
          const use = { qcType, isTpp: roles.length > 0, keyMatches };
          return checkCertificate(certificate, { name: commonName(certificate), ...use }, limits);
        });
  if (await printChecks(context, checks)) return;
  const failed = checks.filter(({ status }) => status === 'fail');
  const fix = failed.find((check) => check.fix !== null)?.fix;
  throw new Psd2Error(
    'certificate',
    `${failed.length} of ${checks.length} certificates ${failed.length === 1 ? 'needs' : 'need'} attention: ${failed.map(({ name }) => name).join(', ')}`,
    fix ?? {},
  );
}

function commonName({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.split('\n').join(', ');
}

import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareCert(cert: Command, run: Run): void {
  cert.addHelpText('after', examples('psd2 cert inspect', 'psd2 cert check --days 45'));

  cert
    .command('inspect')
    .argument('[file]', 'PEM with one or several certificates, DER or PKCS#12')
    .description("show the contents of certificates; without a file, the profile's")
    .option('--key <file>', 'private key: check that it belongs to the certificate')
    .addHelpText(
      'after',
      examples(
        'psd2 cert inspect',
        'psd2 cert inspect qseal.p12',
        'psd2 cert inspect qwac.pem --key qwac-key.pem --json',
      ),
    )
    .action((file, { key }) =>
      run(async (context) => (await import('./inspect.ts')).certInspect(context, file, key)),
    );

  cert
    .command('check')
    .argument('[file]', 'PEM with one or several certificates, DER or PKCS#12')
    .description("check that the profile's certificates are valid and suit their use; exit code 3 if not")
    .option('--days <n>', 'also fail if the certificate expires within this many days', '30')
    .addHelpText(
      'after',
      examples(
        'psd2 cert check',
        'psd2 --profile mybank cert check --days 45 --quiet',
        'psd2 cert check new-qwac.pem',
      ),
    )
    .action((file, { days }) =>
      run(async (context) => (await import('./check.ts')).certCheck(context, file, days)),
    );

  cert
    .command('generate')
    .description('make a QWAC and a QSealC for tests, and the authority that issues them')
    .requiredOption('--out <folder>', 'folder for the files; psd2 overwrites none')
    .option('--roles <list>', 'PSD2 roles, separated by commas', 'PSP_AI,PSP_PI,PSP_IC')
    .option(
      '--organization-identifier <id>',
      'authorisation number, PSD<country>-<authority>-<number>',
      'PSDIT-BI-00000',
    )
    .option('--name <text>', 'name of the organization', 'Test TPP')
    .option('--days <n>', 'number of days the certificates are valid', '90')
    .addHelpText(
      'after',
      examples(
        'psd2 cert generate --out test-certificates',
        'psd2 cert generate --out aisp --roles AISP --organization-identifier PSDDE-BAFIN-123456',
      ),
    )
    .action((options) =>
      run(async (context) => (await import('./generate.ts')).certGenerate(context, options)),
    );
}

import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareCert(cert: Command, run: Run): void {
  cert.addHelpText('after', examples('psd2 cert inspect', 'psd2 cert check --days 45'));

  cert
    .command('inspect')
    .argument('[file]', 'PEM with one or several certificates, DER or PKCS#12')
    .description("show what certificates say; without a file the profile's")
    .option('--key <file>', 'a private key: does it belong to the certificate?')
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
    .description("check that the profile's certificates are right and suit their use; exit code 3 if not")
    .option('--days <n>', 'one that ends within so many days is not right either', '30')
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
    .description('make a QWAC and a QSealC for tests, with the authority that issues them')
    .requiredOption('--out <folder>', 'where the files go; nothing is overwritten')
    .option('--roles <list>', 'PSD2 roles, separated by commas', 'PSP_AI,PSP_PI,PSP_IC')
    .option('--organization-identifier <id>', 'PSD<country>-<authority>-<number>', 'PSDIT-BI-00000')
    .option('--name <text>', 'of the organization', 'Test TPP')
    .option('--days <n>', 'for how long they are valid', '90')
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

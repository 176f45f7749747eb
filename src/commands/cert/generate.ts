import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeTppCertificates,
  type Validity,
} from '../../certificates/eidas.ts';
import type { Psd2Role } from '../../certificates/qc-statements.ts';
import { Psd2Error } from '../../errors.ts';
import { list, object, seen, text, time } from '../../terminal/output/fields.ts';
import { examples, type OptionsOf, verb } from '../declare.ts';
import { readWholeNumber } from '../shared/option-values.ts';
import { refuseExisting, writeNewFiles } from './new-files.ts';

interface Files {
  files: Record<'ca' | 'qwacCertificate' | 'qwacKey' | 'qsealCertificate' | 'qsealKey', string>;
}

const generated = object({
  organizationIdentifier: text('PSD<country>-<authority>-<number>').as('Organization'),
  roles: list(text(), 'PSP_AI, PSP_PI, PSP_IC, PSP_AS, PSP_CB, PSP_PA, VOP_RS, VOP_VS').as('Roles'),
  notAfter: time('valid until').as('Valid until'),
  files: object({
    ca: text('certificate of the authority'),
    qwacCertificate: text('QWAC, for mutual TLS'),
    qwacKey: text('key of the QWAC'),
    qsealCertificate: text('QSealC, for signatures'),
    qsealKey: text('key of the QSealC'),
  }),
  ca: seen('Authority', ({ files }: Files) => files.ca),
  qwac: seen('QWAC', ({ files }: Files) => files.qwacCertificate),
  qwacKey: seen('QWAC key', ({ files }: Files) => files.qwacKey),
  qseal: seen('QSealC', ({ files }: Files) => files.qsealCertificate),
  qsealKey: seen('QSealC key', ({ files }: Files) => files.qsealKey),
});

const ROLES: Readonly<Record<string, Psd2Role>> = {
  AISP: 'PSP_AI',
  PISP: 'PSP_PI',
  PIISP: 'PSP_IC',
  ASPSP: 'PSP_AS',
  PSP_AI: 'PSP_AI',
  PSP_PI: 'PSP_PI',
  PSP_IC: 'PSP_IC',
  PSP_AS: 'PSP_AS',
  PSP_CB: 'PSP_CB',
  PSP_PA: 'PSP_PA',
  VOP_RS: 'VOP_RS',
  VOP_VS: 'VOP_VS',
};

function withGenerateOptions(command: Command) {
  return command
    .requiredOption('--out <folder>', 'folder for the files; psd2 overwrites none')
    .option('--roles <list>', 'PSD2 roles, separated by commas', 'PSP_AI,PSP_PI,PSP_IC')
    .option(
      '--organization-identifier <id>',
      'authorisation number, PSD<country>-<authority>-<number>',
      'PSDIT-BI-00000',
    )
    .option('--name <text>', 'name of the organization', 'Test TPP')
    .option('--days <n>', 'number of days the certificates are valid', '90');
}

type GenerateOptions = OptionsOf<typeof withGenerateOptions>;

/**
 * Makes a QWAC and a QSealC for tests, and the authority that issues them. psd2 does not keep the authority's key, so the
 * authority cannot issue more.
 */
export const generate = verb(
  {
    prints: { what: 'the certificates that were made', shape: generated },
    help: examples(
      'psd2 cert generate --out test-certificates',
      'psd2 cert generate --out aisp --roles AISP --organization-identifier PSDDE-BAFIN-123456',
    ),
  },
  withGenerateOptions,
  async (context, options) => {
    const roles = [...new Set(options.roles.split(',').map(parseRole))];
    const { organizationIdentifier, days } = readIdentity(options);
    const { out, name } = options;
    const path = (file: string) => join(out, file);
    const files = {
      ca: path('ca.pem'),
      qwacCertificate: path('qwac.pem'),
      qwacKey: path('qwac-key.pem'),
      qsealCertificate: path('qseal.pem'),
      qsealKey: path('qseal-key.pem'),
    };
    refuseExisting(Object.values(files));

    const validity = { from: context.world.now(), days };
    const made = await makeTestCertificates(name, organizationIdentifier, roles, validity);
    writeNewFiles(out, 'the certificates', [
      [files.ca, made.ca],
      [files.qwacCertificate, made.qwac.certificate],
      [files.qwacKey, made.qwac.key],
      [files.qsealCertificate, made.qseal.certificate],
      [files.qsealKey, made.qseal.key],
    ]);

    const notAfter = new Date(validity.from.getTime() + days * 24 * 60 * 60 * 1000).toISOString();
    context.output.record({ organizationIdentifier, roles, notAfter, files }, generated);
    context.terminal.say('These certificates are for tests. No bank accepts them in production.');
  },
);

async function makeTestCertificates(
  name: string,
  organizationIdentifier: string,
  roles: Psd2Role[],
  validity: Validity,
) {
  const ncaId = organizationIdentifier.slice(3, organizationIdentifier.indexOf('-', 6));
  const authority = await makeCertificateAuthority(`${name} TEST CA`, await generateRsaKeys(), validity);
  const { qwac, qseal } = await makeTppCertificates(
    authority,
    {
      organization: `${name} TEST`,
      organizationIdentifier,
      psd2: { roles, ncaName: `TEST authority ${ncaId}`, ncaId },
      host: 'tpp.test',
      sealName: `${name} TEST seal`,
    },
    validity,
  );
  return { ca: authority.certificatePem, qwac, qseal };
}

/** @throws Psd2Error `usage` */
function readIdentity({ organizationIdentifier, name, days }: GenerateOptions) {
  if (!/^PSD[A-Z]{2}-[A-Z]{2,8}-[\x21-\x7e]{1,40}$/.test(organizationIdentifier))
    throw new Psd2Error(
      'usage',
      `--organization-identifier ${JSON.stringify(organizationIdentifier)} is not of the form PSD<country>-<authority>-<number>`,
      { hint: 'For example PSDIT-BI-12345.' },
    );
  // An X.520 attribute has at most 64 characters, and psd2 adds words such as TEST to the name.
  if (!/^[\p{L}\p{N}][\p{L}\p{N} .&'-]{0,29}$/u.test(name))
    throw new Psd2Error(
      'usage',
      `--name ${JSON.stringify(name)} is not a name of 1 to 30 letters, digits and spaces`,
    );
  return { organizationIdentifier, days: readWholeNumber('--days', days, 1, 3650) };
}

function parseRole(text: string): Psd2Role {
  const role = ROLES[text.trim().toUpperCase()];
  if (role) return role;
  throw new Psd2Error('usage', `Unknown role ${JSON.stringify(text)}`, {
    hint: 'Use one or more of PSP_AI, PSP_PI, PSP_IC and PSP_AS (or AISP, PISP, PIISP, ASPSP), PSP_CB, PSP_PA, VOP_RS and VOP_VS, separated by commas.',
  });
}

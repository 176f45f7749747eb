import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type BankDescription,
  bankFile,
} from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { checkBankFile } from '../../../src/bank-file/bank-file.ts';
import { valuesIn } from '../../../src/bank-file/values.ts';
import { ONLY } from '../../../src/commands/bank/learn/draft.ts';
import { learned } from '../../../src/commands/bank/learn/learned.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { accountIban } from '../../../src/sandbox/customers/italian-iban.ts';
import { type Bank, CURRENT, openDoor, type TestDoor } from '../../sandbox/nextgenpsd2/door-client.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { type Command, openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
let files = 0;
/** The certificates are valid from now on. */
const now = () => new Date(Date.now() + 50_000);

async function withBank(bank: Bank, work: (door: TestDoor) => Promise<void>): Promise<void> {
  const door = await openDoor(bank, [], { now });
  try {
    await work(door);
  } finally {
    await door.close();
  }
}

function openLearning({ sandbox }: TestDoor, folder = newConfigFolder(temporary)): Command {
  const { registration } = sandbox;
  return openCommand(folder, now, {
    globals: { yes: true },
    env: {
      PSD2_BASE_URL: `${sandbox.baseUrl}/nextgenpsd2`,
      PSD2_QWAC_CERT: registration.qwacCertFile,
      PSD2_QWAC_KEY: registration.qwacKeyFile,
      PSD2_QSEAL_CERT: registration.qsealCertFile,
      PSD2_QSEAL_KEY: registration.qsealKeyFile,
      PSD2_CA: registration.caFile,
    },
  });
}

const newFile = () => join(temporary, `bank-${++files}.json`);

async function learn(door: TestDoor, words: string[] = [], file = newFile()) {
  const command = openLearning(door);
  const failure = await runIn(command.context, 'bank', 'learn', file, ...words).then(
    () => null,
    (error: unknown) => failureOf(Promise.reject(error)),
  );
  const printed = command.printed();
  const result = printed === '' ? null : learned.read(JSON.parse(printed));
  return {
    file,
    failure,
    result,
    said: command.said(),
    left: existsSync(command.context.folder.learning('env')),
  };
}

/** What the questions find out. */
const LEARNT = [
  ...['signing.when', 'headers.date', 'signing.digest', 'signing.emptyBodyDigest', 'signing.certificate'],
  ...[
    'signing.algorithm',
    'signing.headers',
    'signing.keyId.serial',
    'signing.keyId.case',
    'signing.keyId.format',
  ],
  ...['signing.keyId.form', 'signing.keyId.spaces', 'signing.keyId.dn', 'signing.keyId.separator'],
  ...[
    'consent.types',
    'consent.once',
    'consent.maxDays',
    'consent.frequencyPerDay',
    'consent.status',
    'consent.delete',
  ],
  ...['sca.start', 'sca.approaches', 'psu.id', 'oauth.mode', 'oauth.applicationToken', 'oauth.clientAuth'],
  ...['payments.products.payments', 'payments.products.bulk-payments', 'payments.products.periodic-payments'],
  'funds.consent',
];

function learntOf(description: BankDescription): Record<string, unknown> {
  const values = new Map(valuesIn(description));
  const sorted = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);
  return Object.fromEntries(LEARNT.map((field) => [field, sorted(values.get(field))]));
}

const PSU = ['--psu-id', 'anna'];
const ACCOUNT = ['--account', accountIban(CURRENT)];

/** Banks that differ from the standard in one question. `but`: what cannot be seen from outside, or means the same. */
const BANKS: readonly { name: string; bank: Bank; words?: string[]; but?: Record<string, unknown> }[] = [
  { name: 'standard', bank: {}, words: [...ACCOUNT, ...PSU] },
  { name: 'no signature', bank: { signing: { when: 'never' } } },
  { name: 'bodies signed', bank: { signing: { when: 'with-body' } } },
  { name: 'Date with a signature', bank: { headers: { date: 'signed' } } },
  {
    name: 'Date signed',
    bank: { headers: { date: 'signed' }, signing: { headers: ['digest', 'x-request-id', 'date'] } },
  },
  { name: 'decimal', bank: { signing: { keyId: { serial: 'decimal' } } } },
  { name: 'RFC 1779', bank: { signing: { keyId: { format: 'rfc1779' } } } },
  { name: 'organization id', bank: { signing: { keyId: { form: 'organization-id' } } } },
  { name: 'algorithm', bank: { signing: { algorithm: 'SHA256withRSA' } } },
  { name: 'no digest without a body', bank: { signing: { emptyBodyDigest: false } } },
  { name: 'SHA-512', bank: { signing: { digest: 'SHA-512' } } },
  { name: 'certificate', bank: { signing: { certificate: 'pem-line' } } },
  { name: 'dedicated alone', bank: { consent: { types: ['dedicated'] } }, words: ACCOUNT },
  { name: 'all accounts', bank: { consent: { types: ['all-accounts'] } }, words: ACCOUNT },
  {
    name: 'the list with balances',
    bank: { consent: { types: ['bank-offered', 'list-with-balances'] } },
    words: ACCOUNT,
  },
  { name: 'recurring alone', bank: { consent: { once: false } } },
  { name: '90 days', bank: { consent: { maxDays: 90 } } },
  { name: 'a year', bank: { consent: { maxDays: 365 } } },
  { name: 'two readings', bank: { consent: { frequencyPerDay: 2 } } },
  { name: 'none deleted', bank: { consent: { delete: 'authorised' } } },
  { name: 'explicit', bank: { sca: { start: 'explicit' } } },
  { name: 'decoupled, too', bank: { sca: { approaches: ['redirect', 'decoupled'] } }, words: PSU },
  {
    name: 'decoupled alone',
    bank: { sca: { approaches: ['decoupled'] } },
    words: PSU,
    but: { 'psu.id': 'required' },
  },
  { name: 'PSU-ID', bank: { psu: { id: 'required' } }, words: PSU },
  { name: 'no PSU-ID', bank: { psu: { id: 'never' } }, words: PSU },
  { name: 'an empty PSU-ID', bank: { psu: { id: 'empty' } } },
  { name: 'OAuth as SCA', bank: { oauth: { mode: 'integrated' }, sca: { approaches: ['oauth'] } } },
  {
    name: 'no status',
    bank: { oauth: { mode: 'integrated' }, sca: { approaches: ['oauth'] }, consent: { status: 'none' } },
  },
  {
    name: 'application token',
    bank: { oauth: { mode: 'client-credentials', metadata: 'https://idp.example/m' } },
  },
  {
    name: 'both tokens',
    bank: {
      oauth: { mode: 'integrated', applicationToken: true, metadata: 'https://idp.example/m' },
      sca: { approaches: ['oauth'] },
    },
  },
  {
    name: 'products',
    bank: {
      payments: {
        products: {
          payments: ['sepa-credit-transfers', 'target-2-payments'],
          'periodic-payments': ['sepa-credit-transfers'],
        },
      },
    },
  },
  { name: 'no instant transfers', bank: { payments: { products: { payments: ['sepa-credit-transfers'] } } } },
  { name: 'no funds consents', bank: { funds: { consent: 'never' } } },
];

it.each(BANKS)('learns a bank: $name', async ({ bank, words, but = {} }) => {
  await withBank(bank, async (door) => {
    const { file, failure, result, left } = await learn(door, words);
    const keeps = bank.consent?.delete === 'authorised';
    expect([failure, result?.ok, result?.file, left]).toEqual([null, true, file, keeps]);
    expect(result?.left).toHaveLength(keeps ? 1 : 0);
    const checked = await checkBankFile(file, ONLY);
    expect(checked.problems).toEqual([]);
    const played = bankFile.parse({ interface: 'nextgenpsd2', ...bank });
    expect(checked.bank && learntOf(checked.bank.description)).toEqual({ ...learntOf(played), ...but });
    const text = JSON.parse(readFileSync(file, 'utf8'));
    expect(Object.values(text.learned)).toContain(bankDay(now()));
  });
});

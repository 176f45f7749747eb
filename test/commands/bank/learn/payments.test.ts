import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { atSmallBank, friendly, type Reply, refuses, useSmallBanks } from './small-bank.ts';

// Which payment products bank learn finds out, by an empty object to each.

const { newFile, learnAt } = useSmallBanks();

const NOBODYS = 'psd2-no-such-product';
/** The answers of a bank that has a product, and of one that has not. */
const [HAS, LACKS] = [refuses(400, 'FORMAT_ERROR', 'instructedAmount'), refuses(404, 'PRODUCT_UNKNOWN')];
const UNSURE = refuses(400, 'PAYMENT_FAILED', 'PSU-IP-Address');

type Products = NonNullable<NonNullable<BankFile['payments']>['products']>;
interface Asked {
  /** Service and product. */
  of: string;
  headers: IncomingHttpHeaders;
}

/** Learns the products of a bank that begins no consent. @returns the questions, and what psd2 says of payments and of the signature */
async function learnProducts(answer: (asked: Asked) => Reply, products?: Products) {
  const file = newFile();
  if (products) writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', payments: { products } }));
  const asked: string[] = [];
  const found = new Map<string, string>();
  await atSmallBank(
    (method, path, headers, body) => {
      const [, of] = /^\/v1\/((?:bulk-|periodic-)?payments\/.*)$/.exec(path) ?? [];
      if (method === 'POST' && of !== undefined) {
        asked.push(`${of}${headers.signature === undefined ? '' : ' signed'}`);
        return answer({ of, headers });
      }
      return path === '/v1/consents'
        ? refuses(400, 'FORMAT_ERROR', 'psuData')
        : friendly(method, path, headers, body);
    },
    async (env) => {
      const { result } = await learnAt(env, file);
      for (const { field, status, value, asked: question, answered, reason } of result?.findings ?? [])
        if (/^(payments\.(products|debtor)|signing)/.test(field))
          found.set(
            field,
            [status, value, `${question}: ${answered}`, ...(reason === null ? [] : [reason])].join(' | '),
          );
    },
  );
  return { asked, found };
}

const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'];
const IN_JSON = {
  payments: [
    'sepa-credit-transfers',
    'instant-sepa-credit-transfers',
    'target-2-payments',
    'cross-border-credit-transfers',
  ],
  'bulk-payments': ['sepa-credit-transfers', 'instant-sepa-credit-transfers'],
  'periodic-payments': ['sepa-credit-transfers'],
};
const IN_FILES = {
  payments: ['pain.001-sepa-credit-transfers', 'pain.001-instant-sepa-credit-transfers'],
  'bulk-payments': ['pain.001-sepa-credit-transfers'],
  'periodic-payments': ['pain.001-sepa-credit-transfers'],
};
const questions = (of: Record<string, string[]>, first: string) =>
  Object.entries(of).flatMap(([service, products]) =>
    [first, ...products].map((product) => `${service}/${product}`),
  );

it.each([
  ['has all', HAS, (one: string[]) => one],
  ['has none', LACKS, () => []],
])('asks for the products of the standard, those of files at last: a bank %s', async (_, reply, has) => {
  const { asked, found } = await learnProducts(({ of }) => (of.includes(NOBODYS) ? LACKS : reply));
  expect(asked).toEqual([...questions(IN_JSON, NOBODYS), ...questions(IN_FILES, `pain.001-${NOBODYS}`)]);
  const brief = reply === HAS ? '400 FORMAT_ERROR' : '404 PRODUCT_UNKNOWN';
  for (const [service, json, files] of [
    ['payments', IN_JSON.payments, IN_FILES.payments],
    ['bulk-payments', IN_JSON['bulk-payments'], IN_FILES['bulk-payments']],
    ['periodic-payments', IN_JSON['periodic-payments'], IN_FILES['periodic-payments']],
  ] as const) {
    const says = [
      `${NOBODYS}: 404 PRODUCT_UNKNOWN`,
      ...[...json, ...files].map((each) => `${each}: ${brief}`),
    ];
    const [, value, evidence] = found.get(`payments.products.${service}`)?.split(' | ') ?? [];
    expect([value, evidence]).toEqual([
      JSON.stringify(has([...json, ...files])),
      `POST /v1/${service}/{payment-product}: ${says.join('; ')}`,
    ]);
  }
});

const ALL_THE_SAME = 'the bank says the same of every product';
const SAYS_NOTHING = 'the answer says nothing of the product: one that no bank has gets it, too';
const UNCLEAR = 'the answer may be about something else';
it.each<
  [string, answer: (asked: Asked) => Reply, Products | undefined, field: string, status: string, last: string]
>([
  [
    'one in JSON',
    ({ of }) => (of === 'payments/target-2-payments' ? HAS : LACKS),
    undefined,
    'payments',
    'differs',
    '["target-2-payments"]',
  ],
  [
    'one in files',
    ({ of }) => (of === 'bulk-payments/pain.001-sepa-credit-transfers' ? HAS : LACKS),
    undefined,
    'bulk-payments',
    'differs',
    '["pain.001-sepa-credit-transfers"]',
  ],
  [
    'one of its own, as the file says',
    ({ of }) => (of === 'payments/own' ? HAS : LACKS),
    { payments: ['own'] },
    'payments',
    'same',
    '["own"]',
  ],
  ['none of its own any more', () => LACKS, { payments: ['own'] }, 'payments', 'differs', '[]'],
  [
    'one of its own, of which the answer is unclear',
    ({ of }) => (of === 'payments/own' ? UNSURE : LACKS),
    { payments: ['own'] },
    'payments',
    'same',
    '["own"]',
  ],
  [
    'files as the file says, and says nothing of files',
    ({ of }) => (of.includes('pain') ? UNSURE : LACKS),
    { payments: ['pain.001-own'] },
    'payments',
    'same',
    '["pain.001-own"]',
  ],
  [
    'none, and says nothing of files',
    ({ of }) => (of.includes('pain') ? UNSURE : LACKS),
    undefined,
    'payments: pain.001-…',
    'unknown',
    SAYS_NOTHING,
  ],
  [
    'one of which the answer is unclear',
    ({ of }) => (of === 'payments/target-2-payments' ? UNSURE : LACKS),
    undefined,
    'payments: target-2-payments',
    'unknown',
    UNCLEAR,
  ],
  ['what it does not say', () => UNSURE, undefined, 'payments', 'unknown', SAYS_NOTHING],
  [
    'none, by a word that says little',
    () => refuses(404, 'RESOURCE_UNKNOWN'),
    undefined,
    'payments',
    'unknown',
    ALL_THE_SAME,
  ],
  [
    'none, since it lacks the service',
    () => refuses(400, 'SERVICE_INVALID'),
    undefined,
    'bulk-payments',
    'same',
    '[]',
  ],
  [
    'none, since the product is wrong',
    () => refuses(403, 'PRODUCT_INVALID'),
    undefined,
    'bulk-payments',
    'same',
    '[]',
  ],
])('of a bank that has %s', async (_, answer, products, field, status, last) => {
  const { found } = await learnProducts(answer, products);
  const [is, value, , reason] = found.get(`payments.products.${field}`)?.split(' | ') ?? [];
  expect([is, reason ?? value]).toEqual([status, last]);
});

it.each([
  ['digest', false],
  ['signature', false],
  ['date', false],
  ['accept', false],
  ['psu-ip-address', false],
  ['tpp-redirect-uri', false],
  ['x-request-id', false],
  ['dates', true],
  ['signatureless', true],
  ['psu', true],
  ['debtor', true],
])('of a product, a refusal about %s shows that the bank has it: %s', async (path, has) => {
  const { found } = await learnProducts(({ of }) =>
    of === 'payments/target-2-payments' ? refuses(400, 'FORMAT_ERROR', path) : LACKS,
  );
  expect(found.get('payments.products.payments')?.includes('"target-2-payments"')).toBe(has);
});

it('signs payments if the bank takes none without a signature, and says so only if that helps', async () => {
  const unsigned = refuses(401, 'SIGNATURE_MISSING');
  const signing = async (signed: Reply) =>
    learnProducts(({ headers: { signature } }) => (signature === undefined ? unsigned : signed));
  const helped = await signing(LACKS);
  expect(helped.asked.slice(0, 3)).toEqual([
    ...[`payments/${NOBODYS}`, `payments/${NOBODYS} signed`, 'payments/sepa-credit-transfers signed'],
  ]);
  const evidence = `POST /v1/payments/${NOBODYS}: 401 SIGNATURE_MISSING, "SIGNATURE_MISSING"`;
  expect(helped.found.get('signing.when')).toBe(`differs | "with-body" | ${evidence}`);
  const not = await signing(refuses(401, 'SIGNATURE_INVALID'));
  expect(not.asked).toEqual([
    `payments/${NOBODYS}`,
    ...SERVICES.map((service) => `${service}/${NOBODYS} signed`),
  ]);
  expect(not.found.get('signing.when')).toBeUndefined();
});

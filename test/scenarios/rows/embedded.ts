import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { changed, cut, gets, ORDER, RESUME, type Row, rejected, type Step, saying, step } from '../row.ts';

// Embedded SCA, with PIN and TAN from files: the bank is the sandbox, and the relay answers the steps in its place.

const PAY = ORDER.with(5, 'IT89F0999001600000010482620');
const folder = temporaryFolder();
const fileWith = (name: string, value: string) => {
  const path = join(folder, name);
  writeFileSync(path, `${value}\n`, { mode: 0o600 });
  return path;
};
const FILES = {
  PSD2_EMBEDDED: 'files',
  PSD2_PSU_PASSWORD_FILE: fileWith('pin', 'marked-PIN-7'),
  PSD2_OTP_FILE: fileWith('tan', 'marked-TAN-9'),
};

const NEVER = { PSD2_EMBEDDED: 'never' };

/** The bank wants the customer's password from psd2. */
const wantsPin = changed((body) => {
  const id = 'paymentId' in body ? String(body.paymentId) : '';
  const href = `/v1/payments/sepa-credit-transfers/${id}/authorisations`;
  return { ...body, _links: { startAuthorisationWithPsuAuthentication: { href } } };
});
/** The answer to the PIN: the TAN is next. */
const wantsTan: Treatment = (call, toBank) =>
  gets(201, {
    scaStatus: 'scaMethodSelected',
    _links: { authoriseTransaction: { href: `${call.path}/a1` } },
  })(call, toBank);
/** The same, of an authorisation that has begun. */
const wantsTanAt: Treatment = (call, toBank) =>
  gets(200, { scaStatus: 'scaMethodSelected', _links: { authoriseTransaction: { href: call.path } } })(
    call,
    toBank,
  );
const DONE = gets(200, { scaStatus: 'finalised' });
const GONE = Array<Treatment>(6).fill(rejected(403, 'RESOURCE_UNKNOWN'));
const is = (transactionStatus: string) => Array<Treatment>(6).fill(saying({ transactionStatus }));
const refused = rejected(401, 'PSU_CREDENTIALS_INVALID');

const at = (
  name: string,
  steps: Step[],
  more: object = { sca: { approaches: ['redirect', 'embedded'] } },
): Row => ({
  ...{
    name,
    bank: { file: { payments: { cancel: 'direct', executesWithoutSca: 'never' }, ...more } },
    steps,
    paid: 0,
  },
});
const pays = (
  answer: Treatment,
  transactionStatus: string,
  ends: string,
  more: Partial<Step> = {},
): Step => ({
  ...{ words: PAY, env: FILES, ends },
  meets: {
    ...{ initiate: [wantsPin], sca: [wantsTan], update: [answer] },
    ...{ 'sca-status': GONE, status: is(transactionStatus) },
  },
  ...more,
});
const again = (transactionStatus: string, ends: string): Step =>
  step(RESUME, ends, { env: FILES, meets: { 'sca-status': GONE, status: is(transactionStatus) } });

/** The resource wants the customer's password from psd2. @param id the member with its id @param place where it is */
const wants = (id: string, place: string) =>
  changed((body) => {
    const href = `/${place}/${String(Object.entries(body).find(([name]) => name === id)?.[1])}/authorisations`;
    return { ...body, _links: { startAuthorisationWithPsuAuthentication: { href } } };
  });
const ASK = ['consent', 'request', '--json', '--customer', 'REFERENCE'];
const FUNDED = 'IT89F0999001600000010482620';
/** PIN and TAN are sent once. */
const asksOnce = expect.stringMatching(/^request sca update( sca-status| status| consent)+$/);
const consents = (name: string, place: string, words: string[], more: object): Row =>
  at(
    name,
    [
      {
        ...step(words, '13 still_open authorizing', { env: FILES, calls: asksOnce }),
        meets: {
          ...{ request: [wants('consentId', place)], sca: [wantsTan] },
          ...{ update: [refused], 'sca-status': GONE },
        },
      },
    ],
    { sca: { approaches: ['redirect', 'embedded'], pollSeconds: 1 }, ...more },
  );
const together = (as: string, service: string, id: string, payments: object): Row => ({
  name: `the payments of a file go together (${as}): one PIN and one TAN, whose answer is lost, and each stays open`,
  bank: {
    file: {
      payments: { cancel: 'direct', executesWithoutSca: 'never', ...payments },
      sca: { approaches: ['redirect', 'embedded'] },
    },
  },
  payments: ['Ada', 'Bea'],
  steps: [
    step(['batch', 'add', 'FILE', '--from', '0010482620', '--json'].with(4, PAY[5] ?? ''), '0 added'),
    step(['batch', 'run', 'BATCH', '--yes', '--json', '--as', as], '13 still_open authorizing authorizing', {
      env: FILES,
      meets: {
        [as === 'basket' ? 'basket' : 'initiate']: [wants(id, service)],
        ...{ sca: [wantsTan], update: [cut], 'sca-status': GONE },
      },
    }),
  ],
  paid: 0,
});

/** The initiation has this link, and no other one. */
const linksTo = (name: string, href: (id: string) => string) =>
  changed((body) => ({
    ...body,
    _links: { [name]: { href: href('paymentId' in body ? String(body.paymentId) : '') } },
  }));
const OTHERS = '/v1/payments/sepa-credit-transfers/another/authorisations';
const tellsOf = (name: string) => new RegExp(`The bank's link ${name} is not for what it was sent with`);
/** The bank asks who the customer is once the authorisation has begun. */
const asksWho: Treatment = (call, toBank) =>
  gets(201, { scaStatus: 'received', _links: { updatePsuIdentification: { href: `${call.path}/a1` } } })(
    call,
    toBank,
  );
/** The authorisation has begun, and the PIN is next. */
const begunHere: Treatment = (call, toBank) =>
  gets(201, {
    scaStatus: 'psuIdentified',
    _links: { updatePsuAuthentication: { href: `${call.path}/a1` } },
  })(call, toBank);
const identified: Treatment = (call, toBank) =>
  gets(200, { scaStatus: 'psuIdentified', _links: { updatePsuAuthentication: { href: call.path } } })(
    call,
    toBank,
  );
const paysBy = (initiate: Treatment, more: Partial<Step> = {}): Step =>
  pays(DONE, 'ACSC', '0 executed', {
    ...more,
    meets: {
      ...{ initiate: [initiate], sca: [wantsTan], update: [DONE], 'sca-status': GONE },
      ...{ status: is('ACSC') },
      ...more.meets,
    },
  });
const BY_PASSWORD = { sca: { approaches: ['redirect', 'embedded'], first: 'password' } };
const ownCalls = expect.stringMatching(/^initiate sca update( sca-status| status)+$/);
/** Links that lead to something else, or ask who the customer is. The relay knows an address by the operation, and the bank by its ids. */
const linked: Row[] = [
  at('the link for the PIN leads to another payment: it goes to the own one', [
    paysBy(
      linksTo('startAuthorisationWithPsuAuthentication', () => OTHERS),
      { calls: ownCalls, tells: tellsOf('updatePsuAuthentication') },
    ),
  ]),
  at(
    'the link for the PIN leads to an operator’s page of another host: it goes to the own one',
    [
      paysBy(
        linksTo('startAuthorisation', () => 'https://evil.example/admin'),
        { calls: ownCalls, tells: tellsOf('startAuthorisation') },
      ),
    ],
    BY_PASSWORD,
  ),
  at('the link for the PIN is of an authorisation of another payment: psd2 begins one of its own', [
    paysBy(
      linksTo('updatePsuAuthentication', () => `${OTHERS}/a1`),
      {
        meets: { sca: [begunHere], update: [wantsTanAt, DONE] },
        calls: expect.stringMatching(/^initiate sca update update( sca-status| status)+$/),
      },
    ),
  ]),
  at('the bank asks who the customer is when the authorisation has begun', [
    paysBy(
      linksTo('startAuthorisation', (id) => `/v1/payments/sepa-credit-transfers/${id}/authorisations`),
      {
        meets: { sca: [asksWho], update: [identified, wantsTanAt, DONE] },
        calls: expect.stringMatching(/^initiate sca update update update( sca-status| status)+$/),
      },
    ),
  ]),
];

/** The bank wants a PIN of the second person. */
const begins: Treatment = (call, toBank) =>
  gets(201, {
    ...{ scaStatus: 'received', authorisationId: 'a2' },
    _links: { updatePsuAuthentication: { href: `${call.path}/a2` } },
  })(call, toBank);
const tellsFees: Treatment = (call, toBank) =>
  gets(200, {
    ...{ scaStatus: 'scaMethodSelected', transactionFees: { amount: '499.00', currency: 'EUR' } },
    _links: { authoriseTransaction: { href: call.path } },
  })(call, toBank);
const feesOfTheSecond = at(
  'the bank answers the PIN of the second person with fees above the limit: psd2 does not cancel what the first one has a link to',
  [
    step([...PAY, '--sca-timeout', '1'], '13 still_open authorizing', { customer: 'stays away' }),
    step([...RESUME, '--psu-id', 'bruno'], '13 still_open authorizing', {
      env: { ...FILES, PSD2_MAX_AMOUNT: '100.00' },
      meets: { sca: [begins], update: [tellsFees] },
      says: /takes \d+\.\d\d from[\s\S]*: somebody can[\s\S]*\$ transfer cancel FLOW$/,
      calls: 'sca-status status sca update',
    }),
    step(RESUME, '13 still_open authorizing', {
      env: { ...FILES, PSD2_MAX_AMOUNT: '100.00' },
      says: /\$ transfer cancel FLOW$/,
      calls: 'sca-status status',
    }),
  ],
  { sca: { pollSeconds: 1, start: 'explicit', approaches: ['redirect', 'embedded'] } },
);

/** All rows of embedded SCA. */
export const EMBEDDED: readonly Row[] = [
  ...linked,
  feesOfTheSecond,
  at('the customer authorises with PIN and TAN, and the bank knows the authorisation no more', [
    pays(DONE, 'ACSC', '0 executed', {
      calls: expect.stringMatching(/^initiate sca update( sca-status status)+$/),
    }),
  ]),
  ...(
    [
      ['an error', refused],
      ['no answer', cut],
    ] as const
  ).flatMap(([what, answer]) => [
    at(`${what} to a TAN whose payment is executed proves nothing`, [pays(answer, 'ACSC', '0 executed')]),
    at(`${what} to a TAN, and the bank says nothing of it: it is open, and the file's TAN is sent once`, [
      pays(answer, 'RCVD', '13 still_open authorizing', { says: /can still authorise it/ }),
      { ...again('RCVD', '13 still_open authorizing'), calls: 'sca-status status sca-status status' },
      step(PAY, '2 duplicate_reference'),
      again('ACSC', '0 executed'),
    ]),
  ]),
  at('failed SCA leaves the payment open', [
    pays(gets(200, { scaStatus: 'failed' }), 'RCVD', '13 still_open authorizing'),
    again('RJCT', '8 payment_failed failed'),
  ]),
  at(
    'a standing order goes through PIN and TAN, and an error to the TAN leaves it open',
    [
      {
        ...pays(refused, 'RCVD', '13 still_open authorizing'),
        words: [
          'transfer',
          'standing',
          ...PAY.slice(2),
          '--frequency',
          'Monthly',
          '--start',
          bankDay(untilWorkday() + 7),
        ],
        meets: {
          ...{
            initiate: [wants('paymentId', 'v1/periodic-payments/sepa-credit-transfers')],
            sca: [wantsTan],
          },
          ...{ update: [refused], 'sca-status': GONE, status: is('RCVD') },
        },
      },
    ],
    {
      sca: { approaches: ['redirect', 'embedded'] },
      payments: {
        ...{ cancel: 'direct', executesWithoutSca: 'never' },
        products: { 'periodic-payments': ['sepa-credit-transfers'] },
      },
    },
  ),
  consents('a consent whose TAN has an error stays open', 'v1/consents', ASK, {}),
  consents(
    'a consent for confirmations of funds whose TAN has an error stays open',
    'v2/consents/confirmation-of-funds',
    [...ASK, '--category', 'FUNDS_AVAILABILITY', '--account', FUNDED],
    { funds: { consent: 'auto' } },
  ),
  together('bulk', 'v1/bulk-payments/sepa-credit-transfers', 'paymentId', {
    ...{ bulk: { maxEntries: 4 }, products: { 'bulk-payments': ['sepa-credit-transfers'] } },
  }),
  together('basket', 'v1/signing-baskets', 'basketId', {}),
  at('nobody can answer: nothing is given, and the payment is cancelled', [
    step(PAY, '2 usage cancelled', { env: { PSD2_EMBEDDED: 'ask' }, meets: { initiate: [wantsPin] } }),
  ]),
  at('the profile does not allow it: the payment is cancelled', [
    step(PAY, '3 config cancelled', { env: NEVER, meets: { initiate: [wantsPin] } }),
  ]),
  at(
    'the bank has no other way, and the profile does not allow it: nothing is sent, and the reference is free',
    [
      step(PAY, '3 config cancelled', { env: NEVER, calls: '' }),
      step(PAY, '3 config cancelled', { env: NEVER, calls: '' }),
    ],
    { sca: { approaches: ['embedded'] } },
  ),
];

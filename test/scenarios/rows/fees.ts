import { expect } from 'vitest';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import { ORDER, RESUME, type Row, type Step, saying, step } from '../row.ts';

// What a payment costs (NextGenPSD2): fees count for the largest amount of the profile, whenever the bank tells them before the SCA.

const PAY = ORDER.with(5, 'IT89F0999001600000010482620');
const LIMIT = { PSD2_MAX_AMOUNT: '100.00' };
const eur = (amount: unknown) => ({ amount, currency: 'EUR' });
const SMALL = { transactionFees: eur('0.35') };
/** The sandbox takes fees of its own. */
const NO_AMOUNT = { transactionFees: null };
/** The bank begins the authorisation with the initiation, or psd2 does. */
const DIRECT = { cancel: 'direct' };
const STANDING = {
  sca: { pollSeconds: 1 },
  payments: { ...DIRECT, products: { 'periodic-payments': ['sepa-credit-transfers'] } },
};
const IMPLICIT = { sca: { pollSeconds: 1 }, payments: DIRECT };
const EXPLICIT = { sca: { pollSeconds: 1, start: 'explicit' }, payments: DIRECT };

const at = (name: string, bank: object, paid: number, steps: Step[], more: Partial<Row> = {}): Row => ({
  ...{ name, bank: { file: bank }, steps, paid, ...more },
});

/** Fees that are above the limit, or of which nobody knows it. */
const REFUSED: [what: string, answer: object, says: RegExp][] = [
  ['fees above it', { transactionFees: eur('499.00') }, /takes \d+\.\d\d from the account/],
  ['fees by another name', { transactionFee: eur('499.00') }, /takes \d+\.\d\d from the account/],
  ['fees of a conversion', { currencyConversionFees: eur('499.00') }, /takes \d+\.\d\d from/],
  ['a total above it', { estimatedTotalAmount: eur('499.00') }, /takes 499\.00 from/],
  ['fees with an exponent', { transactionFees: eur('4.99e2') }, /cannot add to .*4\.99e2/],
  ['fees in a list', { transactionFees: [eur('0.01')] }, /cannot add/],
  ['fees of another currency', { transactionFees: { amount: '0.01', currency: 'USD' } }, /0\.01 USD/],
  [
    'that it takes fees, and not which',
    { ...NO_AMOUNT, transactionFeeIndicator: true },
    /fees without an amount/,
  ],
];

const OUTCOME = { env: LIMIT, customer: 'stays away' } as const;

const beforeTheLink = REFUSED.map(([what, answer, says]) =>
  at(`the bank answers an initiation with ${what}: it is cancelled, and nobody gets a link`, IMPLICIT, 1, [
    step(PAY, '2 invalid_amount cancelled', {
      ...OUTCOME,
      meets: { initiate: [saying(answer)] },
      says,
      calls: expect.stringMatching(/^initiate cancel/),
    }),
    step(PAY, '0 executed'),
  ]),
);

const withTheAuthorisation = REFUSED.map(([what, answer, says]) =>
  at(`the bank begins the authorisation with ${what}: it is cancelled, and nobody gets a link`, EXPLICIT, 1, [
    step(PAY, '2 invalid_amount cancelled', {
      ...OUTCOME,
      meets: { sca: [saying(answer)] },
      says,
      calls: expect.stringMatching(/^initiate sca cancel/),
    }),
    step(PAY, '0 executed'),
  ]),
);

const toTheSecond = at(
  'the bank tells the second of two persons fees above the limit: psd2 does not cancel what the first one has a link to',
  EXPLICIT,
  0,
  [
    step([...PAY, '--sca-timeout', '1'], '13 still_open authorizing', OUTCOME),
    step([...RESUME, '--psu-id', 'bruno'], '13 still_open authorizing', {
      ...OUTCOME,
      meets: { sca: [saying(REFUSED[0]?.[1] ?? {})] },
      says: /takes \d+\.\d\d from[\s\S]*: somebody can[\s\S]*\$ transfer cancel FLOW$/,
      calls: expect.not.stringContaining('cancel'),
    }),
    step(RESUME, '13 still_open authorizing', {
      ...OUTCOME,
      says: /\$ transfer cancel FLOW$/,
      calls: expect.not.stringContaining('cancel'),
    }),
  ],
);

const inTheRecord = [
  at('fees below the limit are in the record, whenever the bank tells them', EXPLICIT, 1, [
    step(PAY, '0 executed', {
      env: LIMIT,
      meets: { sca: [saying(SMALL)] },
      prints: { commissions: eur('0.35') },
    }),
  ]),
  at('fees that the bank tells after the SCA are in the record', IMPLICIT, 1, [
    step(PAY, '0 executed', {
      env: LIMIT,
      meets: { status: [saying({ transactionFees: eur('499.00') })] },
      prints: { commissions: eur('499.00') },
    }),
  ]),
  at('without a limit, fees that cannot be read are in the record', IMPLICIT, 1, [
    step(PAY, '0 executed', {
      meets: { initiate: [saying({ ...NO_AMOUNT, transactionFeeIndicator: true })] },
      prints: { commissions: null, unreadFees: 'fees without an amount' },
    }),
  ]),
];

const IBAN = 'IT89F0999001600000010482620';
const FILES = {
  sca: { pollSeconds: 1 },
  payments: { ...DIRECT, products: { 'bulk-payments': ['sepa-credit-transfers'] } },
};
const XML = {
  sca: { pollSeconds: 1 },
  payments: {
    ...DIRECT,
    ...{
      bulk: { format: 'pain.001.001.03' },
      products: { 'bulk-payments': ['pain.001-sepa-credit-transfers'] },
    },
  },
};
const run = (how: string) => ['batch', 'run', 'BATCH', '--yes', '--json', '--sca-timeout', '1', '--as', how];
/** No payment of a file gets a link, however the bank authorises them. @param meets where the bank tells the fees */
const file = (
  what: string,
  bank: object,
  how: string,
  more: Partial<Step>,
  ends = '8 payment_failed cancelled cancelled',
) =>
  at(
    `${what}: fees above the limit, and nobody gets a link`,
    bank,
    0,
    [
      step(['batch', 'add', 'FILE', '--from', IBAN, '--json'], '0 added'),
      step(run(how), ends, { ...OUTCOME, ...more }),
    ],
    { payments: ['Ada', 'Bea'] },
  );
const MUCH = saying({ transactionFees: eur('499.00') });
const standing = at(
  'a standing order has fees above the limit: it is cancelled, and nobody gets a link',
  STANDING,
  0,
  [
    step(
      [
        ...['transfer', 'standing', ...PAY.slice(2)],
        ...['--frequency', 'Monthly', '--start', bankDay(untilWorkday() + 7)],
      ],
      '2 invalid_amount cancelled',
      { ...OUTCOME, meets: { initiate: [MUCH] }, says: /takes \d+\.\d\d from/ },
    ),
  ],
);
const files = [
  file('payments of a file', IMPLICIT, 'single', { meets: { initiate: [MUCH, MUCH] } }),
  file('a bulk payment', FILES, 'bulk', { meets: { initiate: [MUCH] } }),
  file('a bulk payment in XML', XML, 'bulk', { meets: { initiate: [MUCH] } }),
  file('payments of a basket', IMPLICIT, 'basket', { meets: { initiate: [MUCH, MUCH] } }),
  file('a basket', EXPLICIT, 'basket', { meets: { sca: [MUCH] } }),
];

/** A smoke test at a bank that takes 0.50 for each payment. */
const smoke = (...more: string[]) => [
  ...['smoke', 'run', '--json', '--steps', 'pay', '--from', IBAN],
  ...['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', ...more],
];
const smokes: Row[] = (
  [
    ['no fees are named', ['0.02'], '2 invalid_amount'],
    ['the fees are named', ['0.03', '--max-fee', '0.50'], '0'],
    ['the fees are larger than those named', ['0.04', '--max-fee', '0.49'], '2 invalid_amount'],
    ['the fees take it above what psd2 pays unattended', ['0.51', '--max-fee', '5.00'], '2 invalid_amount'],
    ['with the fees it is what psd2 pays unattended', ['0.50', '--max-fee', '5.00'], '0'],
    ['an amount has a zero too many', ['01.00'], '2 usage'],
    ['fees have a zero too many', ['1.00', '--max-fee', '00.50'], '2 usage'],
  ] as const
).map(([what, words, ends]) =>
  at(`a smoke test pays, and ${what}`, IMPLICIT, 0, [
    step(smoke('--pay', ...words), ends, ends === '0' ? {} : { customer: 'stays away' }),
  ]),
);

/** Nobody has its link, and only the customer could end it: nothing is unknown, and psd2 pays it no later either. */
const kept = at(
  'a smoke test cannot cancel what costs too much: it says so, and its limit stays',
  { ...IMPLICIT, payments: { cancel: 'authorised' } },
  0,
  [
    step(smoke('--pay', '0.02', '--customer', 'REFERENCE'), '2 invalid_amount', {
      customer: 'stays away',
      prints: {
        steps: expect.arrayContaining([
          expect.objectContaining({
            ...{ id: 'clean-up', error: null },
            warnings: [expect.objectContaining({ code: 'payment_stays' })],
          }),
        ]),
      },
      says: /\$ transfer cancel tr-/,
    }),
    step(
      ['transfer', 'resume', '--all', '--yes', '--json', '--customer', 'REFERENCE'],
      '2 invalid_amount verified',
      {
        says: /more than the 0\.02 that this smoke test may pay/,
      },
    ),
  ],
);

const open = at('a smoke test whose customer stays away leaves its payment open', IMPLICIT, 0, [
  step(smoke('--pay', '0.02', '--max-fee', '0.50', '--sca-timeout', '1'), '13 still_open', {
    ...{ customer: 'stays away', says: /\$ transfer resume tr-\S+\n\$ transfer cancel tr-/ },
  }),
]);

export const FEES: Row[] = [
  ...beforeTheLink,
  ...withTheAuthorisation,
  toTheSecond,
  ...inTheRecord,
  standing,
  ...files,
  ...smokes,
  kept,
  open,
];

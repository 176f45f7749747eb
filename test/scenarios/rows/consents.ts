import { expect } from 'vitest';
import { bankDate, bankDay } from '../../e2e/support/bank-days.ts';
import { atCb, type Row, refused, type Step } from '../row.ts';

// Consents at today's bank, and inquiries for which it wants SCA.

const REQUEST = ['consent', 'request', '--json', '--category', 'ACCOUNT_INFO', '--all-accounts'];
const IN_PART = [...REQUEST, '--category', 'FUNDS_AVAILABILITY'];
const PRODUCTS = ['0010482620', '0010482638', '0000093017'];
/** In the order of the request. */
const GRANTED = [
  { name: 'ACCOUNT_INFO', products: PRODUCTS, outcome: true },
  { name: 'FUNDS_AVAILABILITY', products: PRODUCTS, outcome: false },
];
const row = (name: string, steps: Step[], more: Partial<Row> = {}) => atCb(name, 0, steps, more);

const consents = [
  row('the customer approves a consent, and psd2 confirms it', [
    {
      words: [...REQUEST, '--category', 'PAYMENTS'],
      ends: '0 confirmed',
      calls: expect.stringMatching(/request approach confirm$/),
      prints: {
        categories: [
          { name: 'ACCOUNT_INFO', products: PRODUCTS, outcome: true },
          { name: 'PAYMENTS', products: PRODUCTS, outcome: true },
        ],
      },
    },
    { words: ['consent', 'show', 'FLOW', '--json'], ends: '0 confirmed', calls: '' },
  ]),
  row('the customer refuses a consent: it is rejected, also for resume', [
    { words: REQUEST, customer: 'refuses', ends: '6 not_authorised rejected' },
    { words: ['consent', 'resume', 'FLOW', '--json'], ends: '6 not_authorised rejected', calls: '' },
  ]),
  row('a partial consent is shown and recorded as it is, and ends with exit code 7', [
    {
      words: IN_PART,
      ends: '7 bank_refused confirmed',
      says: 'FUNDS_AVAILABILITY',
      prints: { categories: GRANTED },
    },
    { words: ['consent', 'show', 'FLOW', '--json'], ends: '0 confirmed', prints: { categories: GRANTED } },
  ]),
  row('a partial consent is enough with --allow-partial', [
    { words: [...IN_PART, '--allow-partial'], ends: '0 confirmed' },
  ]),
  ...(
    [
      ['executed', 'confirmed', 180],
      ['not-executed', 'failed', null],
    ] as const
  ).map(([outcome, state, daysLeft]) =>
    row(`psd2 consent resolve --${outcome} makes the consent ${state}, even if the bank does not say`, [
      {
        words: ['consent', 'request', '--category', 'PAYMENTS', '--account', '0010482620', '--json'],
        meets: { confirm: [refused(500)] },
        ends: '9 outcome_unknown unknown',
        says: '$ consent resolve FLOW --not-executed',
      },
      {
        words: ['consent', 'resolve', 'FLOW', `--${outcome}`, '--yes', '--json', '--note', 'Tried it'],
        ends: `0 ${state}`,
        calls: 'status',
        tells: /PAYMENTS +0010482620/,
        prints: { resolution: { outcome, note: 'Tried it' } },
      },
      {
        words: ['consent', 'list', '--json'],
        ends: expect.stringMatching(/^0 /),
        prints: expect.arrayContaining([
          expect.objectContaining({ state, daysLeft, resolution: expect.objectContaining({ outcome }) }),
        ]),
      },
    ]),
  ),
  row('a consent can be cancelled, and is not taken up then', [
    {
      words: [...REQUEST, '--sca-timeout', '1'],
      customer: 'stays away',
      env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' },
      ends: '6 authorisation_timeout authorizing',
    },
    { words: ['consent', 'cancel', 'FLOW', '--yes', '--json'], ends: '0 cancelled', calls: '' },
    { words: ['consent', 'resume', 'FLOW', '--json'], ends: '2 cancelled cancelled', calls: '' },
  ]),
];

const OLDER = [
  ...['accounts', 'transactions', '0010482620', '--from', bankDay(-200), '--limit', '1', '--json'],
];
const inquiries = [
  row('without a terminal, PSD2_SCA_REQUIRED gives exit code 6 and the next command', [
    { words: OLDER, ends: '6 sca_required', says: '--yes', calls: 'transactions' },
  ]),
  row('after PSD2_SCA_REQUIRED psd2 api says which call starts SCA', [
    {
      words: [
        ...['api', 'GET', '--json'],
        `/private/customers/1048262/products/0010482620/transactions/retrieve?dateFrom=${encodeURIComponent(bankDate(-200))}`,
      ],
      ends: '6 sca_required',
      says: /\/private\/auth\/security\/sca\/[-0-9a-f]{36}\/approach/,
    },
  ]),
  row('psd2 sends a customer who refuses SCA only once', [
    {
      words: [...OLDER, '--yes'],
      customer: 'refuses',
      ends: '6 sca_required',
      calls: 'transactions approach transactions',
    },
  ]),
  row('with --yes psd2 sends the customer once, and the same call returns the rows', [
    { words: [...OLDER, '--yes'], ends: '0', calls: 'transactions approach transactions' },
    { words: OLDER, ends: '0', calls: 'transactions' },
  ]),
];

export const CONSENTS: Row[] = [...consents, ...inquiries];

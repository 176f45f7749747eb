import { expect } from 'vitest';
import { bankDate, untilWorkday } from '../../e2e/support/bank-days.ts';
import {
  atCb,
  cut,
  fault,
  gets,
  INSTANT,
  lost,
  ORDER,
  orderTo,
  RESUME,
  type Row,
  refused,
  type Step,
  saying,
} from '../row.ts';

// A transfer at today's bank, until `execute` is sent or answered well, and what a person does with one.

/** The customer comes back to another machine, so psd2 asks for their decision. */
const ELSEWHERE = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };
const WAITING: Step = {
  words: [...ORDER, '--sca-timeout', '1'],
  customer: 'stays away',
  env: ELSEWHERE,
  ends: '6 authorisation_timeout authorizing',
  says: 'The customer did not authorise the transfer within 1 s\nContinue with:\n$ transfer resume FLOW',
};
const says = (authorizationStatus: string, executionStatus = 'PENDING') =>
  saying({ authorizationStatus, executionStatus });

const paid = [
  atCb(
    'an instant transfer ends settled, with each step in the journal before and after its call',
    1,
    [
      {
        words: INSTANT,
        ends: '0 settled',
        prints: {
          authorizationStatus: 'AUTHORIZED',
          executionStatus: 'OK',
          cro: expect.stringMatching(/\d/),
        },
        calls: 'verify approach status execute settlement',
      },
    ],
    {
      events:
        'created verify-sent verified accepted approach-sent sca-started sca-returned authorization execute-sent executed settlement',
    },
  ),
  atCb('an SCT ends executed, and psd2 does not ask for an execution status', 1, [
    { words: ORDER, ends: '0 executed', prints: { executionStatus: null, cro: expect.stringMatching(/\d/) } },
  ]),
  atCb('the bank has executed it already when the customer comes back: psd2 sends no execute', 0, [
    {
      words: ORDER,
      meets: { status: [says('AUTHORIZED', 'EXECUTED')] },
      ends: '0 executed',
      calls: 'verify approach status',
    },
  ]),
  atCb("psd2 shows the bank's warning on stderr, and continues", 1, [
    {
      words: orderTo('VERIFY WARNING'),
      ends: '0 executed',
      tells: 'The bank says: This is the first transfer to this payee [BENEFICIARY_NEW]',
    },
  ]),
  atCb('psd2 repeats a rate-limited GET when the bank says', 1, [
    { words: orderTo('STATUS 420 ONCE'), ends: '0 executed', calls: 'verify approach status status execute' },
  ]),
  ...['EXECUTE LOST', 'EXECUTE EMPTY', 'EXECUTE 204'].map((name) =>
    atCb(`${name} was done: psd2 asks the bank, and does not pay twice`, 1, [
      { words: orderTo(name), ends: '0 executed', calls: 'verify approach status execute status' },
    ]),
  ),
  atCb('execute fails with HTTP 500: resume asks the bank, and does not pay again', 0, [
    { words: orderTo('EXECUTE 500 ONCE'), ends: '9 outcome_unknown unknown' },
    { words: RESUME, ends: '9 outcome_unknown unknown', calls: 'status' },
  ]),
];

const failing: [name: string, ends: string, last: string, more?: string[]][] = [
  ['SCA REFUSED', '6 not_authorised rejected', 'status'],
  ['SCA EXPIRED', '6 authorisation_expired expired', 'status'],
  ['SCA PENDING', '6 authorisation_timeout authorizing', 'status', ['--sca-timeout', '1']],
  ['STATUS EMPTY', '11 bank_answer authorizing', 'status', ['--sca-timeout', '1']],
  ['EXECUTE REFUSED', '7 bank_refused failed', 'status'],
  // A firewall's page is not the bank's answer, so its status does not decide.
  ['EXECUTE 403', '9 outcome_unknown unknown', 'status'],
  ['EXECUTE 420', '10 too_many_calls authorized', 'status'],
  ['VERIFY 403', '5 forbidden created', 'verify'],
  ['VERIFY 420', '10 too_many_calls created', 'verify'],
  ['VERIFY 500', '11 bank_failing created', 'verify'],
  ['VERIFY LOST', '11 bank_unreachable created', 'verify'],
];

const unpaid = [
  ...failing.map(([name, ends, last, more = []]) =>
    atCb(`${name} ends with its exit code, and moves no money`, 0, [
      { words: orderTo(name, ...more), ends, calls: expect.stringMatching(new RegExp(`(^| )${last}$`)) },
    ]),
  ),
  atCb('INSTANT KO ends with exit code 8 and says why', 0, [
    {
      words: orderTo('INSTANT KO', '--instant', '--payee-verified'),
      ends: '8 payment_failed failed',
      says: /^The payment failed: .*refused the instant transfer/,
      prints: {
        executionStatus: 'KO',
        executionStatusDescription: expect.stringMatching(/refused the instant transfer/),
      },
    },
  ]),
  atCb('psd2 names the kind of page that a firewall answered with', 0, [
    { words: orderTo('VERIFY 403'), ends: '5 forbidden created', says: 'text/html' },
  ]),
  atCb('the customer refuses: the transfer is rejected', 0, [
    {
      words: ORDER,
      customer: 'refuses',
      ends: '6 not_authorised rejected',
      prints: { authorizationStatus: 'NOT_AUTHORIZED', cro: null },
      calls: 'verify approach status status',
    },
  ]),
  atCb('psd2 waits no longer than the customer may take, and the transfer can be resumed', 1, [
    WAITING,
    { words: RESUME, ends: '0 executed' },
  ]),
];

const verified = [
  atCb(
    'a verify that the bank rate-limits has not begun, and the journal says so',
    0,
    [{ words: ORDER, meets: { verify: [refused(429)] }, ends: '10 too_many_calls created' }],
    { events: 'created verify-sent verify-not-begun' },
  ),
  ...(
    [
      ['HTTP 417', refused(417, 'PSD2_IBAN', 'wrong IBAN'), '7 bank_refused failed'],
      ['HTTP 200 and ERROR', refused(200, 'PSD2_IBAN', 'wrong IBAN'), '7 bank_refused failed'],
      ['HTTP 403', refused(403, 'PSD2_IBAN', 'wrong IBAN'), '5 forbidden failed'],
    ] as const
  ).map(([what, answer, ends]) =>
    atCb(`a transfer that the bank does not verify (${what}) has failed, and resume says why`, 0, [
      { words: ORDER, meets: { verify: [answer] }, ends, says: 'wrong IBAN' },
      { words: RESUME, ends: '7 bank_refused failed', says: 'wrong IBAN', calls: '' },
    ]),
  ),
  ...(
    [
      ['without an answer', cut, '11 bank_unreachable created'],
      ['whose answer is lost', lost, '11 bank_unreachable created'],
      ['that a gateway refused', gets(403, '<html>'), '5 forbidden created'],
    ] as const
  ).map(([what, answer, ends]) =>
    atCb(`a verify ${what} can be repeated, because it moves no money`, 1, [
      { words: ORDER, meets: { verify: [answer] }, ends },
      { words: RESUME, ends: '0 executed' },
    ]),
  ),
  ...(['verify', 'execute'] as const).map((call) =>
    atCb(`a gateway delivers ${call} twice: it is paid once`, 1, [
      { words: ORDER, meets: { [call]: [fault('delivered-twice')] }, ends: '0 executed' },
      { words: ORDER, ends: '2 duplicate_reference' },
    ]),
  ),
  atCb('if the bank fails to start SCA, psd2 asks it nothing more', 1, [
    {
      words: ORDER,
      meets: { approach: Array(8).fill(refused(503)) },
      ends: '11 bank_failing verified',
      calls: expect.stringMatching(/^verify approach( approach)*$/),
    },
    { words: RESUME, ends: '0 executed' },
  ]),
];

const SECOND = orderTo('VERIFY SECOND STEP');
const DATA = ['--verify-data', '{"payeeAccepted":true}'];
const further = [
  atCb('if the bank requires further data, psd2 accepts, authorises and executes nothing without it', 0, [
    {
      words: SECOND,
      ends: '2 further_data_needed verified',
      says: 'The bank requires further data before SCA, in the step verify2\nGive it as JSON: as text, as @file, or as - for standard input. Continue with:\n$ transfer resume FLOW --verify-data -',
      calls: 'verify',
    },
    { words: RESUME, ends: '2 further_data_needed verified', calls: '' },
  ]),
  atCb(
    'psd2 sends the further data, and then the transfer continues',
    1,
    [{ words: [...SECOND, ...DATA], ends: '0 executed', calls: 'verify verify2 approach status execute' }],
    {
      events:
        'created verify-sent verified further-verify-sent further-verified accepted approach-sent sca-started sca-returned authorization execute-sent executed',
    },
  ),
  ...(
    [
      ['whose answer was lost', cut, '11 bank_unreachable verified'],
      ['that a gateway refused', gets(403, '<html>'), '5 forbidden verified'],
    ] as const
  ).map(([what, answer, ends]) =>
    atCb(`a further step ${what} is not sent again: psd2 verifies the order again on resume`, 1, [
      { words: [...SECOND, ...DATA], meets: { verify2: [answer] }, ends },
      {
        words: RESUME,
        ends: '0 executed',
        calls: expect.stringMatching(/verify verify2 approach status execute$/),
      },
    ]),
  ),
  ...(
    [
      ['has no status before SCA', [refused(412)], '7 bank_refused failed'],
      ['says that the customer has not decided', [], '7 bank_refused failed'],
      [
        'says that the customer has authorised it',
        Array(2).fill(says('AUTHORIZED')),
        '9 outcome_unknown unknown',
      ],
      ['says NOT_AUTHORIZED', Array(2).fill(says('NOT_AUTHORIZED')), '6 not_authorised rejected'],
      ['says EXPIRED', Array(2).fill(says('EXPIRED')), '6 authorisation_expired expired'],
      ['fails to give the status', Array(8).fill(gets(501)), '11 bank_failing verified'],
    ] as const
  ).map(([what, status, ends]) =>
    atCb(`the bank refuses a further step and ${what}`, 0, [
      {
        words: [...SECOND, ...DATA],
        meets: { verify2: [refused(400, 'STEP_MISSING')], status },
        ends,
        calls: expect.stringMatching(/^verify verify2 status/),
      },
    ]),
  ),
];

const RESOLVE = (outcome: string, ...more: string[]) => [
  ...['transfer', 'resolve', 'FLOW', `--${outcome}`, '--json', ...more],
];
const UNKNOWN: Step = { words: orderTo('EXECUTE 500 ONCE'), ends: '9 outcome_unknown unknown' };
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json'];

const resolved = [
  atCb('resolving a transfer as not executed frees the reference, and records who ended it and why', 1, [
    UNKNOWN,
    { words: ORDER, ends: '2 duplicate_reference' },
    {
      words: RESOLVE('not-executed'),
      ends: '2 confirmation_needed',
      says: 'The outcome needs a confirmation, and psd2 cannot ask without a terminal',
      calls: '',
    },
    ...['resume', 'status', 'cancel', 'resolve'].map(
      (verb): Step => ({
        words: [
          ...['transfer', verb, 'FLOW', '--customer', '1000002', '--yes', '--json'],
          ...(verb === 'resolve' ? ['--executed'] : []),
        ],
        ends: '2 usage',
        says: 'The transfer FLOW belongs to customer 1048262, not to "1000002"\npsd2 acts for the customer of the flow.',
        calls: '',
      }),
    ),
    {
      words: CANCEL,
      ends: '2 usage',
      says: 'psd2 has sent execute, so it can no longer cancel the transfer',
    },
    {
      words: RESOLVE('not-executed', '--yes', '--note', 'Support,\ncase \u001b[31m4711'),
      ends: '0 failed',
      calls: 'status',
      tells: 'At the bank its authorization is AUTHORIZED, and its execution is PENDING.',
      prints: { resolution: { outcome: 'not-executed', note: 'Support, case \u{FFFD}[31m4711' } },
    },
    { words: RESUME, ends: '8 payment_failed failed', says: 'said that it was not executed', calls: '' },
    { words: RESOLVE('executed', '--yes'), ends: '2 usage', says: 'has already ended', calls: '' },
    { words: ORDER, ends: '0 executed' },
  ]),
  atCb('resolving a transfer as executed keeps the reference, and leaves nothing for resume to do', 0, [
    UNKNOWN,
    {
      words: RESOLVE('executed', '--yes'),
      ends: '0 executed',
      prints: { resolution: { outcome: 'executed', note: null } },
    },
    { words: RESUME, ends: '0 executed', calls: '' },
    { words: ORDER, ends: '2 duplicate_reference' },
  ]),
  ...(
    [
      ['executed', '0 executed'],
      ['not-executed', '2 usage executed'],
    ] as const
  ).map(([outcome, ends]) =>
    atCb(`the bank's clear answer counts, and not that of a person (${outcome})`, 1, [
      {
        words: ORDER,
        meets: { execute: [lost], status: [saying({}), ...Array(8).fill(refused(500))] },
        ends: '9 outcome_unknown unknown',
      },
      {
        words: RESOLVE(outcome, '--yes', '--note', 'Not needed'),
        ends,
        prints: { resolution: null },
        ...(outcome === 'not-executed' && { says: 'The bank says that the transfer FLOW was executed' }),
      },
      { words: ORDER, ends: '2 duplicate_reference' },
    ]),
  ),
  atCb('psd2 resolves a transfer even if the bank gives no status, and says so', 0, [
    UNKNOWN,
    {
      words: RESOLVE('executed', '--yes'),
      meets: { status: Array(8).fill(refused(503)) },
      ends: '0 executed',
      tells: 'The bank gave no status: ',
    },
  ]),
  atCb('psd2 resolves a transfer even if it cannot ask the bank, and says so', 0, [
    UNKNOWN,
    {
      words: RESOLVE('executed', '--yes'),
      env: { PSD2_QWAC_KEY: '/there/is/none.pem' },
      ends: '0 executed',
      tells: 'psd2 cannot ask the bank: ',
    },
  ]),
  ...(
    [
      ['neither outcome', [], '2 usage', 'The outcome is missing\nAdd --executed or --not-executed.'],
      [
        'both outcomes',
        ['--executed', '--not-executed'],
        '2 usage',
        '--executed and --not-executed cannot be used together\nAdd --executed or --not-executed.',
      ],
      ['an empty note', ['--executed', '--note', ' \n'], '2 invalid_text', '--note is empty\nLeave it out.'],
      [
        'a note of 501 characters',
        ['--executed', '--note', 'é'.repeat(501)],
        '2 invalid_text',
        '--note has 501 characters; the maximum is 500',
      ],
    ] as const
  ).map(([what, args, ends, text]) =>
    atCb(`psd2 transfer resolve refuses ${what}`, 0, [
      {
        words: ['transfer', 'resolve', 'tr-whatever', ...args, '--yes', '--json'],
        ends,
        says: text,
      },
    ]),
  ),
  atCb('psd2 transfer resolve takes a note of 500 characters of any kind', 0, [
    UNKNOWN,
    {
      words: RESOLVE('executed', '--yes', '--note', '\u{1F4B6}'.repeat(500)),
      ends: '0 executed',
      prints: { resolution: { note: '\u{1F4B6}'.repeat(500) } },
    },
  ]),
  atCb('psd2 transfer resolve refuses a transfer that is executed, and says what to do instead', 1, [
    { words: ORDER, ends: '0 executed' },
    {
      words: RESOLVE('not-executed', '--yes'),
      ends: '2 usage',
      says: 'The transfer FLOW is executed, so its outcome is not unknown\nSee it with:\n$ transfer show FLOW',
      calls: '',
    },
    { words: CANCEL, ends: '2 usage', says: 'The transfer FLOW is executed, so there is nothing to cancel' },
  ]),
  atCb(
    'psd2 transfer resolve refuses a transfer that waits, which can be cancelled, and its reference used again',
    1,
    [
      WAITING,
      {
        words: RESOLVE('not-executed', '--yes'),
        ends: '2 usage',
        says: 'The transfer FLOW is authorizing, so its outcome is not unknown\nContinue with:\n$ transfer resume FLOW',
        calls: '',
      },
      { words: CANCEL.filter((word) => word !== '--yes'), ends: '2 confirmation_needed', calls: '' },
      {
        words: CANCEL,
        ends: '0 cancelled',
        tells: 'You can use the reference "REFERENCE" again.',
        calls: '',
      },
      {
        words: RESUME,
        ends: '2 cancelled cancelled',
        says: 'The transfer was cancelled before it was executed',
      },
      { words: ORDER, ends: '0 executed' },
    ],
  ),
  ...(
    [
      ['EXECUTE REFUSED', '7 bank_refused failed'],
      ['EXECUTE 420', '10 too_many_calls authorized'],
    ] as const
  ).map(([name, ends]) =>
    atCb(`a refused transfer (${name}) keeps its reference until a person says that it was not executed`, 1, [
      { words: orderTo(name), ends },
      { words: ORDER, ends: '2 duplicate_reference' },
      {
        words: CANCEL,
        ends: '2 usage',
        says: `is ${ends.split(' ')[2]}. psd2 has sent execute, so it can no longer cancel`,
      },
      { words: RESOLVE('not-executed', '--yes'), ends: expect.stringMatching(/^0 /) },
      { words: ORDER, ends: '0 executed' },
    ]),
  ),
];

const PENDING = orderTo('INSTANT PENDING', '--instant', '--payee-verified');
const pending = [
  atCb(
    'an instant transfer that stays PENDING ends with exit code 9; resume asks again and executes nothing',
    1,
    [
      {
        words: PENDING,
        ends: '9 outcome_unknown executed',
        prints: { executionStatus: 'PENDING' },
        calls: `verify approach status execute${' settlement'.repeat(5)}`,
        says: '$ transfer resume FLOW',
      },
      {
        words: RESUME,
        ends: expect.stringMatching(/^(0|9 outcome_unknown) /),
        calls: expect.stringMatching(/^settlement( settlement)*$/),
      },
    ],
    { waits: true },
  ),
  atCb(
    'a PENDING instant transfer is settled when a person says that it was executed',
    1,
    [
      { words: PENDING, ends: '9 outcome_unknown executed' },
      {
        words: RESOLVE('executed', '--yes'),
        meets: { settlement: Array(8).fill(refused(500)) },
        ends: '0 settled',
        prints: { resolution: { outcome: 'executed' }, cro: expect.stringMatching(/\d/) },
      },
    ],
    { waits: true },
  ),
];

const STANDING = [
  ...['operation', 'run', 'standingOrder', '--account', '0010482620', '--yes', '--json', '--data'],
  JSON.stringify({
    ...{ ibanBeneficiary: 'DE89370400440532013000', beneficiaryName: 'Ada Lovelace', description: '' },
    ...{ amount: { currency: 'EUR', amount: 'AMOUNT' }, frequency: 'WEEKLY' },
    firstExecutionDate: bankDate(untilWorkday() + 7),
  }),
  ...['--verify-data', '{"numberOfExecutions":12}'],
];
const operations = (
  [
    ['executed', 'executed'],
    ['not-executed', 'failed'],
  ] as const
).map(([outcome, state]) => {
  const resolution = { outcome, note: null };
  return atCb(
    `psd2 operation resolve --${outcome} makes the operation ${state}, even if the bank does not say`,
    0,
    [
      {
        ...{ words: STANDING, meets: { execute: [refused(500)] }, ends: '9 outcome_unknown unknown' },
        says: '$ operation resolve FLOW --not-executed',
      },
      {
        words: ['operation', 'resolve', 'FLOW', `--${outcome}`, '--yes', '--json'],
        ...{ ends: `0 ${state}`, calls: 'status', tells: 'Ada Lovelace', prints: { resolution } },
      },
      { words: ['operation', 'show', 'FLOW', '--json'], ends: `0 ${state}`, prints: { resolution } },
    ],
  );
});

export const TRANSFERS: Row[] = [
  ...[...paid, ...unpaid, ...verified, ...further],
  ...[...resolved, ...pending, ...operations],
];

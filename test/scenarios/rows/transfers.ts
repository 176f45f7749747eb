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
  step,
} from '../row.ts';

// A transfer at today's bank, until `execute` is sent or answered well, and what a person does with one.

/** The customer comes back to another machine, so psd2 asks for their decision. */
const ELSEWHERE = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };
const WAITING: Step = step([...ORDER, '--sca-timeout', '1'], '6 authorisation_timeout authorizing', {
  customer: 'stays away',
  env: ELSEWHERE,
  says: 'The customer did not authorise the transfer within 1 s\nContinue with:\n$ transfer resume FLOW',
});
const says = (authorizationStatus: string, executionStatus = 'PENDING') =>
  saying({ authorizationStatus, executionStatus });

const SOME_CRO = expect.stringMatching(/\d/);

const paid = [
  atCb('fees with a plus sign are fees: they count for the largest amount of the profile', 1, [
    step(ORDER, '2 invalid_amount cancelled', {
      env: { PSD2_MAX_AMOUNT: '100.00' },
      meets: { verify: [saying({ commissions: { commissions: '+499.00', currency: 'EUR' } })] },
      says: /takes \d+\.\d\d from the account/,
    }),
    step(ORDER, '0 executed', {
      meets: {
        verify: [saying({ totalAmount: null, commissions: { commissions: '+0.10', currency: 'EUR' } })],
      },
      prints: { commissions: { amount: '0.10', currency: 'EUR' } },
    }),
  ]),
  atCb('an instant transfer ends settled, with each step in the journal before and after its call', 1, [
    step(INSTANT, '0 settled', {
      prints: { authorizationStatus: 'AUTHORIZED', executionStatus: 'OK', cro: SOME_CRO },
      calls: 'verify approach status execute settlement',
      events:
        'created verify-sent verified accepted approach-sent sca-started sca-returned authorization execute-sent executed settlement',
    }),
  ]),
  atCb('an SCT ends executed, and psd2 does not ask for an execution status', 1, [
    step(ORDER, '0 executed', { prints: { executionStatus: null, cro: SOME_CRO } }),
  ]),
  atCb('the bank has executed it already when the customer comes back: psd2 sends no execute', 0, [
    step(ORDER, '0 executed', {
      meets: { status: [says('AUTHORIZED', 'EXECUTED')] },
      calls: 'verify approach status',
    }),
  ]),
  atCb("psd2 shows the bank's warning on stderr, and continues", 1, [
    step(orderTo('VERIFY WARNING'), '0 executed', {
      tells: 'The bank says: This is the first transfer to this payee [BENEFICIARY_NEW]',
    }),
  ]),
  atCb('psd2 repeats a rate-limited GET when the bank says', 1, [
    step(orderTo('STATUS 420 ONCE'), '0 executed', { calls: 'verify approach status status execute' }),
  ]),
  ...['EXECUTE LOST', 'EXECUTE EMPTY', 'EXECUTE 204'].map((name) =>
    atCb(`${name} was done: psd2 asks the bank, and does not pay twice`, 1, [
      step(orderTo(name), '0 executed', { calls: 'verify approach status execute status' }),
    ]),
  ),
  atCb('execute fails with HTTP 500: resume asks the bank, and does not pay again', 0, [
    step(orderTo('EXECUTE 500 ONCE'), '9 outcome_unknown unknown'),
    step(RESUME, '9 outcome_unknown unknown', { calls: 'status' }),
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
      step(orderTo(name, ...more), ends, { calls: expect.stringMatching(new RegExp(`(^| )${last}$`)) }),
    ]),
  ),
  atCb('INSTANT KO ends with exit code 8 and says why', 0, [
    step(orderTo('INSTANT KO', '--instant', '--payee-verified'), '8 payment_failed failed', {
      says: /^The payment failed: .*refused the instant transfer/,
      prints: {
        executionStatus: 'KO',
        executionStatusDescription: expect.stringMatching(/refused the instant transfer/),
      },
    }),
  ]),
  atCb('psd2 names the kind of page that a firewall answered with', 0, [
    step(orderTo('VERIFY 403'), '5 forbidden created', { says: 'text/html' }),
  ]),
  atCb('the customer refuses: the transfer is rejected', 0, [
    step(ORDER, '6 not_authorised rejected', {
      customer: 'refuses',
      prints: { authorizationStatus: 'NOT_AUTHORIZED', cro: null },
      calls: 'verify approach status status',
    }),
  ]),
  atCb('psd2 waits no longer than the customer may take, and the transfer can be resumed', 1, [
    WAITING,
    step(RESUME, '0 executed'),
  ]),
];

const verified = [
  atCb('a verify that the bank rate-limits has not begun, and the journal says so', 0, [
    step(ORDER, '10 too_many_calls created', {
      meets: { verify: [refused(429)] },
      events: 'created verify-sent verify-not-begun',
    }),
  ]),
  ...(
    [
      ['HTTP 417', refused(417, 'PSD2_IBAN', 'wrong IBAN'), '7 bank_refused failed'],
      ['HTTP 200 and ERROR', refused(200, 'PSD2_IBAN', 'wrong IBAN'), '7 bank_refused failed'],
      ['HTTP 403', refused(403, 'PSD2_IBAN', 'wrong IBAN'), '5 forbidden failed'],
    ] as const
  ).map(([what, answer, ends]) =>
    atCb(`a transfer that the bank does not verify (${what}) has failed, and resume says why`, 0, [
      step(ORDER, ends, { meets: { verify: [answer] }, says: 'wrong IBAN' }),
      step(RESUME, '7 bank_refused failed', { says: 'wrong IBAN', calls: '' }),
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
      step(ORDER, ends, { meets: { verify: [answer] } }),
      step(RESUME, '0 executed'),
    ]),
  ),
  ...(['verify', 'execute'] as const).map((call) =>
    atCb(`a gateway delivers ${call} twice: it is paid once`, 1, [
      step(ORDER, '0 executed', { meets: { [call]: [fault('delivered-twice')] } }),
      step(ORDER, '2 duplicate_reference'),
    ]),
  ),
  atCb('if the bank fails to start SCA, psd2 asks it nothing more', 1, [
    step(ORDER, '11 bank_failing verified', {
      meets: { approach: Array(8).fill(refused(503)) },
      calls: expect.stringMatching(/^verify approach( approach)*$/),
    }),
    step(RESUME, '0 executed'),
  ]),
];

const SECOND = orderTo('VERIFY SECOND STEP');
const DATA = ['--verify-data', '{"payeeAccepted":true}'];
const further = [
  atCb('if the bank requires further data, psd2 accepts, authorises and executes nothing without it', 0, [
    step(SECOND, '2 further_data_needed verified', {
      says: 'The bank requires further data before SCA, in the step verify2\nGive it as JSON: as text, as @file, or as - for standard input. Continue with:\n$ transfer resume FLOW --verify-data -',
      calls: 'verify',
    }),
    step(RESUME, '2 further_data_needed verified', { calls: '' }),
  ]),
  atCb('psd2 sends the further data, and then the transfer continues', 1, [
    step([...SECOND, ...DATA], '0 executed', {
      calls: 'verify verify2 approach status execute',
      events:
        'created verify-sent verified further-verify-sent further-verified accepted approach-sent sca-started sca-returned authorization execute-sent executed',
    }),
  ]),
  ...(
    [
      ['whose answer was lost', cut, '11 bank_unreachable verified'],
      ['that a gateway refused', gets(403, '<html>'), '5 forbidden verified'],
    ] as const
  ).map(([what, answer, ends]) =>
    atCb(`a further step ${what} is not sent again: psd2 verifies the order again on resume`, 1, [
      step([...SECOND, ...DATA], ends, { meets: { verify2: [answer] } }),
      step(RESUME, '0 executed', { calls: expect.stringMatching(/verify verify2 approach status execute$/) }),
    ]),
  ),
  ...(
    [
      ['has no status before SCA', [refused(412)], '7 bank_refused failed'],
      ['says that the customer has not decided', [], '7 bank_refused failed'],
      [
        'says that the customer did authorise it',
        Array(2).fill(says('AUTHORIZED')),
        '9 outcome_unknown unknown',
      ],
      ['says NOT_AUTHORIZED', Array(2).fill(says('NOT_AUTHORIZED')), '6 not_authorised rejected'],
      ['says EXPIRED', Array(2).fill(says('EXPIRED')), '6 authorisation_expired expired'],
      ['fails to give the status', Array(8).fill(gets(501)), '11 bank_failing verified'],
    ] as const
  ).map(([what, status, ends]) =>
    atCb(`the bank refuses a further step and ${what}`, 0, [
      step([...SECOND, ...DATA], ends, {
        meets: { verify2: [refused(400, 'STEP_MISSING')], status },
        calls: expect.stringMatching(/^verify verify2 status/),
      }),
    ]),
  ),
];

const RESOLVE = (outcome: string, ...more: string[]) => [
  ...['transfer', 'resolve', 'FLOW', `--${outcome}`, '--json', ...more],
];
const UNKNOWN: Step = step(orderTo('EXECUTE 500 ONCE'), '9 outcome_unknown unknown');
const STATUS = ['transfer', 'status', 'FLOW', '--yes', '--json'];
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json'];

const BOTH = '--executed and --not-executed cannot be used together\nAdd --executed or --not-executed.';
const TOO_LONG = '--note has 501 characters; the maximum is 500';
const resolved = [
  atCb('resolving a transfer as not executed frees the reference, and records who ended it and why', 1, [
    UNKNOWN,
    step(ORDER, '2 duplicate_reference'),
    step(RESOLVE('not-executed'), '2 confirmation_needed', {
      says: 'The outcome needs a confirmation, and psd2 cannot ask without a terminal',
      calls: '',
    }),
    ...[RESUME, STATUS, CANCEL, RESOLVE('executed', '--yes')].map((words) =>
      step([...words, '--customer', '1000002'], '2 usage', {
        says: 'The transfer FLOW belongs to customer 1048262, not to "1000002"\npsd2 acts for the customer of the flow.',
        calls: '',
      }),
    ),
    step(CANCEL, '2 usage', { says: 'psd2 has sent execute, so it can no longer cancel the transfer' }),
    step(RESOLVE('not-executed', '--yes', '--note', 'Support,\ncase \u001b[31m4711'), '0 failed', {
      calls: 'status',
      tells: 'At the bank its authorization is AUTHORIZED, and its execution is PENDING.',
      prints: { resolution: { outcome: 'not-executed', note: 'Support, case \u{FFFD}[31m4711' } },
    }),
    step(RESUME, '8 payment_failed failed', { says: 'said that it was not executed', calls: '' }),
    step(RESOLVE('executed', '--yes'), '2 usage', { says: 'has already ended', calls: '' }),
    step(ORDER, '0 executed'),
  ]),
  atCb('resolving a transfer as executed keeps the reference, and leaves nothing for resume to do', 0, [
    UNKNOWN,
    step(RESOLVE('executed', '--yes'), '0 executed', {
      prints: { resolution: { outcome: 'executed', note: null } },
    }),
    step(RESUME, '0 executed', { calls: '' }),
    step(ORDER, '2 duplicate_reference'),
  ]),
  ...(
    [
      ['executed', '0 executed'],
      ['not-executed', '2 usage executed'],
    ] as const
  ).map(([outcome, ends]) =>
    atCb(`the bank's clear answer counts, and not that of a person (${outcome})`, 1, [
      step(ORDER, '9 outcome_unknown unknown', {
        meets: { execute: [lost], status: [saying({}), ...Array(8).fill(refused(500))] },
      }),
      step(RESOLVE(outcome, '--yes', '--note', 'Not needed'), ends, {
        prints: { resolution: null },
        ...(outcome === 'not-executed' && { says: 'The bank says that the transfer FLOW was executed' }),
      }),
      step(ORDER, '2 duplicate_reference'),
    ]),
  ),
  atCb('psd2 resolves a transfer even if the bank gives no status, and says so', 0, [
    UNKNOWN,
    step(RESOLVE('executed', '--yes'), '0 executed', {
      meets: { status: Array(8).fill(refused(503)) },
      tells: 'The bank gave no status: ',
    }),
  ]),
  atCb('psd2 resolves a transfer even if it cannot ask the bank, and says so', 0, [
    UNKNOWN,
    step(RESOLVE('executed', '--yes'), '0 executed', {
      env: { PSD2_QWAC_KEY: '/there/is/none.pem' },
      tells: 'psd2 cannot ask the bank: ',
    }),
  ]),
  ...(
    [
      ['neither outcome', [], '2 usage', 'The outcome is missing\nAdd --executed or --not-executed.'],
      ['both outcomes', ['--executed', '--not-executed'], '2 usage', BOTH],
      ['an empty note', ['--executed', '--note', ' \n'], '2 invalid_text', '--note is empty\nLeave it out.'],
      ['a note of 501 characters', ['--executed', '--note', 'é'.repeat(501)], '2 invalid_text', TOO_LONG],
    ] as const
  ).map(([what, args, ends, text]) =>
    atCb(`psd2 transfer resolve refuses ${what}`, 0, [
      step(['transfer', 'resolve', 'tr-whatever', ...args, '--yes', '--json'], ends, { says: text }),
    ]),
  ),
  atCb('psd2 transfer resolve takes a note of 500 characters of any kind', 0, [
    UNKNOWN,
    step(RESOLVE('executed', '--yes', '--note', '\u{1F4B6}'.repeat(500)), '0 executed', {
      prints: { resolution: { note: '\u{1F4B6}'.repeat(500) } },
    }),
  ]),
  atCb('psd2 transfer resolve refuses a transfer that is executed, and says what to do instead', 1, [
    step(ORDER, '0 executed'),
    step(RESOLVE('not-executed', '--yes'), '2 usage', {
      says: 'The transfer FLOW is executed, so its outcome is not unknown\nSee it with:\n$ transfer show FLOW',
      calls: '',
    }),
    step(CANCEL, '2 usage', { says: 'The transfer FLOW is executed, so there is nothing to cancel' }),
  ]),
  atCb(
    'psd2 transfer resolve refuses a transfer that waits; it can be cancelled, which frees its reference',
    1,
    [
      WAITING,
      step(RESOLVE('not-executed', '--yes'), '2 usage', {
        says: 'The transfer FLOW is authorizing, so its outcome is not unknown\nContinue with:\n$ transfer resume FLOW',
        calls: '',
      }),
      step(['transfer', 'cancel', 'FLOW', '--json'], '2 confirmation_needed', { calls: '' }),
      step(CANCEL, '0 cancelled', { tells: 'You can use the reference "REFERENCE" again.', calls: '' }),
      step(RESUME, '2 cancelled cancelled', { says: 'The transfer was cancelled before it was executed' }),
      step(ORDER, '0 executed'),
    ],
  ),
  ...(
    [
      ['EXECUTE REFUSED', '7 bank_refused failed'],
      ['EXECUTE 420', '10 too_many_calls authorized'],
    ] as const
  ).map(([name, ends]) =>
    atCb(`a refused transfer (${name}) keeps its reference until a person says that it was not executed`, 1, [
      step(orderTo(name), ends),
      step(ORDER, '2 duplicate_reference'),
      step(CANCEL, '2 usage', {
        says: `is ${ends.split(' ')[2]}. psd2 has sent execute, so it can no longer cancel`,
      }),
      step(RESOLVE('not-executed', '--yes'), expect.stringMatching(/^0 /)),
      step(ORDER, '0 executed'),
    ]),
  ),
];

const PENDING = orderTo('INSTANT PENDING', '--instant', '--payee-verified');
const pending = [
  atCb('an instant transfer that stays PENDING ends with exit code 9; resume asks again, and no more', 1, [
    step(PENDING, '9 outcome_unknown executed', {
      prints: { executionStatus: 'PENDING' },
      calls: `verify approach status execute${' settlement'.repeat(5)}`,
      says: '$ transfer resume FLOW',
    }),
    step(RESUME, expect.stringMatching(/^(0|9 outcome_unknown) /), {
      calls: expect.stringMatching(/^settlement( settlement)*$/),
    }),
  ]),
  atCb('a PENDING instant transfer is settled when a person says that it was executed', 1, [
    step(PENDING, '9 outcome_unknown executed'),
    step(RESOLVE('executed', '--yes'), '0 settled', {
      meets: { settlement: Array(8).fill(refused(500)) },
      prints: { resolution: { outcome: 'executed' }, cro: SOME_CRO },
    }),
  ]),
].map((row) => ({ ...row, waits: true as const }));

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
  const name = `psd2 operation resolve --${outcome} makes the operation ${state}, even if the bank does not say`;
  return atCb(name, 0, [
    step(STANDING, '9 outcome_unknown unknown', {
      meets: { execute: [refused(500)] },
      says: '$ operation resolve FLOW --not-executed',
    }),
    step(['operation', 'resolve', 'FLOW', `--${outcome}`, '--yes', '--json'], `0 ${state}`, {
      calls: 'status',
      tells: 'Ada Lovelace',
      prints: { resolution },
    }),
    step(['operation', 'show', 'FLOW', '--json'], `0 ${state}`, { prints: { resolution } }),
  ]);
});

export const TRANSFERS: Row[] = [
  ...[...paid, ...unpaid, ...verified, ...further],
  ...[...resolved, ...pending, ...operations],
];

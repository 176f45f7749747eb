import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import {
  asTheBankSays,
  atCb,
  cut,
  doneBut,
  fault,
  gets,
  INSTANT,
  lost,
  naming,
  ORDER,
  RESUME,
  type Row,
  refused,
  type Step,
  saying,
  silence,
  step,
  succeeded,
} from '../row.ts';

// What becomes of a transfer whose `execute` does not end well, at today's bank.

type More = Partial<Step>;
/** The order, and what `execute` meets. */
const pays = (execute: Treatment, ends: string, { meets, ...more }: More = {}): Step => ({
  ...{ words: ORDER, ends, ...more },
  meets: { execute: [execute], ...meets },
});
const resumed = (ends: string, more: More = {}): Step => ({ words: RESUME, ends, calls: 'status', ...more });
/** The same order once more. */
const again = (ends: string): Step => step(ORDER, ends);
/** The first status is that the customer has authorised it. */
const then = (...status: Treatment[]) => ({ status: [asTheBankSays, ...status] });

const says = (executionStatus: string, authorizationStatus = 'AUTHORIZED') =>
  saying({ executionStatus, authorizationStatus });
/** The status shows nothing. */
const NOTHING = says('PENDING');
const settles = (executionStatus: string, executionStatusDescription = '') =>
  saying({ executionStatus, executionStatusDescription });
const FIND_OUT =
  "If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:\n" +
  '$ transfer resume FLOW\n$ transfer resolve FLOW --executed\n$ transfer resolve FLOW --not-executed';

/** Refusals in the bank's own envelope, with each status that a second delivery may get. */
const REFUSALS: [string, Treatment][] = [
  ...[400, 401, 403, 404, 405, 409, 410, 412, 417, 418, 420, 422, 429, 451].map(
    (status): [string, Treatment] => [`HTTP ${status}`, refused(status, 'ALREADY_EXECUTED')],
  ),
  ['HTTP 409 and ERROR without a code', gets(409, { result: { outcome: 'ERROR' } })],
  ['HTTP 200 and ERROR', refused(200, 'PSD2_FUNDS', 'No funds')],
];

const refusals = REFUSALS.flatMap(([name, refusal]) => {
  const renewed = name === 'HTTP 401' ? 'token customer ' : '';
  return [
    atCb(`after ${name} an SCT is executed if its status says so`, 1, [
      pays(doneBut(refusal), '0 executed', { calls: `verify approach status execute ${renewed}status` }),
    ]),
    atCb(`after ${name} an instant transfer is settled if its status says so`, 1, [
      pays(doneBut(refusal), '0 settled', {
        words: INSTANT,
        calls: `verify approach status execute ${renewed}settlement`,
      }),
    ]),
    ...(/HTTP 4(00|01|17|20|22|29)$/.test(name)
      ? []
      : [
          atCb(`after ${name}, which may mean "already done", nobody knows if the status shows nothing`, 1, [
            pays(doneBut(refusal), '9 outcome_unknown unknown', {
              meets: then(NOTHING),
              says: /^The bank refused execute, but its status does not show whether it had executed the transfer before: /,
              prints: { executionStatusDescription: expect.stringContaining(' PUT /private/') },
            }),
            again('2 duplicate_reference'),
            resumed('0 executed'),
          ]),
        ]),
  ];
});

const contents = [400, 417, 422].flatMap((status) =>
  (
    [
      ['shows nothing', [NOTHING]],
      ['is not given', Array(8).fill(refused(500))],
      ['is pending', [says('PENDING', 'PENDING')]],
      ['is EXPIRED', Array(2).fill(says('PENDING', 'EXPIRED'))],
    ] as const
  ).map(([what, answers]) =>
    atCb(`after HTTP ${status} a transfer whose status ${what} has failed, and keeps its reference`, 1, [
      pays(doneBut(refused(status, 'PSD2_X', 'Not like this')), '7 bank_refused failed', {
        meets: then(...answers),
        says: `(HTTP ${status}): Not like this\nThe bank may have received the request twice, so the reference stays reserved. First ask the bank again, which never pays twice. ${FIND_OUT}`,
      }),
      again('2 duplicate_reference'),
      resumed('7 bank_refused failed', {
        meets: { status: [NOTHING] },
        says: 'the reference stays reserved',
      }),
      resumed('0 executed'),
    ]),
  ),
);

/** After each of these answers the bank may or may not have executed the transfer. */
const NO_CLEAR_ANSWER: [string, Treatment][] = [
  ['HTTP 500', refused(500)],
  ['HTTP 503 with Retry-After', gets(503, '', { 'retry-after': '1' })],
  ['HTTP 302', gets(302, '', { location: 'https://elsewhere.example/' })],
  ['HTTP 408', gets(408)],
  ["HTTP 403 of a firewall's page", gets(403, '<html>')],
  ["HTTP 403 and a gateway's JSON", gets(403, { error: 'forbidden' })],
  ['HTTP 400 with an empty body', gets(400)],
  ['HTTP 401 from a gateway', gets(401, { error: 'invalid_token' })],
  ['HTTP 429 from a gateway', gets(429, '<html>')],
  ['HTTP 410 with a page of unknown origin', gets(410, '<html>')],
  ['HTTP 404 with an empty body', gets(404)],
  ['a web page', gets(200, '<html>')],
  ['an empty body', gets(200)],
  ['no outcome', gets(200, { result: {}, data: { cro: '1' } })],
  ['no envelope', gets(200, { data: { cro: '1' } })],
  ['a cut connection', cut],
  ['a cut answer', fault('cut-in-the-middle')],
  ['a timeout', silence],
];

const unclear = NO_CLEAR_ANSWER.flatMap(([name, answer]) => {
  const patience = answer === silence ? ['--timeout', '1'] : [];
  return [
    atCb(`execute ends with ${name}, and an instant transfer is settled if the bank then says OK`, 1, [
      pays(doneBut(answer), '0 settled', {
        words: [...INSTANT, ...patience],
        calls: 'verify approach status execute settlement',
      }),
    ]),
    atCb(`execute ends with ${name}, and nobody knows of an SCT whose status shows nothing`, 1, [
      pays(doneBut(answer), '9 outcome_unknown unknown', {
        words: [...ORDER, ...patience],
        meets: then(NOTHING),
        says: `The bank does not say yet whether the transfer was executed\nFirst ask the bank again, which never pays twice. ${FIND_OUT}`,
      }),
      resumed('9 outcome_unknown unknown', { meets: { status: [NOTHING] }, says: FIND_OUT }),
      again('2 duplicate_reference'),
      resumed('0 executed'),
    ]),
  ];
});

const ANOTHER = '00000000-0000-4000-8000-000000000000';
const DEFERRED = ['execute-sent', 'execute-unanswered', 'executed'];

const answers = [
  atCb('a transfer is paid', 1, [
    step(ORDER, '0 executed', {
      calls: 'verify approach status execute',
      events:
        'created verify-sent verified accepted approach-sent sca-started sca-returned authorization execute-sent executed',
    }),
  ]),
  atCb('an execution without a cro, or with warnings, counts as executed', 1, [
    pays(
      doneBut(
        succeeded(
          {},
          { result: { outcome: 'SUCCESS', messages: [{ code: 'W1', message: 'Late', type: 'WARNING' }] } },
        ),
      ),
      '0 executed',
      { prints: { cro: null }, calls: 'verify approach status execute' },
    ),
  ]),
  ...(
    [
      ['is that of the status', succeeded({ authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' })],
      [
        'is that of the SCA approach',
        succeeded({ scaRedirectURL: 'https://x', chosenScaApproach: 'REDIRECT' }),
      ],
      ['is that of verify', succeeded({ totalAmount: { amount: '1.5', currency: 'EUR' }, bankName: 'B' })],
      [
        'is that of the execution status',
        succeeded({ executionStatus: 'PENDING', executionStatusDescription: '' }),
      ],
    ] as const
  ).map(([what, answer]) =>
    atCb(`a success of execute that ${what} decides nothing`, 1, [
      pays(doneBut(answer), '9 outcome_unknown unknown', { meets: then(NOTHING) }),
    ]),
  ),
  atCb('a success of execute that names another resource decides nothing', 1, [
    pays(
      naming(() => ANOTHER),
      '9 outcome_unknown unknown',
      { meets: then(NOTHING) },
    ),
  ]),
  atCb('a success that names the same resource in capitals counts', 1, [
    pays(
      naming((own) => own.toUpperCase()),
      '0 executed',
      { calls: 'verify approach status execute' },
    ),
  ]),
  atCb('a status of another resource does not end an unknown transfer', 1, [
    pays(lost, '9 outcome_unknown unknown', { meets: then(naming(() => ANOTHER)) }),
  ]),
];

const ended = ['lost', 'refused'].flatMap((how) => {
  const execute = how === 'lost' ? cut : refused(412);
  return [
    atCb(`execute is ${how}, and the status KO ends the transfer and frees its reference`, 1, [
      pays(execute, '8 payment_failed failed', { meets: then(says('KO'), says('KO')) }),
      again('0 executed'),
    ]),
    atCb(`execute is ${how}, and the status NOT_AUTHORIZED ends the transfer and frees its reference`, 1, [
      pays(execute, '6 not_authorised rejected', {
        meets: then(says('PENDING', 'NOT_AUTHORIZED'), says('PENDING', 'NOT_AUTHORIZED')),
      }),
      again('0 executed'),
    ]),
  ];
});

const instant = [
  atCb('execute is lost, and an instant transfer is KO: the payment has failed', 1, [
    pays(lost, '8 payment_failed failed', {
      words: INSTANT,
      meets: { settlement: Array(2).fill(settles('KO', 'Account closed')) },
      says: 'Account closed',
    }),
  ]),
  atCb('execute is lost, and an instant transfer is pending and then OK', 1, [
    pays(lost, '0 settled', {
      words: INSTANT,
      meets: { settlement: [settles('PENDING'), settles('PENDING'), settles('OK')] },
      calls: 'verify approach status execute settlement settlement settlement',
    }),
  ]),
  atCb(
    'execute is lost, and an instant transfer is pending to the end: that does not confirm execution',
    1,
    [
      pays(lost, '9 outcome_unknown unknown', {
        words: INSTANT,
        meets: { settlement: Array(5).fill(settles('PENDING')), ...then(NOTHING) },
        calls: `verify approach status execute ${Array(5).fill('settlement').join(' ')} status`,
      }),
    ],
    { waits: true },
  ),
  atCb('psd2 asks for the execution status of a refused instant transfer once', 0, [
    pays(refused(422), '7 bank_refused failed', {
      words: INSTANT,
      meets: { settlement: [settles('PENDING')], ...then(NOTHING) },
      calls: 'verify approach status execute settlement status',
    }),
  ]),
  ...(
    [
      ['does not know the resource', refused(412)],
      ['does not answer', gets(501)],
    ] as const
  ).map(([what, answer]) =>
    atCb(`execute is lost, and the bank ${what}: nobody knows`, 1, [
      pays(lost, '9 outcome_unknown unknown', {
        words: INSTANT,
        meets: { settlement: Array(8).fill(answer), ...then(...Array(8).fill(answer)) },
      }),
    ]),
  ),
  ...['OK', 'EXECUTED'].map((word) =>
    atCb(`execute is lost, and the status ${word} confirms it`, 1, [
      pays(lost, '0 executed', {
        meets: then(says(word)),
        prints: { cro: null },
        events: DEFERRED.join(' '),
      }),
    ]),
  ),
];

/** The bank has not read it, so it is sent again. */
const turnedAway = [
  ...[420, 429].map((status) =>
    atCb(`execute is turned away with HTTP ${status}, and can be sent when the transfer is resumed`, 1, [
      pays(refused(status), '10 too_many_calls authorized', { meets: then(NOTHING) }),
      again('2 duplicate_reference'),
      resumed('0 executed', {
        calls: 'status execute',
        events: 'execute-sent execute-turned-away authorization execute-sent executed',
      }),
    ]),
  ),
  atCb('the bank refuses the token at execute: psd2 renews it, asks, and sends execute again', 1, [
    pays(refused(401), '0 executed', {
      calls: 'verify approach status execute token customer status execute',
      events: 'execute-sent execute-turned-away authorization execute-sent executed',
    }),
  ]),
  atCb('the bank refuses the renewed token as well: the transfer waits for a login', 0, [
    pays(refused(401), '4 not_logged_in authorized', { meets: { execute: Array(2).fill(refused(401)) } }),
  ]),
  atCb('execute is turned away, and then the status refused: nobody knows, and nothing is sent again', 0, [
    pays(refused(401), '9 outcome_unknown unknown', {
      meets: then(refused(412), refused(412)),
      says: /^The bank turned execute away, and does not say whether it had executed/,
    }),
    resumed('9 outcome_unknown unknown', { meets: { status: [NOTHING] } }),
  ]),
  atCb('execute is turned away, and on resume the status is refused: nobody knows', 0, [
    pays(refused(420), '10 too_many_calls authorized', { meets: then(NOTHING) }),
    resumed('9 outcome_unknown unknown', { meets: { status: [refused(412)] } }),
  ]),
  atCb('execute is turned away, and the bank fails on the status: the transfer can be resumed', 1, [
    pays(refused(401), '11 bank_failing authorized', { meets: then(...Array(8).fill(gets(501))) }),
    resumed('0 executed', { calls: 'status execute' }),
  ]),
  atCb('execute is turned away though it was carried out, and the second is refused: nobody knows', 1, [
    pays(doneBut(refused(401)), '9 outcome_unknown unknown', {
      meets: {
        execute: [doneBut(refused(401)), refused(412, 'ALREADY_EXECUTED')],
        ...then(NOTHING, NOTHING, NOTHING),
      },
    }),
  ]),
  atCb(
    'execute is turned away, and then EXPIRED: it may have been delivered twice, so its reference stays taken',
    0,
    [
      pays(refused(429), '10 too_many_calls authorized', { meets: then(NOTHING) }),
      resumed('6 authorisation_expired expired', {
        calls: 'status status',
        meets: { status: Array(2).fill(says('PENDING', 'EXPIRED')) },
      }),
      again('2 duplicate_reference'),
    ],
  ),
];

export const EXECUTE: Row[] = [
  ...[...refusals, ...contents, ...unclear, ...answers, ...ended, ...instant, ...turnedAway],
];

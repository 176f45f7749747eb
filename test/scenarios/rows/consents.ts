import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { bankDate, bankDay } from '../../e2e/support/bank-days.ts';
import {
  atCb,
  cut,
  doneBut,
  fault,
  gets,
  naming,
  type Row,
  refused,
  type Step,
  saying,
  step,
  succeeded,
} from '../row.ts';

// Consents at today's bank, and inquiries for which it wants SCA.

const REQUEST = ['consent', 'request', '--json', '--category', 'ACCOUNT_INFO', '--all-accounts'];
const IN_PART = [...REQUEST, '--category', 'FUNDS_AVAILABILITY'];
const PRODUCTS = ['0010482620', '0010482638', '0000093017'];
/** In the order of the request. */
const GRANTED = [
  { name: 'ACCOUNT_INFO', products: PRODUCTS, outcome: true },
  { name: 'FUNDS_AVAILABILITY', products: PRODUCTS, outcome: false },
];
const ONE = ['consent', 'request', '--category', 'PAYMENTS', '--account', '0010482620', '--json'];
const GO_ON = ['consent', 'resume', 'FLOW', '--json'];
const SHOW = ['consent', 'show', 'FLOW', '--json'];
const CANCELLED = step(['consent', 'cancel', 'FLOW', '--yes', '--json'], '0 cancelled', { calls: '' });
const resolving = (...how: string[]) => ['consent', 'resolve', 'FLOW', ...how, '--yes', '--json'];
const row = (name: string, steps: Step[]) => atCb(name, 0, steps);

const consents = [
  row('the customer approves a consent, and psd2 confirms it', [
    step([...REQUEST, '--category', 'PAYMENTS'], '0 confirmed', {
      calls: expect.stringMatching(/request approach confirm$/),
      prints: {
        categories: [
          { name: 'ACCOUNT_INFO', products: PRODUCTS, outcome: true },
          { name: 'PAYMENTS', products: PRODUCTS, outcome: true },
        ],
      },
    }),
    step(SHOW, '0 confirmed', { calls: '' }),
  ]),
  row('the customer refuses a consent: it is rejected, also for resume', [
    step(REQUEST, '6 not_authorised rejected', { customer: 'refuses' }),
    step(GO_ON, '6 not_authorised rejected', { calls: '' }),
  ]),
  row('a partial consent is shown and recorded as it is, and ends with exit code 7', [
    step(IN_PART, '7 bank_refused confirmed', {
      says: 'The bank did not grant FUNDS_AVAILABILITY\nThe other categories are confirmed. With --allow-partial, this counts as success.',
      prints: { categories: GRANTED },
    }),
    step(SHOW, '0 confirmed', { prints: { categories: GRANTED } }),
  ]),
  row('a partial consent is enough with --allow-partial', [
    step([...IN_PART, '--allow-partial'], '0 confirmed'),
  ]),
  ...(
    [
      ['executed', 'confirmed', 180],
      ['not-executed', 'failed', null],
    ] as const
  ).map(([outcome, state, daysLeft]) =>
    row(`psd2 consent resolve --${outcome} makes the consent ${state}, even if the bank does not say`, [
      step(ONE, '9 outcome_unknown unknown', {
        meets: { confirm: [refused(500)] },
        says: '$ consent resolve FLOW --not-executed',
      }),
      step(resolving(`--${outcome}`, '--note', 'Tried it'), `0 ${state}`, {
        calls: 'status',
        tells:
          /At the bank its authorization is AUTHORIZED.*\nThis does not show whether it was confirmed\.\nThe consent FLOW is unknown:\n +PAYMENTS +0010482620/,
        prints: { resolution: { outcome, note: 'Tried it' } },
      }),
      step(resolving('--executed'), '2 usage', {
        says: / has already ended: .* that it was (not )?confirmed\n/,
        calls: '',
      }),
      step(['consent', 'list', '--json'], expect.stringMatching(/^0 /), {
        prints: expect.arrayContaining([
          expect.objectContaining({ state, daysLeft, resolution: expect.objectContaining({ outcome }) }),
        ]),
      }),
    ]),
  ),
  row('a consent can be cancelled, and is not taken up then', [
    step([...REQUEST, '--sca-timeout', '1'], '6 authorisation_timeout authorizing', {
      customer: 'stays away',
      env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' },
    }),
    CANCELLED,
    step(GO_ON, '2 cancelled cancelled', { calls: '' }),
  ]),
];

const BOTH = [
  ...['consent', 'request', '--json', '--category', 'ACCOUNT_INFO', 'PAYMENTS'],
  ...['--account', '0010482620'],
];
/** The customer comes back to another machine, so psd2 asks the bank for the decision. */
const ELSEWHERE = { env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' } };
const says = (authorizationStatus: string, executionStatus = 'PENDING') =>
  saying({ authorizationStatus, executionStatus });
/** The bank's answer to `confirm`. */
const CONFIRMED: Treatment = succeeded({});
const [PENDING, AUTHORIZED] = [says('PENDING'), says('AUTHORIZED')];
/** The request of both categories, and what `confirm` and the questions afterwards meet. */
const asks = (confirm: Treatment[], ends: string, { meets, ...more }: Partial<Step> = {}): Step => ({
  ...{ words: BOTH, ends, ...more },
  meets: { confirm, ...meets },
});
const goesOn = (ends: string, status: Treatment[] = [], more: Partial<Step> = {}): Step => ({
  ...{ words: GO_ON, ends, calls: 'status', ...more, meets: { status, ...more.meets } },
});
/** What an ended consent says, of which the bank is asked nothing. */
const over = (ends: string, says: string | RegExp): Step => step(GO_ON, ends, { says, calls: '' });
const NOT_KNOWN =
  /^The bank gave no usable answer to the confirmation of the consent, and does not report the outcome\nFirst ask the bank again\. Also check whether you can read the accounts\. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:\n\$ consent resume FLOW\n\$ consent resolve FLOW --executed\n\$ consent resolve FLOW --not-executed$/;
const UNDECIDED: Step = step([...BOTH, '--sca-timeout', '1'], '6 authorisation_timeout authorizing', {
  customer: 'stays away',
  ...ELSEWHERE,
  says: 'The customer did not authorise the consent within 1 s\nContinue with:\n$ consent resume FLOW',
});

const ungranted = (name: string) => ({ name, outcome: false });

const UNAUTHORISED = 'The customer did not authorise the consent';
/** What the bank says of a consent that is not granted, how psd2 ends, and its words. */
const UNGRANTED = [
  ['NOT_AUTHORIZED', '6 not_authorised rejected', UNAUTHORISED],
  ['EXPIRED', '6 authorisation_expired expired', `${UNAUTHORISED} in time\nRequest it again.`],
] as const;

const requests = [
  row('the customer comes back to another machine: psd2 asks for the decision before it confirms', [
    step(BOTH, '0 confirmed', {
      ...ELSEWHERE,
      meets: { status: [PENDING] },
      calls: 'request approach status status confirm',
      events: 'sca-started authorization sca-returned confirm-sent confirmed',
    }),
  ]),
  ...UNGRANTED.map(([status, ends, text]) =>
    row(`the customer comes back to another machine, and the bank says ${status}: the consent ends`, [
      step(BOTH, ends, {
        ...ELSEWHERE,
        meets: { status: [says(status), says(status)] },
        calls: expect.stringMatching(/^request approach status( status)?$/),
      }),
      { ...over(ends, text), events: 'approach-sent sca-started authorization' },
    ]),
  ),
  row('the bank grants none of the categories: the consent ends before SCA', [
    step(BOTH, '7 bank_refused failed', {
      calls: 'request',
      meets: { request: [saying({ categoriesOutcome: ['ACCOUNT_INFO', 'PAYMENTS'].map(ungranted) })] },
      says: 'The bank grants none of the categories for these products',
    }),
    over(
      '7 bank_refused failed',
      'The bank grants none of the categories for these products\nSee which products the customer has with:\n$ accounts list',
    ),
  ]),
  row('a request without an answer can be repeated; one that is refused has failed', [
    step(BOTH, '11 bank_unreachable created', { meets: { request: [cut] } }),
    step(GO_ON, '7 bank_refused failed', { meets: { request: [refused(422)] } }),
    over(
      '7 bank_refused failed',
      'The bank refused the request of the consent FLOW\nRequest it again. See what the bank said with:\n$ log',
    ),
  ]),
  row('a request that the bank rate-limits has not begun, and the journal says so', [
    step(BOTH, '10 too_many_calls created', {
      meets: { request: [refused(429)] },
      events: 'created request-sent request-not-begun',
    }),
  ]),
  ...(['request', 'confirm'] as const).map((call) =>
    row(`a gateway delivers ${call} twice: there is one consent`, [
      step(BOTH, '0 confirmed', { meets: { [call]: [fault('delivered-twice')] } }),
    ]),
  ),
  row('a request that a gateway refuses may be repeated', [
    step(BOTH, '5 forbidden created', { meets: { request: [gets(403, '<html>')] } }),
    step(GO_ON, '0 confirmed'),
  ]),
  row('a cancelled consent says so', [
    UNDECIDED,
    CANCELLED,
    over(
      '2 cancelled cancelled',
      'The consent FLOW was cancelled before it was confirmed\nRequest it again.',
    ),
  ]),
  ...(
    [
      [[], /ended: \S+ said that it was not confirmed\nRequest it again\.$/],
      [['--note', 'Case 4711'], /said that it was not confirmed: Case 4711\nRequest it again\.$/],
    ] as const
  ).map(([note, text]) =>
    row(
      `a consent of which a person said that it was not confirmed says so (${note.join(' ') || 'without a note'})`,
      [
        asks([refused(500)], '9 outcome_unknown unknown'),
        step(resolving('--not-executed', ...note), '0 failed', { calls: 'status' }),
        over('7 bank_refused failed', text),
      ],
    ),
  ),
];

const sca = [
  ...(
    [
      ['refuses to give the status', [refused(412)]],
      ['says that the customer has not decided', []],
      ['does not answer', Array(8).fill(cut)],
    ] as const
  ).map(([what, status]) =>
    row(`the bank refuses to start SCA and ${what}: the consent can be resumed`, [
      step(BOTH, '7 bank_refused requested', {
        says: 'Closed',
        meets: { approach: [refused(412, 'PSD2_E1', 'Closed')], status },
        calls: expect.stringMatching(/^request approach status( status)*$/),
      }),
      step(GO_ON, '0 confirmed', { calls: 'approach confirm' }),
    ]),
  ),
  row('the bank fails to start SCA again: psd2 asks it nothing more', [
    UNDECIDED,
    goesOn('11 bank_failing authorizing', [], {
      meets: { approach: Array(8).fill(refused(503)) },
      calls: expect.stringMatching(/^status approach( approach)*$/),
    }),
  ]),
  row('the bank refuses to start SCA again, and the customer has not decided', [
    UNDECIDED,
    goesOn('7 bank_refused authorizing', [], {
      meets: { approach: [refused(412, 'PSD2_E1', 'Closed')] },
      says: 'Closed',
      calls: 'status approach status',
    }),
  ]),
  row('the bank fails on the decision: psd2 neither starts SCA again nor confirms', [
    UNDECIDED,
    goesOn('11 bank_failing authorizing', Array(8).fill(refused(503)), {
      calls: expect.stringMatching(/^status( status)*$/),
    }),
  ]),
  ...(
    [
      ['AUTHORIZED', '0 confirmed', 'status approach status confirm'],
      ['NOT_AUTHORIZED', '6 not_authorised rejected', 'status approach status'],
    ] as const
  ).map(([status, ends, calls]) =>
    row(`the customer decides just before psd2 sends them to SCA again (${status})`, [
      UNDECIDED,
      goesOn(ends, [PENDING, says(status), says(status)], {
        meets: {
          approach: [refused(400, 'SCA_FINISHED')],
          ...(status === 'AUTHORIZED' && { confirm: [CONFIRMED] }),
        },
        calls: expect.stringContaining(calls),
      }),
    ]),
  ),
  ...UNGRANTED.map(([status, ends]) =>
    row(`the customer has decided after psd2 had gone (${status}): the journal has no return`, [
      UNDECIDED,
      step(GO_ON, ends, {
        meets: { status: Array(2).fill(says(status)) },
        events: 'sca-started authorization',
      }),
    ]),
  ),
  row('the bank does not give the status of a consent: psd2 confirms it, and the bank decides', [
    UNDECIDED,
    goesOn('0 confirmed', [refused(404)], {
      meets: { confirm: [CONFIRMED] },
      calls: expect.stringMatching(/status.* confirm$/),
    }),
  ]),
  row('SCA is still open: psd2 sends the customer there again', [
    UNDECIDED,
    goesOn('0 confirmed', [PENDING], {
      calls: 'status approach confirm',
      events: 'approach-sent sca-started sca-returned confirm-sent confirmed',
    }),
  ]),
];

/** Each refusal that a second delivery of `confirm` may get. */
const STATUSES = [400, 401, 403, 404, 409, 412, 417, 420, 422, 429];
const OF_CONTENT = [400, 417, 422];

const confirmations = [
  row('the bank refuses to confirm before the customer has decided: psd2 confirms after the decision', [
    asks([refused(412)], '0 confirmed', {
      meets: { status: [PENDING, PENDING] },
      calls: 'request approach confirm status status status confirm',
    }),
  ]),
  row('the bank refuses the content of the repeated confirmation as well: the consent has failed', [
    asks(Array(2).fill(refused(417, 'PSD2_E1', 'Closed')), '7 bank_refused failed', {
      meets: { status: [PENDING, AUTHORIZED, PENDING] },
      says: 'Closed',
    }),
    goesOn('7 bank_refused failed', [refused(412)], {
      says: /refused to confirm[\s\S]*\nFirst ask the bank again\./,
    }),
  ]),
  row('the bank grants a part, and refuses to confirm that: it has refused no category', [
    step([...REQUEST, '--category', 'FUNDS_AVAILABILITY'], '7 bank_refused failed', {
      meets: { confirm: [refused(417)] },
    }),
    goesOn('7 bank_refused failed', [AUTHORIZED], { says: /refused to confirm/ }),
  ]),
  ...STATUSES.map((status) =>
    row(`confirm is refused with HTTP ${status}, and the status says that it was confirmed`, [
      asks([doneBut(refused(status))], '0 confirmed', {
        calls: `request approach confirm ${status === 401 ? 'token customer ' : ''}status`,
      }),
    ]),
  ),
  ...STATUSES.filter((status) => ![401, 420, 429, ...OF_CONTENT].includes(status)).map((status) =>
    row(`HTTP ${status} in answer to confirm may mean that it was done before: nobody knows`, [
      asks([doneBut(refused(status, 'PSD2_X', 'Not like this'))], '9 outcome_unknown unknown', {
        meets: { status: [AUTHORIZED] },
        says: /^The bank refused confirm, but its status does not show whether it had confirmed the consent before: .*Not like this[\s\S]*\nFirst ask the bank again\. Also check whether you can read the accounts\.[\s\S]*\$ consent resume FLOW/,
      }),
      goesOn('0 confirmed'),
    ]),
  ),
  ...OF_CONTENT.map((status) =>
    row(
      `the bank refuses the content of the confirmation (HTTP ${status}): failed, until its status says more`,
      [
        asks([doneBut(refused(status, 'PSD2_X', 'Not like this'))], '7 bank_refused failed', {
          meets: { status: [AUTHORIZED] },
          says: /Not like this\nFirst ask the bank again\. Also check whether you can read the accounts\.[\s\S]*\$ consent resume FLOW/,
        }),
        goesOn('7 bank_refused failed', [PENDING], { says: '$ consent resume FLOW' }),
        goesOn('7 bank_refused failed', [AUTHORIZED]),
        goesOn('0 confirmed'),
      ],
    ),
  ),
  ...UNGRANTED.flatMap(([status, ends]) => [
    row(`confirm is refused because the consent is ${status}`, [
      asks([refused(412)], ends, {
        meets: { status: Array(2).fill(says(status)) },
        events: 'confirm-sent authorization',
      }),
    ]),
    row(`only a refusal has ended the consent, and later the bank says ${status}`, [
      asks([refused(417)], '7 bank_refused failed'),
      goesOn(ends, Array(2).fill(says(status)), {
        calls: expect.stringMatching(/^status( status)?$/),
        events: 'confirm-refused authorization',
      }),
    ]),
    row(`the answer to confirm is lost, and the bank says ${status}`, [
      asks([cut], ends, {
        meets: { status: Array(2).fill(says(status)) },
        events: 'confirm-sent confirm-unanswered authorization',
      }),
    ]),
    row(`nobody knows of a confirmation, and later the bank says ${status}`, [
      asks([cut], '9 outcome_unknown unknown'),
      goesOn(ends, Array(2).fill(says(status)), {
        calls: expect.stringMatching(/^status( status)?$/),
        events: 'confirm-sent confirm-unanswered authorization',
      }),
    ]),
  ]),
  row('the bank refuses the token at confirm: psd2 asks, and confirms once more with a new one', [
    asks([refused(401)], '0 confirmed', {
      calls: 'request approach confirm token customer status confirm',
      events: 'confirm-sent confirm-turned-away authorization confirm-sent confirmed',
    }),
  ]),
  row('the bank refuses the renewed token as well: the consent waits for a login', [
    asks(Array(2).fill(refused(401)), '4 not_logged_in authorizing'),
  ]),
  row('the bank refuses both tokens, and had confirmed it', [
    asks([refused(401), doneBut(refused(401))], '0 confirmed'),
  ]),
  row('the bank refuses the token and then the status: psd2 does not confirm again', [
    asks([refused(401)], '9 outcome_unknown unknown', {
      meets: { status: Array(2).fill(refused(412)) },
      events: 'confirm-sent confirm-turned-away confirm-unanswered',
    }),
  ]),
  ...[420, 429].flatMap((status) => [
    row(`confirm is turned away with HTTP ${status}, and can be sent when the consent is resumed`, [
      asks([refused(status)], '10 too_many_calls authorizing'),
      goesOn('0 confirmed', [], { calls: 'status confirm' }),
    ]),
    row(`confirm is turned away with HTTP ${status}, and nothing is decided`, [
      asks([refused(status)], '10 too_many_calls authorizing', {
        meets: { status: [PENDING] },
        events: 'confirm-sent confirm-turned-away',
      }),
    ]),
    row(`confirm is turned away with HTTP ${status}, and the customer declined`, [
      asks([refused(status)], '6 not_authorised rejected', {
        meets: { status: Array(2).fill(says('NOT_AUTHORIZED')) },
        events: 'confirm-sent confirm-turned-away authorization',
      }),
    ]),
    row(
      `confirm is turned away with HTTP ${status}, and then the status is refused, also later: nobody knows`,
      [
        asks([refused(status)], '10 too_many_calls authorizing', { meets: { status: [refused(404)] } }),
        goesOn('9 outcome_unknown unknown', [refused(404)]),
      ],
    ),
  ]),
  ...(
    [
      ['names another resource', naming(() => '00000000-0000-4000-8000-000000000000')],
      [
        'is that of the status',
        doneBut(succeeded({ authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' })),
      ],
      [
        'is that of the consent request',
        doneBut(succeeded({ categoriesOutcome: [{ name: 'PAYMENTS', outcome: true }] })),
      ],
    ] as [string, Treatment][]
  ).map(([what, answer]) =>
    row(`a success that ${what} does not confirm the consent`, [
      asks([answer], '9 outcome_unknown unknown', { meets: { status: [AUTHORIZED] } }),
    ]),
  ),
  ...(
    [
      ['HTTP 500', refused(500)],
      ['a cut connection', cut],
      ['no envelope', gets(200, {})],
    ] as [string, Treatment][]
  ).map(([what, answer]) =>
    row(`after ${what} in answer to confirm psd2 does not send it again, and says how to find out`, [
      asks([doneBut(answer)], '9 outcome_unknown unknown', {
        ...{ meets: { status: [AUTHORIZED] }, says: NOT_KNOWN, calls: 'request approach confirm status' },
      }),
      ...[[AUTHORIZED], [PENDING], [refused(404)], [refused(412)], Array(8).fill(gets(501))].map((status) =>
        goesOn('9 outcome_unknown unknown', status, {
          says: NOT_KNOWN,
          calls: expect.stringMatching(/^status( status)*$/),
        }),
      ),
      goesOn('0 confirmed', [], { events: 'confirm-sent confirm-unanswered confirmed' }),
    ]),
  ),
];

const OLDER = [
  ...['accounts', 'transactions', '0010482620', '--from', bankDay(-200), '--limit', '1', '--json'],
];
const inquiries = [
  row('without a terminal, PSD2_SCA_REQUIRED gives exit code 6 and the next command', [
    step(OLDER, '6 sca_required', { says: '--yes', calls: 'transactions' }),
  ]),
  row('after PSD2_SCA_REQUIRED psd2 api says which call starts SCA', [
    step(
      [
        ...['api', 'GET', '--json'],
        `/private/customers/1048262/products/0010482620/transactions/retrieve?dateFrom=${encodeURIComponent(bankDate(-200))}`,
      ],
      '6 sca_required',
      { says: /\/private\/auth\/security\/sca\/[-0-9a-f]{36}\/approach/ },
    ),
  ]),
  row('psd2 sends a customer who refuses SCA only once', [
    step([...OLDER, '--yes'], '6 sca_required', {
      customer: 'refuses',
      calls: 'transactions approach transactions',
    }),
  ]),
  row('with --yes psd2 sends the customer once, and the same call returns the rows', [
    step([...OLDER, '--yes'], '0', { calls: 'transactions approach transactions' }),
    step(OLDER, '0', { calls: 'transactions' }),
  ]),
];

export const CONSENTS: Row[] = [...consents, ...requests, ...sca, ...confirmations, ...inquiries];

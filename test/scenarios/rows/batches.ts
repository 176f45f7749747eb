import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import {
  atCb,
  fault,
  gets,
  lost,
  RESUME,
  type Row,
  refused,
  rejected,
  type Step,
  saying,
  step,
} from '../row.ts';

// Batches: what becomes of each payment of a file, of the batch, and of the same file or reference a second time.

const ADD = ['batch', 'add', 'FILE', '--from', '0010482620', '--json'];
const RUN = ['batch', 'run', 'BATCH', '--yes', '--json'];
const RETRY = ['batch', 'retry', 'BATCH', '--json'];
const SHOW = ['batch', 'show', 'BATCH', '--json'];
const REPORT = ['batch', 'report', 'BATCH', '--json'];
const APPROVE = ['batch', 'approve', 'BATCH', '--json'];
const REJECT = ['batch', 'reject', 'BATCH', '--note', 'too late', '--json'];
const NONE_PAID = ['batch', 'resolve', 'BATCH', '--not-executed', '--yes', '--json'];
const UNPAID = ['transfer', 'resolve', 'FLOW', '--not-executed', '--yes', '--json'];
const batch = (name: string, payments: string[], paid: number, steps: Step[]): Row =>
  atCb(name, paid, steps, { payments });
const added: Step = step(ADD, '0 added');

const SINGLE = 'verify approach status execute';
const NOT_MADE = '8 payment_failed executed executed rejected executed';
const alone = [
  batch(
    'a batch is stored once and paid line by line; a refused line stops no other one, and is retried alone',
    ['Ada', 'Bea', 'SCA REFUSED', 'Dora'],
    3,
    [
      step([...ADD, '--note', 'First'], '0 added', { prints: { counts: { waiting: 4 }, note: 'First' } }),
      step(ADD, '2 usage', { says: 'The batch BATCH has the same content' }),
      step(RUN, NOT_MADE, {
        calls: [SINGLE, SINGLE, 'verify approach status status', SINGLE].join(' '),
        says: '1 of 4 payments was not made',
      }),
      step(RUN, NOT_MADE, { calls: '' }),
      step(RETRY, '0 added', { prints: { lines: 1 } }),
      step(RETRY, '2 usage', { says: /has these payments already/ }),
    ],
  ),
  batch(
    'a file is paid again if that is meant, but a reference of its own only once',
    ['Ada,RENT-REFERENCE', 'Bea'],
    3,
    [
      added,
      step([...ADD, '--again'], '0 added', { tells: '1 of 2 payments has a reference of its own' }),
      step(['batch', 'run', 'BATCH-1', '--yes', '--json'], '0 executed executed'),
      step(['batch', 'run', 'BATCH-2', '--yes', '--json'], '8 payment_failed failed executed', {
        calls: SINGLE,
        says: 'their reasons say what to correct',
      }),
      step(ADD, '2 usage', { says: 'The batch BATCH has the same content' }),
      step([...ADD, '--again'], '2 usage', {
        says: 'If you mean another payment, give it another reference',
      }),
    ],
  ),
  batch('an account to debit that is an IBAN with a slip is refused as such', ['Ada'], 0, [
    step(ADD.with(4, 'IT60X0542811101000000123457'), '2 invalid_iban', { says: 'has wrong check digits' }),
  ]),
  batch(
    'a batch is paid only after another person has approved its content, and nobody decides about it afterwards',
    ['Ada', 'Bea'],
    2,
    [
      added,
      ...[
        step(RUN, '2 usage', { says: 'The batch needs 1 approval, and has 0' }),
        step(APPROVE, '2 usage', { says: 'someone else must approve it' }),
        step([...APPROVE, '--by', 'Second Person'], '0 approved'),
        step([...APPROVE, '--by', 'second  person'], '2 usage'),
        step(SHOW, '0 approved'),
        step(RUN, '0 executed executed'),
        step([...REJECT, '--by', 'Third Person'], '2 usage', { says: 'nothing left to decide' }),
      ].map((each) => ({ ...each, env: { PSD2_APPROVALS: '1' } })),
      step(['audit', '--json'], '0', {
        prints: expect.arrayContaining([
          expect.objectContaining({
            action: 'paid',
            about: expect.stringMatching(/, 1 of 1 approvals \(Second Person, user .+\)$/),
          }),
        ]),
      }),
    ],
  ),
  batch(
    'refused by the bank alone, a line keeps its reference until a person ends it, and is what its transfer is',
    ['Ada', 'Bea'],
    1,
    [
      added,
      step(RUN, '8 payment_failed failed executed', {
        meets: { execute: [refused(422)] },
        calls: `${SINGLE} status ${SINGLE}`,
        says: '1 of 2 payments was not made\nThe bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. psd2 asks the bank again with:\n$ batch run BATCH',
      }),
      step(['transfer', 'show', 'FLOW', '--json'], '0 failed'),
      step(SHOW, '0 done', { prints: { counts: { failed: 1, executed: 1 } } }),
      step(RETRY, '2 usage', {
        says: 'There is nothing to retry: no payment is known to have failed\npsd2 has stored nothing. The bank refused payment 1 without confirming that no money moved. Once you know that none did, run psd2 transfer resolve --not-executed. See its payments with:\n$ batch report BATCH',
      }),
      step(UNPAID, '0 failed'),
      step(RETRY, '0 added', { prints: { lines: 1 } }),
    ],
  ),
];

const IBAN = 'IT89F0999001600000010482620';
const BULKS = { bulk: { maxEntries: 4 }, products: { 'bulk-payments': ['sepa-credit-transfers'] } };
const together = (name: string, payments: object, payees: string[], paid: number, ...steps: Step[]): Row => ({
  ...{ name, bank: { file: { payments } }, payments: payees, paid },
  steps: [step(ADD.with(4, IBAN), '0 added'), ...steps],
});
const AS_BASKET = [...RUN, '--as', 'basket'];
const ALONE = [...RUN, '--as', 'single'];
const AS_BULK = [...RUN, '--as', 'bulk'];
const BRIEFLY = [...RUN, '--sca-timeout', '1'];
const AWAY = { customer: 'stays away' } as const;
/** The customer comes back to another machine, so psd2 asks the bank. */
const ELSEWHERE = { PSD2_REDIRECT_URI: 'https://tpp.example/callback' };

const bulks = [
  together(
    'lines go as bulk payments, as many as the bank takes in one, and each has the outcome that the bank says',
    BULKS,
    ['Ada', 'Bea', 'EXECUTE REFUSED', 'Dora', 'Eve'],
    4,
    step(AS_BULK, '8 payment_failed executed executed failed executed executed', {
      calls: expect.stringMatching(
        /^initiate( sca-status status)+( payment)+ initiate( sca-status status)+$/,
      ),
      says: '1 of 5 payments was not made',
    }),
    step(RUN, '8 payment_failed executed executed failed executed executed', {
      calls: expect.not.stringContaining('initiate'),
    }),
    step(RETRY, '0 added', { prints: { lines: 1 } }),
  ),
  together(
    'a bulk payment whose answer is lost is unknown, until a person has resolved each of its payments',
    BULKS,
    ['Ada'],
    0,
    step(AS_BULK, '9 outcome_unknown unknown', { meets: { initiate: [lost] } }),
    step(UNPAID, '0 failed'),
    step(RUN, '8 payment_failed failed', { calls: '' }),
  ),
  together(
    'a transfer of a bulk payment is not handled alone',
    BULKS,
    ['Ada', 'Bea'],
    0,
    step(BRIEFLY, '13 still_open authorizing authorizing', AWAY),
    step(RESUME, '2 usage', { calls: '' }),
    step(UNPAID, '2 usage', { calls: '' }),
  ),
  ...(
    [
      ['as a bulk payment', AS_BULK, BULKS],
      ['alone', ALONE, {}],
    ] as const
  ).map(([how, run, payments]) => ({
    ...together(
      `the bank cannot be asked about payments that go ${how} until the time is over: nobody knows`,
      payments,
      ['Ada'],
      0,
      step([...run, '--sca-timeout', '60'], '9 outcome_unknown authorizing', {
        ...{ ...AWAY, env: ELSEWHERE },
        meets: { status: [saying({}), ...Array<Treatment>(99).fill(gets(503))] },
        prints: [{ reason: expect.stringContaining('could not be asked since') }],
      }),
    ),
    waits: true as const,
  })),
  ...(
    [
      [ALONE, '13 still_open verified executed', 'executed'],
      [[...ALONE, '--stop-after', '1'], '8 payment_failed verified waiting', 'waiting'],
    ] as const
  ).map(([run, ends, state]) => ({
    ...together(
      `the bank refuses to begin the SCA of a line that goes alone: it is open, as a transfer of its own is (${ends})`,
      {},
      ['Ada', 'Bea'],
      2,
      step(run, ends, {
        meets: { sca: [rejected(401, 'PSU_CREDENTIALS_INVALID')] },
        prints: [{ reason: expect.stringContaining('somebody can still authorise it') }, { state }],
      }),
      step(ALONE, '0 executed executed'),
    ),
    bank: { file: { sca: { start: 'explicit' } } },
  })),
  together(
    'with --as single each line has an SCA of its own',
    BULKS,
    ['Ada', 'Bea'],
    2,
    step(ALONE, '0 executed executed', {
      calls: expect.stringMatching(/^(initiate( sca-status status)+ ?){2}$/),
    }),
  ),
];

const NEVER = { executesWithoutSca: 'never' };
const CANCEL = ['batch', 'cancel', 'BATCH', '--yes', '--json'];
const LATE = { initiate: [fault('executes-late=60')] };
const isGone = (counts: object) => ({ prints: { counts } });
const cancellations = [
  together(
    'a bulk payment that nobody has authorised is cancelled as a whole, with the SCA that the bank wants for it',
    BULKS,
    ['Ada', 'Bea'],
    0,
    step(BRIEFLY, '13 still_open authorizing authorizing', AWAY),
    step(CANCEL, '0 cancelled', {
      calls: 'sca-status cancel sca sca-status status sca-status status sca-status',
      ...isGone({ cancelled: 2 }),
    }),
    step(RETRY, '0 added', { prints: { lines: 2 } }),
  ),
  together(
    'a bulk payment that was authorised is cancelled until the bank executes it',
    BULKS,
    ['Ada', 'Bea'],
    0,
    step(RUN, '0 ordered ordered', { meets: LATE }),
    step(CANCEL, '0 cancelled', isGone({ cancelled: 2 })),
    step(['batch', 'status', 'BATCH', '--json'], '0', { calls: '' }),
  ),
  together(
    'a bulk payment is cancelled at once at a bank that wants no SCA for it',
    { ...BULKS, cancel: 'direct' },
    ['Ada', 'Bea'],
    0,
    step(BRIEFLY, '13 still_open authorizing authorizing', AWAY),
    step(CANCEL, '0 cancelled', {
      calls: 'sca-status cancel sca-status status sca-status status',
      ...isGone({ cancelled: 2 }),
    }),
  ),
  together(
    'a bulk payment whose cancellation the customer refuses stays as it is',
    BULKS,
    ['Ada', 'Bea'],
    0,
    step(BRIEFLY, '13 still_open authorizing authorizing', AWAY),
    step(CANCEL, '13 still_open running', {
      customer: 'refuses',
      says: /The payment is not over[\s\S]*\$ batch cancel BATCH/,
    }),
    step(BRIEFLY, '13 still_open authorizing authorizing', AWAY),
  ),
  together(
    'a bulk payment that the bank has executed is not cancelled',
    BULKS,
    ['Ada', 'Bea'],
    2,
    step(RUN, '0 executed executed'),
    step(CANCEL, '7 bank_refused running', {
      calls: 'cancel sca-status status',
      says: 'The payment cannot be cancelled. It is ACSP.',
    }),
  ),
  together(
    'a signing basket is deleted before anybody has authorised it, and then its payments are cancelled',
    NEVER,
    ['Ada', 'Bea'],
    0,
    step([...BRIEFLY, '--as', 'basket'], '13 still_open authorizing authorizing', AWAY),
    step(CANCEL, '0 cancelled', {
      calls: expect.stringMatching(
        /^sca-status cancel( sca-status| status)+( cancel sca( sca-status| status)+){2}$/,
      ),
      ...isGone({ cancelled: 2 }),
    }),
  ),
];

const TURNED_AWAY = gets(502, '<h1>Bad gateway</h1>');
const stops = [
  together(
    'after three initiations in a row that end unknown alike, a run stops, and the next one goes on with the others',
    {},
    ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve'],
    2,
    step(RUN, '9 outcome_unknown unknown unknown unknown waiting waiting', {
      meets: { initiate: [TURNED_AWAY, TURNED_AWAY, TURNED_AWAY] },
      calls: 'initiate initiate initiate',
      says: 'The outcome of 3 of 5 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: HTTP 502',
    }),
    step(RUN, '9 outcome_unknown unknown unknown unknown executed executed'),
    step(NONE_PAID, '0 failed failed failed', { calls: '' }),
    step(RETRY, '0 added', { prints: { lines: 3 } }),
  ),
];

const NO_SCA = rejected(400, 'PAYMENT_FAILED');
const refusedStarts = (
  [
    ['alone', ALONE, {}, 'verified verified', [NO_SCA, NO_SCA]],
    ['as a bulk payment', AS_BULK, BULKS, 'authorizing authorizing', [NO_SCA]],
    ['in a signing basket', AS_BASKET, NEVER, 'authorizing authorizing', [NO_SCA]],
  ] as const
).map(([how, run, payments, states, sca]) => ({
  ...together(
    `payments that go ${how} are open if the bank refuses to begin their SCA, and nobody ends them by hand`,
    payments,
    ['Ada', 'Bea'],
    2,
    step(run, `13 still_open ${states}`, {
      meets: { sca },
      prints: [{ reason: expect.stringContaining('somebody can still authorise it') }, {}],
    }),
    step(NONE_PAID, '2 usage', { says: /^No payment of the batch has an unknown outcome/, calls: '' }),
    step(RETRY, '2 usage'),
    step(RUN, '0 executed executed'),
  ),
  bank: { file: { payments, sca: { start: 'explicit' } } },
}));

const whys = [
  together(
    'a bulk payment that is unknown after a refusal leaves the words of the bank with each payment',
    BULKS,
    ['Ada', 'Bea'],
    0,
    step(AS_BULK, '9 outcome_unknown unknown unknown', {
      meets: { initiate: [rejected(400, 'PAYMENT_FAILED')] },
    }),
    step(REPORT, '0 unknown unknown', {
      prints: Array(2).fill({
        reason: expect.stringContaining('PAYMENT_FAILED'),
        bankReasons: [expect.objectContaining({ proprietary: 'PAYMENT_FAILED' })],
      }),
    }),
  ),
  together(
    'a payment that its customer has refused has that as its reason, and not the status at the bank',
    {},
    ['Ada'],
    0,
    step(ALONE, '8 payment_failed rejected', { customer: 'refuses' }),
    step(REPORT, '0 rejected', { prints: [{ reason: 'The customer did not authorise it' }] }),
  ),
];

const REJECTED = { transactionStatus: 'RJCT', basketId: 'b-1' };
const baskets = [
  together(
    'in a basket each line is a payment at the bank, and the customer authorises all of them once',
    NEVER,
    ['Ada', 'EXECUTE REFUSED', 'Dora'],
    2,
    step(AS_BASKET, '8 payment_failed executed failed executed', {
      calls: expect.stringMatching(/^initiate initiate initiate basket( sca-status| status)+$/),
      says: '1 of 3 payments was not made',
    }),
    step(AS_BASKET, '8 payment_failed executed failed executed', {
      calls: expect.not.stringMatching(/initiate|basket/),
    }),
  ),
  together(
    'a customer who refuses a basket pays none of it',
    NEVER,
    ['Ada', 'Bea'],
    0,
    step(AS_BASKET, '8 payment_failed rejected rejected', { customer: 'refuses' }),
    step(RETRY, '0 added', { prints: { lines: 2 } }),
  ),
  together(
    'after a lost answer to a basket, its payments are authorised alone, and each is paid once',
    NEVER,
    ['Ada', 'Bea'],
    2,
    step(AS_BASKET, '9 outcome_unknown unknown unknown', { meets: { basket: [lost] } }),
    // The bank has the payments in that basket, and takes them into no other one.
    step(AS_BASKET, '13 still_open verified verified', {
      says: '$ batch run BATCH --as single\n$ batch cancel BATCH',
    }),
    step(ALONE, '0 executed executed', { calls: expect.stringMatching(/^(sca( sca-status status)+ ?){2}$/) }),
  ),
  ...[gets(501, ''), gets(404, '<h1>Not found</h1>'), gets(405, '{"error":"Method Not Allowed"}')].map(
    (answer, at) =>
      together(
        `at a bank without signing baskets, payments are authorised alone at once: ${at}`,
        NEVER,
        ['Ada', 'Bea'],
        2,
        step(AS_BASKET, '0 executed executed', {
          meets: { basket: [answer] },
          calls: 'initiate initiate basket status status sca sca-status status sca sca-status status',
        }),
      ),
  ),
  together(
    'a basket that is rejected because there is another one ends nothing, and no line is paid again',
    {},
    ['Ada', 'Bea'],
    0,
    step(AS_BASKET, '9 outcome_unknown unknown unknown', {
      meets: { basket: [gets(201, { ...REJECTED, statusReason: { code: 'AM05' } })] },
    }),
    step(AS_BASKET, '9 outcome_unknown unknown unknown', {
      meets: { status: Array<Treatment>(3).fill(gets(200, REJECTED)) },
    }),
    step(RETRY, '2 usage'),
  ),
  together(
    'a basket that is rejected before anybody had its link leaves its payments as they are',
    NEVER,
    ['Ada', 'Bea'],
    2,
    step(AS_BASKET, '13 still_open verified verified', { meets: { basket: [gets(201, REJECTED)] } }),
    step(RETRY, '2 usage'),
    step(AS_BASKET, '0 executed executed'),
  ),
  together(
    'a bank that does not know a payment of a basket has baskets, and may have made this one',
    {},
    ['Ada', 'Bea'],
    0,
    step(AS_BASKET, '9 outcome_unknown unknown unknown', {
      meets: { basket: [rejected(404, 'RESOURCE_UNKNOWN')] },
      says: /The bank may have their signing basket[\s\S]*\$ batch run BATCH --as single/,
    }),
    step(RETRY, '2 usage'),
  ),
  together(
    'a bank without baskets says so by whoever answers, and each payment is authorised alone',
    {},
    ['Ada', 'Bea'],
    2,
    step(AS_BASKET, '0 executed executed', {
      meets: { basket: [gets(404, '<h1>Not found</h1>')] },
      tells:
        /^The bank has no signing baskets: The bank refused [^\n]+ \(HTTP 404\)[^\n]*\. So each payment is authorised alone, with a link of its own\.\n/,
    }),
  ),
  together(
    'a payment in a basket is handled with the others, but can be cancelled at the bank',
    NEVER,
    ['Ada', 'Bea'],
    0,
    step([...BRIEFLY, '--as', 'basket'], '13 still_open authorizing authorizing', AWAY),
    step(RESUME, '2 usage', { says: '$ batch run BATCH' }),
    step(['transfer', 'cancel', 'FLOW', '--yes', '--json'], '0 cancelled'),
    step([...BRIEFLY, '--as', 'basket'], '8 payment_failed cancelled authorizing', AWAY),
  ),
];

const XML = { 'bulk-payments': ['pain.001-sepa-credit-transfers'] };
const files = ['pain.001.001.03', 'pain.001.001.09'].map((format) =>
  together(
    `a bulk payment in ${format} is taken, and each line has the outcome that the bank says`,
    { bulk: { format }, products: XML },
    ['Ada + Co', 'EXECUTE REFUSED', 'Dora'],
    2,
    step(AS_BULK, '8 payment_failed executed failed executed', {
      prints: [
        { reason: 'The bank has accepted it, and has not said that it is final', paidAt: null },
        { reason: 'RJCT' },
        {},
      ],
    }),
  ),
);

export const BATCHES: Row[] = [
  ...alone,
  ...bulks,
  ...stops,
  ...refusedStarts,
  ...whys,
  ...cancellations,
  ...baskets,
  ...files,
];

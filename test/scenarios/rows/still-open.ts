import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { cut, gets, ORDER, RESUME, type Row, rejected, type Step, saying, step } from '../row.ts';

// Exit code 13: psd2 has stopped, and somebody can still authorise at the bank what it stopped with.

const PAY = ORDER.with(5, 'IT89F0999001600000010482620');
const BRIEFLY = [...PAY, '--sca-timeout', '1'];
const CONSENT = ['consent', 'request', '--json', '--customer', 'REFERENCE'];
const GO_ON = ['consent', 'resume', 'FLOW', '--json'];
const AWAY = { customer: 'stays away' } as const;
/** The customer comes back to another machine, so psd2 asks the bank. */
const ELSEWHERE = { env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' } };
const WAITS: Step = step(BRIEFLY, '13 still_open authorizing', AWAY);
const always = (treatment: Treatment) => Array<Treatment>(99).fill(treatment);
const at = (name: string, paid: number, steps: Step[], file: object = { payments: {} }): Row => ({
  ...{ name, bank: { file }, steps, paid },
});
/** What the bank says of the payment, and of its authorisation, whatever they are there. */
const is = (transactionStatus: string, scaStatus: string) => ({
  status: always(saying({ transactionStatus })),
  'sca-status': always(saying({ scaStatus })),
});
/** The customer has authorised it with the link that they had. */
const PAID: Step = step(RESUME, '0 executed', { meets: is('ACSC', 'finalised') });
const LATER: Step = step(GO_ON, '0 confirmed', {
  meets: {
    consent: always(saying({ consentStatus: 'valid' })),
    'sca-status': always(saying({ scaStatus: 'finalised' })),
  },
});
const CAN_STILL =
  /is not over: the customer can still authorise it\n[\s\S]*\$ transfer resume FLOW\n\$ transfer cancel FLOW$/;
/** To go on with it leads to the same. */
const ONLY_ASK =
  /no[\s\S]*is not over: somebody can still authorise it\n[\s\S]*\$ (transfer|consent) status FLOW\n\$ \1 (cancel|delete) FLOW$/;

const payments = [
  at('the customer comes late: the payment is open, and paid', 0, [
    { ...WAITS, says: CAN_STILL },
    step(PAY, '2 duplicate_reference'),
    PAID,
  ]),
  ...['PATC', 'ACTC', 'ACCP', 'ACFC', 'ACSP', 'ACWC', 'ACWP'].map((word) =>
    at(`the authorisation has failed, and the payment stands (${word}): nobody is waited for`, 0, [
      step(PAY, '13 still_open authorizing', {
        ...{ customer: 'refuses', meets: is(word, 'failed') },
        says: /can still authorise it/,
        prints: { transactionStatus: word, scaStatus: 'failed' },
      }),
      step(RESUME, '13 still_open authorizing', {
        ...{ meets: is(word, 'failed'), calls: 'sca-status status' },
        tells: /^(?![\s\S]*Open this address)/,
      }),
      step(PAY, '2 duplicate_reference'),
    ]),
  ),
  ...['RCVD', 'PDNG'].map((word) =>
    at(`the authorisation has failed, and the payment is ${word}: it has ended unpaid`, 0, [
      step(PAY, '6 not_authorised rejected', { customer: 'refuses', meets: is(word, 'failed') }),
    ]),
  ),
  {
    ...at('the status of another authorisation says nothing of ours: nobody knows', 0, [
      step(BRIEFLY, '9 outcome_unknown authorizing', {
        ...{
          ...AWAY,
          meets: { 'sca-status': always(saying({ scaStatus: 'failed', authorisationId: 'x' })) },
        },
        says: /is about the authorisation x, not about /,
      }),
      step(PAY, '2 duplicate_reference'),
      PAID,
    ]),
    waits: true as const,
  },
  at('the bank refuses another authorisation: the payment is as open as before', 0, [
    WAITS,
    step([...RESUME, '--psu-id', 'emil'], '13 still_open authorizing', {
      meets: { sca: [rejected(409, 'STATUS_INVALID')] },
      says: ONLY_ASK,
    }),
    PAID,
  ]),
  at(
    'the bank refuses the first authorisation of a payment that it has',
    0,
    [
      step(PAY, '13 still_open verified', {
        meets: { sca: [rejected(400, 'PAYMENT_FAILED')] },
        says: ONLY_ASK,
      }),
      step(PAY, '2 duplicate_reference'),
    ],
    { payments: {}, sca: { start: 'explicit' } },
  ),
  {
    ...at('the bank cannot be asked until the time is over: nobody knows', 0, [
      step([...PAY, '--sca-timeout', '60'], '9 outcome_unknown authorizing', {
        ...{ ...AWAY, ...ELSEWHERE },
        meets: { status: [saying({}), ...always(gets(503))] },
        says: /could not be asked since \d{4}-\d\d-\d\dT[\d:]{8}Z/,
      }),
      PAID,
    ]),
    waits: true as const,
  },
  at('a payment whose customer has refused it meanwhile ends with its cancellation, unpaid', 0, [
    WAITS,
    step(['transfer', 'cancel', 'FLOW', '--yes', '--json'], '0 rejected', { meets: is('RCVD', 'failed') }),
  ]),
  at('the customer refuses the cancellation of a payment whose link they have', 0, [
    WAITS,
    step(['transfer', 'cancel', 'FLOW', '--yes', '--json'], '13 still_open authorizing', {
      customer: 'refuses',
      says: /did not authorise the cancellation[\s\S]*The payment is not over/,
    }),
    PAID,
  ]),
];

const consents = [
  at('the customer comes late: the consent is open, and granted later', 0, [
    step([...CONSENT, '--sca-timeout', '1'], '13 still_open authorizing', {
      ...{ ...AWAY, says: /The consent is not over[\s\S]*\$ consent resume FLOW\n\$ consent delete FLOW$/ },
    }),
    {
      ...LATER,
      prints: { authorisations: [expect.objectContaining({ scaStatus: 'finalised' })] },
    },
  ]),
  at('a refused consent has the bank’s word for its authorisation', 0, [
    step(CONSENT, '6 not_authorised rejected', {
      customer: 'refuses',
      prints: { authorisations: [expect.objectContaining({ scaStatus: 'failed' })] },
    }),
  ]),
  at('the bank refuses another authorisation: the consent is as open as before', 0, [
    step([...CONSENT, '--sca-timeout', '1'], '13 still_open authorizing', AWAY),
    step([...GO_ON, '--psu-id', 'emil'], '13 still_open authorizing', {
      meets: { sca: [rejected(409, 'STATUS_INVALID')] },
      says: ONLY_ASK,
    }),
    LATER,
  ]),
  {
    ...at('the bank cannot be asked until the time is over: nobody knows of the consent', 0, [
      step([...CONSENT, '--sca-timeout', '60'], '9 outcome_unknown authorizing', {
        ...{ ...AWAY, ...ELSEWHERE },
        meets: { consent: [saying({}), ...always(cut)], status: always(cut) },
        says: /could not be asked since \d{4}-[\s\S]*\$ consent resume FLOW/,
      }),
    ]),
    waits: true as const,
  },
].map((row) => ({ ...row, bank: { file: { sca: { pollSeconds: 1 } } } }));

export const STILL_OPEN: Row[] = [...payments, ...consents];

import type { Treatment } from '../../crash/relay.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import { fault, gets, ORDER, RESUME, type Row, rejected, type Step, saying, step } from '../row.ts';

// What a cancellation proves (NextGenPSD2): nothing for a customer who has a link that works, and nothing for payments that a standing
// order has made before.

const IBAN = 'IT89F0999001600000010482620';
const PAY = ORDER.with(5, IBAN);
const BRIEFLY = [...PAY, '--sca-timeout', '1'];
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json', '--sca-timeout', '1'];
const STATUS = ['transfer', 'status', 'FLOW', '--json'];
const UNPAID = ['transfer', 'resolve', 'FLOW', '--not-executed', '--yes', '--json'];
/** It cancels without SCA. */
const PERIODIC = { futureDays: 30, products: { 'periodic-payments': ['sepa-credit-transfers'] } };
const DIRECT = { file: { payments: { ...PERIODIC, cancel: 'direct' } } };
const AUTHORISED = { file: { payments: PERIODIC } };
const at = (name: string, bank: Row['bank'], paid: number, ...steps: Step[]): Row => ({
  ...{ name, bank, paid, steps },
});

const AWAY: Step = step(BRIEFLY, '13 still_open authorizing', { customer: 'stays away' });
const FREE = step(PAY, '0 executed');
const STAYS =
  /A customer has a link to authorise the transfer, which may work until 20.* stays reserved until 20/;
const RESERVED = step(PAY, '2 duplicate_reference', { says: STAYS });
/** The bank leaves the link of the payment working. */
const kept = (more: Partial<Step> = {}): Step =>
  step(CANCEL, '0 cancelled', { meets: { cancel: [fault('link-stays')] }, tells: STAYS, ...more });
const means = (scaStatus: string) => ({ 'sca-status': Array<Treatment>(40).fill(saying({ scaStatus })) });
/** The bank says that it is so many minutes later. */
const minutesLater = (minutes: number) => ({ accounts: [fault(`clock=${minutes}`)], ...means('started') });
const links = [
  at(
    'a payment is cancelled while its customer holds the link: the reference is reserved',
    DIRECT,
    0,
    AWAY,
    kept(),
    RESERVED,
  ),
  at(
    'it stays so if the bank does not know the payment any more, but says nothing of the link',
    DIRECT,
    0,
    AWAY,
    kept({
      meets: {
        ...{ cancel: [fault('link-stays')], ...means('started') },
        status: Array<Treatment>(9).fill(rejected(404, 'RESOURCE_UNKNOWN')),
      },
    }),
    RESERVED,
  ),
  at('it stays so if the customer has authorised the cancellation', AUTHORISED, 0, AWAY, kept(), RESERVED),
  at(
    'the reference is free once the time of the link is over by the clock of the bank, with a margin',
    DIRECT,
    1,
    { ...AWAY, meets: { initiate: [fault('clock=0')] } },
    kept(),
    { ...RESERVED, meets: minutesLater(10) },
    step(RESUME, '2 cancelled cancelled', { meets: minutesLater(9), says: STAYS }),
    step(PAY, '0 executed', { meets: minutesLater(12) }),
  ),
  at(
    'a reference that is reserved for a link is free once the bank says that its authorisation has failed',
    DIRECT,
    1,
    ...[AWAY, kept()],
    step(STATUS, '0 cancelled', { meets: means('failed'), prints: { linkUntil: null } }),
    FREE,
  ),
  ...[STATUS, RESUME].map((words) =>
    at(
      `${words[1]}: the customer has authorised it after the bank had cancelled it: nobody knows`,
      DIRECT,
      0,
      ...[AWAY, kept()],
      step(words, '9 outcome_unknown unknown', {
        meets: means('finalised'),
        says: 'the customer has authorised it since',
      }),
      step(RESUME, '9 outcome_unknown unknown', { says: 'the customer has authorised it since' }),
      step(PAY, '2 duplicate_reference'),
      step(UNPAID, '0 failed'),
    ),
  ),
  at(
    'the customer has authorised it since: who uses its reference hears what has become of it',
    DIRECT,
    0,
    ...[AWAY, kept()],
    step(PAY, '2 duplicate_reference', { meets: means('finalised'), says: /, which is unknown$/m }),
  ),
  at(
    'transfer status says each time that the customer has authorised it after the bank had cancelled it',
    DIRECT,
    0,
    ...[AWAY, kept()],
    ...['first', 'again'].map(() =>
      step(STATUS, '9 outcome_unknown unknown', {
        meets: means('finalised'),
        says: 'the customer has authorised it since',
      }),
    ),
  ),
  at(
    'the customer authorises it before psd2 looks: nobody knows',
    DIRECT,
    0,
    AWAY,
    step(CANCEL, '9 outcome_unknown unknown', {
      meets: {
        cancel: [fault('link-stays')],
        'sca-status': [saying({}), ...Array<Treatment>(9).fill(saying({ scaStatus: 'finalised' }))],
      },
    }),
  ),
  at(
    'what the customer had authorised before it was cancelled contradicts nothing',
    DIRECT,
    0,
    AWAY,
    step(CANCEL, '0 cancelled', { meets: means('finalised') }),
  ),
  ...(
    [
      ['ends it with the payment', {}],
      ['says that it has failed', means('failed')],
      [
        'does not know it any more',
        { 'sca-status': Array<Treatment>(9).fill(rejected(404, 'RESOURCE_UNKNOWN')) },
      ],
    ] as const
  ).map(([what, meets]) =>
    at(
      `a cancelled payment whose link the bank ${what} frees its reference at once`,
      DIRECT,
      1,
      AWAY,
      {
        ...step(CANCEL, '0 cancelled', { meets, tells: 'You can use the reference' }),
      },
      FREE,
    ),
  ),
  at(
    'a page that does not know the authorisation ends no link',
    DIRECT,
    0,
    AWAY,
    {
      ...kept({
        meets: { cancel: [fault('link-stays')], 'sca-status': Array<Treatment>(9).fill(gets(404, '<p>No')) },
      }),
    },
    RESERVED,
  ),
  at(
    'a person can say that a cancelled payment whose link may work was not executed',
    DIRECT,
    1,
    AWAY,
    kept(),
    step(UNPAID, '0 failed'),
    FREE,
  ),
];

const STANDING = [...['transfer', 'standing', ...PAY.slice(2), '--frequency', 'Monthly', '--start']];
const TODAY = [...STANDING, bankDay(untilWorkday())];
const LATER = [...STANDING, bankDay(untilWorkday() + 7)];
const says = (word: string) => ({ status: Array<Treatment>(9).fill(saying({ transactionStatus: word })) });
const MAY_HAVE_PAID =
  /ended after its first day, 20.*so payments up to now may have been made\. Their bookings have the end-to-end id/;
/** The real day may be none on which a bank pays. */
const onItsFirstDay = (...row: Parameters<typeof at>): Row => ({ ...at(...row), waits: true });
const standing = [
  ...[STATUS, RESUME].map((words) =>
    onItsFirstDay(
      `${words[1]}: the bank rejects a standing order after its first day: payments may have been made`,
      DIRECT,
      2,
      step(TODAY, '0 executed'),
      step(words, '8 payment_failed ended', { meets: says('RJCT'), says: MAY_HAVE_PAID }),
      step(RESUME, '8 payment_failed ended', { says: MAY_HAVE_PAID }),
      step(TODAY, '2 duplicate_reference', { says: MAY_HAVE_PAID }),
      step(UNPAID, '0 failed', { meets: says('RJCT') }),
      step(TODAY, '0 executed'),
    ),
  ),
  onItsFirstDay(
    'a standing order is cancelled after its first day: payments may have been made',
    DIRECT,
    1,
    step(TODAY, '0 executed'),
    step(CANCEL, '0 ended', { tells: MAY_HAVE_PAID }),
    step(RESUME, '0 ended', { tells: MAY_HAVE_PAID }),
    step(TODAY, '2 duplicate_reference', { says: MAY_HAVE_PAID }),
  ),
  at(
    'a standing order that is cancelled before its first day has paid nothing',
    DIRECT,
    0,
    step(LATER, '0 ordered'),
    step(CANCEL, '0 cancelled', { tells: 'You can use the reference' }),
    step(LATER, '0 ordered'),
  ),
  at(
    'a standing order that the bank rejects before its first day has paid nothing',
    DIRECT,
    0,
    step(LATER, '0 ordered'),
    step(RESUME, '8 payment_failed failed', { meets: says('RJCT'), says: 'No money moved' }),
    step(LATER, '0 ordered'),
  ),
];

const BATCH: Step[] = [step(['batch', 'add', 'FILE', '--from', IBAN, '--json'], '0 added')];
const RUN = ['batch', 'run', 'BATCH', '--yes', '--json', '--sca-timeout', '1'];
const BULK = {
  file: {
    payments: {
      cancel: 'direct',
      bulk: { maxEntries: 4 },
      products: { 'bulk-payments': ['sepa-credit-transfers'] },
    },
  },
};
const batches = [
  {
    ...at(
      'a bulk payment is cancelled while its customer holds the link: its references are reserved until that is over',
      BULK,
      0,
      ...BATCH,
      step([...RUN, '--as', 'bulk'], '13 still_open authorizing authorizing', { customer: 'stays away' }),
      step(['batch', 'cancel', 'BATCH', '--yes', '--json'], '0 cancelled', {
        meets: { cancel: [fault('link-stays')] },
        tells: /link to authorise 2 payments, which may work until .* Their references stay reserved until/,
      }),
      step(['batch', 'retry', 'BATCH', '--json'], '2 usage', { says: 'stays reserved until' }),
      step(['batch', 'status', 'BATCH', '--json'], '0 cancelled cancelled', { meets: means('started') }),
      step(['batch', 'status', 'BATCH', '--json'], '0', { meets: means('failed') }),
      step(['batch', 'retry', 'BATCH', '--json'], '0 added', { prints: { lines: 2 } }),
    ),
    payments: ['Ada', 'Bea'],
  },
  {
    ...at(
      'a bulk payment that its customer has authorised after the bank had cancelled it: nobody knows of any line',
      BULK,
      0,
      ...BATCH,
      step([...RUN, '--as', 'bulk'], '13 still_open authorizing authorizing', { customer: 'stays away' }),
      step(['batch', 'cancel', 'BATCH', '--yes', '--json'], '0 cancelled', {
        meets: { cancel: [fault('link-stays')] },
      }),
      step(['batch', 'status', 'BATCH', '--json'], '0 unknown unknown', { meets: means('finalised') }),
      step(['batch', 'retry', 'BATCH', '--json'], '2 usage'),
    ),
    payments: ['Ada', 'Bea'],
  },
];

export const CANCELLED_LINKS: Row[] = [...links, ...standing, ...batches];

import { expect, it } from 'vitest';
import type { Sca } from '../../src/bank/ports/customer.ts';
import { standingOf } from '../../src/domain/flow-states.ts';
import { reservedUntil } from '../../src/domain/given-links.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { cancellationLinkUntil, withLinkOut } from '../../src/flows/payment/link-out.ts';
import { fold } from './batch/groups.ts';
import { AT_THE_BANK, createdTransfer, INITIATION } from './stored-transfers.ts';

// Until when a customer may have a link that works, after the bank has cancelled the payment. The clock of psd2's machine, which may be
// wrong by any time, has no part in it: the events of these flows are of this year, and the bank is in another one.

const MADE = '2031-05-01T09:00:00.000Z';
const SAID = '2031-05-01T09:30:00.000Z';
const ASKED = '2031-05-01T09:31:00.000Z';
const NOBODY_KNOWS = '9999-12-31T00:00:00.000Z';
const IN_TEN = (time: string) => new Date(Date.parse(time) + 10 * 60_000).toISOString();

const LINK = { approach: 'redirect', id: 'a1', redirect: 'https://bank.example/a1' } as const;
const given = (more: object): TransferEvent => ({ type: 'sca-started', links: { ...LINK, ...more } });
/** The bank asks the customer's phone, and its answer was lost. */
const LOST: TransferEvent = { type: 'approach-sent', requestId: 'q1', digest: null };

const GOING_ON: ScaProgress = { scaStatus: 'started', means: 'going on', message: null };
/** A bank that says this of each authorisation. Null: it lists none. */
const saying = (progress: ScaProgress | null): Sca => ({
  timing: { pollSeconds: 1, authorisationMinutes: 10 },
  start: () => Promise.reject(new TypeError('Nothing is started')),
  status: () => Promise.reject(new TypeError('No status is asked for')),
  progress: async () => progress,
});

function cancelled(...events: TransferEvent[]) {
  const initiation = { ...INITIATION, needsLink: false };
  const sent: TransferEvent = { type: 'verify-sent', requestId: 'q', digest: null };
  return fold(undefined, [createdTransfer({ initiation }), sent, AT_THE_BANK, ...events]);
}

it.each<[string, TransferEvent, ScaProgress | null, string | undefined, string]>([
  ['when the bank made it', given({ madeAt: MADE }), GOING_ON, SAID, IN_TEN(MADE)],
  [
    'when the bank says of it that it goes on',
    given({}),
    { ...GOING_ON, saidAt: ASKED },
    SAID,
    IN_TEN(ASKED),
  ],
  ['when the bank says that it has cancelled the payment', given({}), GOING_ON, SAID, IN_TEN(SAID)],
  ['the same after a lost answer', LOST, null, SAID, IN_TEN(SAID)],
  ['never, by a bank without a time', given({}), GOING_ON, undefined, NOBODY_KNOWS],
  ['never, after a lost answer at such a bank', LOST, null, undefined, NOBODY_KNOWS],
])('a link counts from %s', async (_, event, progress, saidAt, until) => {
  const operation = cancelled(event);
  const found = await withLinkOut(
    saying(progress),
    operation,
    { type: 'cancelled' },
    { progress: null, saidAt },
  );
  expect(found).toEqual({ type: 'cancelled', linkUntil: until });
});

it.each<[object, ScaProgress, string]>([
  [{ madeAt: MADE }, GOING_ON, IN_TEN(MADE)],
  [{}, { ...GOING_ON, saidAt: ASKED }, IN_TEN(ASKED)],
  [{}, GOING_ON, NOBODY_KNOWS],
])('the link of a cancellation counts likewise: %j', async (more, progress, until) => {
  const links = { ...LINK, ...more };
  expect(await cancellationLinkUntil(saying(progress), cancelled(given({})), links)).toBe(until);
});

it('a link whose end nobody knows keeps its reference until it is over', () => {
  const ended: TransferEvent = { type: 'cancelled', linkUntil: NOBODY_KNOWS };
  const transfer = cancelled(given({}), ended);
  expect(standingOf(transfer)).toBe('kept');
  expect(reservedUntil(NOBODY_KNOWS) > new Date('2999-01-01')).toBe(true);
  expect(standingOf(fold(transfer, [{ type: 'link-over' }]))).toBe('refused');
});

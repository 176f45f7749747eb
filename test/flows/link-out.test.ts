import { describe, expect, it } from 'vitest';
import type { Sca } from '../../src/bank/ports/customer.ts';
import { standingOf } from '../../src/domain/flow-states.ts';
import { reservedUntil } from '../../src/domain/given-links.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import {
  cancellationLinkUntil,
  endLinkInTime,
  laterOf,
  PAID_BY_LINK,
  paidByLink,
  recordSigned,
  withLinkOut,
} from '../../src/flows/payment/link-out.ts';
import type { OpenPayment } from '../../src/flows/ports.ts';
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

const KEPT = { type: 'cancelled', linkUntil: IN_TEN(SAID) };
const FREE = { type: 'cancelled' };
const PAID = {
  ...{ type: 'execute-unanswered', isPaidByLink: true, description: PAID_BY_LINK },
  bank: { transactionStatus: null, scaStatus: 'finalised' },
};
const DONE: ScaProgress = { scaStatus: 'finalised', means: 'done', message: null };
const FAILED: ScaProgress = { scaStatus: 'failed', means: 'failed', message: null };
const EXPIRED: ScaProgress = { ...GOING_ON, scaStatus: 'expired' };
const UNKNOWN = new Psd2Error('bank_refused', 'Unknown', {
  refusal: 'other',
  isBanks: true,
  isNotKnown: true,
});
const REFUSED = new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true });
const AWAY = new Psd2Error('bank_failing', 'The bank is away');

describe('what becomes of a cancelled payment with a link', () => {
  const TAKEN: TransferEvent[] = [{ type: 'cancel-taken' }];
  const BEGUN: TransferEvent[] = [{ type: 'cancel-begun' }];
  const ONLY_SENT: TransferEvent[] = [{ type: 'cancel-sent', requestId: 'c', digest: null }];
  const AUTHORISED: TransferEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' };
  const ORDERED: TransferEvent = { type: 'ordered' };
  const EARLIER: TransferEvent[] = [{ type: 'cancelled', linkUntil: SAID }];

  /** Asks with a bank that answers so, of each link. @returns what follows, and of which links the bank was asked */
  async function cancelling(
    events: TransferEvent[],
    answer: ScaProgress | Error | null,
    seen: ScaProgress | null = null,
    links = [given({})],
  ) {
    const asked: unknown[] = [];
    const sca: Sca = {
      ...saying(null),
      async progress(_, { id }, __, decides) {
        asked.push([id, decides]);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    const operation = cancelled(...links, ...events);
    const found = await withLinkOut(sca, operation, { type: 'cancelled' }, { progress: seen, saidAt: SAID });
    return { asked, found };
  }

  it.each<[string, TransferEvent[], Record<'done' | 'unknown' | 'unsaid' | 'away', object>]>([
    ['nobody has asked for it', [], { done: FREE, unknown: KEPT, unsaid: KEPT, away: KEPT }],
    ['psd2 has asked, and has no answer', ONLY_SENT, { done: FREE, unknown: KEPT, unsaid: KEPT, away: KEPT }],
    ['the bank has taken it', TAKEN, { done: PAID, unknown: FREE, unsaid: KEPT, away: KEPT }],
    ['the customer must authorise it', BEGUN, { done: PAID, unknown: FREE, unsaid: KEPT, away: KEPT }],
    ['the bank has cancelled it before', EARLIER, { done: PAID, unknown: KEPT, unsaid: KEPT, away: KEPT }],
    ['the customer had authorised it', [AUTHORISED], { done: FREE, unknown: FREE, unsaid: FREE, away: FREE }],
    [
      'they had authorised it, and the bank has taken it',
      [AUTHORISED, ...TAKEN],
      { done: FREE, unknown: FREE, unsaid: FREE, away: FREE },
    ],
    [
      'it was ordered, and the bank has taken it',
      [ORDERED, ...TAKEN],
      { done: FREE, unknown: FREE, unsaid: FREE, away: FREE },
    ],
  ])('if %s', async (_, events, { done, unknown, unsaid, away }) => {
    expect((await cancelling(events, DONE)).found).toEqual(done);
    expect((await cancelling(events, UNKNOWN)).found).toEqual(unknown);
    expect((await cancelling(events, null)).found).toEqual(unsaid);
    for (const error of [AWAY, REFUSED]) expect((await cancelling(events, error)).found).toEqual(away);
    // Whoever asked for it.
    expect((await cancelling(events, GOING_ON)).found).toEqual(KEPT);
    for (const over of [FAILED, EXPIRED]) expect((await cancelling(events, over)).found).toEqual(FREE);
  });

  it('Ctrl-C says nothing of it', async () => {
    const interrupted = new Psd2Error('interrupted', 'Ctrl-C');
    await expect(cancelling(TAKEN, interrupted)).rejects.toBe(interrupted);
  });

  it.each<[string, boolean]>([
    ['finalised', false],
    ['exempted', false],
    ['failed', false],
    ['started', true],
    ['received', true],
  ])('the bank is asked of an authorisation that was %s: %s', async (scaStatus, isAsked) => {
    const bank = { transactionStatus: 'RCVD', scaStatus };
    const noted: TransferEvent = { type: 'authorization', status: 'PENDING', bankStatus: 'RCVD', bank };
    const { asked, found } = await cancelling([noted], GOING_ON);
    expect(asked).toEqual(isAsked ? [['a1', 'an end']] : []);
    expect(found).toEqual(isAsked ? KEPT : FREE);
  });

  it.each<[string, ScaProgress | null, TransferEvent[], unknown[], object]>([
    ['of the link', FAILED, [given({})], [], FREE],
    ['of the link, which goes on', GOING_ON, [given({})], [], KEPT],
    ['nothing', null, [given({})], ['a1'], KEPT],
    ['of the last of two', FAILED, [given({}), given({ id: 'a2' })], ['a1'], KEPT],
    ['of the link, beside one whose answer was lost', FAILED, [given({}), LOST], [], KEPT],
    ['of a link without an id', FAILED, [given({ id: undefined })], [undefined], KEPT],
  ])('the bank has just told %s', async (_, seen, links, ids, end) => {
    const { asked, found } = await cancelling([], GOING_ON, seen, links);
    expect(asked).toEqual(ids.map((id) => [id, 'an end']));
    expect(found).toEqual(end);
  });

  it.each([
    [MADE, SAID],
    [SAID, MADE],
    [SAID, SAID],
  ])('of two links, made at %s and %s, the later end counts', async (first, second) => {
    const links = [given({ madeAt: first }), given({ id: 'a2', madeAt: second })];
    expect((await cancelling([], GOING_ON, null, links)).found).toEqual(KEPT);
  });
});

it('a payment that the customer authorised after all may be executed', () => {
  expect(paidByLink(cancelled(given({})))).toMatchObject({
    code: 'outcome_unknown',
    message:
      'The bank has cancelled the transfer, and says that the customer has authorised it since, so it may be executed',
  });
});

it('a link whose end nobody knows keeps its reference until it is over', () => {
  const ended: TransferEvent = { type: 'cancelled', linkUntil: NOBODY_KNOWS };
  const transfer = cancelled(given({}), ended);
  expect(standingOf(transfer)).toBe('kept');
  expect(reservedUntil(NOBODY_KNOWS) > new Date('2999-01-01')).toBe(true);
  expect(standingOf(fold(transfer, [{ type: 'link-over' }]))).toBe('refused');
});

it.each<[string | null, string, string]>([
  [null, MADE, MADE],
  [MADE, MADE, MADE],
  [MADE, SAID, SAID],
  [SAID, MADE, SAID],
  // As a text, this one comes later.
  ['2031-05-01T10:00:00.000+02:00', MADE, MADE],
  ['2031-05-01T08:45:00.000-01:00', MADE, '2031-05-01T08:45:00.000-01:00'],
])('of the times %s and %s, %s is later', (one, other, later) => {
  expect(laterOf(one, other)).toBe(later);
});

/** The payment of a command, and what it records. */
function openOf(...events: TransferEvent[]) {
  const recorded: StepEvent[] = [];
  const current = cancelled(...events);
  const open: OpenPayment = {
    current,
    async record(event) {
      recorded.push(event);
      return current;
    },
    assertOurs: async () => {},
    reread: async () => current,
  };
  return { recorded, open };
}

describe('Ctrl-C ends it, and trouble of the bank does not', () => {
  const INTERRUPTED = new Psd2Error('interrupted', 'Ctrl-C');
  const AWAY = new Psd2Error('bank_unreachable', 'The bank is away');
  const failing = (error: Error) => async () => Promise.reject(error);

  it('the question before a cancellation whether the customer has authorised it', async () => {
    const { open, recorded } = openOf(given({}));
    const asking = (progress: NonNullable<Sca['progress']>) =>
      recordSigned(open, { ...saying(null), progress });
    await expect(asking(failing(INTERRUPTED))).rejects.toBe(INTERRUPTED);
    await asking(failing(AWAY));
    await asking(async () => GOING_ON);
    expect(recorded).toEqual([]);
    await asking(async () => ({ scaStatus: 'finalised', means: 'done', message: null }));
    expect(recorded).toEqual([
      expect.objectContaining({ type: 'authorization', status: 'PENDING', bankStatus: 'finalised' }),
    ]);
  });

  it('the question what time it is at the bank, which is asked for a link alone', async () => {
    const { open, recorded } = openOf(given({}), { type: 'cancelled', linkUntil: SAID });
    await expect(endLinkInTime(open, { clock: failing(INTERRUPTED) })).rejects.toBe(INTERRUPTED);
    await endLinkInTime(open, { clock: failing(AWAY) });
    await endLinkInTime(open, { clock: async () => new Date(SAID) });
    expect(recorded).toEqual([]);
    await endLinkInTime(open, { clock: async () => reservedUntil(SAID) });
    expect(recorded).toEqual([{ type: 'link-over' }]);
    const unlinked = openOf(given({}), { type: 'cancelled' });
    await endLinkInTime(unlinked.open, {
      clock: async () => Promise.reject(new TypeError('It is not asked')),
    });
    expect(unlinked.recorded).toEqual([]);
  });
});

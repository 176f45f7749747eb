import { describe, expect, it } from 'vitest';
import type { Transfer, TransferEvent } from '../../src/domain/transfer.ts';
import {
  assertRepeatable,
  isRepeatable,
  mayExecuteUnseen,
  recoveryOf,
} from '../../src/flows/payment/initiation.ts';
import type { KnownInitiation } from '../../src/flows/ports.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeWorld } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  FLOW,
  INITIATION,
  transfersIn,
} from './stored-transfers.ts';

// What psd2 does if the answer to an initiation was lost. Whatever is not sure might pay twice.

const transferAfter = transfersIn(temporaryFolder());
/** When the initiation was announced. */
const SENT_AT = Date.parse('2026-11-24T10:00:00Z');
const SENT: TransferEvent = {
  ...{ type: 'verify-sent', requestId: 'q1', digest: null },
  bankTime: new Date(SENT_AT).toISOString(),
};
/** As psd2 before this wrote it, and where the bank did not say its time. */
const SENT_UNTIMED: TransferEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
const MINUTE = 60_000;

type Events = [initiation: Partial<typeof INITIATION> | null, ...TransferEvent[]];

async function transfer(...[initiation, ...events]: Events) {
  const created =
    initiation === null
      ? createdForExecute()
      : createdTransfer({ initiation: { ...INITIATION, ...initiation } });
  return (await transferAfter(created, ...events)).open.current;
}

function way(of: Transfer, known?: KnownInitiation, after = 0) {
  const asked: string[] = [];
  const initiated = async (transactionId: string) => {
    asked.push(transactionId);
    return known ?? { answer: 'no' as const };
  };
  const world = { ...fakeWorld(), now: () => new Date(SENT_AT + after) };
  const way = recoveryOf(of, { world, ...(known && { initiated }) }, clockAt(after));
  return { asked, way };
}

/** The bank's clock, asked for just now. @param off by how much it is ahead of this machine's */
function clockAt(after: number, off = 0) {
  return { bank: new Date(SENT_AT + after + off), askedAt: new Date(SENT_AT + after) };
}

describe('the way on', () => {
  const REPEATS = { repeatMinutes: 60 };
  const ANSWERED: KnownInitiation = { answer: 'answered', resourceId: null };
  it.each<[string, Events, KnownInitiation | undefined, string | null]>([
    ['the bank repeats its answers', [REPEATS, SENT], undefined, 'repeat'],
    ['the bank repeats its answers, whatever the log of calls knows', [REPEATS, SENT], ANSWERED, 'repeat'],
    ['nobody has the link', [{}, SENT], { answer: 'lost', announced: ['q1'] }, 'begin again'],
    ['the log has no answer', [{}, SENT], { answer: 'no', announced: ['q0', 'q1'] }, 'begin again'],
    ['there is no log', [{}, SENT], undefined, null],
    ['the log is another one', [{}, SENT], { answer: 'no' }, null],
    ['the log has another attempt alone', [{}, SENT], { answer: 'no', announced: ['q0'] }, null],
    ['the customer may hold the link', [{}, SENT], ANSWERED, null],
    ['it may run without SCA', [{ executesWithoutSca: 'possible' }, SENT], { answer: 'lost' }, null],
    ['the customer needs no link', [{ needsLink: false }, SENT], { answer: 'lost' }, null],
    ['nothing was sent', [REPEATS], undefined, null],
    ['the bank has answered', [REPEATS, SENT, AT_THE_BANK], undefined, null],
    ['the bank has answered, and it was sent again', [REPEATS, SENT, AT_THE_BANK, SENT], undefined, null],
    ['the bank has execute', [null, SENT], undefined, null],
  ])('if %s', async (_what, events, known, expected) => {
    expect(await way(await transfer(...events), known).way).toBe(expected);
  });

  it('the log of calls is asked by the transaction', async () => {
    const { asked, way: on } = way(await transfer({}, SENT), { answer: 'lost' });
    await on;
    expect(asked).toEqual(['t1']);
  });
});

it.each([
  [{ needsLink: true, executesWithoutSca: 'never' }, false],
  [{ needsLink: true, executesWithoutSca: 'possible' }, true],
  [{ needsLink: false, executesWithoutSca: 'never' }, true],
  [{ needsLink: false, executesWithoutSca: 'possible' }, true],
  [null, false],
] as const)('a payment with the initiation %o may run unseen: %s', (initiation, expected) => {
  const commits = 'by the customer';
  expect(mayExecuteUnseen({ commits, initiation: initiation && { ...INITIATION, ...initiation } })).toBe(
    expected,
  );
});

describe('a repetition', () => {
  it.each([
    [2, 0, true],
    // The computers of a bank differ by some seconds.
    [2, 1.5 * MINUTE, true],
    [2, 1.5 * MINUTE + 1, false],
    [2, 2 * MINUTE, false],
    // A clock that was set back.
    [2, -1, false],
    [null, 0, false],
  ])('within %s minutes, %i ms after the first attempt: %s', async (repeatMinutes, after, expected) => {
    const of = await transfer({ repeatMinutes }, SENT);
    const now = new Date(SENT_AT + after);
    expect(isRepeatable(of, clockAt(after), now)).toBe(expected);
    const asserted = Promise.resolve().then(() => assertRepeatable(of, clockAt(after), now));
    if (expected) await expect(asserted).resolves.toBeUndefined();
    else
      expect(await errorOf(asserted)).toEqual({
        code: 'outcome_unknown',
        message:
          'The time in which the bank gives the same answer again may be over, so psd2 has not repeated the initiation',
        hint: undefined,
        next: undefined,
        flow: FLOW,
        transactionId: 't1',
      });
  });

  it.each<[string, TransferEvent[]]>([
    ['that never was', [createdTransfer({ initiation: { ...INITIATION, repeatMinutes: 2 } })]],
    ['of a bank that has execute', [createdForExecute(), SENT]],
    ['that the journal did not keep', [{ ...createdForExecute(), commits: 'by the customer' }, SENT]],
  ])('of an initiation %s', async (_what, events) => {
    const { open } = await transferAfter(...events);
    expect(isRepeatable(open.current, clockAt(0), new Date(SENT_AT))).toBe(false);
  });

  it.each<[string, { passed: number; here?: number; sinceAsked?: number; sent?: TransferEvent }, boolean]>([
    ['agree', { passed: 5 }, true],
    ['always differ', { passed: -55, sent: { ...SENT, bankTime: '2026-11-24T09:00:00Z' }, here: 5 }, true],
    ['differ: that of the second machine is slow', { passed: 12, here: 2 }, false],
    ['differ: that of the second machine is fast', { passed: 5, here: 15 }, false],
    ['differ: that of the second machine is an hour slow', { passed: 5, here: -55 }, false],
    ['differ: that of the second machine is an hour fast', { passed: 5, here: 65 }, false],
    ['differ: the bank’s was set back', { passed: 2, here: 12 }, false],
    ['differ, though the time is over by neither', { passed: 2, here: 8 }, false],
    ['agree, but by the bank’s the time is over', { passed: 9.6, here: 9.3 }, false],
    ['agree, but psd2 stood still since', { passed: 9, sinceAsked: 1 }, false],
    ['agree, but this one was set back since', { passed: 5, sinceAsked: -1 }, false],
    ['are not known', { passed: 1, sent: SENT_UNTIMED }, false],
  ])('of 10 minutes, if the clocks %s', async (_what, { passed, here, sinceAsked = 0, sent }, expected) => {
    const of = await transfer({ repeatMinutes: 10 }, sent ?? SENT);
    const askedAt = new Date(SENT_AT + (here ?? passed) * MINUTE);
    const now = new Date(askedAt.getTime() + sinceAsked * MINUTE);
    const clock = { bank: new Date(SENT_AT + passed * MINUTE), askedAt };
    expect(isRepeatable(of, clock, now)).toBe(expected);
    expect(isRepeatable(of, null, now)).toBe(false);
  });

  it('does not begin its time anew', async () => {
    const later = { ...SENT, bankTime: new Date(SENT_AT + 2 * MINUTE).toISOString() };
    const again = await transfer({ repeatMinutes: 2 }, SENT, later);
    expect(again.isRepeated).toBe(true);
    expect(isRepeatable(again, clockAt(2 * MINUTE), new Date(SENT_AT + 2 * MINUTE))).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import type { Transfer, TransferEvent } from '../../src/domain/transfer.ts';
import { assertRepeatable, isRepeatable, mayRunUnseen, wayOn } from '../../src/flows/lost-initiation.ts';
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
const SENT: TransferEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
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
  return { asked, way: wayOn(of, { world, ...(known && { initiated }) }) };
}

describe('the way on', () => {
  it.each<[string, Events, KnownInitiation | undefined, string | null]>([
    ['the bank repeats its answers', [{ repeatMinutes: 60 }, SENT], undefined, 'repeat'],
    [
      'the bank repeats its answers, whatever the log of calls knows',
      [{ repeatMinutes: 60 }, SENT],
      { answer: 'answered', resourceId: null },
      'repeat',
    ],
    ['nobody has the link', [{}, SENT], undefined, 'begin again'],
    ['nobody has the link, and the log says so', [{}, SENT], { answer: 'lost' }, 'begin again'],
    ['the log has no answer', [{}, SENT], { answer: 'no' }, 'begin again'],
    ['the customer may hold the link', [{}, SENT], { answer: 'answered', resourceId: null }, null],
    ['it may run without SCA', [{ executesWithoutSca: 'possible' }, SENT], { answer: 'lost' }, null],
    ['the customer needs no link', [{ needsLink: false }, SENT], { answer: 'lost' }, null],
    ['nothing was sent', [{ repeatMinutes: 60 }], undefined, null],
    ['the bank has answered', [{ repeatMinutes: 60 }, SENT, AT_THE_BANK], undefined, null],
    [
      'the bank has answered, and it was sent again',
      [{ repeatMinutes: 60 }, SENT, AT_THE_BANK, SENT],
      undefined,
      null,
    ],
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
  expect(mayRunUnseen({ initiation: initiation && { ...INITIATION, ...initiation } })).toBe(expected);
});

describe('a repetition', () => {
  it.each([
    [2, 0, true],
    [2, 2 * MINUTE - 1, true],
    [2, 2 * MINUTE, false],
    // A clock that was set back.
    [2, -1, false],
    [null, 0, false],
  ])('within %s minutes, %i ms after the first attempt: %s', async (repeatMinutes, after, expected) => {
    const of = await transfer({ repeatMinutes }, SENT);
    const now = new Date(SENT_AT + after);
    expect(isRepeatable(of, now)).toBe(expected);
    const asserted = Promise.resolve().then(() => assertRepeatable(of, now));
    if (expected) await expect(asserted).resolves.toBeUndefined();
    else
      expect(await errorOf(asserted)).toEqual({
        code: 'outcome_unknown',
        message:
          'The time in which the bank gives the same answer again is over, so psd2 has not repeated the initiation',
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
    expect(isRepeatable(open.current, new Date(SENT_AT))).toBe(false);
  });

  it('does not begin its time anew', async () => {
    const again = await transfer({ repeatMinutes: 2 }, SENT, SENT);
    expect(again.isRepeated).toBe(true);
    expect(isRepeatable(again, new Date(SENT_AT + 2 * MINUTE))).toBe(false);
  });
});

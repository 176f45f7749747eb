import { describe, expect, it } from 'vitest';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { assertRepeatable, isRepeatable, mayRunUnseen, wayOn } from '../../src/flows/lost-initiation.ts';
import type { KnownInitiation } from '../../src/flows/ports.ts';
import { errorOf, fakeWorld } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  INITIATION,
  transferInMemory,
} from './transfers-in-memory.ts';

// What psd2 does if the answer to an initiation was lost. Whatever is not sure might pay twice.

/** When the initiation was announced. */
const SENT_AT = Date.parse('2026-11-24T10:00:00Z');
const SENT: TransferEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
const MINUTE = 60_000;

function transfer(initiation: Partial<typeof INITIATION> | null, ...events: TransferEvent[]) {
  const created =
    initiation === null
      ? createdForExecute()
      : createdTransfer({ initiation: { ...INITIATION, ...initiation } });
  return transferInMemory(created, ...events).open.current;
}

function way(of: ReturnType<typeof transfer>, known?: KnownInitiation, after = 0) {
  const asked: string[] = [];
  const initiated = async (transactionId: string) => {
    asked.push(transactionId);
    return known ?? { answer: 'no' as const };
  };
  const world = { ...fakeWorld(), now: () => new Date(SENT_AT + after) };
  return { asked, way: wayOn(of, { world, ...(known && { initiated }) }) };
}

describe('the way on', () => {
  it.each<[string, ReturnType<typeof transfer>, KnownInitiation | undefined, string | null]>([
    ['the bank repeats its answers', transfer({ repeatMinutes: 60 }, SENT), undefined, 'repeat'],
    [
      'the bank repeats its answers, whatever the log of calls knows',
      transfer({ repeatMinutes: 60 }, SENT),
      { answer: 'answered', resourceId: null },
      'repeat',
    ],
    ['nobody has the link', transfer({}, SENT), undefined, 'begin again'],
    ['nobody has the link, and the log says so', transfer({}, SENT), { answer: 'lost' }, 'begin again'],
    ['the log has no answer', transfer({}, SENT), { answer: 'no' }, 'begin again'],
    ['the customer may hold the link', transfer({}, SENT), { answer: 'answered', resourceId: null }, null],
    ['it may run without SCA', transfer({ executesWithoutSca: 'possible' }, SENT), { answer: 'lost' }, null],
    ['the customer needs no link', transfer({ needsLink: false }, SENT), { answer: 'lost' }, null],
    ['nothing was sent', transfer({ repeatMinutes: 60 }), undefined, null],
    ['the bank has answered', transfer({ repeatMinutes: 60 }, SENT, AT_THE_BANK), undefined, null],
    [
      'the bank has answered, and it was sent again',
      transfer({ repeatMinutes: 60 }, SENT, AT_THE_BANK, SENT),
      undefined,
      null,
    ],
    ['the bank has execute', transfer(null, SENT), undefined, null],
  ])('if %s', async (_what, of, known, expected) => {
    expect(await way(of, known).way).toBe(expected);
  });

  it('the log of calls is asked by the transaction', async () => {
    const { asked, way: on } = way(transfer({}, SENT), { answer: 'lost' });
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
    const of = transfer({ repeatMinutes }, SENT);
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
        flow: 'tr-1',
        transactionId: 't1',
      });
  });

  it.each([
    ['that never was', transfer({ repeatMinutes: 2 })],
    ['of a bank that has execute', transfer(null, SENT)],
    ['that the journal did not keep', { ...transfer({ repeatMinutes: 2 }, SENT), initiation: null }],
  ])('of an initiation %s', (_what, of) => {
    expect(isRepeatable(of, new Date(SENT_AT))).toBe(false);
  });

  it('does not begin its time anew', () => {
    const again = transfer({ repeatMinutes: 2 }, SENT, SENT);
    expect(again.isRepeated).toBe(true);
    expect(isRepeatable(again, new Date(SENT_AT + 2 * MINUTE))).toBe(false);
  });
});

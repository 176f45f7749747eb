import { expect, it } from 'vitest';
import { type Batch, type BatchEvent, newBatch } from '../../../src/domain/batch/batch.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { cancelUnsent, refuseSame, unpaidOf } from '../../../src/flows/batch/afterwards.ts';
import type { KnownLine, LineOutcome } from '../../../src/flows/batch/known-lines.ts';
import { hashOf } from '../../../src/store/batch/refusals.ts';
import type { Batches } from '../../../src/store/ports/batches.ts';
import { failureOf } from '../../commands/failure.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { begunTransfer } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';

// What is done about a batch after its run: what a retry pays of it, and what is cancelled.

const ADA = { by: 'ada', user: 'ada', machine: 'pisp-1' };

function batchOf(count: number, changes: Partial<Batch> = {}): Batch {
  const added = { ...batchAdded(ADA), type: 'added', sha256: 'x', count, ordered: '' } as const;
  return { ...newBatch('b1', added, '2026-11-24T10:00:00Z'), ...changes };
}

interface Line {
  outcome: LineOutcome;
  reference?: string;
  transfer?: Transfer;
  /** Why the report says that it is so. */
  reason?: string;
}

const outcomesOf = (lines: readonly Line[]): KnownLine[] =>
  lines.map(({ outcome, reference = null, transfer, reason = null }, index) =>
    Object.assign(Object.create({}), {
      ...{ outcome, transfer, row: { reason } },
      line: batchLine({ line: index + 1, reference, name: `Payee ${index + 1}` }),
    }),
  );

const PAID: Line = { outcome: 'paid', reference: 'R-P' };
const unpaid = (reference?: string): Line => ({
  outcome: 'not paid',
  ...(reference !== undefined && { reference }),
});
const OF_B1 = (line: number) => expect.stringMatching(new RegExp(`b1.*-${line}$`));

it.each<[string, Line[], [name: string, reference: unknown][], boolean]>([
  ['one of two', [PAID, unpaid('R-2')], [['Payee 2', 'R-2']], false],
  ['the first of two', [unpaid('R-1'), PAID], [['Payee 1', 'R-1']], false],
  [
    'two around another one',
    [unpaid(), PAID, unpaid()],
    [
      ['Payee 1', OF_B1(1)],
      ['Payee 3', OF_B1(3)],
    ],
    false,
  ],
  [
    'all',
    [unpaid('R-1'), unpaid('R-2')],
    [
      ['Payee 1', 'R-1'],
      ['Payee 2', 'R-2'],
    ],
    true,
  ],
  [
    'all, one without a reference',
    [unpaid('R-1'), unpaid()],
    [
      ['Payee 1', 'R-1'],
      ['Payee 2', OF_B1(2)],
    ],
    false,
  ],
  ['one beside one that is not known', [unpaid('R-1'), { outcome: 'unknown' }], [['Payee 1', 'R-1']], false],
])('a retry has the unpaid payments, each with its reference: %s', (_, lines, retried, again) => {
  const found = unpaidOf({ batch: batchOf(lines.length), outcomes: outcomesOf(lines) });
  expect(found.lines.map(({ name, reference }) => [name, reference])).toEqual(retried);
  expect(found.lines.map(({ line }) => line)).toEqual([...retried.keys()].map((index) => index + 1));
  expect(found.again).toBe(again);
});

it('a retry keeps what the payee checks of its payments said, at their new lines', () => {
  const checkOf = (line: number) => ({ line, result: 'close', name: `N${line}`, problem: null }) as const;
  const batch = batchOf(4, { payees: [checkOf(4), checkOf(1), checkOf(2)] });
  const outcomes = outcomesOf([PAID, unpaid(), unpaid(), unpaid()]);
  expect(unpaidOf({ batch, outcomes }).payees.map(({ line, name }) => [line, name])).toEqual([
    [3, 'N4'],
    [1, 'N2'],
  ]);
});

const SEE = 'See its payments with:';
const REFUSED =
  'The bank refused payment 2 without confirming that no money moved. Once you know that none did, run psd2 transfer resolve --not-executed.';
const LINK = 'Its link may work until noon';
it.each<[string, Line[], string]>([
  ['is paid', [PAID, PAID], `psd2 has stored nothing. ${SEE}`],
  ['waits', [PAID, { outcome: 'awaited', reason: 'Nobody' }], `psd2 has stored nothing. ${SEE}`],
  ['was refused once', [PAID, { outcome: 'refused' }], `psd2 has stored nothing. ${REFUSED} ${SEE}`],
  [
    'has a link',
    [PAID, { outcome: 'kept', reason: LINK }, { outcome: 'kept', reason: 'Another' }],
    `psd2 has stored nothing. ${LINK}. ${SEE}`,
  ],
  ['has a link that nobody knows of', [{ outcome: 'kept' }], `psd2 has stored nothing. ${SEE}`],
  [
    'was refused once, or has a link',
    [{ outcome: 'kept', reason: LINK }, { outcome: 'refused' }],
    `psd2 has stored nothing. ${REFUSED} ${LINK}. ${SEE}`,
  ],
])('without a payment that has failed, nothing is retried: the last one %s', (_, lines, hint) => {
  const outcomes = outcomesOf(lines);
  expect(thrownBy(() => unpaidOf({ batch: batchOf(2), outcomes }))).toMatchObject({
    ...{ code: 'usage', message: 'There is nothing to retry: no payment is known to have failed' },
    ...{ hint, next: [['batch', 'report', 'b1']] },
  });
});

it.each([
  ['none', [], false],
  ['another one', ['other'], false],
  ['the same', ['other', 'same'], true],
] as const)('a batch is not stored twice, if there is %s', async (_, stored, isRefused) => {
  const lines = [batchLine()];
  const id = hashOf(lines);
  async function* list() {
    for (const name of stored) yield batchOf(1, { batch: name === 'same' ? id : name });
  }
  const batches: Batches = Object.assign(Object.create({}), { list });
  const work = refuseSame(batches, lines);
  if (!isRefused) return expect(work).resolves.toBeUndefined();
  expect(await failureOf(work)).toMatchObject({
    ...{ code: 'usage', message: `The batch ${id} has these payments already` },
    hint: 'psd2 has stored nothing. Run that batch. Once it has ended, retry that one. See it with:',
    next: [['batch', 'show', id]],
  });
  return undefined;
});

const ended = begunTransfer({ state: 'cancelled', reached: false });
const reached = begunTransfer({ state: 'cancelled', reached: true });
it.each<[string, Line[], Partial<Batch>, number[] | null]>([
  ['of which nothing has begun', [unpaid(), unpaid()], {}, [1, 2]],
  ['of which psd2 has refused one', [unpaid(), unpaid()], { refused: new Map([[1, 'No']]) }, [2]],
  ['of which one is cancelled', [unpaid(), unpaid()], { cancelled: new Set([2]) }, [1]],
  ['of which all are', [unpaid()], { cancelled: new Set([1]) }, null],
  ['of which one has begun', [unpaid(), unpaid()], { flows: new Map([[1, 'tr-1']]) }, [2]],
  [
    'of which one ended before it was sent',
    [{ ...unpaid(), transfer: ended }, unpaid()],
    { flows: new Map([[1, 'tr-1']]) },
    [1, 2],
  ],
  [
    'of which one began anew meanwhile',
    [{ ...unpaid(), transfer: ended }, unpaid()],
    { flows: new Map([[1, 'tr-2']]) },
    [2],
  ],
  [
    'of which one was cancelled at the bank',
    [{ ...unpaid(), transfer: reached }],
    { flows: new Map([[1, 'tr-1']]) },
    null,
  ],
])('of a batch %s, what was not sent is cancelled', async (_, lines, now, cancelled) => {
  const outcomes = outcomesOf(lines);
  const events: (BatchEvent | null)[] = [];
  const change: Batches['change'] = async (id, decide) => {
    if (id !== 'b1') throw new Psd2Error('usage', 'There is no such batch');
    const batch = batchOf(lines.length, now);
    events.push(decide(batch, null));
    return { batch, recorded: true };
  };
  const batches: Batches = Object.assign(Object.create({}), { change });
  const known = { batch: batchOf(lines.length), lines: outcomes.map(({ line }) => line), outcomes };
  await cancelUnsent({ batches }, known, ADA);
  expect(events).toEqual([cancelled === null ? null : { type: 'lines-cancelled', lines: cancelled, ...ADA }]);
});

import { describe, expect, it } from 'vitest';
import { type Batch, newBatch } from '../../../src/domain/batch/batch.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { type EarlierPayments, readEarlierPayments } from '../../../src/flows/batch/earlier-payments.ts';
import { addCompared } from '../../../src/flows/batch/examine.ts';
import { AddedMeanwhile, batchIsDamaged } from '../../../src/store/batch/refusals.ts';
import type { NewBatch, OnDamagedBatch } from '../../../src/store/ports/batches.ts';
import type { FlowOf, Kind } from '../../../src/store/ports/flows.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { begunTransfer } from '../../domain/orders.ts';

// Which earlier payments a file may repeat: those of the last 30 days at the bank, whose clock is two hours before UTC in October.

const TODAY = parseDate('--date', '2026-11-23');
const LONG_AGO = parseDate('--date', '2026-01-01');
const LINE = batchLine();

const added = batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' });
const batchOf = (id: string, count: number): Batch =>
  newBatch(
    id,
    { ...added, type: 'added', sha256: 'x', count, ordered: `ordered ${id}` },
    '2026-11-23T10:00:00Z',
  );

/** What is found of these transfers. No batch is stored. */
async function found(...transfers: Transfer[]) {
  const unused = () => expect.unreachable();
  const batches = { lines: unused, async *list() {} };
  return readEarlierPayments({ flows: flowsWith(transfers), batches }, TODAY, unused);
}

function flowsWith(transfers: readonly Transfer[]) {
  function list<K extends Kind>(kind: K): AsyncIterable<FlowOf<K>>;
  async function* list(kind: Kind): AsyncIterable<Transfer> {
    if (kind === 'transfer') yield* transfers;
  }
  return { list };
}

/** A transfer that pays the line, as one of a batch. */
const paid = (changes: Partial<Transfer> = {}, order: Partial<Transfer['order']> = {}) =>
  begunTransfer(
    { state: 'executed', createdAt: '2026-01-01T10:00:00Z', updatedAt: '2026-01-01T10:00:00Z', ...changes },
    { batch: { batch: 'b1', line: 7 }, executionDate: LONG_AGO, ...order },
  );

it.each([
  ['2026-10-23T21:59:59.999Z', false],
  ['2026-10-23T22:00:00.000Z', true],
  ['2026-10-23T23:30:00.000Z', true],
  ['2026-10-24T10:00:00.000Z', true],
  ['2026-11-23T10:00:00.000Z', true],
])('the same payment of %s counts: %j', async (createdAt, counts) => {
  const { same } = await found(paid({ createdAt }));
  expect(same(LINE)).toBe(counts ? 'tr-1' : undefined);
});

it.each<[string, Partial<Transfer>, Partial<Transfer['order']>, boolean]>([
  ['paid long ago', {}, {}, false],
  ['paid the moment before', { updatedAt: '2026-10-23T21:59:59.999Z' }, {}, false],
  ['paid on the first day that counts', { updatedAt: '2026-10-23T22:00:00.000Z' }, {}, true],
  ['paid today', { updatedAt: '2026-11-23T10:00:00.000Z' }, {}, true],
  ['ordered for the day before', {}, { executionDate: parseDate('--date', '2026-10-23') }, false],
  ['ordered for the first day that counts', {}, { executionDate: parseDate('--date', '2026-10-24') }, true],
  ['open', { state: 'authorizing' }, {}, true],
  ['not known', { state: 'unknown' }, {}, true],
  ['failed today', { state: 'failed', updatedAt: '2026-11-23T10:00:00.000Z' }, {}, false],
  ['of no batch', { updatedAt: '2026-11-23T10:00:00.000Z' }, { batch: undefined }, false],
])('a line of a batch that is %s counts: %j', async (_, changes, order, counts) => {
  const { sameLine } = await found(paid(changes, order));
  expect(sameLine(LINE)).toEqual(counts ? { batch: 'b1', line: 7 } : undefined);
});

it.each<[string, Partial<typeof LINE>, boolean, boolean]>([
  ['another payee', { name: 'Ada' }, true, false],
  ['another text', { description: 'Other' }, true, false],
  ['another amount', { amount: parsePaymentAmount('12.51') }, false, false],
  ['another account', { iban: parseSepaIban('DE89370400440532013000') }, false, false],
])('a line with %s is the same payment: %j, the same line: %j', async (_, changes, payment, line) => {
  const now = '2026-11-23T10:00:00.000Z';
  const { same, sameLine } = await found(paid({ createdAt: now, updatedAt: now }));
  const other = { ...LINE, ...changes };
  expect([same(other) !== undefined, sameLine(other) !== undefined]).toEqual([payment, line]);
});

const OTHER = batchLine({ line: 2, name: 'Ada' });
const decided = { by: 'bea', user: 'bea', machine: 'm', role: null, sha256: 'x', at: '' };
/** The first line of the batch is paid by such a transfer, or the second one. */
const first = (changes: Partial<Transfer> = {}) => paid(changes, { batch: { batch: 'b9', line: 1 } });
const second = (changes: Partial<Transfer> = {}) =>
  paid(changes, { batch: { batch: 'b9', line: 2 }, name: OTHER.name });
const FAILED = { state: 'failed' } as const;
const IN_VAIN = { state: 'cancelled', reached: false } as const;
const REACHED = { state: 'cancelled', reached: true } as const;

it.each<[string, Partial<Batch>, Transfer[], isLive: boolean, isFirst: boolean, isSecond: boolean]>([
  ['that waits', {}, [], true, true, true],
  ['that was rejected', { rejection: { ...decided, note: 'No' } }, [], false, false, false],
  ['of a forgotten customer', { pseudonymised: new Set(['y']) }, [], false, false, false],
  ['whose first line psd2 has refused', { refused: new Map([[1, 'No']]) }, [], true, false, true],
  ['whose last line is cancelled', { cancelled: new Set([2]) }, [], true, true, false],
  [
    'whose lines all are',
    { refused: new Map([[1, 'No']]), cancelled: new Set([2]) },
    [],
    false,
    false,
    false,
  ],
  ['of which one was paid long ago', {}, [first()], true, false, true],
  ['of which both were', {}, [first(), second()], true, false, false],
  ['of which one failed', {}, [first(FAILED)], true, false, true],
  ['of which both failed', {}, [second(FAILED), first(FAILED)], false, false, false],
  ['of which one was paid and one failed', {}, [first(), second(FAILED)], true, false, false],
  ['of which one failed before it was sent', {}, [first(IN_VAIN)], true, true, true],
  ['of which one was cancelled at the bank', {}, [first(REACHED), second(REACHED)], false, false, false],
  [
    'that was rejected when one was paid',
    { rejection: { ...decided, note: 'No' } },
    [first()],
    true,
    false,
    false,
  ],
])('of a batch %s, what it orders may be repeated by a file: %#', async (_, changes, transfers, ...found) => {
  const stored = { ...batchOf('b9', 2), ...changes };
  const read: string[] = [];
  const batches = {
    async *list() {
      yield stored;
    },
    async lines({ batch }: Batch) {
      read.push(batch);
      return [LINE, OTHER];
    },
  };
  const unused = () => expect.unreachable();
  const earlier = await readEarlierPayments({ flows: flowsWith(transfers), batches }, TODAY, unused);
  const [isLive, isFirst, isSecond] = found;
  expect([...earlier.batches]).toEqual(['b9']);
  expect(earlier.sameContent('ordered b9')).toBe(isLive ? 'b9' : undefined);
  expect(earlier.sameContent('ordered b8')).toBeUndefined();
  const wanted = (is: boolean, line: number) => (is ? { batch: 'b9', line } : undefined);
  expect([earlier.sameLine(LINE), earlier.sameLine(OTHER)]).toEqual([
    wanted(isFirst, 1),
    wanted(isSecond, 2),
  ]);
  // The lines are read only if one of them still waits.
  expect(read).toEqual(isFirst || isSecond ? ['b9'] : []);
});

it('a batch that is damaged, or whose lines are, is told of, and counts as one that is stored', async () => {
  const told: string[] = [];
  const damaged = (batch: string) => batchIsDamaged(batch, 'changed');
  const batches = {
    async *list(onDamaged?: OnDamagedBatch) {
      yield batchOf('b1', 1);
      onDamaged?.(damaged('b2'), 'b2');
      yield batchOf('b3', 1);
    },
    lines: async ({ batch }: Batch) => (batch === 'b1' ? Promise.reject(damaged('b1')) : [LINE]),
  };
  const earlier = await readEarlierPayments({ flows: flowsWith([]), batches }, TODAY, ({ message }) =>
    told.push(message),
  );
  expect([[...earlier.batches], told, earlier.sameLine(LINE)]).toEqual([
    ['b1', 'b2', 'b3'],
    ['The batch b1 is damaged: changed', 'The batch b2 is damaged: changed'],
    { batch: 'b3', line: 1 },
  ]);
});

describe('a batch that is stored while others are added', () => {
  const stored = batchOf('b9', 1);
  const NONE: EarlierPayments = {
    withReference: () => undefined,
    same: () => undefined,
    sameLine: () => undefined,
    sameContent: () => undefined,
    batches: new Set(),
  };

  /** @param meets what each attempt to store it meets. @param since what was added before each, as it is read */
  async function add(meets: (Error | null)[], since: Partial<EarlierPayments>[] = []) {
    const attempts: (readonly string[] | null)[] = [];
    const store = async ({ compared }: NewBatch) => {
      attempts.push(compared ? [...compared] : null);
      const error = meets.shift();
      if (error) throw error;
      return stored;
    };
    const compare = async () => ({ ...NONE, ...since.shift() });
    const work = addCompared({ add: store }, { added, lines: [LINE], again: false }, compare);
    const end = await work.then(
      ({ batch }) => batch,
      (error: Error) => [error.message, ...('hint' in error ? [error.hint] : [])].join(' '),
    );
    return { attempts, end };
  }
  const seen = (...ids: string[]) => ({ batches: new Set(ids) });

  it.each<[string, (Error | null)[], Partial<EarlierPayments>[], Awaited<ReturnType<typeof add>>]>([
    ['nobody adds one', [null], [], { attempts: [null], end: 'b9' }],
    [
      'it is compared anew with each that comes',
      [new AddedMeanwhile(), new AddedMeanwhile(), null],
      [seen('b1'), seen('b1', 'b2')],
      { attempts: [null, ['b1'], ['b1', 'b2']], end: 'b9' },
    ],
    [
      'another one has its content',
      [new AddedMeanwhile(), null],
      [{ ...seen('b1'), sameContent: () => 'b1' }],
      {
        attempts: [null],
        end: expect.stringMatching(/^The batch b1 has the same content psd2 has stored nothing/),
      },
    ],
    [
      'another one has a line of it',
      [new AddedMeanwhile(), null],
      [
        {
          ...seen('b1'),
          sameLine: ({ name }) => (name === LINE.name ? { batch: 'b1', line: 4 } : undefined),
        },
      ],
      {
        attempts: [null],
        end: 'Payment 4 of the batch b1 pays the same payee the same amount for the same text. If you mean to pay it once more, add --again psd2 has stored nothing.',
      },
    ],
    [
      'another error is no reason to compare',
      [new Error('The disk is full'), null],
      [],
      { attempts: [null], end: 'The disk is full' },
    ],
  ])('%s', async (_, meets, since, result) => {
    expect(await add(meets, since)).toEqual(result);
  });
});

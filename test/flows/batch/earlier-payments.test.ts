import { describe, expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { type EarlierPayments, readEarlierPayments } from '../../../src/flows/batch/earlier-payments.ts';
import { addCompared } from '../../../src/flows/batch/examine.ts';
import { AddedMeanwhile } from '../../../src/store/batch/refusals.ts';
import type { NewBatch } from '../../../src/store/ports/batches.ts';
import type { FlowOf, Kind } from '../../../src/store/ports/flows.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { begunTransfer } from '../../domain/orders.ts';

// Which earlier payments a file may repeat: those of the last 30 days at the bank, whose clock is two hours before UTC in October.

const TODAY = parseDate('--date', '2026-11-23');
const LONG_AGO = parseDate('--date', '2026-01-01');
const LINE = batchLine();

/** What is found of these transfers. No batch is stored. */
async function found(...transfers: Transfer[]) {
  const unused = () => expect.unreachable();
  function list<K extends Kind>(kind: K): AsyncIterable<FlowOf<K>>;
  async function* list(kind: Kind): AsyncIterable<Transfer> {
    if (kind === 'transfer') yield* transfers;
  }
  const batches = { lines: unused, async *list() {} };
  return readEarlierPayments({ flows: { list }, batches }, TODAY, unused);
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

describe('a batch that is stored while others are added', () => {
  const added = batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' });
  const stored = newBatch(
    'b9',
    { ...added, type: 'added', sha256: 'x', count: 1, ordered: '' },
    '2026-11-23T10:00:00Z',
  );
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
      (error: Error) => error.message,
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
      { attempts: [null], end: 'The batch b1 has the same content' },
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

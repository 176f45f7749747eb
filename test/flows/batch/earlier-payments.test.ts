import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { readEarlierPayments } from '../../../src/flows/batch/earlier-payments.ts';
import type { FlowOf, Kind } from '../../../src/store/ports/flows.ts';
import { batchLine } from '../../domain/batch/lines.ts';
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

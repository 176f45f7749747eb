import { expect, it } from 'vitest';
import { standingOf } from '../../src/domain/flow-states.ts';
import { applyOperationEvent } from '../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../src/domain/transfer.ts';
import { followBulk } from '../../src/flows/bulk.ts';
import type { GenericOperation } from '../../src/store/ports/flows.ts';
import { transferOrder } from '../domain/orders.ts';

// What becomes of a transfer that is one of a bulk payment.

const AT = '2026-11-24T10:00:00Z';
const BULK = 'op-1';

function bulk(state: Partial<GenericOperation>): GenericOperation {
  const begun = applyOperationEvent<GenericOperation['order']>(
    'operation',
    undefined,
    {
      ...{ type: 'created', flow: BULK, transactionId: 'x', commits: 'by the customer' },
      order: { customerId: 'default', from: transferOrder().from, operation: 'bulk-payments', data: '{}' },
    },
    AT,
  );
  return { ...begun, reached: true, ...state };
}

function joined(...events: TransferEvent[]): Transfer {
  const created: TransferEvent = {
    ...({ type: 'created', flow: 'tr-1', transactionId: 'x', commits: 'by the customer' } as const),
    order: transferOrder({ instant: false, reference: 'INV-1' }),
  };
  const all: TransferEvent[] = [created, { type: 'bulk-joined', bulk: BULK }, ...events];
  return fold(undefined, all);
}

function fold(transfer: Transfer | undefined, events: readonly TransferEvent[]): Transfer {
  const end = events.reduce<Transfer | undefined>(
    (now, event) => applyTransferEvent(now, event, AT),
    transfer,
  );
  if (!end) throw new Error('There is no event');
  return end;
}

it('a transfer that has joined a bulk payment may run, so its reference stays taken', () => {
  expect(standingOf(joined())).toBe('sent');
});

const REJECTED = { means: 'refused', transactionStatus: 'RJCT' } as const;
it.each([
  ['executed', { state: 'executed', transactionStatus: 'ACSP' }, undefined, 'executed'],
  [
    'executed in part, and the bank says that this one is',
    { state: 'executed', transactionStatus: 'PART' },
    { means: 'paid', transactionStatus: 'ACSC' },
    'executed',
  ],
  [
    'executed in part, and the bank says that this one is not',
    { state: 'executed', transactionStatus: 'PART' },
    REJECTED,
    'failed',
  ],
  [
    'executed in part, and nobody says of this one',
    { state: 'executed', transactionStatus: 'PART' },
    undefined,
    'unknown',
  ],
  ['unknown', { state: 'unknown', mayRun: true }, undefined, 'unknown'],
  ['created, and its answer is lost', { state: 'created', mayRun: true }, undefined, 'unknown'],
  ['with the customer', { state: 'authorizing', mayRun: true }, undefined, 'authorizing'],
  ['rejected', { state: 'rejected' }, undefined, 'rejected'],
  ['expired', { state: 'expired' }, undefined, 'expired'],
  ['refused by the bank', { state: 'failed' }, undefined, 'failed'],
  ['failed at the bank', { state: 'failed', executionStatus: 'KO' }, undefined, 'failed'],
  ['cancelled at the bank', { state: 'cancelled' }, undefined, 'cancelled'],
  ['cancelled before it reached the bank', { state: 'cancelled', reached: false }, undefined, 'cancelled'],
] as const)('a transfer whose bulk payment is %s is as it should be', (_what, state, entry, expected) => {
  const transfer = joined();
  const after = fold(transfer, followBulk(transfer, bulk(state), entry));
  expect(after.state).toBe(expected);
  // A second look adds nothing.
  expect(followBulk(after, bulk(state), entry)).toEqual([]);
});

it('after a refusal alone the references stay taken, until the bank or a person says what became of it', () => {
  const transfer = joined();
  const refused = bulk({ state: 'failed', refusalAlone: true, executionStatusDescription: 'no' });
  const after = fold(transfer, followBulk(transfer, refused, undefined));
  expect([after.state, standingOf(after)]).toEqual(['failed', 'sent']);
  expect(followBulk(after, refused, undefined)).toEqual([]);
  const paid = fold(after, followBulk(after, bulk({ state: 'executed' }), undefined));
  expect([paid.state, standingOf(paid)]).toEqual(['executed', 'done']);
});

it('only a bulk payment that never reached the bank frees its transfers for another one', () => {
  const transfer = joined();
  const left = fold(transfer, followBulk(transfer, bulk({ state: 'cancelled', reached: false }), undefined));
  expect([left.state, left.reached, left.bulk]).toEqual(['cancelled', false, null]);
  const ended = fold(transfer, followBulk(transfer, bulk({ state: 'cancelled' }), undefined));
  expect([ended.state, ended.reached]).toEqual(['cancelled', true]);
});

it('what became of another bulk payment says nothing', () => {
  expect(followBulk(joined(), { ...bulk({ state: 'executed' }), flow: 'op-2' }, undefined)).toEqual([]);
});

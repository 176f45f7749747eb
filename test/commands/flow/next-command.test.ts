import { describe, expect, it } from 'vitest';
import { commandThatContinues, refuseInJoint } from '../../../src/commands/flow/next-command.ts';
import { applyConsentEvent, type ConsentEvent } from '../../../src/domain/consent.ts';
import { applyOperationEvent, type GenericOrder, type Operation } from '../../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferOrder } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { transferOrder } from '../../domain/orders.ts';

type Initiation = NonNullable<Transfer['initiation']>;
const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'E', body: '{}' },
  ...{ returnAddress: 'http://127.0.0.1/', returnState: 's', repeatMinutes: null, needsLink: true },
  executesWithoutSca: 'never',
};
const AT = '2026-11-26T10:00:00Z';
const BATCH = 'b'.repeat(64);
const inBatch = { batch: { batch: BATCH, line: 1 } } as const;

function transfer(changes: Partial<Transfer> = {}, order: Partial<TransferOrder> = {}): Transfer {
  const created = {
    type: 'created',
    flow: 'tr-1',
    transactionId: 't',
    commits: 'on execute',
    order: transferOrder(order),
  } as const;
  return { ...applyTransferEvent(undefined, created, AT), ...changes };
}

function operation(
  name: string,
  data: string,
  initiation: Initiation | null = INITIATION,
): Operation<GenericOrder> {
  const { customerId, from } = transferOrder();
  const order: GenericOrder = { customerId, from, operation: name, data };
  const created = {
    type: 'created',
    flow: 'op-1',
    transactionId: 't',
    commits: 'on execute',
    order,
  } as const;
  return { ...applyOperationEvent('operation', undefined, created, AT), initiation };
}

const RUN = ['batch', 'run', BATCH];
const RESUME = ['operation', 'resume', 'op-1'];
const batchIn = (batch: unknown) => JSON.stringify({ batch });

describe('the command that continues', () => {
  it.each([
    ['a transfer', transfer(), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch', transfer({}, inBatch), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch in a bulk payment', transfer({ bulk: 'op-1' }, inBatch), RUN],
    ['a transfer in a bulk payment of no batch', transfer({ bulk: 'op-1' }), ['transfer', 'resume', 'tr-1']],
    ['a bulk payment', operation('bulk-payments', batchIn(BATCH)), RUN],
    ['a signing basket', operation('signing-baskets', batchIn(BATCH)), RUN],
    ['one that a bank calls so', operation('bulk-payments', batchIn(BATCH), null), RESUME],
    ['another operation', operation('standingOrder', batchIn(BATCH)), RESUME],
    ['a bulk payment that names no batch', operation('bulk-payments', '{}'), RESUME],
    ['one whose batch is no text', operation('bulk-payments', batchIn(7)), RESUME],
    ['one without data', operation('bulk-payments', 'null'), RESUME],
    ['one whose data is a text', operation('bulk-payments', '"batch"'), RESUME],
  ])('%s', (_, flow, words) => {
    expect(commandThatContinues(flow)).toEqual(words);
  });

  it('a consent', () => {
    const created: ConsentEvent = {
      ...{ type: 'created', flow: 'co-1', transactionId: 't', customerId: '1', categories: [] },
    };
    const consent = applyConsentEvent(undefined, created, AT);
    expect(commandThatContinues(consent)).toEqual(['consent', 'resume', 'co-1']);
  });
});

describe('a transfer that the customer authorises with others', () => {
  it.each([
    ['a bulk payment', transfer({ bulk: 'op-1' }, inBatch), 'bulk payment'],
    ['a signing basket', transfer({ bulk: 'op-1', initiation: INITIATION }, inBatch), 'signing basket'],
  ])('in %s is not continued alone', (_, flow, what) => {
    expect(() => refuseInJoint(flow)).toThrow(
      new Psd2Error('usage', `The transfer tr-1 is one of the ${what} op-1`, {
        hint: 'The customer authorises all of them together. psd2 goes on with all, and asks what became of each, with:',
        next: [RUN],
        flow: 'tr-1',
      }),
    );
  });

  it('any other one is', () => {
    expect(() => refuseInJoint(transfer({}, inBatch))).not.toThrow();
    expect(() => refuseInJoint(transfer({ bulk: 'op-1' }))).not.toThrow();
  });
});

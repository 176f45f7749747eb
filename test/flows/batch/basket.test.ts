import { expect, it } from 'vitest';
import type { Verification } from '../../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../../src/domain/transfer.ts';
import { BASKET, mayGoIntoBasket, paymentIdsOf } from '../../../src/flows/batch/basket.ts';
import { BULK } from '../../../src/flows/batch/bulk.ts';
import { transferOrder } from '../../domain/orders.ts';

const created: TransferEvent = {
  ...({ type: 'created', flow: 'tr-1', transactionId: 'x', commits: 'by the customer' } as const),
  order: transferOrder({ instant: false, reference: 'INV-1' }),
  initiation: {
    ...({ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'INV-1', body: '{}' } as const),
    ...{ returnAddress: 'http://127.0.0.1/', returnState: 's', repeatMinutes: null, needsLink: true },
    executesWithoutSca: 'never',
  },
};
const sent: TransferEvent = { type: 'verify-sent', requestId: 'r', digest: null };
const verified: TransferEvent = {
  ...{ type: 'verified', resourceId: 'r-1', totalAmount: null, commissions: null, bankName: null },
  nextStep: 'authorisation',
};

const asked: TransferEvent = { type: 'approach-sent', requestId: 'r-2', digest: null };
const linked = (links: NonNullable<Verification['links']>): TransferEvent => ({ ...verified, links });
const LINK = 'https://customers.bank.example/r-1';

const { initiation: _, ...withoutInitiation } = created;
function after(...events: TransferEvent[]): Transfer {
  return from(created, ...events);
}

function from(first: TransferEvent, ...events: TransferEvent[]): Transfer {
  const end = [first, { type: 'accepted' } as const, ...events].reduce<Transfer | undefined>(
    (now, event) => applyTransferEvent(now, event, '2026-11-24T10:00:00Z'),
    undefined,
  );
  if (!end) throw new Error('There is no event');
  return end;
}

it.each([
  ['that has not been sent', [], true, false],
  ['whose run was stopped before the answer to its initiation', [sent], true, false],
  ['that the bank has', [sent, verified], true, true],
  ['whose customer is at the bank', [sent, verified, { type: 'sca-started' }], false, false],
  ['whose bank has given a link', [sent, linked({ approach: null, redirect: LINK })], true, true],
  ['whose bank has given a login', [sent, linked({ approach: null, oauth: LINK })], true, true],
  ['that psd2 has begun to authorise', [sent, verified, asked], false, false],
  [
    'that psd2 began to authorise anew',
    [sent, linked({ approach: null, redirect: LINK }), asked],
    false,
    false,
  ],
  [
    'that psd2 executes',
    [sent, verified, { type: 'execute-sent', requestId: 'r', digest: null }],
    false,
    false,
  ],
  ['of which nobody knows whether the bank has it', [sent, { type: 'execute-unanswered' }], false, false],
] satisfies [string, TransferEvent[], boolean, boolean][])(
  'psd2 knows whether a payment %s may go into a signing basket',
  (_, events, may, mayNow) => {
    const transfer = after(...events);
    expect([mayGoIntoBasket(transfer), BASKET.mayJoin(transfer)]).toEqual([may, mayNow]);
  },
);

it('a payment that has no body of its own, or that is in another basket, goes into none', () => {
  const bare = from(withoutInitiation);
  const other = after(sent, verified, { type: 'bulk-joined', bulk: 'op-1' });
  expect([bare, other].map((transfer) => [mayGoIntoBasket(transfer), BASKET.mayJoin(transfer)])).toEqual([
    [false, false],
    [false, false],
  ]);
  expect([bare, after(), from(withoutInitiation, sent)].map(BULK.mayJoin)).toEqual([true, false, false]);
});

it('the bank has the ids of the payments that it knows', () => {
  expect(paymentIdsOf([after(), after(sent, verified), after(sent)])).toEqual(['r-1']);
});

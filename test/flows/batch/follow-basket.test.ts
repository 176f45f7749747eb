import { describe, expect, it } from 'vitest';
import { standingOf } from '../../../src/domain/flow-states.ts';
import type { Transfer, TransferEvent } from '../../../src/domain/transfer.ts';
import {
  type BasketMeans,
  basketMeaning,
  followBasket,
  isOpenIn,
  isWithoutLink,
  type PaymentSaid,
  SIGNING_BASKET,
} from '../../../src/flows/batch/follow-basket.ts';
import { askBank } from '../../../src/flows/payment/status.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { transferOrder } from '../../domain/orders.ts';
import { AT_THE_BANK, createdTransfer } from '../stored-transfers.ts';
import { fold, GROUP, groupOf } from './groups.ts';

// What becomes of a transfer that is in a signing basket.

const basket = (state: Partial<GenericOperation>) => groupOf('signing-baskets', state);

function inBasket(instant = false): Transfer {
  const created = createdTransfer({ order: transferOrder({ instant, reference: 'INV-1' }) });
  const verified = { ...AT_THE_BANK, bank: { transactionStatus: 'ACTC', scaStatus: null } };
  return fold(undefined, [created, verified, { type: 'bulk-joined', bulk: GROUP }]);
}

const OPEN: PaymentSaid = {
  event: { type: 'authorization', status: 'PENDING', bankStatus: 'RCVD' },
  isUnauthorised: true,
};
const CHECKED: PaymentSaid = {
  event: { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' },
};
const WITH_THE_CUSTOMER = { state: 'authorizing', mayExecuteWithoutUs: true } as const;
const PAID: PaymentSaid = { event: { type: 'executed', cro: null } };

it('a transfer in a basket may run, so its reference stays taken', () => {
  expect(standingOf(inBasket())).toBe('sent');
});

it.each([
  ['with the customer', WITH_THE_CUSTOMER, OPEN, 'authorizing'],
  ['with the customer, and it is paid', WITH_THE_CUSTOMER, PAID, 'executed'],
  ['authorised, and it is paid', { state: 'executed' }, PAID, 'executed'],
  ['authorised, and the bank has not paid it yet', { state: 'executed' }, CHECKED, 'verified'],
  ['rejected, and it waits', { state: 'rejected' }, OPEN, 'rejected'],
  ['rejected, and it is paid all the same', { state: 'rejected' }, PAID, 'executed'],
  ['rejected, and the bank has accepted it', { state: 'rejected' }, CHECKED, 'unknown'],
  ['rejected, and the bank does not say of it', { state: 'rejected' }, null, 'unknown'],
  ['failed at the bank', { state: 'failed', executionStatus: 'KO', linkIsOut: true }, OPEN, 'rejected'],
  ['rejected before anybody had its link', { state: 'failed', executionStatus: 'KO' }, OPEN, 'verified'],
  ['refused by the bank', { state: 'failed' }, OPEN, 'verified'],
  ['refused by the bank, and it is paid', { state: 'failed' }, PAID, 'executed'],
  ['unknown', { state: 'unknown', mayExecuteWithoutUs: true }, OPEN, 'unknown'],
  ['created, and its answer is lost', { state: 'created', mayExecuteWithoutUs: true }, OPEN, 'unknown'],
  ['cancelled', { state: 'cancelled' }, OPEN, 'verified'],
  ['not sent yet', { state: 'created', reached: false }, OPEN, 'verified'],
] as const)('a transfer whose basket is %s is as it should be', (_what, state, said, expected) => {
  const transfer = inBasket();
  const after = fold(transfer, followBasket(transfer, basket(state), said));
  expect(after.state).toBe(expected);
  // A second look adds nothing.
  expect(followBasket(after, basket(state), said)).toEqual([]);
});

it('only if the bank has no such basket can a transfer of it be authorised otherwise', () => {
  const transfer = inBasket();
  const left = fold(transfer, followBasket(transfer, basket({ state: 'failed' }), OPEN));
  expect([left.state, left.bulk, left.reached, standingOf(left)]).toEqual(['verified', null, true, 'open']);
});

it('what became of another basket says nothing', () => {
  const executed = basket({ state: 'executed' });
  expect(followBasket(inBasket(), { ...executed, flow: 'op-2' }, PAID)).toEqual([]);
  expect(followBasket(inBasket(), executed, PAID)).not.toEqual([]);
});

describe('a bank has checked a payment for a later day before the customer authorises its basket', () => {
  const ordered = (bankStatus: string) => ({
    ...{ authorizationStatus: bankStatus, executionStatus: null, became: 'ordered' as const },
    authorization: { type: 'authorization' as const, status: 'AUTHORIZED' as const, bankStatus },
  });
  const lookFrom = (transfer: Transfer, bankStatus: string, isInAuthorisedBasket: boolean) => {
    const sca = { start: async () => '', status: async () => ordered(bankStatus) };
    return askBank(sca, transfer, { decides: true, isInAuthorisedBasket });
  };

  it.each([
    ['ACTC', 'authorizing', 'authorizing'],
    ['ACTC', 'executed', 'ordered'],
    ['ACTC', 'rejected', 'unknown'],
    // It has another word for it since.
    ['ACFC', 'authorizing', 'ordered'],
  ] as const)('says %s, and the basket is %s: the payment is %s', async (said, state, expected) => {
    const transfer = inBasket();
    const found = await lookFrom(transfer, said, state === 'executed');
    const after = fold(transfer, followBasket(transfer, basket({ state, mayExecuteWithoutUs: true }), found));
    expect(after.state).toBe(expected);
  });
});

const UNPAID = { outcome: 'not-executed', by: 'ada', note: null, at: '2026-11-24T10:00:00Z' } as const;
it.each<[Partial<GenericOperation>, BasketMeans]>([
  [{ state: 'created' }, 'not sent'],
  [{ state: 'verified' }, 'not sent'],
  [{ state: 'created', mayExecuteWithoutUs: true }, 'unknown'],
  [{ state: 'verified', mayExecuteWithoutUs: true }, 'with the customer'],
  [{ state: 'authorizing' }, 'with the customer'],
  [{ state: 'executed' }, 'authorised'],
  [{ state: 'settled' }, 'authorised'],
  [{ state: 'cancelled' }, 'none'],
  [{ state: 'cancelled', executionStatus: 'KO', linkIsOut: true }, 'none'],
  [{ state: 'failed' }, 'none'],
  [{ state: 'failed', executionStatus: 'KO' }, 'none'],
  [{ state: 'failed', executionStatus: 'KO', linkIsOut: true }, 'not authorised'],
  [{ state: 'failed', resolution: UNPAID }, 'not authorised'],
  [{ state: 'failed', refusedUnconfirmed: true }, 'unknown'],
  [{ state: 'failed', refusedUnconfirmed: true, executionStatus: 'KO' }, 'unknown'],
  [{ state: 'rejected' }, 'not authorised'],
  [{ state: 'expired' }, 'not authorised'],
  [{ state: 'authorized' }, 'unknown'],
  [{ state: 'executing' }, 'unknown'],
  [{ state: 'unknown' }, 'unknown'],
])('a basket with %o means: %s', (state, means) => {
  expect(basketMeaning(basket(state))).toBe(means);
});

const ANSWERED = { resourceId: 'b-1', totalAmount: null, commissions: null, bankName: null, nextStep: 'sca' };
it.each<[Partial<GenericOperation>, boolean]>([
  [{ state: 'created' }, true],
  [{ state: 'executing', mayExecuteWithoutUs: true }, true],
  [{ state: 'unknown', mayExecuteWithoutUs: true }, true],
  [{ state: 'failed', refusedUnconfirmed: true }, true],
  [{ state: 'verified', verification: ANSWERED }, true],
  [{ state: 'verified', mayExecuteWithoutUs: true, verification: ANSWERED }, true],
  [{ state: 'verified', mayExecuteWithoutUs: true, verification: ANSWERED, linkIsOut: true }, false],
  [{ state: 'failed' }, false],
  [{ state: 'cancelled' }, false],
  [{ state: 'authorizing', mayExecuteWithoutUs: true, verification: ANSWERED }, false],
  [{ state: 'unknown', mayExecuteWithoutUs: true, verification: ANSWERED }, false],
])('whether nobody has the link of a basket with %o: %s', (state, expected) => {
  expect(isWithoutLink(basket(state))).toBe(expected);
});

const UNCLEAR = { type: 'execute-unanswered' } as const;
const DECLINED: TransferEvent = { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RCVD' };
const SETTLED: PaymentSaid = {
  event: { type: 'settlement', status: 'KO', description: 'No funds' },
};
it.each<[string, Partial<GenericOperation>, PaymentSaid | null, TransferEvent[]]>([
  ['rejected, and the bank waits for the customer', { state: 'rejected' }, OPEN, [DECLINED]],
  ['rejected, and the bank does not wait', { state: 'rejected' }, CHECKED, [{ type: 'execute-unanswered' }]],
  ['rejected, and the bank says nothing', { state: 'rejected' }, null, [{ type: 'execute-unanswered' }]],
  ['away', { state: 'cancelled' }, null, [{ type: 'bulk-left' }]],
  ['with the customer', { state: 'authorizing' }, null, [{ type: 'sca-started' }]],
  ['unknown', { state: 'unknown' }, OPEN, [{ type: 'execute-unanswered' }]],
  [
    'unknown after a refusal',
    { state: 'unknown', executionStatusDescription: 'No' },
    OPEN,
    [{ ...UNCLEAR, description: 'No' }],
  ],
  ['authorised', { state: 'executed' }, OPEN, []],
  ['authorised, and contradicted', { state: 'executed' }, { event: UNCLEAR }, [UNCLEAR]],
  ['rejected, and contradicted', { state: 'rejected' }, { event: UNCLEAR, isUnauthorised: true }, [UNCLEAR]],
  ['not sent', { state: 'created' }, PAID, []],
])('exactly this is recorded of a transfer whose basket is %s', (_what, state, said, events) => {
  expect(followBasket(inBasket(), basket(state), said)).toEqual(events);
});

it.each<[PaymentSaid | null, TransferEvent[]]>([
  [SETTLED, [SETTLED.event]],
  [PAID, []],
  [OPEN, []],
  [null, []],
])('an instant transfer of a basket that is executed can still fail: %o', (said, events) => {
  const transfer = fold(inBasket(true), [{ type: 'executed', cro: null }]);
  for (const state of ['executed', 'unknown', 'cancelled'] as const)
    expect(followBasket(transfer, basket({ state }), said)).toEqual(events);
});

it.each<[string, Transfer, boolean]>([
  ['is with the customer', inBasket(), true],
  ['has failed', fold(inBasket(), [{ type: 'settlement', status: 'KO', description: null }]), false],
  ['was only refused', fold(inBasket(), [{ type: 'execute-refused', description: 'No' }]), true],
  ['is executed', fold(inBasket(), [{ type: 'executed', cro: null, isFinal: true }]), false],
  ['is accepted', fold(inBasket(), [{ type: 'executed', cro: null }]), true],
  ['is ordered', fold(inBasket(), [{ type: 'ordered' }]), true],
  ['is executed and settles', fold(inBasket(true), [{ type: 'executed', cro: null }]), true],
  ['has left it', fold(inBasket(), [{ type: 'bulk-left' }]), false],
])('a transfer of a basket that %s is open in it: %#', (_what, transfer, expected) => {
  expect(isOpenIn(transfer, { flow: GROUP })).toBe(expected);
  expect(isOpenIn(transfer, { flow: 'op-2' })).toBe(false);
});

it('the operation of a basket has the name of the service', () => {
  expect(SIGNING_BASKET).toBe('signing-baskets');
});

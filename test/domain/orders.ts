import { parseDate } from '../../src/domain/calendar.ts';
import type { ConsentCategoryRequest } from '../../src/domain/consent.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import { nextOperationStep, type OperationStep } from '../../src/domain/next-step.ts';
import { applyOperationEvent, type GenericOrder, type Operation } from '../../src/domain/operation.ts';
import { parseSepaIban } from '../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../src/domain/order/payment-amount.ts';
import {
  applyTransferEvent,
  needsSettlement,
  type Transfer,
  type TransferOrder,
} from '../../src/domain/transfer.ts';

/** Returns an order, by default an instant transfer for today. `changes` replace its fields. */
export function transferOrder(changes: Partial<TransferOrder> = {}): TransferOrder {
  return {
    customerId: '1234567',
    from: parseProductId('0000012345'),
    to: parseSepaIban('IT60X0542811101000000123456'),
    name: 'Mario Rossi',
    amount: parsePaymentAmount('12.50'),
    currency: 'EUR',
    description: 'Invoice 7',
    instant: true,
    type: 'INSTANT',
    executionDate: parseDate('--date', '2026-11-21'),
    futureDated: false,
    urgent: false,
    reference: null,
    ...changes,
  };
}

const BEGUN = { type: 'created', transactionId: 't', commits: 'on execute' } as const;
const AT = '2026-11-22T10:00:00.000Z';

/** The transfer `tr-1`, which has just begun. `changes` replace what is known of it. */
export function begunTransfer(changes: Partial<Transfer> = {}, order: Partial<TransferOrder> = {}): Transfer {
  const created = { ...BEGUN, flow: 'tr-1', order: transferOrder(order) };
  return { ...applyTransferEvent(undefined, created, AT), ...changes };
}

/** The operation `op-1`, which has just begun, as {@link begunTransfer}. */
export function begunOperation(
  changes: Partial<Operation<GenericOrder>> = {},
  order: Partial<GenericOrder> = {},
): Operation<GenericOrder> {
  const { customerId, from } = transferOrder();
  const created = {
    ...{ ...BEGUN, flow: 'op-1' },
    order: { customerId, from, operation: 'standingOrder', data: '{}', ...order },
  };
  return { ...applyOperationEvent('operation', undefined, created, AT), ...changes };
}

/** The event that the bank verified an order as the resource `r1`, without further details. */
export const VERIFIED = {
  type: 'verified',
  resourceId: 'r1',
  totalAmount: null,
  commissions: null,
  bankName: null,
  nextStep: 'execute',
} as const;

/** Returns a consent request for two categories. */
export function consentCategories(): ConsentCategoryRequest[] {
  const products = [parseProductId('0000012345'), parseProductId('CARD000001')];
  return [
    { name: 'ACCOUNT_INFO', products },
    { name: 'PAYMENTS', products },
  ];
}

/** Returns the step that follows from a transfer's state. */
export function nextTransferStep(transfer: Transfer): OperationStep {
  return nextOperationStep(transfer, needsSettlement(transfer.order));
}

import { parseDate } from '../../src/domain/calendar.ts';
import type { ConsentCategoryRequest } from '../../src/domain/consent.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import { nextOperationStep, type OperationStep } from '../../src/domain/next-step.ts';
import { parseSepaIban } from '../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../src/domain/order/payment-amount.ts';
import { needsSettlement, type Transfer, type TransferOrder } from '../../src/domain/transfer.ts';

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

import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';

/** Returns the line of a batch. `changes` replace its fields. */
export function batchLine(changes: Partial<BatchLine> = {}): BatchLine {
  return {
    ...{ line: 1, place: 'line 2', customer: null, from: null, fromIban: null, name: 'Mario Rossi' },
    ...{ iban: parseSepaIban('IT60X0542811101000000123456'), amount: parsePaymentAmount('12.50') },
    ...{ currency: 'EUR', description: 'Invoice 7', reference: null, executionDate: null },
    ...{ instant: false, urgent: false, payeeVerified: false, address: null },
    ids: { paymentInformationId: null, instructionId: null, endToEndId: null },
    ...changes,
  };
}

/** How a CSV file was added that nobody needs to approve. */
export const batchAdded = (more: { by: string; user: string; machine: string; note?: string }) => ({
  ...{ format: 'csv' as const, messageId: null, note: null, retryOf: null, payees: [], approvalsNeeded: 0 },
  ...more,
});

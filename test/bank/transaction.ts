import type { Transaction } from '../../src/bank/ports/bank.ts';
import { amountOf } from '../domain/bookings.ts';

/** A row of a bank's list. @param more what the test is about: the bank says nothing else */
export function transactionOf(more: Partial<Transaction> = {}): Transaction {
  return {
    ...{ index: '1', status: 'booked', bookingDate: null, valueDate: null, amount: amountOf('1.00') },
    ...{ currency: 'EUR', description: '', details: '', code: null, transferReference: null },
    ...{ feeCharge: null, ...more },
  };
}

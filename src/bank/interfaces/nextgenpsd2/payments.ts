import { Psd2Error } from '../../../errors.ts';
import type { Payments } from '../../ports/bank.ts';
import { lacking } from './calls.ts';

/** psd2 reads at these banks. It initiates no payment there. */
export function paymentsOf(): Payments {
  return {
    commits: 'by the customer',
    transfer() {
      throw new Psd2Error('usage', 'psd2 cannot initiate payments yet at banks of the interface nextgenpsd2');
    },
    operation() {
      throw lacking('operations');
    },
    terms: () => Promise.reject(lacking('terms of transfers')),
    operationTerms: () => Promise.reject(lacking('operations')),
    receipt: () => Promise.reject(lacking('receipts')),
  };
}

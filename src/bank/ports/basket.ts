import type { Initiation } from '../../domain/operation.ts';
import type { PaymentCalls } from './payment-calls.ts';

/** Signing baskets: payments that the bank has already, and that their customer authorises once. */
export interface Baskets {
  /**
   * What a flow keeps of a basket from its first event on.
   *
   * @param paymentIds the bank's ids of the payments
   */
  initiation(
    paymentIds: readonly string[],
    back: { address: string; state: string },
    newId: () => string,
  ): Initiation;
  /**
   * Whether a stored initiation has these payments, and no other.
   *
   * @throws Psd2Error `config` if not: somebody has changed the store
   */
  refuseOther(paymentIds: readonly string[], initiation: Initiation): void;
  /** The calls of the basket alone. Each payment has its own status. */
  calls(basket: { transactionId: string; initiation: Initiation }): PaymentCalls;
}

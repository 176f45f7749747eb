import type { Initiation } from '../../domain/operation.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import type { BankReason } from '../../errors.ts';
import type { PaymentCalls } from './payment-calls.ts';

/** What became of one transfer of a bulk payment, in the bank's word and in psd2's. */
export interface EntryState {
  transactionStatus: string;
  /** Why the bank refused it. Absent: it does not say. */
  reasons?: BankReason[];
  /** `open`: the bank has not said yet. `duplicate`: it refused it because it has another one like it. */
  means: 'paid' | 'refused' | 'duplicate' | 'open';
  /** The bank does not change it any more. */
  isFinal?: true;
}

/** The account to debit, by its id or IBAN. Null and absent: the customer chooses it at the bank. */
export interface Debited {
  from: string | null;
  fromIban?: string | null | undefined;
}

/** What the bank takes as bulk payments. */
export interface BulkTerms {
  /** The most transfers in one. Null: the bank names no limit. */
  maxEntries: number | null;
  /** Whether the bank has a product for such transfers. In XML, they name the account to debit. */
  takes(order: Pick<TransferOrder, 'instant'> & Debited): boolean;
  /** Whether the bank is told how it books the payment: if the operator says it, always, or never. */
  batchBooking: 'optional' | 'required' | 'never';
}

/** Many transfers of one account, day and product in one resource, which the customer authorises once. */
export interface BulkPayments extends BulkTerms {
  /**
   * What a flow keeps of a bulk payment from its first event on. The end-to-end id of each transfer is its reference.
   *
   * @throws Psd2Error `usage` and the `invalid_…` codes for orders that this bank does not take. Nothing was sent then
   */
  initiation(
    orders: readonly TransferOrder[],
    back: { address: string; state: string },
    newId: () => string,
  ): Promise<Initiation>;
  /**
   * Whether a stored initiation pays these orders, in this sequence, and nothing else.
   *
   * @throws Psd2Error `config` if not: somebody has changed the store
   */
  refuseOther(orders: readonly TransferOrder[], initiation: Initiation): Promise<void>;
  /** @param order what all its transfers have */
  calls(payment: {
    order: Pick<TransferOrder, 'instant' | 'futureDated'>;
    transactionId: string;
    initiation: Initiation;
  }): PaymentCalls;
  /**
   * Asks what became of each transfer, if some of them were not paid, and why.
   *
   * @returns by end-to-end id. What the bank does not say is missing
   */
  entries(
    initiation: Initiation,
    resourceId: string,
    transactionId: string,
  ): Promise<ReadonlyMap<string, EntryState>>;
}

import type { CertificateName } from '../../domain/flow.ts';
import type { SettlementStatus, Verification } from '../../domain/operation.ts';
import type { BankReason } from '../../errors.ts';
import type { BeforeSend } from './call.ts';
import type { Decides, Sca, ScaLinks } from './customer.ts';

/** The bank's execution status of an instant transfer, in its own value and in psd2's. */
export interface ExecutionStatus {
  executionStatus: string;
  executionStatusDescription: string | null;
  /** Why the bank has rejected it. Absent: it does not say. */
  reasons?: BankReason[];
  /** The bank has rejected it because it has another one like it: nobody knows which of them was ordered. */
  isDuplicate?: true;
  /** What the bank says to psd2 and to the customer beside it. Absent: nothing. */
  messages?: string[];
  /** Any value that the interface does not know means pending. */
  status: SettlementStatus;
}

/** The answer to a verification. */
export interface Verified extends Verification {
  /** The bank has rejected the payment in the same answer. */
  isRejected?: true;
  /** It says that it has another one like it: nobody knows which of them was ordered. */
  isDuplicate?: true;
  /** Why. Absent: it does not say. */
  reasons?: BankReason[];
  /** The certificate with which it was begun. */
  certificate?: CertificateName;
}

/** The calls of one payment, in their order. All throw Psd2Error if the bank gives no usable answer. */
export interface PaymentCalls {
  /** The name in messages: `transfer`, or the operation's name. */
  name: string;
  /**
   * The bank creates the resource. No money moves, unless the customer commits: then this initiates the payment.
   *
   * @param requestId the id of an earlier attempt, which this repeats byte for byte. It is only for an initiation
   */
  verify(beforeSend: BeforeSend, requestId?: string): Promise<Verified>;
  /** @param step `verify<N>`. @param data JSON from the operator, unchanged */
  verifyFurther(
    resourceId: string,
    step: string,
    data: string,
    beforeSend: BeforeSend,
  ): Promise<Verification>;
  /**
   * Null if the customer commits: the payment runs without psd2.
   *
   * @throws Psd2Error `bank_answer` for an answer that belongs to another request: it decides nothing
   */
  execute: ((resourceId: string, beforeSend: BeforeSend) => Promise<{ cro: string | null }>) | null;
  /** Asks for the execution status. Null if there is none: only instant transfers that are executed at once have one. */
  executionStatus: ((resourceId: string, decides?: Decides) => Promise<ExecutionStatus>) | null;
  /**
   * The account that it debits, as the bank names it. Null: the bank does not say. Absent: the order always names it.
   *
   * @throws Psd2Error if the bank gives no usable answer
   */
  debtor?: (resourceId: string) => Promise<string | null>;
  /** Its SCA and its status, if they are not at `Bank.sca`. */
  sca?: Sca;
  /** Cancels it at the bank. Absent: the bank has no such call. */
  cancellation?: Cancellation;
}

/**
 * What the bank's answer to the request to cancel a payment proves. The payment's status still says whether it was in time.
 * `mayWantCustomer`: the bank may want the customer to authorise it, although its answer does not say where. `messages`: what the bank
 * says to psd2 and to the customer beside it.
 */
export type CancellationAnswer = { messages?: string[] } & (
  | { verdict: 'taken'; mayWantCustomer?: boolean }
  | { verdict: 'to be authorised'; links: ScaLinks }
  | { verdict: 'is gone' }
);

/** How a payment is cancelled at a bank where the customer commits. */
export interface Cancellation {
  /**
   * @throws Psd2Error `usage` if the bank cancels no payments; for a refusal and for an answer that proves nothing. `isNotKnown`: the
   *   bank does not know the payment with this certificate
   */
  request(cancel: {
    resourceId: string;
    redirectUri: string;
    beforeSend: BeforeSend;
    /** The bank has taken an earlier request: then a payment that it does not know is gone. */
    wasTaken: boolean;
  }): Promise<CancellationAnswer>;
  sca: Sca;
}

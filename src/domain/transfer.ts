import type { IsoDate } from './calendar.ts';
import type { Decimal, Money } from './decimal.ts';
import type { Iban } from './iban.ts';
import type { ProductId } from './identifiers.ts';

/** The states of a transfer, as `psd2` shows them. */
export type TransferState =
  /** Nothing at the bank yet. */
  | 'created'
  /** The bank has verified it; the resource exists. */
  | 'verified'
  /** The customer was sent to SCA. */
  | 'authorizing'
  | 'authorized'
  /** `execute` was sent; its outcome is not known yet. */
  | 'executing'
  /** The bank said yes; for an instant transfer the final status may be pending. */
  | 'executed'
  /** An instant transfer whose status is `OK`. */
  | 'settled'
  /** `KO`, or the bank refused to verify or to execute. */
  | 'failed'
  /** `NOT_AUTHORIZED`. */
  | 'rejected'
  | 'expired'
  /** The operator gave up before SCA. */
  | 'cancelled'
  /** Executed or not can't be told yet. */
  | 'unknown';

/** What the operator ordered. */
export interface TransferOrder {
  customerId: string;
  from: ProductId;
  to: Iban;
  name: string;
  amount: Decimal;
  currency: string;
  description: string;
  instant: boolean;
  /** The wire field `type`; null when none is sent. */
  type: string | null;
  executionDate: IsoDate;
  /** The order is for a day after the one it was given on, so an instant one is not executed at once. */
  futureDated: boolean;
  urgent: boolean;
  /** The operator's own reference, used once per profile. */
  reference: string | null;
}

/** What the bank said when it verified the order. */
export interface Verification {
  resourceId: string;
  totalAmount: Money | null;
  commissions: Money | null;
  bankName: string | null;
  /** The step the bank expects next, by the last part of its path: `execute`, or `verify<N>`. */
  nextStep: string;
}

export interface Transfer {
  kind: 'transfer';
  flow: string;
  /** `TPP-Transaction-ID` of every call of this flow. */
  transactionId: string;
  state: TransferState;
  order: TransferOrder;
  verification: Verification | null;
  /** The operator has seen what the bank verified and said yes. */
  accepted: boolean;
  authorizationStatus: string | null;
  executionStatus: string | null;
  executionStatusDescription: string | null;
  cro: string | null;
  createdAt: string;
  updatedAt: string;
}

/**
 * What happened to a transfer. The `…-sent` events are intents: they are on disk before the request they
 * name leaves, with its `TPP-Request-ID` and the digest of its body.
 */
export type TransferEvent =
  | { type: 'created'; flow: string; transactionId: string; order: TransferOrder }
  | ({ type: 'verify-sent' | 'next-verify-sent' | 'approach-sent' | 'execute-sent' } & Intent)
  | ({ type: 'verified' } & Verification)
  | { type: 'verify-refused' }
  | { type: 'accepted' }
  | { type: 'cancelled' }
  | { type: 'sca-started' }
  | { type: 'sca-returned' }
  /** Taken up again while the bank still waits: the customer has to be sent to SCA once more. */
  | { type: 'sca-again' }
  | { type: 'authorization'; status: AuthorizationStatus; bankStatus: string }
  /** The request never left, or was turned away unread (401, 420): `execute` may be sent again. */
  | { type: 'execute-not-begun' }
  | { type: 'executed'; cro: string | null }
  | { type: 'execute-refused'; description: string }
  | { type: 'execute-unanswered' }
  | { type: 'settlement'; status: SettlementStatus; description: string | null };

interface Intent {
  requestId: string;
  /** The `Digest` header of the request, or null for a GET. */
  digest: string | null;
}

/** What a bank's authorization status comes down to: any value that is none of the three is pending. */
export type AuthorizationStatus = 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING';

export type SettlementStatus = 'OK' | 'KO' | 'PENDING';

/** What a bank's own word for an authorization status comes down to (interface specification, "States and transitions"). */
export function readAuthorizationStatus(bankStatus: string): AuthorizationStatus {
  return bankStatus === 'AUTHORIZED' || bankStatus === 'NOT_AUTHORIZED' || bankStatus === 'EXPIRED'
    ? bankStatus
    : 'PENDING';
}

/**
 * The transfer after `event`. Pure: a transfer on disk is the fold of its events over this function.
 *
 * @param at when it happened, ISO 8601 with zone
 */
export function applyTransferEvent(
  transfer: Transfer | undefined,
  event: TransferEvent,
  at: string,
): Transfer {
  if (event.type === 'created') {
    return {
      kind: 'transfer',
      flow: event.flow,
      transactionId: event.transactionId,
      state: 'created',
      order: event.order,
      verification: null,
      accepted: false,
      authorizationStatus: null,
      executionStatus: null,
      executionStatusDescription: null,
      cro: null,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!transfer) throw new TypeError(`A transfer cannot begin with ${event.type}`);
  return { ...transfer, ...changes(event), updatedAt: at };
}

function changes(event: Exclude<TransferEvent, { type: 'created' }>): Partial<Transfer> {
  switch (event.type) {
    case 'verify-sent':
    case 'next-verify-sent':
    case 'approach-sent':
    case 'sca-returned':
      return {};
    case 'verified': {
      const { resourceId, totalAmount, commissions, bankName, nextStep } = event;
      return {
        state: 'verified',
        verification: { resourceId, totalAmount, commissions, bankName, nextStep },
      };
    }
    case 'verify-refused':
      return { state: 'failed' };
    case 'accepted':
      return { accepted: true };
    case 'cancelled':
      return { state: 'cancelled' };
    case 'sca-again':
      return { state: 'verified' };
    case 'sca-started':
      return { state: 'authorizing' };
    case 'authorization':
      return {
        authorizationStatus: event.bankStatus,
        state: (
          {
            AUTHORIZED: 'authorized',
            NOT_AUTHORIZED: 'rejected',
            EXPIRED: 'expired',
            PENDING: 'authorizing',
          } as const
        )[event.status],
      };
    case 'execute-sent':
      return { state: 'executing' };
    case 'execute-not-begun':
      return { state: 'authorized' };
    case 'executed':
      return { state: 'executed', cro: event.cro };
    case 'execute-refused':
      return { state: 'failed', executionStatusDescription: event.description };
    case 'execute-unanswered':
      return { state: 'unknown' };
    case 'settlement':
      return {
        state: ({ OK: 'settled', KO: 'failed', PENDING: 'executed' } as const)[event.status],
        executionStatus: event.status,
        executionStatusDescription: event.description,
      };
  }
}

/** What is to be done next with a transfer, or `done` when it has come to its end. */
export type TransferStep =
  | 'verify'
  | 'accept'
  | 'authorize'
  | 'await-authorization'
  | 'execute'
  | 'ask-outcome'
  | 'await-settlement'
  | 'done';

/** The step that follows from a transfer's state. A resumed transfer goes on from exactly here. */
export function nextTransferStep(transfer: Transfer): TransferStep {
  switch (transfer.state) {
    case 'created':
      return 'verify';
    case 'verified':
      return transfer.accepted ? 'authorize' : 'accept';
    case 'authorizing':
      return 'await-authorization';
    case 'authorized':
      return 'execute';
    case 'executing':
    case 'unknown':
      return 'ask-outcome';
    case 'executed':
      return needsSettlement(transfer.order) ? 'await-settlement' : 'done';
    case 'settled':
    case 'failed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
      return 'done';
  }
}

/** Whether the bank has an execution status for it: only for instant transfers that are executed at once. */
export function needsSettlement(order: Pick<TransferOrder, 'instant' | 'futureDated'>): boolean {
  return order.instant && !order.futureDated;
}

/** Whether a transfer plainly moved no money and never will, so that its reference may be used again. */
export function isPlainlyFailed(transfer: Transfer): boolean {
  return ['failed', 'rejected', 'expired', 'cancelled'].includes(transfer.state);
}

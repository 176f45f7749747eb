import type { Money } from './decimal.ts';
import type { ProductId } from './identifiers.ts';
import type { PayeeCheck, PayeeSource } from './order/payee-check.ts';
import { type Resolution, type ResolvedEvent, resolutionOf } from './resolution.ts';

/** The states of an operation (a transfer is one), as `psd2` shows them. */
export const OPERATION_STATES = [
  /** Nothing at the bank yet. */
  'created',
  /** The bank has verified it. The resource exists. */
  'verified',
  /** The customer was sent to SCA. */
  'authorizing',
  'authorized',
  /** `execute` was sent. Its outcome is not known yet. */
  'executing',
  /** The bank accepted `execute`. An instant transfer may still be pending. */
  'executed',
  /** An instant transfer whose status is `OK`. */
  'settled',
  /** `KO`, or the bank refused to verify or to execute. */
  'failed',
  /** `NOT_AUTHORIZED`. */
  'rejected',
  'expired',
  /** The operator cancelled it before `execute` was sent, or no request ever reached the bank. */
  'cancelled',
  /** It is not known yet whether it was executed. */
  'unknown',
] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** The fields of every order: the customer and the product. */
export interface OrderTarget {
  customerId: string;
  /** The product of the operation. */
  from: ProductId;
}

/** An operation with any name, and the data from the bank's documentation of it. */
export interface GenericOrder extends OrderTarget {
  /** The operation's name, for example `standingOrder`. */
  operation: string;
  /** The `data` of the verify request: JSON from the operator, unchanged. */
  data: string;
}

/** The bank's answer to the verification of an order. */
export interface Verification {
  resourceId: string;
  totalAmount: Money | null;
  commissions: Money | null;
  bankName: string | null;
  /** The next step that the bank expects, as the last part of its path: `execute` or `verify<N>`. */
  nextStep: string;
}

/** A flow of an operation (interface specification, "Generic operation flow"). */
export interface Operation<Order extends OrderTarget> {
  kind: OperationKind;
  flow: string;
  /** `TPP-Transaction-ID` of every call of this flow. */
  transactionId: string;
  state: OperationState;
  order: Order;
  /** A request has reached the bank, or may have. */
  reached: boolean;
  /** The `data` of the further steps `verify<N>`, in order: JSON from the operator, unchanged. */
  furtherData: string[];
  /** The number of further steps that the bank has accepted. */
  furtherSteps: number;
  /** A further step was sent but not answered. The bank may have accepted it. */
  furtherStepOpen: boolean;
  verification: Verification | null;
  /** The last result of the operator's payee check. Null if there was no check. */
  payeeCheck: PayeeCheck | null;
  /** The operator has seen the verified order and confirmed it. */
  accepted: boolean;
  authorizationStatus: string | null;
  executionStatus: string | null;
  executionStatusDescription: string | null;
  cro: string | null;
  /** `TPP-Request-ID` of the last `execute` that was announced. */
  executeRequestId: string | null;
  /** As `Progress.refusalAlone` of the flow states: the bank refused `execute`, and its status does not show the outcome. */
  refusalAlone: boolean;
  /** The outcome that a person gave, because the bank did not. */
  resolution: Resolution | null;
  createdAt: string;
  updatedAt: string;
}

export type OperationKind = 'transfer' | 'operation';

/**
 * What happened to an operation. The `…-sent` events are intents: they are on disk before their request leaves, with its
 * `TPP-Request-ID` and the digest of its body.
 */
export type OperationEvent<Order extends OrderTarget> =
  | { type: 'created'; flow: string; transactionId: string; order: Order; furtherData?: string[] | undefined }
  | StepEvent;

/** All events after the creation. */
export type StepEvent =
  | ({ type: 'verify-sent' | 'further-verify-sent' | 'approach-sent' | 'execute-sent' } & Intent)
  | ({ type: 'verified' | 'further-verified' } & Verification)
  /** The operator gave the data of the further steps later. */
  | { type: 'further-data'; data: string[] }
  /** The request never left, or the bank refused it without processing it (401, 420). */
  | { type: 'verify-not-begun' }
  | { type: 'verify-refused'; description?: string | undefined }
  /** Resumed after a further step without an answer: psd2 verifies the order again, as a new resource. */
  | { type: 'verify-again' }
  | ({ type: 'payee-checked'; source?: PayeeSource | undefined } & PayeeCheck)
  | { type: 'accepted' }
  | { type: 'cancelled' }
  | { type: 'sca-started' }
  | { type: 'sca-returned' }
  /** Resumed while the bank still waits: psd2 sends the customer to SCA again. */
  | { type: 'sca-again' }
  | Authorization
  /** No byte of the request left. `execute` may be sent again. psd2 0.2 also wrote this after a 401 or 420. */
  | { type: 'execute-not-begun' }
  /**
   * The bank says that it refused the request unread (401, 420, 429). A gateway may have delivered it twice, so psd2 asks for
   * the status before it sends `execute` again.
   */
  | { type: 'execute-turned-away' }
  | { type: 'executed'; cro: string | null }
  | { type: 'execute-refused'; description: string }
  /** Its outcome is not known. `description`: the refusal that does not decide it. */
  | { type: 'execute-unanswered'; description?: string | undefined }
  | { type: 'settlement'; status: SettlementStatus; description: string | null }
  | ResolvedEvent;

interface Intent {
  requestId: string;
  /** The `Digest` header of the request, or null for a GET. */
  digest: string | null;
}

/** The meaning of a bank's authorization status. Any unknown value means pending. */
export type AuthorizationStatus = 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING';

export type SettlementStatus = 'OK' | 'KO' | 'PENDING';

/** The customer's decision, with the bank's own status. */
export interface Authorization {
  type: 'authorization';
  status: AuthorizationStatus;
  bankStatus: string;
}

/** Interprets a bank's authorization status (interface specification, "States and transitions"). */
export function readAuthorization(bankStatus: string): Authorization {
  const isKnown = bankStatus === 'AUTHORIZED' || bankStatus === 'NOT_AUTHORIZED' || bankStatus === 'EXPIRED';
  return { type: 'authorization', status: isKnown ? bankStatus : 'PENDING', bankStatus };
}

/** Whether an event says that the customer has not decided yet. */
export function isPending(event: { type: string; status?: string }): boolean {
  return event.type === 'authorization' && event.status === 'PENDING';
}

/**
 * Whether a bank's execution status means that the operation was executed. The specification shows only `PENDING` for this
 * field.
 */
export function isExecuted(bankStatus: string | null): boolean {
  return bankStatus === 'OK' || bankStatus === 'EXECUTED';
}

/**
 * Returns the operation after `event`. Pure: an operation on disk is the fold of its events with this function.
 *
 * @param at when it happened, ISO 8601 with zone
 */
export function applyOperationEvent<Order extends OrderTarget>(
  kind: OperationKind,
  operation: Operation<Order> | undefined,
  event: OperationEvent<Order>,
  at: string,
): Operation<Order> {
  if (event.type === 'created') {
    if (operation) throw new TypeError('A flow begins once');
    return {
      kind,
      flow: event.flow,
      transactionId: event.transactionId,
      state: 'created',
      order: event.order,
      reached: false,
      furtherData: event.furtherData ?? [],
      furtherSteps: 0,
      furtherStepOpen: false,
      verification: null,
      payeeCheck: null,
      accepted: false,
      authorizationStatus: null,
      executionStatus: null,
      executionStatusDescription: null,
      cro: null,
      executeRequestId: null,
      refusalAlone: false,
      resolution: null,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!operation) throw new TypeError(`A flow cannot begin with ${event.type}`);
  return { ...operation, ...changes(operation, event, at), updatedAt: at };
}

/** The data for the next further step, if the operator gave it. */
export function nextFurtherData({ furtherData, furtherSteps }: FurtherSteps): string | undefined {
  return furtherData[furtherSteps];
}

type FurtherSteps = Pick<Operation<OrderTarget>, 'furtherData' | 'furtherSteps'>;

/** The fields that an event changes. */
type Changes = Partial<Omit<Operation<OrderTarget>, 'order'>>;

function changes(
  operation: Pick<Operation<OrderTarget>, 'furtherSteps' | 'verification'>,
  event: StepEvent,
  at: string,
): Changes {
  switch (event.type) {
    case 'approach-sent':
    case 'sca-returned':
      return {};
    case 'verify-sent':
      return { reached: true };
    case 'verify-not-begun':
      return { reached: false };
    case 'verified':
      return { state: 'verified', verification: verificationOf(event) };
    case 'further-verified':
      return furtherVerified(operation, event);
    case 'further-data':
      return { furtherData: event.data };
    case 'further-verify-sent':
      return { furtherStepOpen: true };
    case 'verify-refused':
      return { state: 'failed', executionStatusDescription: event.description ?? null };
    case 'verify-again':
      return VERIFIED_ANEW;
    case 'payee-checked':
      return { payeeCheck: { result: event.result, name: event.name, problem: event.problem } };
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
        state: STATE_OF_AUTHORIZATION[event.status],
        authorizationStatus: event.bankStatus,
        // Without the customer's authorisation the bank executes nothing. No other status decides about a refused `execute`.
        ...(event.status === 'NOT_AUTHORIZED' && { refusalAlone: false }),
      };
    case 'execute-sent':
      return { state: 'executing', executeRequestId: event.requestId };
    case 'execute-not-begun':
      return { state: 'authorized' };
    case 'execute-turned-away':
      return { state: 'authorized', refusalAlone: true };
    case 'executed':
      return { state: 'executed', cro: event.cro, refusalAlone: false };
    case 'execute-refused':
      return { state: 'failed', executionStatusDescription: event.description, refusalAlone: true };
    case 'execute-unanswered':
      return {
        state: 'unknown',
        ...(event.description !== undefined && { executionStatusDescription: event.description }),
      };
    case 'settlement':
      return settled(event);
    case 'resolved':
      return {
        state: event.outcome === 'executed' ? 'executed' : 'failed',
        resolution: resolutionOf(event, at),
        refusalAlone: false,
      };
  }
}

const STATE_OF_AUTHORIZATION = {
  AUTHORIZED: 'authorized',
  NOT_AUTHORIZED: 'rejected',
  EXPIRED: 'expired',
  PENDING: 'authorizing',
} as const satisfies Record<AuthorizationStatus, OperationState>;

const STATE_OF_SETTLEMENT = {
  OK: 'settled',
  KO: 'failed',
  PENDING: 'executed',
} as const satisfies Record<SettlementStatus, OperationState>;

/** Resets the operation to its creation, because the earlier verification is no longer valid. */
const VERIFIED_ANEW = {
  state: 'created',
  furtherSteps: 0,
  furtherStepOpen: false,
  verification: null,
  payeeCheck: null,
  accepted: false,
} as const satisfies Changes;

/** Picks these fields, because the event has other fields too. */
function verificationOf({
  resourceId,
  totalAmount,
  commissions,
  bankName,
  nextStep,
}: Verification): Verification {
  return { resourceId, totalAmount, commissions, bankName, nextStep };
}

/** A further step's answer may omit fields of the first answer. They are kept. */
function furtherVerified(
  { furtherSteps, verification: known }: Pick<Operation<OrderTarget>, 'furtherSteps' | 'verification'>,
  said: Verification,
): Changes {
  return {
    furtherSteps: furtherSteps + 1,
    furtherStepOpen: false,
    verification: {
      resourceId: said.resourceId,
      totalAmount: said.totalAmount ?? known?.totalAmount ?? null,
      commissions: said.commissions ?? known?.commissions ?? null,
      bankName: said.bankName ?? known?.bankName ?? null,
      nextStep: said.nextStep,
    },
  };
}

function settled({ status, description }: { status: SettlementStatus; description: string | null }): Changes {
  return {
    state: STATE_OF_SETTLEMENT[status],
    executionStatus: status,
    executionStatusDescription: description,
    refusalAlone: false,
  };
}

/** The next step of an operation, or `done` if it has ended. */
export type OperationStep =
  | 'verify'
  | 'verify-further'
  | 'accept'
  | 'authorize'
  | 'await-authorization'
  | 'execute'
  | 'ask-outcome'
  | 'await-settlement'
  | 'done';

/**
 * The next step for an operation's state. A resumed operation continues with this step.
 *
 * @param settles whether the bank has an execution status for it
 */
export function nextOperationStep(operation: Operation<OrderTarget>, settles: boolean): OperationStep {
  switch (operation.state) {
    case 'created':
      return 'verify';
    case 'verified':
      // The bank's link decides, so psd2 never skips a further step before `execute`.
      if (/^verify\d+$/.test(operation.verification?.nextStep ?? '')) return 'verify-further';
      return operation.accepted ? 'authorize' : 'accept';
    case 'authorizing':
      return 'await-authorization';
    case 'authorized':
      return 'execute';
    case 'executing':
    case 'unknown':
      return 'ask-outcome';
    case 'executed':
      return settles ? 'await-settlement' : 'done';
    case 'settled':
    case 'failed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
      return 'done';
  }
}

/** Whether money may have moved and the bank has not said so yet. A person may then resolve the operation. */
export function isOutcomeOpen(operation: Operation<OrderTarget>, settles: boolean): boolean {
  return (
    operation.refusalAlone ||
    ['ask-outcome', 'await-settlement'].includes(nextOperationStep(operation, settles))
  );
}

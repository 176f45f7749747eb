import type { Money } from './decimal.ts';
import type { ProductId } from './identifiers.ts';
import type { PayeeCheck, PayeeSource } from './order/payee-check.ts';
import { type Resolution, type ResolvedEvent, resolutionOf } from './resolution.ts';

/** The states of an operation (a transfer is one), as `psd2` shows them. */
export const OPERATION_STATES = [
  /** Nothing at the bank yet. */
  'created',
  /** The bank has verified it; the resource exists. */
  'verified',
  /** The customer was sent to SCA. */
  'authorizing',
  'authorized',
  /** `execute` was sent; its outcome is not known yet. */
  'executing',
  /** The bank said yes; for an instant transfer the final status may be pending. */
  'executed',
  /** An instant transfer whose status is `OK`. */
  'settled',
  /** `KO`, or the bank refused to verify or to execute. */
  'failed',
  /** `NOT_AUTHORIZED`. */
  'rejected',
  'expired',
  /** The operator gave it up before `execute` was sent, or nothing of it ever reached the bank. */
  'cancelled',
  /** Executed or not can't be told yet. */
  'unknown',
] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** What every order says: whose product it is for, and which operation. */
export interface OrderTarget {
  customerId: string;
  /** The product that the operation is made with. */
  from: ProductId;
}

/** An operation of any name, with the data that the bank's page for it asks for. */
export interface GenericOrder extends OrderTarget {
  /** The operation's name, for example `standingOrder`. */
  operation: string;
  /** What `verify` sends as `data`: JSON as the operator gave it. */
  data: string;
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

/** A non-inquiry operation on its way (interface specification, "Generic operation flow"). */
export interface Operation<Order extends OrderTarget> {
  kind: OperationKind;
  flow: string;
  /** `TPP-Transaction-ID` of every call of this flow. */
  transactionId: string;
  state: OperationState;
  order: Order;
  /** A request of it has reached the bank, or may have. */
  reached: boolean;
  /** What the further steps `verify<N>` send as `data`, in their order: JSON as the operator gave it. */
  furtherData: string[];
  /** How many further steps the bank has taken. */
  furtherSteps: number;
  /** A further step was sent and not answered: the bank may have taken it. */
  furtherStepOpen: boolean;
  verification: Verification | null;
  /** What the operator's payee check said last; null where there was none. */
  payeeCheck: PayeeCheck | null;
  /** The operator has seen what the bank verified and said yes. */
  accepted: boolean;
  authorizationStatus: string | null;
  executionStatus: string | null;
  executionStatusDescription: string | null;
  cro: string | null;
  /** A person said what became of it, since the bank did not. */
  resolution: Resolution | null;
  createdAt: string;
  updatedAt: string;
}

export type OperationKind = 'transfer' | 'operation';

/**
 * What happened to an operation. The `…-sent` events are intents: they are on disk before the request they
 * name leaves, with its `TPP-Request-ID` and the digest of its body.
 */
export type OperationEvent<Order extends OrderTarget> =
  | { type: 'created'; flow: string; transactionId: string; order: Order; furtherData?: string[] | undefined }
  | StepEvent;

/** Everything that happens after the creation. */
export type StepEvent =
  | ({ type: 'verify-sent' | 'further-verify-sent' | 'approach-sent' | 'execute-sent' } & Intent)
  | ({ type: 'verified' | 'further-verified' } & Verification)
  /** The operator gave the data of the further steps later. */
  | { type: 'further-data'; data: string[] }
  /** The request never left, or was turned away unread (401, 420). */
  | { type: 'verify-not-begun' }
  | { type: 'verify-refused'; description?: string | undefined }
  /** Taken up after a further step that was not answered: the order is verified anew, as another resource. */
  | { type: 'verify-again' }
  | ({ type: 'payee-checked'; source?: PayeeSource | undefined } & PayeeCheck)
  | { type: 'accepted' }
  | { type: 'cancelled' }
  | { type: 'sca-started' }
  | { type: 'sca-returned' }
  /** Taken up again while the bank still waits: the customer has to be sent to SCA once more. */
  | { type: 'sca-again' }
  | Authorization
  /** The request never left, or was turned away unread (401, 420): `execute` may be sent again. */
  | { type: 'execute-not-begun' }
  | { type: 'executed'; cro: string | null }
  | { type: 'execute-refused'; description: string }
  | { type: 'execute-unanswered' }
  | { type: 'settlement'; status: SettlementStatus; description: string | null }
  | ResolvedEvent;

interface Intent {
  requestId: string;
  /** The `Digest` header of the request, or null for a GET. */
  digest: string | null;
}

/** What a bank's authorization status comes down to: any value that is none of the three is pending. */
export type AuthorizationStatus = 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING';

export type SettlementStatus = 'OK' | 'KO' | 'PENDING';

/** How the customer has decided, with the bank's own word for it. */
export interface Authorization {
  type: 'authorization';
  status: AuthorizationStatus;
  bankStatus: string;
}

/** What a bank's own word for an authorization status comes down to (interface specification, "States and transitions"). */
export function readAuthorization(bankStatus: string): Authorization {
  const isKnown = bankStatus === 'AUTHORIZED' || bankStatus === 'NOT_AUTHORIZED' || bankStatus === 'EXPIRED';
  return { type: 'authorization', status: isKnown ? bankStatus : 'PENDING', bankStatus };
}

/** Whether an event says that the customer has still to decide. */
export function isPending(event: { type: string; status?: string }): boolean {
  return event.type === 'authorization' && event.status === 'PENDING';
}

/**
 * Whether a bank's own word for an execution status says that it was executed; of this field the specification shows
 * `PENDING` only.
 */
export function isExecuted(bankStatus: string | null): boolean {
  return bankStatus === 'OK' || bankStatus === 'EXECUTED';
}

/**
 * The operation after `event`. Pure: an operation on disk is the fold of its events over this function.
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
      resolution: null,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!operation) throw new TypeError(`A flow cannot begin with ${event.type}`);
  return { ...operation, ...changes(operation, event, at), updatedAt: at };
}

/** The data of the next further step, if the operator gave it. */
export function nextFurtherData({ furtherData, furtherSteps }: FurtherSteps): string | undefined {
  return furtherData[furtherSteps];
}

type FurtherSteps = Pick<Operation<OrderTarget>, 'furtherData' | 'furtherSteps'>;

/** The part of an operation that an event changes. */
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
      return { state: STATE_OF_AUTHORIZATION[event.status], authorizationStatus: event.bankStatus };
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
      return settled(event);
    case 'resolved':
      return {
        state: event.outcome === 'executed' ? 'executed' : 'failed',
        resolution: resolutionOf(event, at),
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

/** As it was created, since what was verified then counts no more. */
const VERIFIED_ANEW = {
  state: 'created',
  furtherSteps: 0,
  furtherStepOpen: false,
  verification: null,
  payeeCheck: null,
  accepted: false,
} as const satisfies Changes;

/** @returns these fields alone, since the event has its own beside them */
function verificationOf({
  resourceId,
  totalAmount,
  commissions,
  bankName,
  nextStep,
}: Verification): Verification {
  return { resourceId, totalAmount, commissions, bankName, nextStep };
}

/** A further step need not say again what the first one said. */
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
  };
}

/** What is to be done next with an operation, or `done` when it has come to its end. */
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
 * The step that follows from an operation's state. A resumed operation goes on from exactly here.
 *
 * @param settles the bank has an execution status for it
 */
export function nextOperationStep(operation: Operation<OrderTarget>, settles: boolean): OperationStep {
  switch (operation.state) {
    case 'created':
      return 'verify';
    case 'verified':
      // The bank's link decides: `execute` is never jumped to over a further step.
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

/** Whether money may have moved by it, and the bank has not told yet whether it did: a person may say so then. */
export function isOutcomeOpen(operation: Operation<OrderTarget>, settles: boolean): boolean {
  return ['ask-outcome', 'await-settlement'].includes(nextOperationStep(operation, settles));
}

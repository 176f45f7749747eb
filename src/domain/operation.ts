import type * as z from 'zod/mini';
import type { BankReason } from '../errors.ts';
import { begunBy, type PersonsAuthorisation, saidOf, startedBy, withoutRefused } from './authorisations.ts';
import { answeredCredential, sentCredential, withoutCredential } from './credential-changes.ts';
import type { SentCredential } from './embedded.ts';
import type {
  authorization,
  cost,
  genericEvent,
  initiation,
  settlement,
  stepEvent,
  verification,
} from './events.ts';
import { type AnyFlow, beginning, begun, type CertificateName, resolutionOf } from './flow.ts';
import { type GivenLink, linksAfter } from './given-links.ts';
import type { PayeeCheck } from './order/payee-check.ts';

/** The states of an operation (a transfer is one), as `psd2` shows them. */
export const OPERATION_STATES = [
  /** Nothing at the bank yet. */
  'created',
  /** The bank has verified it. The resource exists. */
  'verified',
  /** The customer was sent to SCA. */
  'authorizing',
  'authorized',
  /** `execute` was sent (if the customer commits: the initiation). Its outcome is not known yet. */
  'executing',
  /** If the customer commits: the bank has checked what the customer has authorised, and will execute it. */
  'ordered',
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
  /** A standing order that the bank has rejected or cancelled after its first day: payments may have been made. */
  'ended',
  /** It is not known yet whether it was executed. */
  'unknown',
] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

type Created = Extract<z.infer<typeof genericEvent>, { type: 'created' }>;

/**
 * Who takes the step that cannot be undone: psd2 with `execute`, or the customer, who can make the payment run from the moment
 * they have the link. A flow keeps what its first event says.
 */
export type Commits = Created['commits'];

/** How the customer comes to the bank: the interface has a call for it, or the bank's answers have links that say what is next. */
export type Authorises = 'by call' | 'by links';

/** An operation with any name, and the data from the bank's documentation of it. */
export type GenericOrder = Created['order'];

/** The fields of every order: the customer and the product. */
export type OrderTarget = Pick<GenericOrder, 'customerId' | 'from'>;

/** What a flow keeps of a payment that the customer authorises by links: how psd2 creates it at the bank. */
export type Initiation = z.infer<typeof initiation>;

/** What the bank says that a payment costs. */
export type Cost = z.infer<typeof cost>;

/** The bank's answer to the verification of an order. */
export type Verification = z.infer<typeof verification>;

/** A flow of an operation (interface specification, "Generic operation flow"). */
export interface Operation<Order extends OrderTarget> extends AnyFlow<OperationState> {
  kind: OperationKind;
  commits: Commits;
  authorises: Authorises;
  order: Order;
  /** The account that the customer has chosen at the bank, as the bank names it. Null: the order names it, or the bank has not. */
  debtor: string | null;
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
  /** Why, as the bank says: the reason that counts first. The description has the same in words, or is psd2's own. */
  reasons: readonly BankReason[];
  cro: string | null;
  /**
   * `TPP-Request-ID` of the last `execute` that was announced. If the customer commits: of the initiation, as long as nothing
   * says what became of it.
   */
  executeRequestId: string | null;
  /** Null if the customer authorises it by a call, or with the bulk payment that it goes with. */
  initiation: Initiation | null;
  /** When the initiation with {@link executeRequestId} was announced first, ISO 8601 with zone. */
  initiatedAt: string | null;
  /** The same by the bank's clock. Null: it is not known. */
  initiatedAtBank: string | null;
  /** When it could begin to run: `execute` was announced, or the bank said that the customer who commits it has authorised it. */
  committedAt: string | null;
  /** psd2 has begun again after a lost answer ({@link StepEvent} `initiate-again`). */
  isBegunAgain: boolean;
  /** It was announced more than once, so that one attempt that never left says nothing of the others. */
  isRepeated: boolean;
  /** Where the customer authorises it, as the bank's links say. */
  links: NonNullable<Verification['links']> | null;
  /** The authorisations that the bank may have begun, in the order in which psd2 learnt of them. */
  authorisations: readonly PersonsAuthorisation[];
  /** What psd2 has sent of the customers, with which they authorise it, and its cancellation. In order. */
  credentials: readonly SentCredential[];
  cancellationCredentials: readonly SentCredential[];
  /** Where a cancellation goes on for which a customer gives psd2 something. */
  cancellationLinks: Operation<Order>['links'];
  /** The customer's browser has come back from the authorisation that was begun last. */
  returned: boolean;
  feesAccepted: boolean;
  /** The bank has rejected it because it has another one like it. That it is rejected ends nothing then. */
  isDuplicate: boolean;
  /** If the customer commits: the bank has said that what it has executed is final. */
  isFinal: boolean;
  /** The bank's own words, as last recorded. Null where it has none. */
  transactionStatus: string | null;
  scaStatus: string | null;
  /** A customer has had the link with which they authorise it, or was asked on their phone. */
  linkIsOut: boolean;
  /** As `Progress.mayExecuteWithoutUs` of the flow states. */
  mayExecuteWithoutUs: boolean;
  /** The operation of the bulk payment or signing basket that this transfer goes with. The customer authorises that. */
  bulk: string | null;
  /** The certificate with which it was begun. Null: it is not known. */
  certificate: CertificateName | null;
  /** The bank has taken a request to cancel it. */
  isCancellationTaken: boolean;
  /**
   * The authorisations of its cancellation, in the order in which psd2 learnt of them. Null: the bank has not asked for one, or psd2 does
   * not know.
   */
  cancellation: readonly PersonsAuthorisation[] | null;
  /** The links that a customer may have, with which they authorise it, in the order in which they got them. */
  givenLinks: readonly GivenLink[];
  /** As `Progress.linkUntil` of the flow states. */
  linkUntil: string | null;
  /** The bank has cancelled it, and says that the customer has authorised it since. That it is cancelled ends nothing then. */
  isPaidByLink: boolean;
}

export type OperationKind = 'transfer' | 'operation';

/** What happened to an operation. */
export type OperationEvent<Order extends OrderTarget> =
  | (Omit<Created, 'order'> & { order: Order })
  | StepEvent;

/** All events after the creation. */
export type StepEvent = z.infer<typeof stepEvent>;

/** The customer's decision, with the bank's own status. */
export type Authorization = z.infer<typeof authorization>;

export type SettlementStatus = z.infer<typeof settlement>['status'];

/** Whether an event says that the customer has not decided yet. */
export function isPending(event: { type: string; status?: string }): boolean {
  return event.type === 'authorization' && event.status === 'PENDING';
}

/** Whether what the bank says ends an operation or a consent without an effect, so that a reference is free. */
export function endsUnpaid({ type, status }: { type: string; status?: string }): boolean {
  return type === 'cancelled' || ['KO', 'NOT_AUTHORIZED', 'EXPIRED'].includes(status ?? '');
}

/** Nothing was sent that makes it run. */
const NOT_SENT = { initiatedAt: null, initiatedAtBank: null, committedAt: null };

/** No customer has given psd2 anything. */
const NO_CREDENTIALS = { credentials: [], cancellationCredentials: [], cancellationLinks: null };

/** No customer has a link. */
const NO_LINKS = {
  linkIsOut: false,
  links: null,
  returned: false,
  givenLinks: [],
  linkUntil: null,
  isPaidByLink: false,
};

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
  if (event.type === 'created') return createdOperation(kind, operation, event, at);
  const before = begun(operation, event);
  const changed = neverBack(before, changes(event.type, before, event, at));
  const givenLinks = linksAfter(before, event);
  // Nothing becomes of the payment by its name.
  const updatedAt = event.type === 'debtor-named' ? before.updatedAt : at;
  const worded = {
    ...before,
    ...changed,
    ...bankWordsIn(event, changed.verification ?? before.verification),
  };
  const after = {
    ...worded,
    ...reasonsIn(event, changed),
    ...('bank' in event && event.bank?.cost && costing(worded, event.bank.cost)),
    givenLinks,
    updatedAt,
  };
  const scaStatus = 'bank' in event ? event.bank?.scaStatus : undefined;
  if (scaStatus == null) return after;
  return { ...after, authorisations: saidOf(after.authorisations, after.links?.id, scaStatus) };
}

function createdOperation<Order extends OrderTarget>(
  kind: OperationKind,
  operation: Operation<Order> | undefined,
  event: Extract<OperationEvent<Order>, { type: 'created' }>,
  at: string,
): Operation<Order> {
  return {
    ...beginning(operation, event, at),
    kind,
    commits: event.commits,
    authorises: event.initiation ? 'by links' : 'by call',
    order: event.order,
    debtor: null,
    furtherData: event.furtherData ?? [],
    furtherSteps: 0,
    furtherStepOpen: false,
    verification: null,
    payeeCheck: null,
    accepted: false,
    authorizationStatus: null,
    executionStatus: null,
    executionStatusDescription: null,
    reasons: [],
    cro: null,
    executeRequestId: null,
    initiation: event.initiation ?? null,
    ...NOT_SENT,
    isBegunAgain: false,
    isRepeated: false,
    authorisations: [],
    ...NO_CREDENTIALS,
    feesAccepted: false,
    isDuplicate: false,
    isFinal: false,
    transactionStatus: null,
    scaStatus: null,
    mayExecuteWithoutUs: false,
    bulk: null,
    certificate: null,
    isCancellationTaken: false,
    cancellation: null,
    ...NO_LINKS,
  };
}

/** The reasons change with the description of them. */
function reasonsIn(event: StepEvent, changed: Changes): Pick<Changes, 'reasons'> {
  if (!('executionStatusDescription' in changed)) return {};
  return { reasons: ('reasons' in event && event.reasons) || [] };
}

/** The bank's own words that an event has. */
function bankWordsIn(
  event: StepEvent,
  verification: Verification | null,
): Partial<Pick<Operation<OrderTarget>, 'transactionStatus' | 'scaStatus' | 'verification'>> {
  const words = 'bank' in event ? event.bank : undefined;
  if (!words) return {};
  return {
    ...(words.messages && telling(verification, words.messages)),
    ...(words.transactionStatus !== null && { transactionStatus: words.transactionStatus }),
    ...(words.scaStatus !== null && { scaStatus: words.scaStatus }),
  };
}

/** Adds what the bank says, each sentence once. */
function telling(
  verification: Verification | null,
  messages: readonly string[],
): Partial<Pick<Operation<OrderTarget>, 'verification'>> {
  if (!verification) return {};
  return {
    verification: {
      ...verification,
      messages: [...new Set([...(verification.messages ?? []), ...messages])],
    },
  };
}

/** The data for the next further step, if the operator gave it. */
export function nextFurtherData({ furtherData, furtherSteps }: FurtherSteps): string | undefined {
  return furtherData[furtherSteps];
}

type FurtherSteps = Pick<Operation<OrderTarget>, 'furtherData' | 'furtherSteps'>;

/** The fields that an event changes. */
type Changes = Partial<Omit<Operation<OrderTarget>, 'order'>>;

/** The events of a type. Some types have one shape together. */
type OfType<Event extends { type: string }, Type> = Event extends { type: infer Types }
  ? Type extends Types
    ? Omit<Event, 'type'> & { type: Type }
    : never
  : never;
type StepEventOf<Type extends StepEvent['type']> = { [Each in Type]: OfType<StepEvent, Each> }[Type];

/** What each event changes, by its type. */
const CHANGES: {
  [Type in StepEvent['type']]: (
    operation: Operation<OrderTarget>,
    event: StepEventOf<Type>,
    at: string,
  ) => Changes;
} = {
  // How the payment is created at the bank.

  /** The bank may execute a payment without SCA, and nobody can find it without the answer. */
  'verify-sent': (operation, event, at) => ({
    reached: true,
    ...(commitsByCustomer(operation) && initiated(operation, event, at)),
  }),

  /** What is sent again may have left before. */
  'verify-not-begun': ({ isRepeated }) => (isRepeated ? {} : { ...NOTHING_SENT, reached: false }),

  'initiate-again': () => ({ ...NOTHING_SENT, isRepeated: false, isBegunAgain: true, linkIsOut: false }),

  verified: (operation, event, at) => ({
    state: 'verified',
    verification: verificationOf(event),
    certificate: event.certificate ?? null,
    links: event.links ?? null,
    authorisations:
      (event.links?.redirect ?? event.links?.oauth) ? startedBy([], event.links?.id, undefined, at) : [],
    // psd2 has the answer now, and nobody has the link yet.
    ...(commitsByCustomer(operation) && {
      mayExecuteWithoutUs: mayExecuteVerified(operation),
      executeRequestId: null,
      initiatedAt: null,
      isRepeated: false,
    }),
  }),

  'verify-refused': (_, { description = null }) => ({
    state: 'failed',
    executionStatusDescription: description,
  }),

  'verify-again': () => VERIFIED_ANEW,
  'further-verified': furtherVerified,
  'further-data': (_, { data }) => ({ furtherData: data }),
  'further-verify-sent': () => ({ furtherStepOpen: true }),
  'debtor-named': (_, { account }) => ({ debtor: account }),

  // What the customer gives psd2.

  'credential-sent': sentCredential,
  'credential-not-begun': withoutCredential,
  'credential-answered': answeredCredential,

  // What the operator has seen and decided.

  'payee-checked': (_, { result, name, problem }) => ({ payeeCheck: { result, name, problem } }),
  accepted: () => ({ accepted: true }),
  'fees-accepted': () => ({ feesAccepted: true }),
  'cost-told': costing,

  cancelled: (_, { linkUntil = null, description }) => ({
    state: 'cancelled',
    refusedUnconfirmed: false,
    linkUntil,
    ...(description !== undefined && { executionStatusDescription: description }),
  }),

  resolved: (_, event, at) => ({
    state: event.outcome === 'executed' ? 'executed' : 'failed',
    resolution: resolutionOf(event, at),
    refusedUnconfirmed: false,
  }),

  // The bulk payment or the basket that it goes with.

  /** From here on, what becomes of the bulk payment or the basket counts. */
  'bulk-joined': (_, { bulk }) => ({ reached: true, mayExecuteWithoutUs: true, bulk }),

  /** What was to go into a basket is at the bank already. */
  'bulk-left': (operation) =>
    operation.verification
      ? { state: 'verified', mayExecuteWithoutUs: mayExecuteVerified(operation), bulk: null }
      : { state: 'created', reached: false, mayExecuteWithoutUs: false, bulk: null },

  'basket-deleted': () => ({ state: 'verified', mayExecuteWithoutUs: true, bulk: null }),

  // How the customer authorises it.

  /** The answer may be lost, and the customer may be asked all the same. */
  'approach-sent': (operation, { psuId }, at) => ({
    ...(commitsByCustomer(operation) && { mayExecuteWithoutUs: true }),
    ...(operation.authorises === 'by links' && {
      authorisations: begunBy(operation.authorisations, psuId, at),
    }),
  }),

  'approach-refused': ({ authorisations }) => ({ authorisations: withoutRefused(authorisations) }),

  'sca-started': (operation, { links, psuId }, at) => ({
    state: 'authorizing',
    returned: false,
    ...(commitsByCustomer(operation) && { mayExecuteWithoutUs: true }),
    ...(links && {
      linkIsOut: true,
      links,
      authorisations: startedBy(operation.authorisations, links.id, psuId, at),
    }),
  }),

  'sca-returned': () => ({ returned: true }),
  /** Where the customer commits, they may have authorised it already: its state does not go back. */
  'sca-again': (operation) => (commitsByCustomer(operation) ? {} : { state: 'verified' }),
  'links-left': (_, { links }) => ({ links }),
  'link-over': () => ({ linkUntil: null }),
  'code-sent': () => ({}),

  authorization: (operation, { status, bankStatus, description }, at) => ({
    state: STATE_OF_AUTHORIZATION[status],
    authorizationStatus: bankStatus,
    ...(commitsByCustomer(operation) && status === 'AUTHORIZED' && { committedAt: at }),
    ...(description !== undefined && { executionStatusDescription: description }),
    // Without the customer's authorisation the bank executes nothing. No other status decides about a refused `execute`.
    ...(status === 'NOT_AUTHORIZED' && { refusedUnconfirmed: false }),
  }),

  // How it is executed.

  'execute-sent': (_, { requestId }, at) => ({
    state: 'executing',
    executeRequestId: requestId,
    committedAt: at,
  }),

  'execute-not-begun': () => ({ state: 'authorized' }),
  'execute-turned-away': () => ({ state: 'authorized', refusedUnconfirmed: true }),

  'execute-refused': (_, { description }) => ({
    state: 'failed',
    executionStatusDescription: description,
    refusedUnconfirmed: true,
  }),

  'execute-unanswered': (_, { isDuplicate, isPaidByLink, description }) => ({
    state: 'unknown',
    ...(isDuplicate && { isDuplicate }),
    ...(isPaidByLink && { isPaidByLink }),
    ...(description !== undefined && { executionStatusDescription: description }),
  }),

  ordered: () => ({ state: 'ordered', refusedUnconfirmed: false }),

  executed: (operation, { cro, isFinal = false }) => ({
    state: 'executed',
    cro: cro ?? operation.cro,
    refusedUnconfirmed: false,
    isDuplicate: false,
    isPaidByLink: false,
    isFinal: operation.isFinal || isFinal,
  }),

  settlement: (_, { status, description }) => ({
    state: STATE_OF_SETTLEMENT[status],
    executionStatus: status,
    executionStatusDescription: description,
    refusedUnconfirmed: false,
  }),

  // How it is cancelled at the bank.

  'cancel-sent': () => ({}),
  'cancel-taken': () => ({ isCancellationTaken: true }),
  'cancel-told': ({ verification }, { messages }) => telling(verification, messages),
  'cancel-begun': ({ cancellation }) => ({ cancellation: cancellation ?? [] }),

  'cancel-sca-started': ({ cancellation }, { id, psuId, links = null }, at) => ({
    cancellation: startedBy(cancellation ?? [], id, psuId, at),
    cancellationLinks: links,
  }),

  'cancel-noted': ({ cancellation }, { id, scaStatus }) => ({
    cancellation: saidOf(cancellation ?? [], id, scaStatus),
  }),
};

function changes<Type extends StepEvent['type']>(
  type: Type,
  operation: Operation<OrderTarget>,
  event: StepEventOf<Type>,
  at: string,
): Changes {
  return CHANGES[type](operation, event, at);
}

function commitsByCustomer({ commits }: Pick<Operation<OrderTarget>, 'commits'>): boolean {
  return commits === 'by the customer';
}

/** The initiation has not left, or may leave once more. */
const NOTHING_SENT = {
  state: 'created',
  mayExecuteWithoutUs: false,
  executeRequestId: null,
  initiatedAt: null,
} as const satisfies Changes;

/** The states of a payment that the bank has accepted, in their order. */
const ACCEPTED: readonly OperationState[] = ['ordered', 'executed', 'settled'];
/** Those before it has. */
const BEFORE: readonly OperationState[] = ['created', 'verified', 'authorizing', 'authorized', 'executing'];

/** A state never goes back: what the bank has accepted or settled is not less because an answer that says less came later. */
function neverBack({ state }: Pick<Operation<OrderTarget>, 'state'>, changed: Changes): Changes {
  const reached = ACCEPTED.indexOf(state);
  const isBack =
    changed.state !== undefined &&
    (BEFORE.includes(changed.state) || ACCEPTED.slice(0, Math.max(reached, 0)).includes(changed.state));
  if (reached < 0 || !isBack) return changed;
  const { state: _, ...others } = changed;
  return others;
}

/** Whether a payment that the bank has, and for which nobody has a link, may run. */
function mayExecuteVerified({ initiation }: Pick<Operation<OrderTarget>, 'initiation'>): boolean {
  return initiation?.executesWithoutSca === 'possible';
}

/** An initiation was announced. With the id of the one before, it is the same. */
function initiated(
  { executeRequestId, initiatedAt, initiatedAtBank }: Operation<OrderTarget>,
  { requestId, bankTime = null }: { requestId: string; bankTime?: string | null },
  at: string,
): Changes {
  const isAgain = executeRequestId === requestId;
  return {
    state: 'executing',
    mayExecuteWithoutUs: true,
    executeRequestId: requestId,
    isRepeated: isAgain,
    initiatedAt: isAgain ? initiatedAt : at,
    initiatedAtBank: isAgain ? initiatedAtBank : bankTime,
  };
}

const STATE_OF_AUTHORIZATION = {
  AUTHORIZED: 'authorized',
  NOT_AUTHORIZED: 'rejected',
  EXPIRED: 'expired',
  PENDING: 'authorizing',
} as const satisfies Record<Authorization['status'], OperationState>;

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
  unreadFees,
  bankName,
  nextStep,
  messages,
}: Verification): Verification {
  const words = messages === undefined ? {} : { messages };
  const unread = unreadFees === undefined ? {} : { unreadFees };
  return { resourceId, totalAmount, commissions, ...unread, bankName, nextStep, ...words };
}

/** What the bank tells later of the cost counts. The operator has accepted only the fees that they have seen. */
function costing(
  { verification: earlier, feesAccepted }: Pick<Operation<OrderTarget>, 'verification' | 'feesAccepted'>,
  { totalAmount, commissions, unreadFees }: Cost,
): Changes {
  if (!earlier) return {};
  const { unreadFees: unreadBefore, ...before } = earlier;
  const unread = unreadFees ?? (commissions ? undefined : unreadBefore);
  const verification = {
    ...before,
    totalAmount: totalAmount ?? earlier.totalAmount,
    commissions: commissions ?? earlier.commissions,
    ...(unread !== undefined && { unreadFees: unread }),
  };
  const { amount, currency } = verification.commissions ?? {};
  const isSame =
    amount === earlier.commissions?.amount &&
    currency === earlier.commissions?.currency &&
    unread === unreadBefore;
  return { verification, feesAccepted: feesAccepted && isSame };
}

/** Whether the bank takes fees, and says so. */
export function hasFees(verification: Verification | null): boolean {
  return (
    verification !== null && (verification.commissions !== null || verification.unreadFees !== undefined)
  );
}

/** A further step's answer may omit fields of the first answer. They are kept. */
function furtherVerified(
  { furtherSteps, verification: before }: Pick<Operation<OrderTarget>, 'furtherSteps' | 'verification'>,
  answer: Verification,
): Changes {
  return {
    furtherSteps: furtherSteps + 1,
    furtherStepOpen: false,
    verification: {
      resourceId: answer.resourceId,
      totalAmount: answer.totalAmount ?? before?.totalAmount ?? null,
      commissions: answer.commissions ?? before?.commissions ?? null,
      bankName: answer.bankName ?? before?.bankName ?? null,
      nextStep: answer.nextStep,
    },
  };
}

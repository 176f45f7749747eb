import type { BankReason } from '../errors.ts';
import { isAuthorised } from './authorisations.ts';
import { because } from './bank-reason.ts';
import { isLogin } from './given-links.ts';
import {
  type Authorization,
  type Cost,
  endsUnpaid,
  isPending,
  type Operation,
  type OrderTarget,
  type StepEvent,
} from './operation.ts';
import { needsSettlement, type TransferOrder } from './transfer.ts';

// What a bank's answers about a payment mean, and nothing else: no call, no journal.

/** The status of a resource that a customer authorises, in the bank's own values and in psd2's. */
export interface ResourceStatus {
  authorizationStatus: string;
  executionStatus: string | null;
  /** What the customer has decided. Any value that the interface does not know means pending. */
  authorization: Authorization;
  /**
   * What became of it: executed (for a consent, confirmed), ordered, or ended for good. Null: the status does not
   * say. A payment that the customer still authorises is not `ordered`: the bank has only checked it. `duplicate`: the bank has
   * rejected it because it has another one like it, and nobody knows which of them was ordered.
   */
  became: 'executed' | 'ordered' | 'failed' | 'duplicate' | 'cancelled' | null;
  /** Why the bank has rejected it. Absent: it does not say. */
  reasons?: BankReason[];
  /** What the bank says to psd2 and to the customer beside it. Absent: nothing. */
  messages?: string[];
  /** The bank says that it will not change what became of it any more. */
  isFinal?: true;
  /** The bank has it, and not everybody who must has authorised it. */
  awaitsSca?: true;
  /** So far nobody has authorised it. If the authorisation fails, it never runs. */
  isUnauthorised?: true;
  /** Somebody has authorised it, and others must. */
  isPartly?: true;
  /** The bank keeps it, and has neither settled nor ended it. If the authorisation has failed, somebody can still authorise it. */
  isStanding?: true;
  /** What it costs. Absent: the bank does not say. */
  cost?: Cost;
  /** When the bank said so, by its own clock, ISO 8601. Absent: it does not say. */
  saidAt?: string;
}

/** How far an authorisation is. */
export interface ScaProgress {
  /** The bank's own word. */
  scaStatus: string;
  /** `needs code`: `confirmCode` is next. Any word that the interface does not know means going on. */
  means: 'going on' | 'needs code' | 'done' | 'failed';
  /** What the bank tells the customer. */
  message: string | null;
  /** What the payment costs. Absent: the bank does not say. */
  cost?: Cost;
  /** As {@link ResourceStatus.saidAt}. */
  saidAt?: string;
}

type Payment = Operation<OrderTarget>;

/** What a bank answered to the questions about a payment. */
export interface PaymentAnswers {
  status: ResourceStatus;
  /** How far the authorisation is. Null: the bank does not say. */
  progress: ScaProgress | null;
  /** The link of the authorisation that psd2 began last, else the bank's list of them. `unanswered`: the bank could not be asked. */
  progressFrom: 'our link' | 'the list' | 'unanswered';
  /** Whether the customer may have another authorisation than one that has failed. It counts only where {@link asksForOther}. */
  mayHaveOther: boolean;
  /** The payment is in a signing basket that the customer has authorised. */
  isInAuthorisedBasket: boolean;
}

/** What is known before the bank is asked for other authorisations. */
type FirstAnswers = Omit<PaymentAnswers, 'mayHaveOther'>;

/** What the answers about a payment say of it. */
export interface PaymentReading {
  event: StepEvent;
  /** Nothing but the customer's authorisation seems to be missing. */
  awaitsCustomer: boolean;
  /** Nobody has authorised it so far. */
  isUnauthorised: boolean;
  /** The customer has completed the authorisation that psd2 knows. */
  isSigned: boolean;
  /** Somebody has authorised it, and others must. `ours`: the authorisation that psd2 began last. */
  partly: 'ours is open' | 'ours is over' | null;
  /** The authorisation that psd2 began last has failed, and the bank keeps the payment, or others may authorise it. */
  isOverHere: boolean;
  /** How far the authorisation is that psd2 began last. Null: the bank does not say. */
  progress: ScaProgress | null;
  /** When the bank said so, by its own clock. Undefined: it does not say. */
  saidAt: string | undefined;
}

/** Where the status alone counts. */
const STATUS_ALONE = {
  awaitsCustomer: false,
  isSigned: false,
  partly: null,
  isOverHere: false,
  progress: null,
};

/**
 * Reads the answers about a payment (the standard, section 4, "What a status means"). If its authorisation has failed, and the bank has not
 * accepted it after that, it never runs.
 */
export function readPayment(operation: Payment, answers: PaymentAnswers): PaymentReading {
  const { status, progress, progressFrom } = answers;
  if (operation.authorises === 'by call')
    return { ...STATUS_ALONE, event: whatHappened(status), isUnauthorised: false, saidAt: undefined };
  const event = eventIn(operation, answers);
  const { saidAt } = status;
  const isUnauthorised = status.isUnauthorised === true;
  if (progressFrom === 'unanswered') return { ...STATUS_ALONE, event, isUnauthorised, saidAt };
  return {
    event,
    awaitsCustomer: awaitsCustomer(operation, answers),
    isUnauthorised,
    isSigned: progress?.means === 'done',
    partly: whoseIsMissing(operation, answers),
    isOverHere: failsAlone(operation, answers) || (answers.mayHaveOther && asksForOther(operation, answers)),
    progress: progressFrom === 'our link' ? progress : null,
    saidAt,
  };
}

/** The bank need not say again that there is another one like it, or that the customer has authorised it since. */
export function unlessKnownBetter(
  { isDuplicate, isPaidByLink }: Pick<Payment, 'isDuplicate' | 'isPaidByLink'>,
  reading: PaymentReading,
): PaymentReading {
  const { event } = reading;
  if ((!isDuplicate && !isPaidByLink) || !endsUnpaid(event)) return reading;
  const bankWords = 'bank' in event && event.bank ? { bank: event.bank } : {};
  return { ...reading, event: { type: 'execute-unanswered', ...bankWords } };
}

/** Whether the bank's word says something new of a payment that it has accepted. */
export function isNews(operation: Payment, event: StepEvent): boolean {
  if (event.type === 'execute-unanswered')
    return !isKnownDuplicate(operation) && !isKnownPaidByLink(operation);
  if (event.type === 'executed')
    return operation.state === 'ordered' || (event.isFinal === true && !operation.isFinal);
  return event.type === 'settlement' || event.type === 'cancelled';
}

/** What is new of a payment whose outcome is open. @param outcome null: the bank does not say */
export function newsIn(outcome: readonly StepEvent[] | null, operation: Payment): StepEvent[] {
  const isUnknown = operation.state === 'unknown';
  const events: readonly StepEvent[] = outcome ?? (isUnknown ? [] : [{ type: 'execute-unanswered' }]);
  return events.filter((event) => event.type !== 'execute-unanswered' || isNews(operation, event));
}

/** Whether the journal has it that the bank has rejected a payment because of another one like it. */
export function isKnownDuplicate({ state, isDuplicate }: Pick<Payment, 'state' | 'isDuplicate'>): boolean {
  return state === 'unknown' && isDuplicate;
}

/** Whether the journal has it that the customer has authorised a payment after the bank had cancelled it. */
export function isKnownPaidByLink({ state, isPaidByLink }: Pick<Payment, 'state' | 'isPaidByLink'>): boolean {
  return state === 'unknown' && isPaidByLink;
}

/** The customer's decision, or the outcome. Null if it is still open, or the bank has not answered. */
export function decisionIn(reading: PaymentReading | null): StepEvent | null {
  return reading && !isPending(reading.event) ? reading.event : null;
}

/**
 * Whether the bank's word decides what becomes of an operation whose outcome is open. AUTHORIZED does not: psd2 has sent
 * `execute`, or the payment runs without it, and the bank has not said that it is executed. EXPIRED ends it only if the
 * customer commits and has not authorised it.
 */
export function decidesOutcome(
  event: StepEvent,
  { commits, state }: Pick<Payment, 'commits' | 'state'>,
): boolean {
  if (event.type !== 'authorization' || event.status === 'NOT_AUTHORIZED') return true;
  return event.status === 'EXPIRED' && commits === 'by the customer' && state === 'authorizing';
}

/** The event that the answers are. */
function eventIn(operation: Payment, answers: PaymentAnswers): StepEvent {
  const { status, progress } = answers;
  const bank = bankWords(answers);
  // An instant payment is over soon after the SCA, whatever the bank says of it.
  if (status.isUnauthorised && progress?.means === 'done' && isInstant(operation.order))
    return { ...status.authorization, status: 'AUTHORIZED', bank };
  // The bank rejects what the customer has refused.
  if (progress?.means === 'failed' && status.became === 'failed' && !isMade(operation))
    return { ...status.authorization, status: 'NOT_AUTHORIZED', ...because(status.reasons), bank };
  const event = { ...eventOfStatus(operation, answers), bank };
  if (event.type !== 'authorization') return event;
  if (asksForOther(operation, answers))
    return answers.mayHaveOther ? event : { ...event, status: 'NOT_AUTHORIZED' };
  return mayGoOn(operation, answers) && event.status === 'AUTHORIZED'
    ? { ...event, status: 'PENDING' }
    : event;
}

/** The bank's own words, as an event has them. */
function bankWords({ status, progress }: FirstAnswers) {
  const cost = status.cost ?? progress?.cost;
  const messages = [...(status.messages ?? []), ...(progress?.message ? [progress.message] : [])];
  return {
    transactionStatus: status.authorizationStatus,
    scaStatus: progress?.scaStatus ?? null,
    ...(cost && { cost }),
    ...(messages.length > 0 && { messages }),
  };
}

/** What the status says, unless the authorisation says that it is not so far. */
function eventOfStatus(operation: Payment, answers: FirstAnswers): StepEvent {
  const { status } = answers;
  // A bank may have checked a payment, for a later day too, before the customer has authorised it.
  const isOnlyNoted = status.became === 'ordered' && mayGoOn(operation, answers);
  return isOnlyNoted || failsAlone(operation, answers) ? status.authorization : whatHappened(status);
}

/**
 * Whether the payment never runs unless the customer has another authorisation: nobody has authorised it, and the only authorisation that psd2
 * knows has failed. What is in a signing basket is authorised with that.
 */
export function asksForOther(operation: Payment, answers: FirstAnswers): boolean {
  // The customer may have another try with psd2, and the bank may execute what it says has failed (docs/embedded.md).
  const isEmbedded = operation.credentials.length > 0;
  const isAlone = operation.bulk === null && operation.authorisations.length <= 1 && !isEmbedded;
  const hasFailed = answers.status.isUnauthorised === true && answers.progress?.means === 'failed';
  return isAlone && hasFailed && eventOfStatus(operation, answers).type === 'authorization';
}

/** Whether the authorisation goes on, or may: the bank says nothing new. */
function mayGoOn(operation: Payment, answers: FirstAnswers): boolean {
  return isGoingOn(answers.progress) || isNoNews(operation, answers);
}

function isGoingOn(progress: ScaProgress | null): boolean {
  return progress !== null && progress.means !== 'done';
}

function awaitsCustomer(operation: Payment, answers: FirstAnswers): boolean {
  const { progress, status } = answers;
  // What is in a basket never ends because of this: the basket is authorised, and not the payment.
  if (isNoNews(operation, answers)) return operation.bulk === null && !operation.returned;
  return progress ? isGoingOn(progress) : status.awaitsSca === true;
}

/** Whose authorisation is missing, if somebody has authorised it and others must. */
function whoseIsMissing(
  { authorisations }: Payment,
  { status, progress }: FirstAnswers,
): PaymentReading['partly'] {
  // As long as the code of this customer's page is missing, nobody has authorised it.
  if (!status.isPartly || progress?.means === 'needs code') return null;
  const isOver = progress
    ? progress.means === 'done' || progress.means === 'failed'
    : authorisations.length <= 1;
  return isOver ? 'ours is over' : 'ours is open';
}

/** Whether the authorisation has failed, and the bank keeps the payment. What others have authorised may be paid all the same. */
function failsAlone(operation: Payment, { progress, status }: FirstAnswers): boolean {
  const isKept = status.isStanding || (operation.credentials.length > 0 && status.isUnauthorised);
  if (progress?.means !== 'failed' || !isKept || isMade(operation)) return false;
  return status.became !== 'executed' || !operation.authorisations.some(isAuthorised);
}

/**
 * Whether a bank says of a payment only what it said before the customer could authorise it: that it has checked it. The customer may
 * have authorised it since, or not. If they logged in for it, they have.
 */
function isNoNews(
  { state, transactionStatus, links, bulk, returned }: Payment,
  { status, progress, progressFrom, isInAuthorisedBasket }: FirstAnswers,
): boolean {
  if (progress !== null || progressFrom === 'unanswered' || isInAuthorisedBasket) return false;
  const isSame = status.authorizationStatus === transactionStatus && state !== 'authorized';
  if (!isSame || !isOnlyChecked(status)) return false;
  if (bulk !== null) return true;
  // Without a way for the customer, the bank has nothing left for them to authorise.
  const hasWay = links !== null && !links.isDone && (isWay(links) || links.start !== undefined);
  return hasWay && !(returned && isLogin(links));
}

function isWay({ redirect, oauth, approach, message, step }: NonNullable<Payment['links']>): boolean {
  return (redirect ?? oauth ?? message ?? step) !== undefined || approach === 'decoupled';
}

/** Whether the bank has checked a payment, and has not accepted it for execution. */
export function isOnlyChecked({
  authorization,
  became,
}: Pick<ResourceStatus, 'authorization' | 'became'>): boolean {
  return authorization.status === 'AUTHORIZED' && (became === null || became === 'ordered');
}

/** The meaning of the bank's operation status: executed, failed, or the customer's decision. */
export function whatHappened({ authorization, became, isFinal, reasons }: ResourceStatus): StepEvent {
  if (became === 'ordered') return { type: 'ordered' };
  if (became === 'executed') return { type: 'executed', cro: null, ...(isFinal && { isFinal }) };
  const why = because(reasons);
  if (became === 'duplicate') return { type: 'execute-unanswered', isDuplicate: true, ...why };
  if (became === 'cancelled') return { type: 'cancelled', ...why };
  return became === 'failed'
    ? { type: 'settlement', status: 'KO', description: null, ...why }
    : authorization;
}

function isInstant(order: OrderTarget & Partial<TransferOrder>): boolean {
  return needsSettlement({ instant: order.instant === true, futureDated: order.futureDated === true });
}

function isMade({ state }: Pick<Payment, 'state'>): boolean {
  return state === 'ordered' || state === 'executed' || state === 'settled';
}

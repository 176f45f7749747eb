import type { ConsentState } from './consent.ts';
import type { Operation, OperationState, OrderTarget } from './operation.ts';

/** The states of every kind of flow. */
export type FlowState = OperationState | ConsentState;

/**
 * The progress of a flow:
 *
 * - `open`: nothing irreversible was sent. The flow can be resumed or cancelled.
 * - `sent`: it may have an effect without psd2, and its outcome is not known: `execute` (for a consent, `confirm`) was sent, or
 *   the payment may run by itself ({@link Progress.mayExecuteWithoutUs}).
 *   This is what messages call an unknown outcome. The state `unknown` is narrower: an answer was lost. `isOutcomeOpen`
 *   (`next-step.ts`) is what a person may resolve, and the `LineOutcome` `unknown` (`flows/batch/known-lines.ts`) has the instant
 *   transfers too that are executed and not settled.
 * - `done`: executed or accepted for it (for a consent, confirmed).
 * - `refused`: it definitely had no effect and never will.
 * - `kept`: it has ended, and may have had an effect, or a customer can still give it one. Its reference stays reserved.
 */
export type Standing = 'open' | 'sent' | 'done' | 'refused' | 'kept';

const STANDINGS: Readonly<Record<FlowState, Standing>> = {
  created: 'open',
  verified: 'open',
  requested: 'open',
  authorizing: 'open',
  authorized: 'open',
  executing: 'sent',
  confirming: 'sent',
  unknown: 'sent',
  ordered: 'done',
  executed: 'done',
  settled: 'done',
  confirmed: 'done',
  failed: 'refused',
  rejected: 'refused',
  expired: 'refused',
  cancelled: 'refused',
  revoked: 'refused',
  ended: 'kept',
};

/** What a flow's progress follows from. */
export interface Progress {
  state: FlowState;
  /**
   * The bank refused `execute` (for a consent, `confirm`), and nothing but this refusal says what became of it. A refusal is
   *about one delivery only: a gateway may have delivered the request twice (command contract, "Money moves at most once").
   */
  refusedUnconfirmed: boolean;
  /**
   * The payment commits `by the customer`, and may run without psd2: the bank may have it without an answer that says so, or the
   * customer may have the link. Only the bank's word or a person ends it then. Absent for a consent.
   */
  mayExecuteWithoutUs?: boolean;
  /**
   * The bank has cancelled the payment while a customer had a link to authorise it, which may work until this time by the bank's
   * clock, ISO 8601. Null or absent: nobody has one.
   */
  linkUntil?: string | null;
}

/** The progress of a flow. Only this module decides which states are open, sent, done or refused. */
export function standingOf({
  state,
  refusedUnconfirmed,
  mayExecuteWithoutUs = false,
  linkUntil = null,
}: Progress): Standing {
  if (state === 'cancelled' && linkUntil !== null) return 'kept';
  const standing = STANDINGS[state];
  return refusedUnconfirmed || (mayExecuteWithoutUs && standing === 'open') ? 'sent' : standing;
}

/** Whether a flow definitely had no effect and never will, so that its reference may be used again. */
export function isPlainlyFailed(flow: Progress): boolean {
  return standingOf(flow) === 'refused';
}

/** Whether a flow can still be cancelled here: it cannot have an effect without psd2. */
export function isOpen(flow: Progress): boolean {
  return standingOf(flow) === 'open';
}

/** Whether a flow that is resumed may still send the customer to SCA, or send `execute` (for a consent, `confirm`). */
export function maySend({ state }: { state: FlowState }): boolean {
  return STANDINGS[state] === 'open';
}

/** Whether no request of a flow has ever reached the bank, so that there is nothing to resume. */
export function isUntouched({ state, reached }: { state: FlowState; reached: boolean }): boolean {
  return state === 'created' && !reached;
}

/** Whether a flow's state is final. `executed` is not: an executed instant transfer can still fail. */
export function isOver({ state }: { state: FlowState }): boolean {
  const standing = STANDINGS[state];
  return (
    standing === 'refused' ||
    standing === 'kept' ||
    (standing === 'done' && state !== 'executed' && state !== 'ordered')
  );
}

/**
 * Whether the bank has accepted a payment, but has not said that it is final: it may still reject it (the standard, section 4, "What a
 * status means"). psd2 asks again. A person's word is final.
 */
export function isAccepted({ state, commits, isFinal, resolution }: Acceptance): boolean {
  const isDone = state === 'ordered' || state === 'executed';
  return isDone && commits === 'by the customer' && !isFinal && resolution === null;
}

/** What {@link isAccepted} follows from. */
export type Acceptance = Pick<Operation<OrderTarget>, 'state' | 'commits' | 'isFinal' | 'resolution'>;

/**
 * Whether a person must look at a flow that no process works on: money has moved or may have (or the bank may have confirmed a
 * consent) and nothing says so yet, or the flow is unfinished, so the customer may have authorised something that psd2 never
 * sent.
 *
 * @param settles whether the bank has an execution status for it, so that `executed` is not the end
 */
export function needsAttention(flow: Progress & { reached: boolean }, settles: boolean): boolean {
  switch (standingOf(flow)) {
    case 'sent':
      return true;
    case 'open':
      return !isUntouched(flow);
    case 'done':
      return settles && !isOver(flow);
    case 'refused':
    case 'kept':
      return false;
  }
}

/**
 * Whether a customer has had the link to a payment, or was asked on their phone, and nothing says yet what they decided. They can
 * authorise it without psd2.
 */
export function isOpenAtBank(payment: Pick<Operation<OrderTarget>, 'linkIsOut'> & Progress): boolean {
  return payment.linkIsOut && isUndecided(payment) && standingOf(payment) === 'sent';
}

/** Whether the bank has a payment, and nothing says yet what its customer decided. */
export function isUndecided({ state }: { state: FlowState }): boolean {
  return state === 'authorizing' || state === 'verified';
}

/** Whether the bank has a payment that may run without psd2, or is ordered for later: only the bank can end it. */
export function isBanksToCancel(payment: Operation<OrderTarget>): boolean {
  const isBanks = payment.commits === 'by the customer' && payment.authorises === 'by links';
  if (!isBanks || !payment.verification) return false;
  return standingOf(payment) === 'sent' || payment.state === 'executed' || payment.state === 'ordered';
}

import { type FlowState, isUntouched } from '../domain/flow-states.ts';
import { type ErrorCode, Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';

/** Whether the bank, or a gateway before it, definitely refused a call, so that it had no effect. */
export function isRefusal(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && (error.refusal === 'content' || error.refusal === 'other');
}

/**
 * Whether a refusal certainly comes from the bank itself (command contract, "Money moves at most once"). Any other answer, with
 * any status, may come from a gateway that does not know what the bank has done.
 */
export function isBanksRefusal(error: unknown): error is Psd2Error {
  return isRefusal(error) && error.isBanks === true;
}

/**
 * Whether the bank says that it refused a call unread: the token was not valid, or there were too many calls. As
 * {@link isBanksRefusal}, this is about one delivery only.
 */
export function isTurningAway(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.refusal === 'unread' && error.isBanks === true;
}

/**
 * Whether the bank refused what the request contains. Any other refusal may also mean that the bank has done it already
 * (command contract, "Money moves at most once").
 */
export function isAboutContent({ refusal }: Psd2Error): boolean {
  return refusal === 'content';
}

/** Whether the bank refused an initiation, and has certainly begun no payment (NextGenPSD2, "A refused initiation is refused"). */
export function hasBegunNothing(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.beganNothing === true;
}

/** Whether another psd2 has taken over the flow. This one must not send anything more for it. */
export function isOvertaken(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'overtaken';
}

/** Whether the operator pressed Ctrl-C. The error then says nothing about the bank. */
export function isInterruption(error: unknown): boolean {
  return !(error instanceof Psd2Error) || error.code === 'interrupted';
}

/**
 * Whether a question may have an answer a moment later: the bank cannot be reached, it is failing, or something else answers for it, as
 * while a gateway starts.
 */
export function isTrouble(error: unknown): error is Psd2Error {
  return (
    error instanceof Psd2Error && (TROUBLES.includes(error.code) || (isRefusal(error) && !error.isBanks))
  );
}
const TROUBLES: readonly ErrorCode[] = ['bank_unreachable', 'bank_failing', 'bank_answer', 'too_many_calls'];

/** After these errors a flow can continue: nothing is wrong with it. */
const PASSING = ['interrupted', 'overtaken', 'too_many_calls', 'config'];

/** Ends a flow whose command failed before anything reached the bank: there is nothing to continue. */
export async function endIfUntouched<Flow extends { state: FlowState; reached: boolean }>(
  open: OpenFlow<Flow, { type: 'cancelled' }>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Psd2Error) || PASSING.includes(error.code) || !isUntouched(open.current)) return;
  try {
    await open.record({ type: 'cancelled' });
  } catch (problem) {
    // The command has already failed with its own error.
    if (!(problem instanceof Psd2Error)) throw problem;
  }
}

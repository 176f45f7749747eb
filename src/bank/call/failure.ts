import { Psd2Error } from '../../errors.ts';

/**
 * Whether the bank definitely refused a call, so that it had no effect. A success status without an outcome and without an
 * error code (interface specification, "Errors", rule 1), and a gateway timeout (408), are not definite refusals.
 */
export function isRefusal(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  if (!['bank_refused', 'forbidden', 'sca_required'].includes(error.code)) return false;
  const { httpStatus = 0, bankCode, outcome } = error;
  const isSuccess = httpStatus >= 200 && httpStatus <= 299;
  return httpStatus !== 408 && (!isSuccess || bankCode !== undefined || outcome === 'ERROR');
}

/**
 * Whether a refusal certainly comes from the bank itself: its envelope has `outcome: ERROR` (command contract, "Money moves
 * at most once"). Any other answer, with any status, may come from a gateway that does not know what the bank has done.
 */
export function isBanksRefusal(error: unknown): error is Psd2Error {
  return isRefusal(error) && error.outcome === 'ERROR';
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
 * Whether the bank says that it refused a call unread: the token was not valid (401), or there were too many calls (420,
 * 429). As {@link isBanksRefusal}, this is the word of one delivery.
 */
export function isTurningAway(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error) || error.outcome !== 'ERROR') return false;
  return error.code === 'too_many_calls' || (error.code === 'not_logged_in' && error.httpStatus === 401);
}

/** The statuses with which the bank refuses what a request contains (interface specification, "HTTP status codes"). */
const REFUSED_CONTENT = [400, 417, 422];

/**
 * Whether the bank refused what the request contains. Any other refusal (409, 412, 403) may also mean that the bank has
 * done it already (command contract, "Money moves at most once").
 */
export function isAboutContent({ httpStatus = 0 }: Psd2Error): boolean {
  return REFUSED_CONTENT.includes(httpStatus);
}

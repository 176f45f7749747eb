import { Psd2Error } from '../errors.ts';

/**
 * The bank answered a call and clearly said no to it, so what the call asked for did not happen. A success by
 * its status that lacks both the outcome and an error's code (interface specification, "Errors", rule 1), and a
 * gateway that waited too long (408), are no clear no.
 */
export function isRefusal(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  if (!['bank_refused', 'forbidden', 'sca_required'].includes(error.code)) return false;
  const { httpStatus = 0, bankCode } = error;
  return httpStatus !== 408 && (httpStatus < 200 || httpStatus > 299 || bankCode !== undefined);
}

/** What the interface says no with (interface specification, "HTTP status codes"); the others may be a gateway's. */
const REFUSING = [400, 403, 412, 417, 422];

/**
 * A refusal that comes from the bank itself, and not from something on the way to it that may not know what the bank has
 * done: a status that the interface refuses with, or the bank's own words.
 */
export function isBanksRefusal(error: unknown): error is Psd2Error {
  if (!isRefusal(error)) return false;
  const { httpStatus = 0, outcome, bankCode } = error;
  return REFUSING.includes(httpStatus) || outcome === 'ERROR' || bankCode !== undefined;
}

/** The operator pressed Ctrl-C: nothing is to be concluded about the bank. */
export function isInterruption(error: unknown): boolean {
  return !(error instanceof Psd2Error) || error.code === 'interrupted';
}

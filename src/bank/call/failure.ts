import { Psd2Error } from '../../errors.ts';

/**
 * The bank answered a call and clearly said no to it, so what the call asked for did not happen. A success by
 * its status that lacks both an outcome and an error's code (interface specification, "Errors", rule 1), and a
 * gateway that waited too long (408), are no clear no.
 */
export function isRefusal(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  if (!['bank_refused', 'forbidden', 'sca_required'].includes(error.code)) return false;
  const { httpStatus = 0, bankCode, outcome } = error;
  const isSuccess = httpStatus >= 200 && httpStatus <= 299;
  return httpStatus !== 408 && (!isSuccess || bankCode !== undefined || outcome === 'ERROR');
}

/**
 * A refusal that is certainly the bank's own: its envelope with `outcome: ERROR` (command contract, "Money moves at most
 * once"). Whatever else was answered, with whatever status, may come from something on the way that does not know what
 * the bank has done.
 */
export function isBanksRefusal(error: unknown): error is Psd2Error {
  return isRefusal(error) && error.outcome === 'ERROR';
}

/** Another psd2 has gone on with the flow: this one sends nothing more for it. */
export function isOvertaken(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'overtaken';
}

/** The operator pressed Ctrl-C: nothing is to be concluded about the bank. */
export function isInterruption(error: unknown): boolean {
  return !(error instanceof Psd2Error) || error.code === 'interrupted';
}

import type { SmokeCall, SmokeError, SmokeRun, SmokeStep } from '../result.ts';

// What may leave the machine: no names, IBANs, amounts, ids of customers or accounts, whatever the bank's text says.

/** What happened, in psd2's own words: a bank's text may contain anything. */
const SAYS: Readonly<Record<string, string>> = {
  not_logged_in: 'The bank does not accept the login or the consent',
  forbidden: 'The bank does not allow the call',
  login_refused: 'The login was refused',
  not_authorised: 'The customer did not authorise it',
  authorisation_expired: 'The customer did not authorise it in time',
  authorisation_timeout: 'The customer did not authorise it in time',
  partly_authorised: 'Another person must authorise it, too',
  sca_required: 'The bank wants the customer to authenticate',
  bank_refused: 'The bank refused the request',
  bank_answer: "The bank's answer cannot be used",
  list_changed: 'The list changed while it was read',
  payment_failed: 'The payment failed',
  outcome_unknown: 'The outcome of the payment is not known',
  too_many_calls: 'The bank has had too many calls',
  bank_unreachable: 'The bank could not be reached',
  bank_failing: 'The bank is failing',
  bug: 'A bug in psd2',
};

const MARK = '…';

/** What psd2's own sentences may quote: paths, quoted values, IBANs, amounts, long numbers, ids. */
const QUOTED: readonly RegExp[] = [
  /"[^"]*"?/gu,
  /[\w.+-]+@[\w.-]+/gu,
  /(?<=^|\s|\()\/\S+/gu,
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){10,30}\b/gu,
  /\b[0-9a-f]{8}-[0-9a-f-]{8,27}\b/giu,
  /\b\d{1,9}[.,]\d{2}\b(?![.\d])/gu,
  /\d{5,}/gu,
];

/** A code of a bank, if it has the form of one. */
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{1,39}$/;
/** An id of a request, if it can be shown. */
const REQUEST_ID = /^(?!.*[A-Z]{2}\d{2}[A-Z0-9]{10})[\w-]{1,64}$/;

/** Replaces what a sentence of psd2 quotes. @param secrets what else must not be in it */
function scrubbed(text: string, secrets: readonly string[]): string {
  const named = secrets.reduce((left, secret) => left.replaceAll(secret, MARK), text);
  return QUOTED.reduce((left, pattern) => left.replace(pattern, MARK), named);
}

/**
 * A run without what identifies a person or an account.
 *
 * @param known what psd2 knows of the customer: ids, names, IBANs
 */
export function publicRun(run: SmokeRun, known: readonly string[]): SmokeRun {
  const secrets = [...new Set(known)]
    .filter((text) => text.length > 1)
    .sort((one, other) => other.length - one.length);
  return {
    ...run,
    steps: run.steps.map((step) => publicStep(step, run.run, secrets)),
    drift: run.drift,
    next: run.exitCode === 0 ? [] : logOf(run.run),
  };
}

function publicStep(step: SmokeStep, run: string, secrets: readonly string[]): SmokeStep {
  const clean = (text: string | null) => text && scrubbed(text, secrets);
  return {
    ...step,
    calls: step.calls.map((call) => publicCall(call, secrets)),
    error: step.error && publicError(step.error, run, secrets),
    warnings: step.warnings.map(({ code, message }) => ({ code, message: scrubbed(message, secrets) })),
    detail: clean(step.detail),
    reason: clean(step.reason),
  };
}

function publicCall(call: SmokeCall, secrets: readonly string[]): SmokeCall {
  return { ...call, requestId: shownId(call.requestId, secrets) };
}

/** The command that shows the calls of a run, written in full. */
function logOf(run: string): string[][] {
  return [['psd2', 'log', '--run', run]];
}

function shownId(id: string | null | undefined, secrets: readonly string[]): string | null {
  return id && REQUEST_ID.test(id) && !secrets.some((secret) => id.includes(secret)) ? id : null;
}

function publicError(error: SmokeError, run: string, secrets: readonly string[]): SmokeError {
  const { code, exitCode, httpStatus, requestId, tppRequestId, transactionId, flow } = error;
  const said = error.bankCode && CODE.test(error.bankCode) ? error.bankCode : null;
  const bankCode = said && !secrets.some((secret) => said.includes(secret)) ? said : null;
  // With a status, the sentence may go on with the bank's own text.
  const isBanks = (httpStatus ?? null) !== null || (error.bankCode ?? null) !== null;
  const facts = [httpStatus && `HTTP ${httpStatus}`, bankCode].filter(Boolean).join(', ');
  const own = `${SAYS[code] ?? 'The step failed'}${facts && ` (${facts})`}`;
  return {
    ...{ code, exitCode, httpStatus, bankCode, tppRequestId, transactionId, flow },
    message: isBanks || code === 'bug' ? own : scrubbed(error.message, secrets),
    hint: null,
    next: logOf(run),
    requestId: shownId(requestId, secrets),
  };
}

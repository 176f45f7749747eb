import { createHash } from 'node:crypto';
import { BANK_CODES } from '../bank-codes.ts';
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
  still_open: 'Somebody can still authorise it at the bank',
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
  // What is quoted may have such signs itself.
  /".*(?:"|$)/gsu,
  /[\w.+-]+@[\w.-]+/gu,
  /(?<=^|\s|\()\/\S+/gu,
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){10,30}\b/gu,
  /\b[0-9a-f]{8}-[0-9a-f-]{8,27}\b/giu,
  /\b\d{1,9}[.,]\d{2}\b(?![.\d])/gu,
  /\d{5,}/gu,
];

/** An id of a request that can be shown: chance makes it (RFC 9562). Any other may name somebody. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Errors whose sentence goes on with what the bank said, also without a status. */
const WITH_BANKS_WORDS: readonly string[] = [
  'bank_refused',
  'payment_failed',
  'outcome_unknown',
  'not_authorised',
  'login_refused',
];

/** What follows the status of an answer in a sentence of psd2: the bank's code and words. */
const AFTER_STATUS = /\(HTTP (\d{3})\b(?:, (\w+)\))?.*$/su;

/** Replaces what a sentence of psd2 quotes. @param secrets what else must not be in it */
function scrubbed(text: string, secrets: readonly string[]): string {
  const own = text.replace(AFTER_STATUS, (_, status: string, code = '') =>
    BANK_CODES.has(code) ? `(HTTP ${status}, ${code})` : `(HTTP ${status})`,
  );
  const named = secrets.reduce((left, secret) => left.replaceAll(secret, MARK), own);
  return QUOTED.reduce((left, pattern) => left.replace(pattern, MARK), named);
}

/**
 * A run without what identifies a person or an account.
 *
 * @param privateTexts what psd2 knows of the customer: ids, names, IBANs
 */
export function publicRun(run: SmokeRun, privateTexts: readonly string[]): SmokeRun {
  const secrets = [...new Set(privateTexts)]
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

/** The bank's id of a request, or a hash of one that is no UUID: equal ids stay equal. */
function shownId(id: string | null | undefined, secrets: readonly string[]): string | null {
  if (!id) return null;
  if (UUID.test(id) && !secrets.some((secret) => id.includes(secret))) return id;
  return `sha256:${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** psd2's own sentence. What it says of the content of an answer comes after a colon, or is about something that the bank names. */
function sentenceOf({ code, message }: SmokeError, secrets: readonly string[]): string {
  if (code !== 'bank_answer') return scrubbed(message, secrets);
  const [sentence = ''] = message.split(': ');
  return sentence.includes(' about ') ? (SAYS[code] ?? '') : scrubbed(sentence, secrets);
}

function publicError(error: SmokeError, run: string, secrets: readonly string[]): SmokeError {
  const { code, exitCode, httpStatus, requestId, tppRequestId, transactionId, flow } = error;
  const bankCode = error.bankCode && BANK_CODES.has(error.bankCode) ? error.bankCode : null;
  // With a status, the sentence may go on with the bank's own text.
  const isBanks =
    (httpStatus ?? null) !== null || (error.bankCode ?? null) !== null || WITH_BANKS_WORDS.includes(code);
  const facts = [httpStatus && `HTTP ${httpStatus}`, bankCode].filter(Boolean).join(', ');
  const own = `${SAYS[code] ?? 'The step failed'}${facts && ` (${facts})`}`;
  return {
    code,
    exitCode,
    httpStatus,
    bankCode,
    tppRequestId,
    transactionId,
    flow,
    message: isBanks || code === 'bug' ? own : sentenceOf(error, secrets),
    hint: null,
    next: logOf(run),
    requestId: shownId(requestId, secrets),
  };
}

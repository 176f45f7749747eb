import type { ErrorCode } from './errors.ts';

/** What each exit code means (command contract, "Exit codes"). */
export const EXIT_CODES = {
  0: 'done',
  1: 'a bug in psd2',
  2: 'wrong use: unknown option, missing or invalid value, a confirmation that is missing or was refused',
  3: 'configuration: no profile, unreadable, mismatched or expired certificate or key, files others can read, busy callback port',
  4: 'not logged in: no token, refresh refused, HTTP 401',
  5: 'the bank does not allow it: HTTP 403',
  6: 'the customer did not authorise: refused, expired, did not answer in time where psd2 executes, or PSD2_SCA_REQUIRED',
  7: 'the bank refused the request: HTTP 400, 412, 417, 422, or outcome ERROR with another status below 500',
  8: 'the payment failed: KO',
  9: 'the outcome of the payment is not known; psd2 transfer resume <flow> finds out and never pays again',
  10: 'too many calls: HTTP 420 or 429, after the retries',
  11: 'the bank cannot be reached or is failing: DNS, TLS, timeout, lost connection, 5xx, after the retries; or a list kept changing',
  12: "expiring: something ends soon; status: a person is needed; sync: today's reads are used up; smoke, log stats: a limit is missed",
  13: 'still open at the bank: somebody can still authorise the payment, the consent or the cancellation without psd2',
  130: 'interrupted; you can resume the flow, and the message says how',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

const EXIT_CODE_OF: Record<ErrorCode, ExitCode> = {
  usage: 2,
  invalid_iban: 2,
  invalid_amount: 2,
  invalid_date: 2,
  invalid_product_id: 2,
  invalid_text: 2,
  confirmation_needed: 2,
  cancelled: 2,
  duplicate_reference: 2,
  further_data_needed: 2,
  flow_not_found: 2,
  no_profile: 3,
  config: 3,
  certificate: 3,
  audit_changed: 3,
  callback_port_busy: 3,
  sandbox: 3,
  overtaken: 3,
  not_logged_in: 4,
  forbidden: 5,
  login_refused: 6,
  not_authorised: 6,
  authorisation_expired: 6,
  authorisation_timeout: 6,
  sca_required: 6,
  bank_refused: 7,
  payment_failed: 8,
  outcome_unknown: 9,
  too_many_calls: 10,
  bank_answer: 11,
  list_changed: 11,
  bank_unreachable: 11,
  bank_failing: 11,
  ends_soon: 12,
  needs_attention: 12,
  reads_used_up: 12,
  smoke_running: 12,
  too_slow: 12,
  drift: 12,
  flaky: 12,
  skipped: 12,
  not_read: 12,
  below_target: 12,
  still_open: 13,
  interrupted: 130,
};

/** The exit code of an error. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return EXIT_CODE_OF[code];
}

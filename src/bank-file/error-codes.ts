import type { ErrorCode } from '../errors.ts';

/** The errors of psd2 that a code of a bank can mean. The others are about psd2 itself, or about what the operator typed. */
export const ERROR_CODES = [
  'invalid_iban',
  'invalid_amount',
  'invalid_date',
  'invalid_product_id',
  'invalid_text',
  'duplicate_reference',
  'further_data_needed',
  'certificate',
  'not_logged_in',
  'forbidden',
  'login_refused',
  'not_authorised',
  'authorisation_expired',
  'sca_required',
  'bank_refused',
  'bank_answer',
  'payment_failed',
  'outcome_unknown',
  'too_many_calls',
  'reads_used_up',
  'bank_failing',
] as const satisfies readonly ErrorCode[];

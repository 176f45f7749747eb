import { expect, it } from 'vitest';
import type { ErrorCode } from '../../src/errors.ts';
import { EXIT_CODES, exitCodeOf } from '../../src/exit-codes.ts';

it.each<[number, ErrorCode[]]>([
  [2, ['usage', 'invalid_iban', 'invalid_amount', 'invalid_date', 'invalid_product_id', 'invalid_text']],
  [2, ['confirmation_needed', 'cancelled', 'duplicate_reference', 'further_data_needed', 'flow_not_found']],
  [3, ['no_profile', 'config', 'certificate', 'audit_changed', 'callback_port_busy', 'sandbox', 'overtaken']],
  [4, ['not_logged_in']],
  [5, ['forbidden']],
  [6, ['login_refused', 'not_authorised', 'authorisation_expired', 'authorisation_timeout', 'sca_required']],
  [7, ['bank_refused']],
  [8, ['payment_failed']],
  [9, ['outcome_unknown']],
  [10, ['too_many_calls']],
  [11, ['bank_unreachable', 'bank_failing', 'bank_answer', 'list_changed']],
  [12, ['ends_soon', 'needs_attention', 'reads_used_up']],
  [13, ['still_open']],
  [130, ['interrupted']],
])('an error ends the command with exit code %i', (exitCode, codes) => {
  for (const code of codes) expect([code, exitCodeOf(code)]).toEqual([code, exitCode]);
});

it('every exit code of the contract has a meaning', () => {
  expect(Object.keys(EXIT_CODES).map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 130]);
});

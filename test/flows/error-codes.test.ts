import { expect, it } from 'vitest';
import { type ErrorCode, Psd2Error } from '../../src/errors.ts';
import { isAboutLine } from '../../src/flows/batch/run.ts';
import { hasBegunNothing, isInterruption, isOvertaken, isTrouble } from '../../src/flows/refusals.ts';
import { isOnlyAStop } from '../../src/flows/still-open.ts';

// What a flow does after an error follows from its code. Each list is whole here: a code that is not in it is an exception.

/** Every code. The compiler wants a new one here. */
const CODES = Object.keys({
  ...{
    usage: 0,
    invalid_iban: 0,
    invalid_amount: 0,
    invalid_date: 0,
    invalid_product_id: 0,
    invalid_text: 0,
  },
  ...{ confirmation_needed: 0, cancelled: 0, duplicate_reference: 0, further_data_needed: 0 },
  ...{ flow_not_found: 0, no_profile: 0, config: 0, certificate: 0, audit_changed: 0, callback_port_busy: 0 },
  ...{ sandbox: 0, overtaken: 0, not_logged_in: 0, forbidden: 0, login_refused: 0, not_authorised: 0 },
  ...{ authorisation_expired: 0, authorisation_timeout: 0, sca_required: 0, bank_refused: 0 },
  ...{ payment_failed: 0, outcome_unknown: 0, too_many_calls: 0, bank_answer: 0, list_changed: 0 },
  ...{ bank_unreachable: 0, bank_failing: 0, ends_soon: 0, needs_attention: 0, reads_used_up: 0 },
  ...{ smoke_running: 0, too_slow: 0, drift: 0, flaky: 0, skipped: 0, not_read: 0, below_target: 0 },
  ...{ still_open: 0, interrupted: 0 },
} satisfies Record<ErrorCode, 0>);
const isCode = (text: string): text is ErrorCode => CODES.includes(text);
const withCode = (is: (error: Psd2Error) => boolean) =>
  CODES.filter(isCode).filter((code) => is(new Psd2Error(code, 'No')));
const except = (...codes: ErrorCode[]) => CODES.filter((code) => !codes.some((each) => each === code));

it.each<[string, (error: Psd2Error) => boolean, string[]]>([
  [
    'may have an answer a moment later',
    isTrouble,
    ['too_many_calls', 'bank_answer', 'bank_unreachable', 'bank_failing'],
  ],
  [
    'says that psd2 stopped, and nothing of a payment',
    isOnlyAStop,
    except('still_open', 'outcome_unknown', 'interrupted', 'overtaken'),
  ],
  [
    'is about one line of a batch',
    isAboutLine,
    except(
      ...(['certificate', 'callback_port_busy', 'no_profile'] as const),
      ...(['bank_unreachable', 'bank_failing', 'too_many_calls', 'bank_answer', 'config'] as const),
    ),
  ],
  ['is of another psd2 that goes on', isOvertaken, ['overtaken']],
  ['is Ctrl-C', isInterruption, ['interrupted']],
  ['says by its code alone that nothing began', hasBegunNothing, []],
])('an error that %s', (_, is, codes) => {
  expect(withCode(is)).toEqual(codes);
});

it.each([
  [{ refusal: 'content' as const }, true],
  [{ refusal: 'other' as const }, true],
  [{ refusal: 'unread' as const }, false],
  [{ refusal: 'content' as const, isBanks: true as const }, false],
  [{ refusal: 'other' as const, isBanks: true as const }, false],
])('a refusal with %j may have an answer a moment later: %j', (context, may) => {
  expect(isTrouble(new Psd2Error('bank_refused', 'No', context))).toBe(may);
});

import { describe, expect, it } from 'vitest';
import {
  definiteRefusal,
  judgeRefusedCall,
  type RefusedCall,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/refused-call.ts';
import type { ErrorCode } from '../../../../../src/errors.ts';

// Whose word a refusal of a call is, and how definite it is.

const CALL: RefusedCall = { status: 400, code: 'FORMAT_ERROR', isOAuth: false, isOwn: true, isLogin: false };

describe('whose a refusal is', () => {
  it.each<[string, Partial<RefusedCall>, boolean, boolean, boolean]>([
    // The bank's own, turned away unread, and the token stays.
    ['a code in the standard’s form', {}, true, false, true],
    ['a code in another form', { isOwn: false }, false, false, false],
    ['no code', { code: null }, false, false, false],
    ['no code, with 429', { code: null, status: 429 }, false, false, false],
    ['a code at the token endpoint', { isOwn: false, isLogin: true }, true, false, true],
    ['OAuth at the token endpoint', { isOAuth: true, isOwn: false, isLogin: true }, true, false, true],
    ['OAuth about a call', { isOAuth: true, status: 401 }, false, false, false],
    ['OAuth about a token', { isOAuth: true, status: 401, code: 'invalid_token' }, true, true, false],
    [
      'OAuth about a token, with 403',
      { isOAuth: true, status: 403, code: 'invalid_token' },
      false,
      false,
      false,
    ],
    ['a token', { status: 401, code: 'TOKEN_EXPIRED' }, true, true, false],
    ['a token, with 400', { code: 'TOKEN_EXPIRED' }, true, false, false],
    ['a token, in another form', { status: 401, code: 'TOKEN_EXPIRED', isOwn: false }, false, false, false],
    ['a consent, with 401', { status: 401, code: 'CONSENT_INVALID' }, true, false, true],
    ['too many calls', { status: 429, code: 'ACCESS_EXCEEDED' }, true, true, true],
    ['too many calls, in another form', { status: 429, code: 'X', isOwn: false }, false, false, false],
    ['a signature', { code: 'SIGNATURE_INVALID' }, true, true, true],
    ['a certificate', { status: 403, code: 'CERTIFICATE_EXPIRED' }, true, true, true],
  ])('%s', (_, changes, isBanks, turnedAway, keepsToken) => {
    expect(judgeRefusedCall({ ...CALL, ...changes })).toEqual({ isBanks, turnedAway, keepsToken });
  });
});

describe('how definite a refusal is', () => {
  const BANKS = { isBanks: true, turnedAway: false };
  const NOBODYS = { isBanks: false, turnedAway: false };
  const own = { isBanks: true } as const;
  it.each<[string, number, typeof BANKS, ErrorCode, string | null, object]>([
    [
      'the bank’s, of the content',
      400,
      BANKS,
      'bank_refused',
      'FORMAT_ERROR',
      { refusal: 'content', ...own },
    ],
    ['the bank’s, with 403', 403, BANKS, 'forbidden', 'ROLE_INVALID', { refusal: 'content', ...own }],
    ['the bank’s, with 409', 409, BANKS, 'bank_refused', 'X', { refusal: 'other', ...own }],
    ['the bank’s, with 412', 412, BANKS, 'bank_refused', 'X', { refusal: 'other', ...own }],
    ['of what may be done', 400, BANKS, 'bank_refused', 'STATUS_INVALID', { refusal: 'other', ...own }],
    ['of what is not known', 404, BANKS, 'bank_refused', 'RESOURCE_UNKNOWN', { refusal: 'other', ...own }],
    ['of what has expired', 403, BANKS, 'bank_refused', 'RESOURCE_EXPIRED', { refusal: 'other', ...own }],
    [
      'unread',
      401,
      { isBanks: true, turnedAway: true },
      'not_logged_in',
      'TOKEN_INVALID',
      { refusal: 'unread', ...own },
    ],
    ['too many calls, of nobody', 429, NOBODYS, 'too_many_calls', null, {}],
    ['too many calls, of the bank', 400, BANKS, 'too_many_calls', 'X', own],
    ['a time-out', 408, BANKS, 'bank_refused', 'X', own],
    ['a failure', 500, BANKS, 'bank_refused', 'X', own],
    ['the last one that is no failure', 499, BANKS, 'bank_refused', 'X', { refusal: 'content', ...own }],
    ['a redirect', 399, NOBODYS, 'bank_refused', null, {}],
    ['a failure by its code', 400, BANKS, 'bank_failing', 'X', own],
    ['an answer that says nothing', 400, BANKS, 'bank_answer', 'X', own],
    ['an outcome that nobody knows', 400, BANKS, 'outcome_unknown', 'X', own],
    ['a gateway’s 401', 401, NOBODYS, 'not_logged_in', null, { refusal: 'unread' }],
    ['the bank’s 401', 401, BANKS, 'not_logged_in', 'CONSENT_INVALID', { refusal: 'content', ...own }],
    ...[400, 417, 422].map((status): [string, number, typeof BANKS, ErrorCode, null, object] => [
      ...([`a gateway’s ${status}`, status, NOBODYS, 'bank_refused', null] as const),
      { refusal: 'content' },
    ]),
    ['a gateway’s 403', 403, NOBODYS, 'forbidden', null, { refusal: 'other' }],
    ['a gateway’s 409', 409, NOBODYS, 'bank_refused', null, { refusal: 'other' }],
  ])('%s', (_, status, by, code, bankCode, refusal) => {
    expect(definiteRefusal({ status, ...by }, code, bankCode)).toEqual(refusal);
  });
});

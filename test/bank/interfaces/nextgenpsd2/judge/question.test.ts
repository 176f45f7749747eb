import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  beganNothing,
  judgeQuestion,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/question.ts';
import type { QuestionVerdict } from '../../../../../src/bank/ports/questions.ts';
import { answered, PLAIN_FACTS, refused, type Scripted, said, TRANSACTION_ID } from '../scripted.ts';

// What an answer to a question of `psd2 bank learn` shows.

const ASKING: BankCall = {
  ...{ method: 'POST', path: '/v1/consents', body: {} },
  ...{ facts: PLAIN_FACTS, transactionId: TRANSACTION_ID },
};
const page = (status: number) => ({ status, body: '<html>' });
const warned = { tppMessages: [{ category: 'WARNING', code: 'FORMAT_ERROR', text: 'x' }] };
const failed = { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', text: 'x' }] };
const uncoded = (text: string, status: number): Scripted =>
  said({ tppMessages: [{ category: 'ERROR', text }] }, status);

it.each<[QuestionVerdict, string, Scripted, nothing: boolean]>([
  ['takes it', 'a success', said({ consentId: 'c1' }, 201), false],
  ['takes it', 'a success with a warning', said({ ...warned }), false],
  ['says nothing', 'a success with an error', said({ ...failed }), false],
  ['says nothing', 'a page', page(200), false],
  ['says nothing', 'a text', said('valid'), false],
  ['says nothing', 'a redirect', page(302), false],
  ['says nothing', 'a refusing page', page(400), false],
  ['says nothing', 'an error without a code', uncoded('consentId is missing', 400), false],
  ['says nothing', 'an error without a code about the signature', uncoded('Signature wrong', 401), false],
  ['says nothing', 'a page for a call that is not there', page(404), true],
  ['says nothing', 'a page for a method', page(405), true],
  ['says nothing', 'a page for what is not made yet', page(501), true],
  ['says nothing', 'a time-out', refused('FORMAT_ERROR', 408), false],
  ['is not there', 'a product', refused('PRODUCT_UNKNOWN', 404), true],
  ['is not there', 'a product of the customer', refused('PRODUCT_INVALID', 403), true],
  ['is not there', 'a service', refused('SERVICE_INVALID', 405), true],
  ['is not there', 'a service that is not made yet', refused('SERVICE_INVALID', 501), true],
  ['is not there', 'a resource', refused('RESOURCE_UNKNOWN', 404), true],
  ['minds the content', 'a form', refused('FORMAT_ERROR', 400), true],
  ['minds the content', 'a parameter', refused('PARAMETER_NOT_SUPPORTED', 400), true],
  [
    'minds the content',
    'a payment that failed, which one server has begun',
    refused('PAYMENT_FAILED', 400),
    false,
  ],
  ['minds the signature', 'no signature', refused('SIGNATURE_MISSING', 401), true],
  ['minds the signature', 'no key id', refused('KID_MISSING', 400), true],
  ['minds the signature', 'no certificate of it', refused('CERTIFICATE_MISSING', 401), true],
  ['minds the certificate', 'a certificate', refused('CERTIFICATE_INVALID', 401), true],
  ['minds the consent', 'a consent', refused('CONSENT_UNKNOWN', 403), true],
  ['minds the state', 'a state', refused('STATUS_INVALID', 409), true],
  ['minds the state', 'a state by the status', refused('OWN_CODE', 409), true],
  ['wants a token', 'no token', refused('TOKEN_INVALID', 401), true],
  ['wants a token', 'a gateway without a token', page(401), false],
  ['minds being asked', 'too many calls', page(429), false],
  ['minds being asked', "too many calls, in the bank's words", refused('ACCESS_EXCEEDED', 400), true],
  ['minds being asked', 'calm', page(420), false],
  ['minds being asked', 'a firewall', page(403), false],
  ['minds being asked', 'a code that forbids', refused('FORBIDDEN', 403), true],
  ['minds something else', 'a role', refused('ROLE_INVALID', 403), true],
  ['minds something else', 'a code of its own', refused('OWN_CODE', 400), true],
  ['fails', 'a failure', refused('INTERNAL_SERVER_ERROR', 500), false],
  ['is down', 'no service', refused('SERVICE_UNAVAILABLE', 503), false],
  ['is down', 'a gateway', page(502), false],
])('%s: %s', async (verdict, _, answer, nothing) => {
  const given = await answered(ASKING, answer);
  expect([judgeQuestion(given), beganNothing(given)]).toEqual([verdict, nothing]);
});

describe('the codes of the standard', () => {
  const verdictOn = async (code: string, status: number) =>
    judgeQuestion(await answered(ASKING, refused(code, status)));

  /** Each code, and what a question has hit on with it. What begins or ends otherwise is a code of the bank's own. */
  const ABOUT: readonly [code: string, verdict: QuestionVerdict][] = [
    ['SIGNATURE_MISSING', 'minds the signature'],
    ['SIGNATURE_INVALID', 'minds the signature'],
    ['KID_MISSING', 'minds the signature'],
    ['KID_INVALID', 'minds the signature'],
    ['CERTIFICATE_MISSING', 'minds the signature'],
    ['CERTIFICATE_INVALID', 'minds the certificate'],
    ['CERTIFICATE_EXPIRED', 'minds the certificate'],
    ['TOKEN_UNKNOWN', 'wants a token'],
    ['TOKEN_EXPIRED', 'wants a token'],
    ['invalid_token', 'wants a token'],
    ['CONSENT_INVALID', 'minds the consent'],
    ['CONSENT_EXPIRED', 'minds the consent'],
    ['PRODUCT_UNKNOWN', 'is not there'],
    ['PRODUCT_INVALID', 'is not there'],
    ['RESOURCE_UNKNOWN', 'is not there'],
    ['SERVICE_INVALID', 'is not there'],
    ['STATUS_INVALID', 'minds the state'],
    ['FORMAT_ERROR', 'minds the content'],
    ['PARAMETER_NOT_CONSISTENT', 'minds the content'],
    ['PARAMETER_NOT_SUPPORTED', 'minds the content'],
    ['PAYMENT_FAILED', 'minds the content'],
    ['RESOURCE_EXPIRED', 'minds something else'],
    ['PRODUCT_MISSING', 'minds something else'],
    ['SERVICE_BLOCKED', 'minds something else'],
  ];
  it.each(ABOUT)('%s %s, and no longer name does', async (code, verdict) => {
    expect(await verdictOn(code, 400)).toBe(verdict);
    expect(await verdictOn(`OUR_${code}`, 400)).toBe('minds something else');
  });

  it.each([
    'CERTIFICATE_MISSING',
    'invalid_token',
    'PRODUCT_UNKNOWN',
    'PRODUCT_INVALID',
    'RESOURCE_UNKNOWN',
    'SERVICE_INVALID',
    'STATUS_INVALID',
    'FORMAT_ERROR',
    'PAYMENT_FAILED',
  ])('%s is a whole code', async (code) => {
    expect(await verdictOn(`${code}_X`, 400)).toBe(
      code.startsWith('CERTIFICATE') ? 'minds the certificate' : 'minds something else',
    );
  });

  it.each<[code: string, isAnswer: boolean]>([
    ['CONSENT_INVALID', true],
    ['RESOURCE_UNKNOWN', true],
    ['PRODUCT_INVALID', true],
    ['SIGNATURE_INVALID', true],
    ['KID_MISSING', true],
    ['TOKEN_INVALID', true],
    ['PARAMETER_NOT_SUPPORTED', true],
    ['STATUS_INVALID', true],
    ['SERVICE_INVALID', true],
    ['ROLE_INVALID', true],
    ['FORMAT_ERROR', true],
    ['CERTIFICATE_INVALID', false],
    ['PAYMENT_FAILED', false],
    ['SERVICE_BLOCKED', false],
    ['ROLE_INVALID_X', false],
    ['FORMAT_ERROR_X', false],
    ['OUR_CONSENT_INVALID', false],
    ['OUR_ROLE_INVALID', false],
    ['OUR_FORMAT_ERROR', false],
  ])('with HTTP 403, %s answers the question: %s', async (code, isAnswer) => {
    const verdict = await verdictOn(code, 403);
    expect(verdict === 'minds being asked').toBe(!isAnswer);
  });
});

it('one error of a payment that failed is enough: it may have begun, whatever else the bank minds', async () => {
  const failedAnd = (...codes: readonly string[]) =>
    said({ tppMessages: codes.map((code) => ({ category: 'ERROR', code })) }, 400);
  const began = async (...codes: readonly string[]) =>
    beganNothing(await answered(ASKING, failedAnd(...codes)));
  expect(
    await Promise.all([
      began('FORMAT_ERROR', 'PRODUCT_INVALID'),
      began('FORMAT_ERROR', 'PAYMENT_FAILED'),
      began('PAYMENT_FAILED', 'FORMAT_ERROR'),
    ]),
  ).toEqual([true, false, false]);
});

import { expect, it } from 'vitest';
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

import { expect, test } from 'vitest';
import { BankRefusal, expectedAndReceived } from '../../../src/sandbox/answers/bank-refusal.ts';
import { documentAnswer, jsonAnswer, send } from '../../../src/sandbox/answers/outgoing.ts';
import { Refusal, refusalCodes, wrongValue } from '../../../src/sandbox/answers/refusal.ts';
import { serve } from '../fake-bank.ts';

test('each code has its status', () => {
  const byStatus = new Map<number, string[]>();
  for (const [code, status] of refusalCodes) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  expect(Object.fromEntries([...byStatus].map(([status, codes]) => [status, codes.toSorted()]))).toEqual({
    400: [
      ...['ACCEPT_UNSUPPORTED', 'ALREADY_CONFIRMED', 'ALREADY_EXECUTED', 'BODY_MALFORMED', 'BODY_MISSING'],
      ...['BODY_NOT_ALLOWED', 'BODY_TOO_LARGE', 'CLIENT_INVALID', 'CONTENT_TYPE_UNSUPPORTED'],
      ...['DATE_OUT_OF_RANGE', 'DIGEST_MISMATCH', 'EXECUTION_REFUSED', 'GRANT_INVALID', 'HEADER_DUPLICATE'],
      ...['HEADER_MALFORMED', 'HEADER_MISSING', 'NOT_AUTHORIZED', 'NOT_EXECUTED', 'NOT_INSTANT'],
      ...['PARAMETER_INVALID', 'REDIRECT_URI_INVALID', 'REQUEST_ID_REUSED', 'SCA_FINISHED'],
      ...['SIGNATURE_ALGORITHM', 'SIGNATURE_HEADERS', 'SIGNATURE_INVALID', 'SIGNATURE_KEY_ID'],
      ...['SIGNATURE_MALFORMED', 'STEP_MISSING'],
    ],
    401: ['TOKEN_EXPIRED', 'TOKEN_INVALID', 'TOKEN_MISSING'],
    403: [
      ...['CONSENT_MISSING', 'NOT_ALLOWED', 'PSD2_SCA_REQUIRED', 'QWAC_NOT_REGISTERED', 'ROLE_MISSING'],
      'TPP_CERTIFICATE_NOT_REGISTERED',
    ],
    404: ['ENDPOINT_UNKNOWN'],
    412: ['CUSTOMER_UNKNOWN', 'PRODUCT_NOT_ENABLED', 'PRODUCT_UNKNOWN', 'RESOURCE_UNKNOWN'],
    417: ['FIELD_INVALID', 'FUNDS_INSUFFICIENT'],
    420: ['TOO_MANY_CALLS'],
    422: ['CHARACTER_NOT_ALLOWED'],
    500: ['PLANNED_FAILURE'],
  });
});

test('a refusal has its status, its sentences, and what only some have', () => {
  const plain = new Refusal('TOKEN_INVALID', 'No');
  expect(plain).toBeInstanceOf(BankRefusal);
  expect([plain.name, plain.code, plain.status, plain.message, plain.detail, plain.extras]).toEqual([
    ...['Refusal', 'TOKEN_INVALID', 401, 'No', '', {}],
  ]);
  const late = new Refusal('TOO_MANY_CALLS', 'No', 'Wait', { retryAfterSeconds: 3 });
  expect([late.status, late.detail, late.extras]).toEqual([420, 'Wait', { retryAfterSeconds: 3 }]);
  const wrong = wrongValue('FIELD_INVALID', 'No', 'a', 'b');
  expect([wrong.status, wrong.message, wrong.detail]).toEqual([417, 'No', 'Expected: a. Received: b.']);
  expect(expectedAndReceived('x', 'y')).toBe('Expected: x. Received: y.');
  expect(new BankRefusal('X', 409, 'm', 'd')).toMatchObject({
    ...{ name: 'BankRefusal', code: 'X', status: 409, message: 'm', detail: 'd' },
  });
});

test('an answer in JSON says its type, and has the headers of its call', () => {
  const plain = jsonAnswer(201, { a: 'è' });
  expect([plain.status, Object.fromEntries(plain.headers), plain.body.toString()]).toEqual([
    ...[201, { 'content-type': 'application/json' }, '{"a":"è"}'],
  ]);
  const { headers } = jsonAnswer(200, {}, { 'Retry-After': '1' });
  expect(Object.fromEntries(headers)).toEqual({ 'content-type': 'application/json', 'retry-after': '1' });
});

test.each<[type: 'pdf' | 'xls', is: string]>([
  ['pdf', 'application/pdf'],
  ['xls', 'application/vnd.ms-excel'],
])('a document as %s has its type and its name', (type, is) => {
  const { status, headers, body } = documentAnswer(type, 'receipt-1', Buffer.from('x'));
  expect([status, Object.fromEntries(headers), body.toString()]).toEqual([
    200,
    { 'content-type': is, 'content-disposition': `attachment; filename="receipt-1.${type}"` },
    'x',
  ]);
});

test.each<[method: string, status: number, length: string | null, body: string]>([
  ['GET', 200, '7', '{"a":1}'],
  ['GET', 400, '7', '{"a":1}'],
  ['GET', 204, null, ''],
  ['HEAD', 200, null, ''],
])('%s %i is sent with the length %s', async (method, status, length, body) => {
  const server = await serve((_, outgoing) => send(outgoing, method, jsonAnswer(status, { a: 1 })));
  const answer = await fetch(server.origin, { method });
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
    ...[status, length, body],
  ]);
  expect(answer.headers.get('content-type')).toBe('application/json');
  await server.close();
});

import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { begunBy, judgeInitiation } from '../../../../../src/bank/interfaces/nextgenpsd2/judge/initiation.ts';
import { mayLackCall } from '../../../../../src/bank/interfaces/nextgenpsd2/judge/lacking.ts';
import { described } from '../scripted.ts';
import { answerOf, error, errors, type Row, sentWith } from './judged.ts';

// What the answer to a new signing basket proves. The bank has the payments in it already.

const SENT = { ...sentWith(), path: '/v1/signing-baskets', body: '{"paymentIds":["p1","p2"]}' };
const judge = (answers: readonly Partial<Row>[], bank: Omit<BankFile, 'interface'> = {}) =>
  judgeInitiation(SENT, answers.map(answerOf), described(bank), 'signing basket');

const LACKING = { says: 'nothing began', why: 'The bank has no signing baskets', isLacking: true };
const PAGE: Partial<Row> = { bytes: '<html></html>', headers: { 'content-type': 'text/html' } };
const refusing = (status: number, code: string | null) => ({ status, body: errors(error(code, 'No')) });

describe('the judge of a signing basket', () => {
  it.each<[string, Partial<Row>]>([
    ...[404, 405, 501].flatMap((status): [string, Partial<Row>][] => [
      [`a page, ${status}`, { ...PAGE, status }],
      [`nothing, ${status}`, { status, bytes: '' }],
      [`the bank itself, ${status}`, refusing(status, 'SERVICE_INVALID')],
      [`the bank itself without a code, ${status}`, refusing(status, null)],
    ]),
    ['a code of no standard', refusing(404, 'NO_RESOURCE_HERE')],
  ])('knows that the bank has none, whoever says so: %s', (_, answer) => {
    expect(judge([answer])).toEqual(LACKING);
  });

  it.each<[string, Partial<Row>[], string]>([
    ['a payment that is not known', [refusing(404, 'RESOURCE_UNKNOWN')], 'unknown'],
    ['payments that do not go together', [refusing(405, 'REFERENCE_MIX_INVALID')], 'unknown'],
    ['the status of a payment', [refusing(404, 'STATUS_INVALID')], 'unknown'],
    ['a consent', [refusing(404, 'CONSENT_UNKNOWN')], 'unknown'],
    ['a payment that failed', [refusing(404, 'PAYMENT_FAILED')], 'unknown'],
    [
      'the same beside another error',
      [{ status: 404, body: errors(error('X'), error('RESOURCE_UNKNOWN')) }],
      'unknown',
    ],
    ['a page with another status', [{ ...PAGE, status: 403 }], 'unknown'],
    ['a bank that fails', [{ ...PAGE, status: 500 }], 'unknown'],
    [
      'that it is lacking, after an answer that may have begun it',
      [
        { status: 201, body: {} },
        { ...PAGE, status: 404 },
      ],
      'unknown',
    ],
    ['no answer', [], 'unknown'],
    ['the basket', [{ status: 201, body: { transactionStatus: 'RCVD', basketId: 'b1' } }], 'began'],
    ['a payment', [{ status: 201, body: { transactionStatus: 'RCVD', paymentId: 'p1' } }], 'unknown'],
    [
      'that it is rejected',
      [{ status: 201, body: { transactionStatus: 'RJCT', basketId: 'b1' } }],
      'nothing began',
    ],
    ['what is true of every delivery', [refusing(403, 'ROLE_INVALID')], 'nothing began'],
  ])('does not take it so if the answer speaks of %s', (_, answers, says) => {
    const verdict = judge(answers);
    expect(verdict).toMatchObject({ says });
    expect(verdict).not.toHaveProperty('isLacking');
  });

  it('says why a success proves nothing, and that there is another one', () => {
    expect(judge([{ status: 201, body: {} }])).toEqual({
      ...{ says: 'unknown', why: 'The answer is a success without the id of a signing basket' },
    });
    const reason = { transactionStatus: 'RJCT', basketId: 'b1', statusReason: { code: 'AM05' } };
    expect(judge([{ status: 201, body: reason }])).toMatchObject({ says: 'unknown', isDuplicate: true });
  });

  it('of a payment, a service that the bank lacks is no other refusal', () => {
    expect(judgeInitiation(sentWith(), [answerOf({ ...PAGE, status: 404 })], described())).toMatchObject({
      says: 'unknown',
    });
  });
});

it.each<[string, Partial<Row>, 'payment' | 'signing basket', string | undefined]>([
  ['a payment', { status: 201, body: { paymentId: 'p1' } }, 'payment', 'p1'],
  [
    'a payment, with an error',
    { status: 200, body: { paymentId: 'p1', ...errors(error('X')) } },
    'payment',
    'p1',
  ],
  ['a basket', { status: 201, body: { basketId: 'b1', paymentId: 'p1' } }, 'signing basket', 'b1'],
  ['no basket', { status: 201, body: { basketId: 'b1' } }, 'payment', undefined],
  ['no payment', { status: 201, body: { paymentId: 'p1' } }, 'signing basket', undefined],
  ['a refusal', { status: 300, body: { paymentId: 'p1' } }, 'payment', undefined],
  ['an answer below a success', { status: 199, body: { paymentId: 'p1' } }, 'payment', undefined],
  ['the last success', { status: 299, body: { paymentId: 'p1' } }, 'payment', 'p1'],
  ['two ids', { status: 201, bytes: '{"paymentId":"p1","paymentId":"p2"}' }, 'payment', undefined],
  [
    'an answer with more after it',
    { status: 201, body: { paymentId: 'p1' }, more: true },
    'payment',
    undefined,
  ],
])('the id of what has begun is kept: %s', (_, answer, what, id) => {
  expect(begunBy(answerOf(answer), { sent: sentWith(), bank: described() }, what)).toBe(id);
});

it.each([
  [404, true],
  [405, true],
  [501, true],
  [400, false],
  [403, false],
  [500, false],
  [undefined, false],
])('with HTTP %s, a bank may lack a call: %s', (httpStatus, may) => {
  expect(mayLackCall(httpStatus === undefined ? {} : { httpStatus })).toBe(may);
});

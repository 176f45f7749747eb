import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { DoorAnswer } from '../../../../src/sandbox/nextgenpsd2/door-call.ts';
import { RepeatedRequests } from '../../../../src/sandbox/nextgenpsd2/payments/repeated-requests.ts';
import { DoorRefusal } from '../../../../src/sandbox/nextgenpsd2/refusal.ts';
import { rawRequest } from '../../strict/raw.ts';
import { TestClock } from '../../tpp.ts';
import { answerTo, bankOf } from '../refused.ts';

const ID = '5b0a4c0e-5f6e-4c3d-9a57-6d1f0a6f1b11';
const MINUTE = 60_000;

/** What a bank knows again. Each payment that it makes has the next number. */
function repeated(payments: BankFile['payments'] = { repeat: 'same-answer', repeatMinutes: 30 }) {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  const known = new RepeatedRequests({ now: clock.now, description: bankOf({ payments }) });
  let count = 0;
  const send = ({ id = ID, body = '{}', target = '/a' } = {}): unknown => {
    const request = rawRequest({ method: 'POST', target, body, headers: [['X-Request-ID', id]] });
    const serve = (): DoorAnswer => {
      count += 1;
      return { status: 201, body: { number: count } };
    };
    return Object(known.answer(request, serve).body).number;
  };
  return { clock, known, send };
}

const OTHER =
  '400 FORMAT_ERROR X-Request-ID: Another call with this X-Request-ID initiated another payment. Expected: the same bytes.';

test.each<[milliseconds: number, isSame: boolean]>([
  [0, true],
  [30 * MINUTE - 1, true],
  [30 * MINUTE, true],
  [30 * MINUTE + 1, false],
])('after %i ms, a repeated call gets the first answer: %s', (milliseconds, isSame) => {
  const { clock, send } = repeated();
  expect(send()).toBe(1);
  clock.advance(milliseconds);
  expect(send()).toBe(isSame ? 1 : 2);
});

test('the time counts from the first call, and begins again with a second payment', () => {
  const { clock, send } = repeated();
  const numbers = [0, 20, 20, 20, 20].map((minutes) => {
    clock.advance(minutes * MINUTE);
    return send();
  });
  expect(numbers).toEqual([1, 1, 2, 2, 3]);
});

describe('a call', () => {
  test.each<[what: string, changes: { id?: string; body?: string; target?: string }, answer: string]>([
    ['with the same id in capitals', { id: ID.toUpperCase() }, 'taken'],
    ['with other bytes', { body: '{ }' }, OTHER],
    ['to another path', { target: '/b' }, OTHER],
    ['with no bytes', { body: '' }, OTHER],
  ])('%s, after one with the id: %s', (_, changes, answer) => {
    const { clock, send } = repeated();
    expect(send()).toBe(1);
    expect(answerTo(() => send(changes))).toBe(answer);
    // The first one is still known, and another one with its id is not refused for ever.
    expect(send()).toBe(1);
    clock.advance(30 * MINUTE + 1);
    expect(send(changes)).toBe(2);
  });

  test('with another id is another payment', () => {
    const { send } = repeated();
    const other = ID.replace('11', '12');
    expect([send(), send({ id: other }), send(), send({ id: other })]).toEqual([1, 2, 1, 2]);
  });

  test('that was refused is not known again', () => {
    const { known, send } = repeated();
    const request = rawRequest({ method: 'POST', target: '/a', body: '{}', headers: [['X-Request-ID', ID]] });
    const refuse = () =>
      known.answer(request, () => {
        throw new DoorRefusal('FORMAT_ERROR', 'no');
      });
    expect([answerTo(refuse), answerTo(refuse)]).toEqual(Array(2).fill('400 FORMAT_ERROR: no.'));
    expect(send({ body: 'x' })).toBe(1);
  });

  test('is known again, whoever is forgotten', () => {
    const { known, send } = repeated();
    send();
    known.forgetCustomer();
    expect(send()).toBe(1);
  });
});

test.each<[payments: BankFile['payments']]>([[{}], [{ repeat: 'unknown', repeatMinutes: 30 }]])(
  'at a bank with %j, each call is a payment',
  (payments) => {
    const { send } = repeated(payments);
    expect([send(), send(), send({ body: 'x' })]).toEqual([1, 2, 3]);
  },
);

import { describe, expect, it } from 'vitest';
import {
  backoffOf,
  mayRetryAnswer,
  mayRetryFailure,
  type Repetition,
  retryAfter,
} from '../../src/bank/call/retries.ts';
import { CallFailed } from '../../src/bank/transport/connection.ts';
import { Psd2Error } from '../../src/errors.ts';

// Which calls psd2 makes again (command contract, "Retries"): never one that may have moved money.

const GET: Repetition = { method: 'GET' };
const POST: Repetition = { method: 'POST' };
const TOKENS: Repetition = { method: 'POST', repeatable: true };
const ONCE: Repetition = { method: 'GET', once: true };
const TOKENS_ONCE: Repetition = { ...TOKENS, once: true };
const calls = [GET, POST, TOKENS, ONCE, TOKENS_ONCE];

describe('after an answer', () => {
  it.each([
    ['a failure', [500, 502, 503, 504], [true, false, true, false, false]],
    ['too many calls', [420, 429], [true, false, false, false, false]],
    ['any other status', [200, 400, 401, 404, 408, 499, 501, 505], [false, false, false, false, false]],
  ])('of %s, %j: a GET, a POST, one for tokens, and two that are made once: %j', (_, statuses, again) => {
    for (const status of statuses)
      expect(calls.map((call) => mayRetryAnswer(call, { status }))).toEqual(again);
  });

  it('a call that says that it may not be repeated is not', () => {
    expect(mayRetryAnswer({ ...POST, repeatable: false }, { status: 503 })).toBe(false);
  });
});

describe('without an answer', () => {
  const failed = (neverSent: boolean, passing: boolean) => {
    const cause = new CallFailed('the connection was lost', { neverSent, passing, cause: undefined });
    return new Psd2Error('bank_unreachable', 'The bank could not be reached', { cause });
  };

  it.each([
    ['nothing left, and it may pass', failed(true, true), [true, true, true, false, false]],
    ['something left, and it may pass', failed(false, true), [true, false, false, false, false]],
    ['nothing left, and it does not pass', failed(true, false), [false, false, false, false, false]],
    ['something left, and it does not pass', failed(false, false), [false, false, false, false, false]],
    ['a fault', new TypeError('A fault'), [false, false, false, false, false]],
    ['an answer that is none', new Psd2Error('bank_answer', 'Not JSON'), [false, false, false, false, false]],
    [
      'a fault with a lost connection',
      new Error('A fault', { cause: failed(true, true).context.cause }),
      [false, false, false, false, false],
    ],
  ])('%s', (_, error, again) => {
    expect(calls.map((call) => mayRetryFailure(call, error))).toEqual(again);
  });
});

describe('the pause before a repetition', () => {
  it.each([
    [0, 0, 125],
    [0, 1, 375],
    [1, 0.5, 500],
    [2, 0.5, 1000],
  ])('after %i repetitions, with the random number %d: %d ms', (retries, random, pause) => {
    expect(backoffOf(retries, random)).toBe(pause);
  });

  const now = new Date('2026-11-21T12:00:00Z');
  it.each([
    ['Sat, 21 Nov 2026 12:00:10 GMT', 10_000],
    ['Sat, 21 Nov 2026 12:00:00 GMT', 0],
    ['Sat, 21 Nov 2026 11:59:50 GMT', 0],
    ['Sat, 21 Nov 2026 12:00:10 +0000', null],
    ['next Saturday GMT', null],
    ['0', 0],
    ['30', 30_000],
    ['3.5', null],
    ['-1', null],
    ['1 hour', null],
    ['in 1', null],
    ['', null],
    [undefined, null],
  ])('that the bank asks for with %j is %j ms', (header, pause) => {
    expect(retryAfter(header, now)).toBe(pause);
  });
});

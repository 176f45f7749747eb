import { expect, test } from 'vitest';
import { CallLimits } from '../../../src/sandbox/cb/call-limits.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { TestClock } from '../tpp.ts';

const AT = '2026-11-20T11:00:00.000Z';

function limits(rules: { callsPerMinute?: number; clientCredentialsCallsPerDay?: number }, at = AT) {
  const clock = new TestClock(at);
  const counting = new CallLimits({ ...defaultRules, now: clock.now, ...rules });
  /** The seconds to wait, or 0 if the call is taken. */
  const call = (keyId?: string): unknown => {
    try {
      if (keyId === undefined) counting.countClientCredentialsCall();
      else counting.countCall(keyId);
      return 0;
    } catch (error) {
      const { code, message, detail, extras } = Object(error);
      expect([code, message]).toEqual(['TOO_MANY_CALLS', 'The application made too many calls']);
      const { retryAfterSeconds } = extras;
      const allowed =
        keyId === undefined
          ? `${rules.clientCredentialsCallsPerDay} calls a day with client credentials`
          : `${rules.callsPerMinute} calls within 60 seconds`;
      expect(detail).toBe(`Allowed: ${allowed}. Try again in ${retryAfterSeconds} seconds.`);
      return retryAfterSeconds;
    }
  };
  return { clock, call, counting };
}

test('the calls of the last 60 seconds count, for each application', () => {
  const { clock, call, counting } = limits({ callsPerMinute: 2 });
  expect([call('a'), call('b')]).toEqual([0, 0]);
  clock.advance(20_500);
  expect([call('a'), call('a'), call('b')]).toEqual([0, 40, 0]);
  clock.advance(39_499);
  expect([call('a'), call('b')]).toEqual([1, 1]);
  clock.advance(1);
  // The first call is 60 seconds old. A refused call does not count.
  expect([call('a'), call('a')]).toEqual([0, 21]);
  counting.forgetCustomer();
  expect(call('a')).toBe(21);
});

test('the calls of a day in Rome count, and its end is when the next one is taken', () => {
  const { clock, call } = limits({ clientCredentialsCallsPerDay: 1 }, '2026-11-20T22:58:59.000Z');
  expect([call(), call()]).toEqual([0, 61]);
  clock.advance(60_999);
  expect(call()).toBe(1);
  clock.advance(1);
  expect([call(), call()]).toEqual([0, 86_400]);
});

test('without a limit no call is counted', () => {
  const { call, counting } = limits({});
  for (let count = 0; count < 99; count += 1) expect([call('a'), call()]).toEqual([0, 0]);
  expect(counting.memory).toEqual({ recent: new Map(), day: '', callsOfDay: 0 });
});

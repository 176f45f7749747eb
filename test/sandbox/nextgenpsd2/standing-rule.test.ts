import { expect, test } from 'vitest';
import { dayOfPayment, type StandingRule } from '../../../src/sandbox/nextgenpsd2/payments/standing-rule.ts';

// 2027: 1 January is a Friday and a holiday. Good Friday is on 26 March, Easter Monday on 29 March.

/** The days of the first payments of a rule. */
function daysOf(changes: Partial<StandingRule>, count: number): (string | undefined)[] {
  const rule: StandingRule = {
    startDate: '2026-11-30',
    endDate: undefined,
    frequency: 'Monthly',
    dayOfExecution: undefined,
    executionRule: undefined,
    ...changes,
  };
  return Array.from({ length: count }, (_, number) => dayOfPayment(rule, number));
}

test.each<[StandingRule['frequency'], string[]]>([
  ['Daily', ['2026-11-30', '2026-12-01', '2026-12-02']],
  ['Weekly', ['2026-11-30', '2026-12-07', '2026-12-14']],
  ['EveryTwoWeeks', ['2026-11-30', '2026-12-14', '2026-12-28']],
  ['Monthly', ['2026-11-30', '2026-12-30', '2027-01-30']],
  ['EveryTwoMonths', ['2026-11-30', '2027-01-30', '2027-03-30']],
  ['Quarterly', ['2026-11-30', '2027-02-28', '2027-05-30']],
  ['SemiAnnual', ['2026-11-30', '2027-05-30', '2027-11-30']],
  ['Annual', ['2026-11-30', '2027-11-30', '2028-11-30']],
])('%s pays on %j', (frequency, days) => {
  expect(daysOf({ frequency }, 3)).toEqual(days);
});

test.each<[startDate: string, dayOfExecution: number, frequency: StandingRule['frequency'], days: string[]]>([
  ['2026-11-15', 14, 'Monthly', ['2026-12-14', '2027-01-14', '2027-02-14']],
  ['2026-11-15', 15, 'Monthly', ['2026-11-15', '2026-12-15', '2027-01-15']],
  ['2026-11-15', 16, 'Monthly', ['2026-11-16', '2026-12-16', '2027-01-16']],
  ['2026-11-15', 1, 'Monthly', ['2026-12-01', '2027-01-01', '2027-02-01']],
  // The last day of each month.
  ['2026-11-15', 31, 'Monthly', ['2026-11-30', '2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31']],
  ['2026-11-30', 31, 'Monthly', ['2026-11-30', '2026-12-31', '2027-01-31']],
  ['2026-11-15', 9, 'Quarterly', ['2026-12-09', '2027-03-09', '2027-06-09']],
  ['2026-11-15', 20, 'EveryTwoMonths', ['2026-11-20', '2027-01-20', '2027-03-20']],
  ['2026-11-15', 20, 'Annual', ['2026-11-20', '2027-11-20', '2028-11-20']],
  // A rule of days has no day of the month.
  ['2026-11-15', 20, 'Weekly', ['2026-11-15', '2026-11-22', '2026-11-29']],
])('from %s, on the day %i, %s: %j', (startDate, dayOfExecution, frequency, days) => {
  expect(daysOf({ startDate, dayOfExecution, frequency }, days.length)).toEqual(days);
});

test.each<[startDate: string, executionRule: StandingRule['executionRule'], day: string]>([
  ['2027-01-01', undefined, '2027-01-01'],
  ['2027-01-01', 'following', '2027-01-04'],
  ['2027-01-01', 'preceding', '2026-12-31'],
  ['2027-03-28', undefined, '2027-03-28'],
  ['2027-03-28', 'following', '2027-03-30'],
  ['2027-03-28', 'preceding', '2027-03-25'],
  ['2027-03-30', 'following', '2027-03-30'],
  ['2027-03-25', 'preceding', '2027-03-25'],
])('%s, %s: %s', (startDate, executionRule, day) => {
  expect(daysOf({ startDate, executionRule }, 1)).toEqual([day]);
});

test.each<[endDate: string, days: (string | undefined)[]]>([
  ['2026-12-29', ['2026-11-30', undefined, undefined]],
  ['2026-12-30', ['2026-11-30', '2026-12-30', undefined]],
  ['2026-12-31', ['2026-11-30', '2026-12-30', undefined]],
])('until %s: %j', (endDate, days) => {
  expect(daysOf({ endDate }, 3)).toEqual(days);
});

test('a payment whose planned day is the last one is made on the business day after it', () => {
  const rule = { startDate: '2027-01-01', endDate: '2027-01-01', executionRule: 'following' } as const;
  expect(daysOf(rule, 2)).toEqual(['2027-01-04', undefined]);
});

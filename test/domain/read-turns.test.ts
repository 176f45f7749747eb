import { expect, it } from 'vitest';
import { minuteOfDay, nextTurn, pauseAfter, readsBy } from '../../src/domain/read-turns.ts';

const at = (time: string) => new Date(time);

it.each([
  ['2026-11-21T00:00:00+01:00', 1, '2026-11-21T05:00:00.000Z'],
  ['2026-11-21T05:59:59.999+01:00', 1, '2026-11-21T05:00:00.000Z'],
  ['2026-11-21T06:00:00+01:00', 2, '2026-11-21T11:00:00.000Z'],
  ['2026-11-21T18:00:00+01:00', 4, '2026-11-21T23:00:00.000Z'],
  ['2026-11-21T23:59:59.999+01:00', 4, '2026-11-21T23:00:00.000Z'],
  ['2026-11-22T00:00:00+01:00', 1, '2026-11-22T05:00:00.000Z'],
  // The day on which summer time ends has 25 hours: its turns are 6 h 15 min apart.
  ['2026-10-25T05:14:59+01:00', 1, '2026-10-25T04:15:00.000Z'],
  ['2026-10-25T05:15:00+01:00', 2, '2026-10-25T10:30:00.000Z'],
])('four reads of a day: at %s %i of them may have begun, and the next turn is at %s', (now, reads, next) => {
  expect([readsBy(at(now), 4), nextTurn(at(now), 4).toISOString()]).toEqual([reads, next]);
});

it('each turn begins when it is said to, whatever their number', () => {
  for (const budget of [1, 3, 7, 9999]) {
    for (let now = at('2026-11-20T23:00:00Z'), turn = 1; turn <= Math.min(budget, 200); turn += 1) {
      expect(readsBy(now, budget)).toBe(turn);
      now = nextTurn(now, budget);
      expect(readsBy(new Date(now.getTime() - 1), budget)).toBe(turn);
    }
  }
});

it('the minutes of the day are those of the bank', () => {
  expect(minuteOfDay(at('2026-11-21T23:59:59Z'))).toBe(59);
  expect(minuteOfDay(at('2026-07-21T21:59:59Z'))).toBe(1439);
});

it('psd2 pauses twice as long after each failed read, up to two hours', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 99].map(pauseAfter)).toEqual([5, 10, 20, 40, 80, 120, 120, 120]);
});

import { expect, test } from 'vitest';
import { BankClock } from '../../../src/sandbox/ledger/bank-clock.ts';

test.each<[ahead: string, moved: boolean, seconds: number]>([
  ['2026-11-20T10:59:59.999Z', false, 0],
  ['2026-11-20T11:00:00Z', true, 0],
  ['2026-11-20T11:00:00.499Z', true, 0],
  ['2026-11-20T11:00:00.500Z', true, 1],
  ['2026-11-20T12:00:00Z', true, 3600],
])("the bank's clock goes to %s: %s", (time, moved, seconds) => {
  let wall = new Date('2026-11-20T11:00:00Z');
  const clock = new BankClock(() => wall);
  expect([clock.moveTo(new Date(time)), clock.aheadSeconds]).toEqual([moved, seconds]);
  const now = moved ? new Date(time) : wall;
  expect(clock.now()).toEqual(now);
  // It goes on from there, and only forward.
  wall = new Date(wall.getTime() + 5000);
  expect(clock.now()).toEqual(new Date(now.getTime() + 5000));
  clock.forgetCustomer();
  expect([clock.moveTo(now), clock.aheadSeconds]).toEqual([false, seconds]);
});

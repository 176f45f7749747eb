import { expect, it } from 'vitest';
import { DAYS, dayOfRun } from './day-of-run.js';

const at = (day: string) => Date.parse(`${day}T11:30:00Z`);
const texts = Array.from({ length: 99 }, (_, index) => String(index));

it.each(['2026-11-29', '2026-12-31', '2028-02-29', '2027-03-28'])(
  'from %s, each day comes, in the future and at the same time of day',
  (today) => {
    const days = texts.map((text) => dayOfRun(text, at(today)));
    expect(new Set(days.map(({ name }) => name))).toEqual(new Set(Object.keys(DAYS)));
    for (const { aheadMs } of days) {
      expect(aheadMs).toBeGreaterThan(0);
      expect(new Date(at(today) + aheadMs).toISOString()).toContain('T11:30:00.000Z');
    }
  },
);

it.each([
  ['the 28th', '2026-12-28'],
  ['the 31st', '2026-12-31'],
  ['the 29th of February', '2028-02-29'],
  ["New Year's Eve", '2026-12-31'],
  ['the clock goes forward', '2027-03-28'],
  ['the clock goes back', '2027-10-31'],
  ['the 1st of a quarter', '2027-01-01'],
])('%s after 2026-11-29 is %s', (name, day) => {
  const chosen = texts.map((text) => dayOfRun(text, at('2026-11-29'))).find((each) => each.name === name);
  expect(new Date(at('2026-11-29') + (chosen?.aheadMs ?? 0)).toISOString().slice(0, 10)).toBe(day);
});

import { expect, it } from 'vitest';
import { writeLocalTime } from '../../src/terminal/local-time.ts';

/** The time as the clock on the wall shows it, with the milliseconds. */
const local = (text: string) => new Date(text);
const [morning, evening] = ['2026-01-02T03:04:05.006', '2026-11-21T23:59:58.120'];

it.each([
  [morning, undefined, '2026-01-02 03:04'],
  [morning, 'minute', '2026-01-02 03:04'],
  [morning, 'second', '2026-01-02 03:04:05'],
  [morning, 'millisecond', '2026-01-02 03:04:05.006'],
  [evening, 'minute', '2026-11-21 23:59'],
  [evening, 'second', '2026-11-21 23:59:58'],
  [evening, 'millisecond', '2026-11-21 23:59:58.120'],
] as const)('%s to the %s is %s', (time, to, text) => {
  expect(writeLocalTime(local(time).toISOString(), to)).toBe(text);
});

it.each([
  '',
  '2026-11-21',
  '21.11.2026 10:00',
  'at 2026-11-21T10:00:00Z',
  '2026-11-21T10:00:00Z and later',
  '2026-13-41T10:00:00Z',
  '2026-1-21T10:00:00Z',
  '+002026-11-21T10:00:00Z',
])('%j is no time, and stays as it is', (text) => {
  expect(writeLocalTime(text)).toBe(text);
});

import { expect, it } from 'vitest';
import { parseDuration } from '../../src/domain/calendar.ts';

it.each([
  ['30s', 30_000],
  ['15m', 900_000],
  ['6h', 21_600_000],
  ['1d', 86_400_000],
  ['007s', 7_000],
  ['999999999s', 999_999_999_000],
])('the duration %s has %i milliseconds', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

it.each([
  '',
  '0s',
  '000d',
  '5',
  's',
  '1.5h',
  '-1s',
  ' 1s',
  '1s ',
  '1 s',
  '1w',
  '1S',
  '1ms',
  '1234567890s',
  'x1s',
  '1sx',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

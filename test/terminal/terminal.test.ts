import { expect, it } from 'vitest';
import { writeTimeLeft } from '../../src/terminal/terminal.ts';

it.each([
  [300_000, '5:00'],
  [299_001, '5:00'],
  [299_000, '4:59'],
  [1, '0:01'],
  [0, '0:00'],
  [-5, '0:00'],
  [3_600_000, '1:00:00'],
  [3_661_000, '1:01:01'],
])('%i ms are left as %s', (milliseconds, text) => {
  expect(writeTimeLeft(milliseconds)).toBe(text);
});

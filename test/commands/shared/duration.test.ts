import { expect, it } from 'vitest';
import { readDuration } from '../../../src/commands/shared/option-values.ts';
import { thrownBy } from '../../support/thrown.ts';

const WEEK = 7 * 24 * 60 * 60 * 1000;

it.each([
  ['1s', 1_000],
  ['15m', 900_000],
  ['6h', 21_600_000],
  ['7d', WEEK],
])('the duration %s is %i milliseconds', (text, milliseconds) => {
  expect(readDuration('--every', text, WEEK)).toBe(milliseconds);
});

it.each(['0s', '8d', '604801s', '6', 'h', '1.5h', '-1h', '1 h', '6H', '1w', ''])(
  'the duration %j is refused',
  (text) => {
    expect(thrownBy(() => readDuration('--every', text, WEEK))).toMatchObject({
      code: 'usage',
      message: `--every ${JSON.stringify(text)} is not a duration up to 7 days`,
    });
  },
);

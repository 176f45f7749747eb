import { describe, expect, it } from 'vitest';
import {
  readDuration,
  readLimit,
  readSince,
  readWholeNumber,
} from '../../../src/commands/shared/option-values.ts';
import { failureOf } from '../failure.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const WEEK = 7 * 24 * 60 * 60 * 1000;
/** What is not a number, but might be taken for one. */
const NO_NUMBERS = [
  ...['', ' ', '5 ', ' 5', '+5', '-5', '5.0', '5,0', '1e1', '0x5', '٥', '5\n', 'false', 'Infinity'],
];
const refusal = (read: () => unknown) => failureOf(Promise.resolve().then(read));

describe('a whole number', () => {
  it.each([...NO_NUMBERS, '0', '100'])('%j is none from 1 to 99', async (text) => {
    expect(await refusal(() => readWholeNumber('--cores', text, 1, 99))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: `--cores ${JSON.stringify(text)} is not a whole number from 1 to 99`,
    });
  });

  it.each([...NO_NUMBERS, '0'])('%j is no limit', async (text) => {
    expect((await refusal(() => readLimit(text))).message).toBe(
      `--limit ${JSON.stringify(text)} is not a whole number from 1`,
    );
  });

  it('is decimal, and a limit that is not given is another one', () => {
    const read = (text: string) => readWholeNumber('--cores', text, 1, 99);
    expect([read('1'), read('007'), read('99')]).toEqual([1, 7, 99]);
    expect([readLimit(undefined), readLimit(undefined, 30), readLimit('5', 30)]).toEqual([Infinity, 30, 5]);
  });
});

describe('a duration', () => {
  it.each([
    ['1s', 1_000],
    ['15m', 900_000],
    ['6h', 21_600_000],
    ['7d', WEEK],
  ])('%s is %i milliseconds', (text, milliseconds) => {
    expect(readDuration('--every', text, WEEK)).toBe(milliseconds);
  });

  it.each(['0s', '8d', '604801s', '6', 'h', '1.5h', '-1h', '1 h', '6H', '1w', ''])(
    '%j is none',
    async (text) => {
      expect(await refusal(() => readDuration('--every', text, WEEK))).toEqual({
        ...{ code: 'usage', exitCode: 2, hint: 'Write a whole number with its unit: 30s, 15m, 6h or 1d.' },
        message: `--every ${JSON.stringify(text)} is not a duration up to 7 days`,
      });
    },
  );
});

describe('a time', () => {
  it.each([
    ['30s', '2026-03-01T11:59:30.000Z'],
    ['90m', '2026-03-01T10:30:00.000Z'],
    ['2h', '2026-03-01T10:00:00.000Z'],
    ['1d', '2026-02-28T12:00:00.000Z'],
    ['0d', '2026-03-01T12:00:00.000Z'],
    ['2026-02-28T09:30:00Z', '2026-02-28T09:30:00.000Z'],
    ['2026-02-28T09:30:00.250Z', '2026-02-28T09:30:00.250Z'],
    ['2026-02-28T09:30:00+01:00', '2026-02-28T08:30:00.000Z'],
    ['2026-02-28T09:30:00-0130', '2026-02-28T11:00:00.000Z'],
    // Without a zone it is local time.
    ['2026-02-28', new Date(2026, 1, 28).toISOString()],
    ['2026-02-28T09:30', new Date(2026, 1, 28, 9, 30).toISOString()],
    ['2026-02-28T09:30:00', new Date(2026, 1, 28, 9, 30).toISOString()],
  ])('%s is %s', (text, time) => {
    expect(new Date(readSince(text, NOW)).toISOString()).toBe(time);
  });

  it.each([
    ...[...NO_NUMBERS, 'yesterday', '1w', '1 d', '2H', '-1d', '1h30m', '1234567s', 'x1d', '1dx'],
    ...['2026-02-30', '2026-11-41', '2026-02-30T09:30:00Z', '2026-2-28', '20260228', '21/11/2026'],
    ...['2026-02-28x', 'x2026-02-28', ' 2026-02-28', '2026-02-28 ', '2026-02-28T', '2026-02-28T25:00'],
    ...['2026-02-28T09:30:00Zx', '2026-02-28T09:30:00 Z', '2026-02-28 09:30'],
  ])('%j is none', async (text) => {
    const hint = 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d.';
    const refused = (option: string) => ({
      ...{ code: 'usage', exitCode: 2, hint },
      message: `${option} ${JSON.stringify(text)} is not a time`,
    });
    expect(await refusal(() => readSince(text, NOW, '--until'))).toEqual(refused('--until'));
    expect(await refusal(() => readSince(text, NOW))).toEqual(refused('--since'));
  });
});

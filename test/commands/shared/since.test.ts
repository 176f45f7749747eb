import { expect, it } from 'vitest';
import { readSince } from '../../../src/commands/shared/option-values.ts';
import { failureOf } from '../failure.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');

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
])('%s is %s', (text, expected) => {
  expect(new Date(readSince(text, NOW)).toISOString()).toBe(expected);
});

it.each(['2026-02-28', '2026-02-28T09:30', '2026-02-28T09:30:00'])('%s is local time', (text) => {
  const [hours, minutes] = text.includes('T') ? [9, 30] : [0, 0];
  expect(readSince(text, NOW)).toBe(new Date(2026, 1, 28, hours, minutes).getTime());
});

it.each([
  ...['', ' ', 'yesterday', '1w', '1 d', '-1d', '1234567s', 'x1d', '1dx'],
  ...['2026-02-30', '2026-02-28x', 'x2026-02-28', ' 2026-02-28', '2026-02-28 ', '2026-2-28', '20260228'],
  ...[
    '2026-02-28T',
    '2026-02-28T25:00',
    '2026-02-28T09:30:00Zx',
    '2026-02-28T09:30:00 Z',
    '2026-02-28 09:30',
  ],
])('%j is no time', async (text) => {
  const read = async () => readSince(text, NOW, '--until');
  expect(await failureOf(read())).toEqual({
    ...{ code: 'usage', exitCode: 2, message: `--until ${JSON.stringify(text)} is not a time` },
    hint: 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d.',
  });
});

it('the option is --since if nothing else is said', async () => {
  const read = async () => readSince('soon', NOW);
  expect((await failureOf(read())).message).toBe('--since "soon" is not a time');
});

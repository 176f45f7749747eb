import { describe, expect, it } from 'vitest';
import { readLimit, readSince, readWholeNumber } from '../../../src/commands/shared/option-values.ts';
import { thrownBy } from '../../support/thrown.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
/** What is not a number, but might be taken for one. */
const NO_NUMBERS = [
  '',
  ' ',
  '5 ',
  ' 5',
  '+5',
  '-5',
  '5.0',
  '5,0',
  '1e1',
  '0x5',
  '٥',
  '5\n',
  'false',
  'Infinity',
];

describe('a whole number', () => {
  it.each(NO_NUMBERS)('%j is none', (text) => {
    expect(thrownBy(() => readWholeNumber('--cores', text, 0, 999))).toMatchObject({ code: 'usage' });
    expect(thrownBy(() => readLimit(text))).toMatchObject({ code: 'usage' });
  });

  it.each([
    ['1', 1],
    ['007', 7],
    ['99', 99],
  ])('%j is one, up to the ends of its range', (text, number) => {
    expect(readWholeNumber('--cores', text, 1, 99)).toBe(number);
  });

  it.each([
    ['0', '--cores "0" is not a whole number from 1 to 99'],
    ['100', '--cores "100" is not a whole number from 1 to 99'],
  ])('%j is outside of its range', (text, message) => {
    expect(thrownBy(() => readWholeNumber('--cores', text, 1, 99))).toMatchObject({ message });
  });

  it('a limit that is not given is another one, and 0 is none', () => {
    expect([readLimit(undefined), readLimit(undefined, 30), readLimit('5', 30)]).toEqual([Infinity, 30, 5]);
    expect(() => readLimit('0')).toThrow('--limit "0" is not a whole number from 1');
  });
});

describe('a time to show from', () => {
  it.each([
    ['30s', '2026-11-21T11:59:30.000Z'],
    ['15m', '2026-11-21T11:45:00.000Z'],
    ['2h', '2026-11-21T10:00:00.000Z'],
    ['1d', '2026-11-20T12:00:00.000Z'],
    ['0d', '2026-11-21T12:00:00.000Z'],
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00+02:00', '2026-11-21T07:30:00.000Z'],
    ['2026-11-21', new Date(2026, 10, 21).toISOString()],
    ['2026-11-21T09:30', new Date(2026, 10, 21, 9, 30).toISOString()],
  ])('%j is %s', (text, time) => {
    expect(new Date(readSince(text, NOW)).toISOString()).toBe(time);
  });

  it.each([
    ...NO_NUMBERS,
    '2 h',
    '2H',
    '1w',
    '1h30m',
    '21/11/2026',
    '2026-11-41',
    '2026-02-30',
    '2026-02-30T09:30:00Z',
    '2026-11-21 09:30',
    'yesterday',
  ])('%j is none', (text) => {
    expect(thrownBy(() => readSince(text, NOW))).toMatchObject({ code: 'usage' });
  });
});

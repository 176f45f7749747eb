import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bookingDayIn,
  dayIn,
  decimalIn,
  eachOnce,
  instantIn,
  plainIban,
  textOf,
} from '../../src/domain/odd-values.ts';

const NO_TEXTS = [undefined, null, true, {}, [], ['5'], Number.NaN, Number.POSITIVE_INFINITY];

it('a text is a string, or a number with its digits', () => {
  expect(['a', '', ' ', 12, -0.5, 0].map(textOf)).toEqual(['a', '', ' ', '12', '-0.5', '0']);
  expect(NO_TEXTS.map(textOf)).toEqual(NO_TEXTS.map(() => undefined));
});

describe('a decimal as banks write it', () => {
  it.each<[unknown, string]>([
    ['12.30', '12.30'],
    ['-0.005', '-0.005'],
    ['0', '0'],
    ['10', '10'],
    [12, '12'],
    [-1.5, '-1.5'],
    [-0, '0'],
    [' 12.30\n', '12.30'],
    // Signs.
    ['+12.30', '12.30'],
    ['\u221212.30', '-12.30'],
    ['12.30-', '-12.30'],
    ['5-', '-5'],
    // Zeros.
    ['007', '7'],
    ['-007.50', '-7.50'],
    ['00', '0'],
    ['000.10', '0.10'],
    ['-0', '0'],
    ['-0.0', '0.0'],
    ['-0.000', '0.000'],
    ['-00.00', '0.00'],
    ['0-', '0'],
    ['-0.001', '-0.001'],
    ['-10', '-10'],
    // Points and commas.
    ['12,3', '12.3'],
    ['12,30', '12.30'],
    ['-12,30', '-12.30'],
    ['12345,6', '12345.6'],
    ['12.', '12'],
    ['-12.', '-12'],
    ['12,', '12'],
    ['.50', '0.50'],
    ['-.50', '-0.50'],
    [',50', '0.50'],
    ['-,5', '-0.5'],
    ['1.234', '1.234'],
    // Marks between thousands.
    ['1.234,5', '1234.5'],
    ['1.234,50', '1234.50'],
    ['1,234.50', '1234.50'],
    ['12,345.50', '12345.50'],
    ['123,456.50', '123456.50'],
    ['1.234.567,80', '1234567.80'],
    ['1.234.567.890,80', '1234567890.80'],
    ["1'234.50", '1234.50'],
    ['1\u2019234\u2019567,50', '1234567.50'],
    ['1 234,50', '1234.50'],
    ['1\u00a0234\u00a0567.5', '1234567.5'],
    ['1\u202f234,50', '1234.50'],
    ['-1.234,50', '-1234.50'],
    ['+1.234,50', '1234.50'],
    ['\u22121.234,50', '-1234.50'],
    ['1.234,50-', '-1234.50'],
    ['0.000,00', '0.00'],
    ['9'.repeat(64), '9'.repeat(64)],
  ])('%j is %s', (value, decimal) => {
    expect(decimalIn(value)).toBe(decimal);
  });

  it.each<unknown>([
    ...NO_TEXTS.filter((value) => !Array.isArray(value)),
    ...['', ' ', '-', '+', '.', ',', '-.', '1e3', 'NaN', 'ten', '0x10', '٥', 'EUR 5', '5 EUR', 'a5', '5a'],
    ...[1e21, '9'.repeat(65), `0.${'0'.repeat(63)}`],
    // Two signs.
    ...['--5', '-5-', '+-5', '-+5', '+5-', '\u22125-', '5--', '++5'],
    // A comma before three digits may separate thousands, or not.
    ...['1,234', '12,345', '0,125', '1,2345'],
    // Marks that do not separate thousands, or not alike, or that are the decimal point too.
    ...['1.234.567', '1.234.50', '1,234,50', '1234.567,80', '1.23,40', '1.2345,60', '1.234,567', '1 23,4'],
    ...["1.234'567,80", '1,234.567,80', '1..234,50', '1  234,50', '.234,50', '1-234,50', '1.234,', '1,2,3'],
  ])('%j is none', (value) => {
    expect(decimalIn(value)).toBeNull();
  });

  it('is the same in each form in which people write it', () => {
    const thousands = (whole: bigint, mark: string) => String(whole).replace(/\B(?=(\d{3})+$)/g, () => mark);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        fc.integer({ min: 0, max: 99 }),
        fc.boolean(),
        (whole, part, isNegative) => {
          const cents = String(part).padStart(2, '0');
          const minus = isNegative && (whole > 0n || part > 0) ? '-' : '';
          const expected = `${minus}${whole}.${cents}`;
          const plain = [`${whole},${cents}`, `${whole}.${cents}`, `000${whole}.${cents}`];
          const grouped = ["'.", '.,', ',.', ' ,', '\u00a0.', '\u2019.'].map(
            ([mark = '', point = '']) => `${thousands(whole, mark)}${point}${cents}`,
          );
          for (const text of [...plain, ...grouped]) {
            expect(decimalIn(`${minus}${text}`)).toBe(expected);
            expect(decimalIn(minus ? `${text}-` : `+${text}`)).toBe(expected);
          }
        },
      ),
    );
  });
});

it.each([
  ['DE89370400440532013000', 'DE89370400440532013000'],
  ['de89 3704 0044 0532 0130 00', 'DE89370400440532013000'],
  ['DE89\u00a03704\u200b0044 0532 0130 00', 'DE89370400440532013000'],
  // The shortest and the longest.
  ['no93 8601 1117 947', 'NO9386011117947'],
  ['no93 8601 1117 94', 'no93 8601 1117 94'],
  [`mt84 ${'x'.repeat(30)}`, `MT84${'X'.repeat(30)}`],
  [`mt84 ${'x'.repeat(31)}`, `mt84 ${'x'.repeat(31)}`],
  // What is none stays as it is.
  ['1234 5678 9012 3456', '1234 5678 9012 3456'],
  ['d189 3704 0044 0532 0130 00', 'd189 3704 0044 0532 0130 00'],
  ['de8x 3704 0044 0532 0130 00', 'de8x 3704 0044 0532 0130 00'],
  ['de89 3704 0044 0532 0130 0!', 'de89 3704 0044 0532 0130 0!'],
  ['+de89 3704 0044 0532 0130 00', '+de89 3704 0044 0532 0130 00'],
  ['abc', 'abc'],
  ['', ''],
])('the IBAN %j is %j', (text, plain) => {
  expect(plainIban(text)).toBe(plain);
});

describe('a day as banks write it', () => {
  it.each<[unknown, string]>([
    ['2026-11-27', '2026-11-27'],
    ['20261127', '2026-11-27'],
    [20_261_127, '2026-11-27'],
    [' 2026-11-27\n', '2026-11-27'],
    // With a clock, the day that stands there.
    ['2026-11-27T10:15', '2026-11-27'],
    ['2026-11-27T23:59:59', '2026-11-27'],
    ['2026-11-27 23:59:59.999', '2026-11-27'],
    ['2026-11-27T23:59:59,999999', '2026-11-27'],
    ['20261127T10:15:00', '2026-11-27'],
    [`2026-11-27T10:15:00.${'1'.repeat(40)}`, '2026-11-27'],
    // With an offset too.
    ['2026-11-27T23:59:59+02:00', '2026-11-27'],
    ['2026-11-27T00:00:00-0500', '2026-11-27'],
    ['2026-11-27+01:00', '2026-11-27'],
    ['2026-11-27 +01:00', '2026-11-27'],
    ['2026-11-27Z', '2026-11-27'],
    // In UTC, the day at the bank.
    ['2026-11-27T22:59:59Z', '2026-11-27'],
    ['2026-11-27T23:00:00Z', '2026-11-28'],
    ['2026-07-27T21:59:59Z', '2026-07-27'],
    ['2026-07-27T22:00Z', '2026-07-28'],
    ['2026-11-27 23:00:00.000 Z', '2026-11-28'],
    ['2026-12-31T23:30:00z', '2027-01-01'],
    ['2026-11-27T25:00:00Z', '2026-11-27'],
    // With points the day comes first, and a year of four digits shows where it is.
    ['27.11.2026', '2026-11-27'],
    ['07.11.2026', '2026-11-07'],
    ['7.1.2026', '2026-01-07'],
    ['2026/11/27', '2026-11-27'],
    ['2026/1/7', '2026-01-07'],
    ['2026.11.27', '2026-11-27'],
    ['27.11.2026 10:15', '2026-11-27'],
    ['27.11.2026T23:30:00Z', '2026-11-28'],
    ['2026/11/27 10:15:00', '2026-11-27'],
    // With other signs, a number above 12 says which is the day, or both are the same.
    ['13/11/2026', '2026-11-13'],
    ['11/13/2026', '2026-11-13'],
    ['13-1-2026', '2026-01-13'],
    ['1-13-2026', '2026-01-13'],
    ['12/12/2026', '2026-12-12'],
    ['1/01/2026', '2026-01-01'],
    // In the calendar of German banks every month has 30 days.
    ['2026-02-28', '2026-02-28'],
    ['2026-02-29', '2026-02-28'],
    ['2026-02-30', '2026-02-28'],
    ['2028-02-29', '2028-02-29'],
    ['2028-02-30', '2028-02-29'],
    ['2100-02-29', '2100-02-28'],
    ['30.02.2028', '2028-02-29'],
    ['2026-02-30T23:30:00Z', '2026-02-28'],
  ])('%j is %s', (value, day) => {
    expect(dayIn(value)).toBe(day);
    // As a second row has it.
    expect(dayIn(value)).toBe(day);
  });

  it.each<unknown>([undefined, null, '', ' \n'])('%j is missing', (value) => {
    expect([dayIn(value), bookingDayIn(value)]).toEqual([null, null]);
  });

  it.each<unknown>([
    ...NO_TEXTS.slice(2).filter((value) => !Array.isArray(value)),
    ...['today', '2026', '2026-11', '2026-1-7', '26-11-27', '12026-11-27', '2026-11-270', 'x2026-11-27'],
    ...['2026-11-27x', '2026-11-27T', '2026-11-27T10', '2026-11-27T10:1', '2026-11-27T10:15:0'],
    ...['2026-11-27T10:15:00.', '2026-11-27  +01:00', '2026-11-27+1', '2026-11-27T10:15:00+01:0'],
    // Nobody knows which is the day.
    ...['07/11/2026', '12/11/2026', '07-11-2026', '1/2/2026'],
    ...['27.11/2026', '27/11-2026', '2026/11-27', '2026/11.27', '27.11.26', '127.11.2026', '27.111.2026'],
    ...['27.11.20260', '27.11.2026x', '2026/111/27', 'x27.11.2026', '2026/11/277'],
    // No calendar has it.
    ...['2026-02-31', '2026-04-31', '2026-13-01', '2026-00-10', '2026-11-00', '0000-00-00'],
    ...['13/13/2026', '32.11.2026', '2026-01-32', '2026-12-29T'],
  ])('%j cannot be read', (value) => {
    expect([dayIn(value), bookingDayIn(value)]).toEqual(['unreadable', 'unreadable']);
  });

  it('is that of the zone of the bank, whatever another bank made of the same text', () => {
    const time = '2026-11-27T23:30:00Z';
    const zones = ['Europe/Rome', 'Europe/London', 'Europe/Helsinki', 'America/New_York', 'Europe/Rome'];
    expect(zones.map((zone) => dayIn(time, zone))).toEqual([
      ...['2026-11-28', '2026-11-27', '2026-11-28', '2026-11-27', '2026-11-28'],
    ]);
    expect(bookingDayIn(time, 'Europe/London')).toBe('2026-11-27');
    expect(bookingDayIn(time)).toBe('2026-11-28');
  });

  it('is the same after many other days', () => {
    const days = Array.from({ length: 2100 }, (_, at) =>
      new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10),
    );
    expect([...days, ...days].map((day) => dayIn(day, 'Europe/Vienna'))).toEqual([...days, ...days]);
  });

  it.each([
    ['1899-12-31', 'unreadable'],
    ['1900-01-01', '1900-01-01'],
    ['2199-12-31', '2199-12-31'],
    ['2200-01-01', 'unreadable'],
    ['0001-01-01', 'unreadable'],
    ['9999-12-31', 'unreadable'],
  ])('%s as the day of a booking is %s', (day, booked) => {
    expect([dayIn(day), bookingDayIn(day)]).toEqual([day, booked]);
  });
});

describe('a list that names some twice', () => {
  const of = (...ids: (string | null | undefined)[]) => ids.map((id, at) => ({ id, at }));
  it.each<[string, (string | null | undefined)[], number[]]>([
    ['nothing', [], []],
    ['one', ['a'], [0]],
    ['two', ['a', 'b'], [0, 1]],
    ['one twice', ['a', 'a'], [0]],
    ['one three times among others', ['a', 'b', 'a', 'c', 'a'], [0, 1, 3]],
    ['those without an id', [null, undefined, null, 'a', null, 'a'], [0, 1, 2, 3, 4]],
  ])('has the first of each: %s', (_, ids, places) => {
    expect(eachOnce(of(...ids), ({ id }) => id).map(({ at }) => at)).toEqual(places);
  });
});

describe('a time with its zone', () => {
  it.each([
    ...[
      '2026-11-27T10:15Z',
      '2026-11-27T10:15:30Z',
      '2026-11-27T10:15:30.1Z',
      '2026-11-27T10:15:30.123456789Z',
    ],
    ...['2026-11-27T10:15:30+01:00', '2026-11-27T10:15:30-0530', '2026-11-27T10:15+0100'],
  ])('%s stays as it is', (text) => {
    expect(instantIn(text)).toBe(text);
    expect(instantIn(` ${text}\n`)).toBe(text);
  });

  it.each<unknown>([
    ...[undefined, null, 20_261_127, {}, ''],
    ...['2026-11-27', '2026-11-27Z', '2026-11-27T10Z', '2026-11-27T10:15', '2026-11-27T10:15:30'],
    ...['2026-11-27 10:15Z', '2026-11-27T10:15z', '2026-11-27T10:15:3Z', '2026-11-27T10:15:30.Z'],
    ...['2026-11-27T10:15:30.1234567890Z', '2026-11-27T10:15:30,1Z', '2026-11-27T10:15:30+1'],
    ...['2026-11-27T10:15:30+01:0', '2026-11-27T10:15:30Zx', 'x2026-11-27T10:15:30Z'],
    ...['2026-13-27T10:15:30Z', '2026-11-27T25:15:30Z', '2026-11-27T10:60:30Z'],
  ])('%j is none', (value) => {
    expect(instantIn(value)).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  bankDay,
  bankLocalTime,
  bankTime,
  daysApart,
  earlier,
  endOfDay,
  type IsoDate,
  isBookingDay,
  isIsoDate,
  later,
  nextBankDay,
  parseDate,
  parseDuration,
  parseRange,
} from '../../src/domain/calendar.ts';
import { thrownBy } from '../support/thrown.ts';

const day = (text: string): IsoDate => parseDate('--date', text);

/** The clock of the bank, by the tables of time zones: `2026-11-21 10:15:42`. */
const italy = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Rome',
  dateStyle: 'short',
  timeStyle: 'medium',
});

describe('a date', () => {
  it('psd2 reads every day of the calendar in the form YYYY-MM-DD', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date(Date.UTC(2199, 11, 31)), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString().slice(0, 10);
          expect(parseDate('--date', text)).toBe(text);
        },
      ),
    );
  });

  it.each([
    ['2028-02-29', true],
    ['2026-02-29', false],
    ['2026-04-31', false],
    ['2026-13-01', false],
    ['2026-00-10', false],
    ['2026-01-00', false],
    ['2026-01-32', false],
  ])('%s is a date: %s', (text, exists) => {
    expect(isIsoDate(text)).toBe(exists);
  });

  it.each(['\n', ' ', '.0', 'e0', 'T10:15'])('a day with %j after it is no day', (after) => {
    expect(isIsoDate(`2026-11-05${after}`)).toBe(false);
    expect(isIsoDate(`2026-11-30${after}`)).toBe(false);
  });

  it('the error for a day that does not exist says so, and how to write a date', () => {
    expect(thrownBy(() => parseDate('--date', '2026-02-30'))).toMatchObject({
      code: 'invalid_date',
      message: '--date "2026-02-30" is a day that does not exist',
      hint: 'For example --date 2026-01-31.',
    });
  });

  it.each(['1899-12-31', '0206-11-21', '0000-01-05'])('psd2 refuses %s because it is too old', (text) => {
    expect(() => parseDate('--from', text)).toThrow(`--from "${text}" is before 1900-01-01`);
    expect(parseDate('--from', '1900-01-01')).toBe('1900-01-01');
  });

  it.each([
    ...'30/11/2026 2026-1-1 20261130 2026-11-30T10:00:00 today'.split(' '),
    ...[' 2026-11-30', '2026-11-30\n', ''],
  ])('psd2 refuses a date in the form %j', (text) => {
    expect(() => parseDate('--from', text)).toThrow(
      `--from ${JSON.stringify(text)} is not a date in the form YYYY-MM-DD`,
    );
  });
});

describe('a number of days later', () => {
  it.each([
    ['2026-11-30', 1, '2026-12-01'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2028-02-28', 1, '2028-02-29'],
    ['2026-03-28', 2, '2026-03-30'],
    ['2026-03-01', -1, '2026-02-28'],
    ['2026-11-21', 0, '2026-11-21'],
  ])('%s and %i days are %s', (from, days, expected) => {
    expect(addDays(day(from), days)).toBe(expected);
    expect(daysApart(day(from), day(expected))).toBe(days);
  });

  it('psd2 does not count beyond the last day that has this form', () => {
    expect(addDays(day('9999-12-30'), 1)).toBe('9999-12-31');
    expect(() => addDays(day('9999-12-31'), 1)).toThrow('No calendar day 1 days after 9999-12-31');
  });
});

describe('a range of days', () => {
  it.each([
    [undefined, undefined],
    ['2026-11-01', undefined],
    [undefined, '2026-11-30'],
    ['2026-11-30', '2026-11-30'],
    ['2026-11-01', '2026-11-30'],
  ])('each end of a range can be left out, and a range has at least one day: %s to %s', (from, to) => {
    expect(parseRange({ from, to })).toEqual({ from, to });
  });

  it.each([
    [{ from: '2026-12-01', to: '2026-11-30' }, '--from 2026-12-01 is after --to 2026-11-30'],
    [{ from: '30/11/2026' }, '--from "30/11/2026" is not a date in the form YYYY-MM-DD'],
    [{ to: '2026-11-31' }, '--to "2026-11-31" is a day that does not exist'],
    [{ from: '', to: '2026-11-30' }, '--from "" is not a date in the form YYYY-MM-DD'],
    [{ to: '' }, '--to "" is not a date in the form YYYY-MM-DD'],
  ])('the error for the range %j names the option that is wrong', (options, message) => {
    expect(thrownBy(() => parseRange(options))).toMatchObject({ code: 'invalid_date', message });
  });
});

describe("the bank's day", () => {
  it('an instant after the year 9999 has no day', () => {
    expect(bankDay(new Date('9999-12-31T22:59:59Z'))).toBe('9999-12-31');
    expect(() => bankDay(new Date('9999-12-31T23:00:00Z'))).toThrow(
      'No calendar day for 9999-12-31T23:00:00.000Z',
    );
  });

  it.each([
    ['winter', '2026-11-21T22:59:59.999Z', '2026-11-21'],
    ['winter', '2026-11-21T23:00:00.000Z', '2026-11-22'],
    ['summer', '2026-07-01T21:59:59.999Z', '2026-07-01'],
    ['summer', '2026-07-01T22:00:00.000Z', '2026-07-02'],
    ['the night after the clock goes forward', '2026-03-29T22:00:00Z', '2026-03-30'],
    ['the night after the clock goes back', '2026-10-25T22:59:59Z', '2026-10-25'],
    ['the night after the clock goes back', '2026-10-25T23:00:00Z', '2026-10-26'],
  ])("the bank's day changes at midnight in Rome: %s, %s", (_, instant, expected) => {
    expect(bankDay(new Date(instant))).toBe(expected);
  });
});

it.each([
  ['Europe/Rome', '2026-11-28'],
  ['Europe/London', '2026-11-27'],
  ['Europe/Helsinki', '2026-11-28'],
  ['America/New_York', '2026-11-27'],
  ['Asia/Tokyo', '2026-11-28'],
  ['Europe/London', '2026-11-27'],
])('at 23:30 UTC on 27 November the day in %s is %s', (zone, expected) => {
  expect(bankDay(new Date('2026-11-27T23:30:00Z'), zone)).toBe(expected);
});

it('the day in another zone is that of the tables, in all years', () => {
  const zones = ['Europe/Lisbon', 'Europe/Athens', 'Atlantic/Reykjavik'] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.date({ min: new Date('1950-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      (timeZone, instant) => {
        const expected = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(instant);
        expect(bankDay(instant, timeZone)).toBe(expected);
      },
    ),
  );
  expect(bankDay(new Date('0987-01-05T12:00:00Z'), 'Europe/London')).toBe('0987-01-05');
});

it.each([
  ['2026-11-26', '2026-11-27'],
  ['2026-11-27', '2026-11-30'],
  ['2026-11-28', '2026-11-30'],
  ['2026-11-29', '2026-11-30'],
  ['2026-11-30', '2026-12-01'],
  ['2027-12-31', '2028-01-03'],
])('after %s banks settle on %s', (before, after) => {
  expect(nextBankDay(day(before))).toBe(after);
});

it.each([
  ['2026-11-30', '2026-12-01'],
  ['2026-12-31', '2027-01-01'],
  ['2026-11-30', '2026-11-30'],
])('of %s and %s the first is earlier', (first, second) => {
  expect([earlier(day(first), day(second)), earlier(day(second), day(first))]).toEqual([first, first]);
  expect([later(day(first), day(second)), later(day(second), day(first))]).toEqual([second, second]);
});

it.each([
  ['0001-01-01', false],
  ['1899-12-31', false],
  ['1900-01-01', true],
  ['2199-12-31', true],
  ['2200-01-01', false],
  ['9999-12-31', false],
  ['unreadable', false],
])('a bank can book on %s: %s', (text, can) => {
  expect(isBookingDay(text)).toBe(can);
});

describe("a time on the bank's clock", () => {
  it.each([
    ['2026-01-15', '10:15', '2026-01-15T10:15:00+01:00'],
    ['2026-07-01', '10:15', '2026-07-01T10:15:00+02:00'],
    ['2026-07-01', '10:15:42', '2026-07-01T10:15:42+02:00'],
    ['2026-07-01', '00:00', '2026-07-01T00:00:00+02:00'],
    // On 2026-03-29 there is no time from 02:00 to 03:00.
    ['2026-03-29', '01:59', '2026-03-29T01:59:00+01:00'],
    ['2026-03-29', '02:30', '2026-03-29T02:30:00+01:00'],
    ['2026-03-29', '03:00', '2026-03-29T03:00:00+02:00'],
    // On 2026-10-25 the time from 02:00 to 03:00 comes twice.
    ['2026-10-25', '01:59', '2026-10-25T01:59:00+02:00'],
    ['2026-10-25', '02:30', '2026-10-25T02:30:00+02:00'],
    ['2026-10-25', '03:00', '2026-10-25T03:00:00+01:00'],
  ])("%s %s on the bank's clock is %s", (date, time, expected) => {
    expect(bankLocalTime(day(date), time)).toBe(expected);
  });

  it("a time on the bank's clock is the instant when the bank has that day and time", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        (instant) => {
          const clock = italy.format(instant);
          const [date = '', time = ''] = clock.split(' ');
          const read = new Date(bankLocalTime(day(date), time)).getTime();
          const difference = Math.floor(instant.getTime() / 1000) - read / 1000;
          // psd2 reads the hour that comes twice as the first one.
          expect([0, 3600]).toContain(difference);
          expect(bankDay(new Date(read))).toBe(date);
        },
      ),
    );
  });
});

describe('an instant at the bank', () => {
  it('has the day and the time that the tables of time zones give for Italy', () => {
    const anyInstant = fc.date({
      min: new Date('1900-01-01'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    });
    // The weeks in which clocks change.
    const nearChange = fc
      .record({
        year: fc.integer({ min: 1980, max: 2100 }),
        month: fc.constantFrom(2, 8, 9),
        minutes: fc.integer({ min: 0, max: 12 * 24 * 60 }),
      })
      .map(({ year, month, minutes }) => new Date(Date.UTC(year, month, 20, 0, minutes)));
    fc.assert(
      fc.property(fc.oneof(anyInstant, nearChange), (instant) => {
        const written = italy.format(instant);
        expect(bankDay(instant)).toBe(written.slice(0, 10));
        expect(bankTime(instant).slice(0, 19)).toBe(written.replace(' ', 'T'));
      }),
      { numRuns: 2_000 },
    );
  });

  it("the bank's time is the same instant, even in the hour that a clock change repeats", () => {
    const instant = fc.date({
      min: new Date('2026-10-24T22:00:00Z'),
      max: new Date('2026-10-25T04:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, (date) => {
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        expect(Date.parse(bankTime(date))).toBe(seconds);
      }),
    );
    expect(bankTime(new Date('2026-10-25T00:30:00Z'))).toBe('2026-10-25T02:30:00+02:00');
    expect(bankTime(new Date('2026-10-25T01:30:00Z'))).toBe('2026-10-25T02:30:00+01:00');
  });
});

it.each([
  ['2026-11-30', '2026-11-30T23:00:00.000Z'],
  ['2026-07-01', '2026-07-01T22:00:00.000Z'],
  ['9999-12-31', '9999-12-31T22:59:59.000Z'],
])('%s ends at the bank at %s', (date, end) => {
  expect(endOfDay(day(date))).toBe(end);
});

it.each([
  ['30s', 30_000],
  ['15m', 900_000],
  ['6h', 21_600_000],
  ['1d', 86_400_000],
  ['2w', 1_209_600_000],
  ['007s', 7_000],
  ['999999999s', 999_999_999_000],
])('the duration %s has %i milliseconds', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

it.each(['', ' 1s', '1s ', '1 s'].concat('0s 000d 5 s 1.5h -1s 1y 1S 1ms 1234567890s x1s 1sx'.split(' ')))(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

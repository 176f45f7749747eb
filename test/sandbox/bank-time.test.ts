import { describe, expect, test } from 'vitest';
import {
  addDays,
  addMonths,
  bankDay,
  bankTimestamp,
  nextBusinessDay,
  readBankDate,
  targetHolidays,
  writeBankDate,
} from '../../src/sandbox/ledger/bank-time.ts';

describe("the bank's clock", () => {
  test.each([
    ['2026-11-20T23:30:00Z', '2026-11-21T00:30:00'],
    ['2026-07-20T22:30:00Z', '2026-07-21T00:30:00'],
    ['2026-03-29T00:59:59Z', '2026-03-29T01:59:59'],
    ['2026-03-29T01:00:00Z', '2026-03-29T03:00:00'],
    ['2026-10-25T01:00:00Z', '2026-10-25T02:00:00'],
  ])('the clock shows %s as %s', (instant, expected) => {
    expect(bankTimestamp(new Date(instant))).toBe(expected);
    expect(bankDay(new Date(instant))).toBe(expected.slice(0, 10));
  });

  test('it shows each day from 1996 to 2050 as the tables of time zones do, around 01:00 UTC, when clocks change', () => {
    const rome = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'Europe/Rome',
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    for (
      let at = new Date('1996-01-01T00:59:59Z');
      at.getUTCFullYear() < 2051;
      at.setUTCDate(at.getUTCDate() + 1)
    )
      for (const instant of [at, new Date(at.getTime() + 1000)])
        expect(bankTimestamp(instant)).toBe(rome.format(instant).replace(' ', 'T'));
  });
});

describe('dates', () => {
  test('psd2 writes and reads a bank date as DD/MM/YYYY', () => {
    expect(writeBankDate('2026-11-30')).toBe('30/11/2026');
    expect(readBankDate('30/11/2026')).toBe('2026-11-30');
    expect(readBankDate('29/02/2028')).toBe('2028-02-29');
  });

  const NO_DATES = '29/02/2027 31/11/2026 00/01/2026 01/13/2026 1/1/2026 2026-11-30'.split(' ');
  test.each([...NO_DATES, '', '30/11/2026 '])('"%s" is not a bank date', (text) => {
    expect(readBankDate(text)).toBeUndefined();
  });

  test('dates move by days and months', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
    expect(addMonths('2026-11-20', -14)).toBe('2025-09-20');
    expect(addMonths('2026-12-31', 2)).toBe('2027-02-28');
    expect(addMonths('2028-02-29', 12)).toBe('2029-02-28');
  });
});

describe('TARGET', () => {
  test.each([
    [2026, '2026-04-03', '2026-04-06'],
    [2027, '2027-03-26', '2027-03-29'],
    [2028, '2028-04-14', '2028-04-17'],
  ])('TARGET is closed at Easter of %d', (year, friday, monday) => {
    expect(targetHolidays(year)).toEqual([
      `${year}-01-01`,
      friday,
      monday,
      `${year}-05-01`,
      `${year}-12-25`,
      `${year}-12-26`,
    ]);
  });

  test.each([
    ['2026-11-19', '2026-11-20'],
    ['2026-11-20', '2026-11-23'],
    ['2026-04-02', '2026-04-07'],
    ['2026-12-24', '2026-12-28'],
    ['2026-12-31', '2027-01-04'],
  ])('the business day after %s is %s', (day, next) => {
    expect(nextBusinessDay(day)).toBe(next);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bankDate,
  decimal,
  money,
  readBankDate,
  wholeNumber,
  writeBankDate,
} from '../../../../../src/bank/interfaces/cb/wire/fields.ts';
import { isDecimal } from '../../../../../src/domain/decimal.ts';

describe('a date of the bank', () => {
  it.each([
    ['30/06/2024', '2024-06-30'],
    ['20240630T10:15:00', '2024-06-30'],
    ['20240630', '2024-06-30'],
    ['2024-06-30', '2024-06-30'],
    ['2024-06-30T10:15:00', '2024-06-30'],
    ['29/02/2024', '2024-02-29'],
    ['29/02/2023', null],
    ['06/30/2024', null],
    ['30.06.2024', null],
    ['2024063', null],
    ['yesterday', null],
  ])("the bank's date %s is read as %s", (text, day) => {
    expect(readBankDate(text)).toBe(day);
  });

  it.each([null, undefined, '', '  '])('a date that is %j is absent', (value) => {
    expect(bankDate.parse(value)).toBeNull();
  });

  it('a date in an unknown form is an error', () => {
    expect(bankDate.safeParse('30.06.2024').error?.issues).toMatchObject([{ message: 'expected a date' }]);
    expect(bankDate.safeParse(20240630).success).toBe(false);
  });

  it('a written date is read back as the same day', () => {
    const anyDay = fc.date({ min: new Date(0), max: new Date(Date.UTC(2199, 11, 31)), noInvalidDate: true });
    fc.assert(
      fc.property(anyDay, (date) => {
        const day = date.toISOString().slice(0, 10);
        expect(writeBankDate(day)).toMatch(/^\d{2}\/\d{2}\/\d{4}$/);
        expect(readBankDate(writeBankDate(day))).toBe(day);
      }),
    );
    expect(writeBankDate('2026-11-30')).toBe('30/11/2026');
  });
});

describe('money', () => {
  it.each([
    ['1234.560', 'EUR', '1234.560', 'EUR'],
    ['-0.005', 'EUR', '-0.005', 'EUR'],
    [12, 'EUR', '12', 'EUR'],
    [' 1.00 ', null, '1.00', ''],
    ['+12.50', 'EUR', '12.50', 'EUR'],
  ])('the money %j %j is read as %j %j', (amount, currency, read, of) => {
    expect(money.parse({ amount, currency })).toEqual({ amount: read, currency: of });
  });

  it.each([{ amount: '', currency: '' }, { amount: ' ', currency: 'EUR' }, null, undefined])(
    'the money %j is none',
    (wire) => {
      expect(money.parse(wire)).toBeNull();
    },
  );

  it.each(['1.234,56', '1e3', 'NaN', 'EUR 5', '1,000.00', '--1', '++1', '+', '+-1', `0.${'0'.repeat(63)}`])(
    'money with the amount %j is an error',
    (amount) => {
      expect(money.safeParse({ amount, currency: 'EUR' }).error?.issues).toMatchObject([
        { path: ['amount'], message: 'expected a decimal number' },
      ]);
    },
  );

  it('every decimal keeps its digits as written, without a plus sign', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[+-]?\d{1,30}(\.\d{1,30})?$/), (amount) => {
        expect(isDecimal(amount)).toBe(true);
        expect(decimal.parse(amount)).toBe(amount.replace('+', ''));
      }),
    );
  });
});

describe('a whole number', () => {
  it.each([
    [3500, 3500],
    ['600', 600],
    [' 600 ', 600],
    ['0', 0],
  ])('the whole number %j is read as %i', (wire, expected) => {
    expect(wholeNumber.parse(wire)).toBe(expected);
  });

  it.each(['', '6.5', '-1', 'soon', null])('%j is not a whole number', (wire) => {
    expect(wholeNumber.safeParse(wire).success).toBe(false);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  balanceMoney,
  bankDate,
  currencyIn,
  decimal,
  flagIn,
  listOf,
  money,
  optionalText,
  optionalWords,
  readBankDate,
  rowDayIn,
  text,
  wholeNumber,
  words,
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
    ['202406301', null],
    ['20240630 10:15', null],
    ['20240230T10:15:00', null],
    ['30/06/2024 10:15', '2024-06-30'],
    [' 30/06/2024', null],
    ['130/06/2024', null],
    ['3/06/2024', null],
    ['30/06/24', null],
    ['2024-6-30', null],
    ['x2024-06-30', null],
    ['x20240630', null],
    [`2024-06-30T${'0'.repeat(29)}`, '2024-06-30'],
    [`2024-06-30T${'0'.repeat(30)}`, '2024-06-30'],
    ['yesterday', null],
  ])("the bank's date %s is read as %s", (text, day) => {
    // The same days come again and again.
    for (let times = 0; times < 2; times += 1) expect(readBankDate(text)).toBe(day);
  });

  it('of more different days than psd2 remembers, each is read', () => {
    const days = Array.from({ length: 2500 }, (_, at) =>
      new Date(at * 86_400_000).toISOString().slice(0, 10),
    );
    for (const day of [...days, ...days]) {
      expect(readBankDate(day)).toBe(day);
      expect(rowDayIn(writeBankDate(day))).toBe(day);
    }
  });

  it.each([null, undefined, '', '  '])('a date that is %j is absent', (value) => {
    expect(bankDate.parse(value)).toBeNull();
  });

  it('a date in an unknown form is an error', () => {
    expect(bankDate.safeParse('30.06.2024').error?.issues).toMatchObject([{ message: 'expected a date' }]);
    expect(bankDate.safeParse(20240630).success).toBe(false);
    expect(bankDate.parse(' 30/06/2024 ')).toBe('2024-06-30');
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

  it.each([
    ['9'.repeat(64), true],
    ['9'.repeat(65), false],
    [`+${'9'.repeat(63)}`, true],
    [`+${'9'.repeat(64)}`, false],
  ])('the amount %s is not too long: %s', (amount, isRight) => {
    expect(money.safeParse({ amount }).success).toBe(isRight);
    expect(decimal.safeParse(amount).success).toBe(isRight);
  });

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

const WRONG = [true, {}, ['a'], Number.NaN, Number.POSITIVE_INFINITY];

describe('a text', () => {
  it.each([
    ['a', 'a'],
    ['', ''],
    [12.5, '12.5'],
    [0, '0'],
  ])('%j is %j, whether it may be missing or not', (value, read) => {
    expect([text.parse(value), optionalText.parse(value), words.parse(value)]).toEqual([read, read, read]);
  });

  it.each([undefined, null])('%j is a missing one', (value) => {
    expect(optionalText.parse(value)).toBe('');
    expect(text.safeParse(value).success).toBe(false);
  });

  it.each(WRONG)('%j is none', (value) => {
    for (const type of [text, optionalText])
      expect(type.safeParse(value).error?.issues).toMatchObject([
        { code: 'custom', message: 'Invalid input' },
      ]);
  });

  it.each([
    [999, 999],
    [1000, 1000],
    [1001, 1000],
  ])('a message of %i characters has %i of them', (length, kept) => {
    expect(words.parse('x'.repeat(length))).toBe('x'.repeat(kept));
  });

  it.each([
    [' a b ', 'a b'],
    [7, '7'],
    [null, ''],
    [undefined, ''],
    [{}, ''],
    [true, ''],
  ])('the words %j of an account are %j', (value, read) => {
    expect(optionalWords.parse(value)).toBe(read);
  });
});

describe('what a row or a balance has', () => {
  it.each([
    ['eur', 'EUR'],
    [' Eur ', 'EUR'],
    ['EUR', 'EUR'],
    ['eu', 'eu'],
    ['euro', 'euro'],
    ['e1r', 'e1r'],
    ['xeur', 'xeur'],
    ['1eur', '1eur'],
    [978, '978'],
    ['', ''],
    [null, ''],
    [undefined, ''],
    [{}, ''],
  ])('the currency %j is %j', (value, currency) => {
    expect(currencyIn(value)).toBe(currency);
  });

  it.each<[unknown, object | null]>([
    [undefined, null],
    [null, null],
    [{ amount: null }, null],
    [{ amount: '', currency: 'EUR' }, null],
    [
      { amount: '1,50', currency: 'eur' },
      { amount: '1.50', currency: 'EUR' },
    ],
    [
      { amount: 0, currency: 'EUR' },
      { amount: '0', currency: 'EUR' },
    ],
    [{ amount: '-1' }, { amount: '-1', currency: '' }],
  ])('the money %j of a balance is %j', (value, read) => {
    expect(balanceMoney.parse(value)).toEqual(read);
  });

  it.each(['x', ' ', true, {}])('the amount %j of a balance is an error', (amount) => {
    expect(balanceMoney.safeParse({ amount, currency: 'EUR' }).error?.issues).toMatchObject([
      { path: ['amount'], message: 'expected a decimal number' },
    ]);
  });

  it.each<[unknown, string | null | undefined]>([
    ['30/06/2024', '2024-06-30'],
    // The first number is the day, also where it could be the month.
    ['05/06/2024', '2024-06-05'],
    [' 30/06/2024 ', '2024-06-30'],
    ['30/06/2024 10:15', '2024-06-30'],
    ['05/06/2024 10:15', '2024-06-05'],
    ['20240630T10:15:00', '2024-06-30'],
    ['2024-06-30', '2024-06-30'],
    ['30.06.2024', '2024-06-30'],
    [20240630, '2024-06-30'],
    ['', null],
    [' ', null],
    [null, null],
    [undefined, null],
    ['0001-01-01', undefined],
    ['01/01/0001', undefined],
    ['31/06/2024', undefined],
    ['soon', undefined],
    [7, undefined],
    [{}, undefined],
    [true, undefined],
  ])('the day %j of a row is %j', (value, day) => {
    for (let times = 0; times < 2; times += 1) expect(rowDayIn(value)).toBe(day);
  });

  it.each([
    [true, true],
    [false, false],
    ['true', true],
    [' FALSE ', false],
    ['yes', undefined],
    [1, undefined],
    [null, undefined],
    [undefined, undefined],
    ['', undefined],
  ])('the flag %j is %j', (value, flag) => {
    expect(flagIn(value)).toBe(flag);
  });

  it.each<[unknown, unknown[]]>([
    [[], []],
    [null, []],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['a', 'a'],
      ['a', 'a'],
    ],
  ])('the list %j is %j', (value, list) => {
    expect(listOf(text).parse(value)).toEqual(list);
  });

  it('a row without its list is the list, and nothing else is', () => {
    expect(listOf(balanceMoney).parse({ amount: '1', currency: 'EUR' })).toEqual([
      { amount: '1', currency: 'EUR' },
    ]);
    for (const none of [undefined, 'a', 7]) expect(listOf(text).safeParse(none).success).toBe(false);
  });
});

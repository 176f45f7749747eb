import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inCurrency, isDecimal, isZero, normalDecimal } from '../../src/domain/decimal.ts';
import { amountOf } from './bookings.ts';

const digits = (minLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength: 12 });

/** Any decimal in plain notation, with or without sign and decimals. */
const decimal = fc
  .record({ sign: fc.constantFrom('', '+', '-'), whole: digits(1), decimals: digits(0) })
  .map(({ sign, whole, decimals }) => amountOf(`${sign}${whole}${decimals && `.${decimals}`}`));

const number = (text: string) => new Big(text.replace(/^\+/, ''));

describe('a decimal', () => {
  it.each(['0', '-0.005', '+12.30', '007', '9007199254740993.01'])('%s is a decimal', (text) => {
    expect(isDecimal(text)).toBe(true);
  });

  it.each(['', '-', '.5', '5.', '--5', '1e3', '1,5', '1.2.3', ' 5', '5\n'])('%j is no decimal', (text) => {
    expect(isDecimal(text)).toBe(false);
  });

  it('a text with anything else before or after a decimal is not a decimal', () => {
    fc.assert(
      fc.property(decimal, fc.stringMatching(/^[^\d.]$/u), (text, odd) => {
        expect(isDecimal(`${text}${odd}`)).toBe(false);
        expect(isDecimal(`${odd}+${text}`)).toBe(false);
      }),
    );
  });
});

describe('the normal form of a decimal', () => {
  it('is the same number without a plus sign, with two decimals or as many as it needs', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        const normal = normalDecimal(text);
        expect(normal).toMatch(/^-?(0|[1-9]\d*)\.(\d\d|\d\d\d*[1-9])$/);
        expect(number(normal).eq(number(text))).toBe(true);
        expect(normal.startsWith('-')).toBe(number(text).lt(0));
        expect(normalDecimal(normal)).toBe(normal);
      }),
    );
  });

  it.each([
    ['12', '12.00'],
    ['+12.5', '12.50'],
    ['-12.500000', '-12.50'],
    ['0.00500', '0.005'],
    ['100.000', '100.00'],
    ['-00149.87', '-149.87'],
    ['000', '0.00'],
    ['-0', '0.00'],
    ['-0.00', '0.00'],
    ['-0.000', '0.00'],
    ['-0.005', '-0.005'],
  ])('of %s is %s', (text, normal) => {
    expect(normalDecimal(amountOf(text))).toBe(normal);
  });
});

it('a decimal is zero if no digit of it is another', () => {
  fc.assert(
    fc.property(decimal, (text) => {
      expect(isZero(text)).toBe(!/[1-9]/.test(text));
    }),
  );
  for (const zero of ['0', '00', '-0', '+0.0', '0.000']) expect(isZero(amountOf(zero))).toBe(true);
  for (const other of ['0.001', '-10', '10.0', '+0.10']) expect(isZero(amountOf(other))).toBe(false);
});

it.each([
  ['1.5', 'EUR', '1.50'],
  ['12.500', 'EUR', '12.50'],
  ['0.005', 'EUR', '0.005'],
  ['-100.00', 'JPY', '-100'],
  ['100.50', 'JPY', '100.5'],
  ['+7', 'KWD', '7.000'],
  ['1.2345000', 'CLF', '1.2345'],
  ['much', 'EUR', 'much'],
])('%s %s is %s in its currency', (amount, currency, shown) => {
  expect(inCurrency(amount, currency)).toBe(shown);
});

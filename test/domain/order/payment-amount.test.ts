import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { thrownBy } from '../../support/thrown.ts';

function refusal(text: string): string {
  try {
    return `accepted as ${parsePaymentAmount(text)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

it.each([
  ['0.01', '0.01'],
  ['12', '12.00'],
  ['12.5', '12.50'],
  ['12.50', '12.50'],
  ['007', '7.00'],
  ['0000000000000.10', '0.10'],
  ['999999999.99', '999999999.99'],
  ['\u00a012.50\u200b', '12.50'],
  ['1\u202f234.50', '1234.50'],
  ['12\u00a0345\u00a0678', '12345678.00'],
])('%s is the amount %s', (text, amount) => {
  expect(parsePaymentAmount(text)).toBe(amount);
});

it('psd2 keeps every amount from one cent to the maximum exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 99_999_999_999n }), (cents) => {
      const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
      const amount = parsePaymentAmount(text);
      expect(amount).toBe(text);
      expect(BigInt(amount.replace('.', ''))).toBe(cents);
      expect(parsePaymentAmount(amount)).toBe(amount);
    }),
  );
});

it.each([
  ['12,50', 'has a decimal comma'],
  ['1.234,50', 'has a decimal comma'],
  ['-5', 'is negative'],
  ['-12,50', 'is negative'],
  ['-0.00', 'is negative'],
  ['0', 'is zero'],
  ['0.00', 'is zero'],
  ['0.001', 'has more than two decimals'],
  ['12.500', 'has more than two decimals'],
  ['1000000000', 'is more than 999999999.99'],
  ['1,234.50', 'is not a decimal number'],
  ['1e3', 'is not a decimal number'],
  ['+5', 'is not a decimal number'],
  ['.50', 'is not a decimal number'],
  ['5.', 'is not a decimal number'],
  ['NaN', 'is not a decimal number'],
  ['', 'is not a decimal number'],
  [' 5', 'is not a decimal number'],
  ['1\u00a02.50', 'is not a decimal number'],
  ['12\u00a034.50', 'is not a decimal number'],
  ['1\u00a0234,50', 'has a decimal comma'],
  ['1\u00a0234\u00a05', 'is not a decimal number'],
  ['\u00a0', 'is not a decimal number'],
  ['\u200b-5', 'is negative'],
  ['5\n', 'is not a decimal number'],
  ['٥', 'is not a decimal number'],
  ['12.50 EUR', 'is not a decimal number'],
])('psd2 refuses the amount %j: it %s', (text, what) => {
  expect(refusal(text)).toBe(`The amount ${JSON.stringify(text)} ${what}`);
});

it('psd2 refuses every amount above the maximum', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1_000_000_000n, max: 10n ** 40n }), (units) => {
      expect(() => parsePaymentAmount(String(units))).toThrow('is more than 999999999.99');
    }),
  );
});

it('every amount that psd2 accepts gets the form of a payment', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.stringMatching(/^[-+0-9.,eE ]{0,12}$/),
        fc.stringMatching(/^\d{1,10}(\.\d{1,3})?$/),
      ),
      (text) => {
        expect(refusal(text)).toMatch(/^(The amount ".*|accepted as (0|[1-9]\d{0,8})\.\d{2})$/);
      },
    ),
    { numRuns: 500 },
  );
});

it('the error for an amount has its own code and shows how to write it', () => {
  expect(thrownBy(() => parsePaymentAmount('12,5'))).toMatchObject({
    code: 'invalid_amount',
    hint: expect.stringContaining('12.50'),
  });
});

import { expect, it } from 'vitest';
import { writeMoney } from '../../../src/terminal/output/fields.ts';
import { amountOf } from '../../domain/bookings.ts';

it.each([
  ['12.5000', 'EUR', '12.50 EUR'],
  ['+7', 'EUR', '7.00 EUR'],
  ['-0.123', '', '-0.123'],
])('the amount %s %s is %s in a table', (amount, currency, text) => {
  expect(writeMoney({ amount: amountOf(amount), currency })).toBe(text);
});

it('no amount is none in a table', () => {
  expect(writeMoney(null)).toBeNull();
});

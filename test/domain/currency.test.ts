import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCurrency } from '../../src/domain/currency.ts';

it.each('EUR CHF GBP USD SEK NOK DKK PLN CZK HUF RON BGN ISK JPY KWD BHD'.split(' '))(
  '%s is a currency',
  (code) => {
    expect(isCurrency(code)).toBe(true);
  },
);

it.each([
  // They stand for no currency, and for a test.
  ...['XXX', 'XTS'],
  ...['eur', 'Eur', 'EU', 'EURO', ' EUR', 'EUR ', 'EUR\n', '', 'ZZZ', '978', '€', 'XX', 'XXXX'],
])('%j is no currency', (code) => {
  expect(isCurrency(code)).toBe(false);
  // What was asked before changes nothing.
  expect(isCurrency('EUR')).toBe(true);
});

it('no text but three capital letters is a currency', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 5 }), fc.stringMatching(/^[A-Za-z]{2,4}$/)), (text) => {
      if (isCurrency(text)) expect(text).toMatch(/^[A-Z]{3}$/);
      else expect(text).not.toBe('EUR');
    }),
  );
});

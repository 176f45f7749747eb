import { describe, expect, it } from 'vitest';
import { isCountryCode, parseAddressPart, parseCountry } from '../../../src/domain/order/address.ts';
import { Psd2Error } from '../../../src/errors.ts';

describe("the payee's country", () => {
  it.each(['DE', 'IT', 'GB', 'XK', 'RE'])('%s is one', (code) => {
    expect(parseCountry('--payee-country', code)).toBe(code);
  });

  it.each(['AD', 'BZ', 'CA', 'FR', 'GA', 'JP', 'KE', 'MT', 'MU', 'RW', 'SA', 'TZ', 'UA', 'ZW'])(
    '%s is one',
    (code) => {
      expect(isCountryCode(code)).toBe(true);
    },
  );

  it.each(['ZZ', 'XX', 'UK', 'EU', 'SU'])('%s is none', (code) => {
    expect(isCountryCode(code)).toBe(false);
    expect(() => parseCountry('--payee-country', code)).toThrow(
      new Psd2Error('usage', `--payee-country "${code}" is not the code of a country`, {
        hint: 'The codes are those of ISO 3166-1, for example DE, IT, and GB for the United Kingdom.',
      }),
    );
  });

  it.each(['de', 'DEU', '', ' DE', 'D1'])('%j is no code', (code) => {
    expect(() => parseCountry('--payee-country', code)).toThrow(
      new Psd2Error('usage', `--payee-country ${JSON.stringify(code)} is not a code of two capital letters`),
    );
  });
});

describe("a part of the payee's address", () => {
  it.each(['', '  '])('%j is refused', (text) => {
    expect(() => parseAddressPart('--payee-town', text, 35)).toThrow(
      new Psd2Error('invalid_text', '--payee-town is empty'),
    );
  });

  it('may have as many characters as SEPA allows', () => {
    expect(parseAddressPart('--payee-town', 'x'.repeat(35), 35)).toHaveLength(35);
    expect(() => parseAddressPart('--payee-town', 'x'.repeat(36), 35)).toThrow('at most 35');
  });
});

import { describe, expect, it } from 'vitest';
import { isCountryCode, parseAddressPart, parseCountry } from '../../../src/domain/order/address.ts';

describe("the payee's country", () => {
  it.each(['DE', 'IT', 'GB', 'XK', 'RE'])('%s is one', (code) => {
    expect(parseCountry('--payee-country', code)).toBe(code);
  });

  it.each(['ZZ', 'XX', 'UK', 'EU', 'SU'])('%s is none', (code) => {
    expect(isCountryCode(code)).toBe(false);
    expect(() => parseCountry('--payee-country', code)).toThrow(
      `--payee-country "${code}" is not the code of a country`,
    );
  });

  it.each(['de', 'DEU', ''])('%j is no code', (code) => {
    expect(() => parseCountry('--payee-country', code)).toThrow('not a code of two capital letters');
  });
});

describe("a part of the payee's address", () => {
  it.each(['', '  '])('%j is refused', (text) => {
    expect(() => parseAddressPart('--payee-town', text, 35)).toThrow('--payee-town is empty');
  });

  it('may have as many characters as SEPA allows', () => {
    expect(parseAddressPart('--payee-town', 'x'.repeat(35), 35)).toHaveLength(35);
    expect(() => parseAddressPart('--payee-town', 'x'.repeat(36), 35)).toThrow('at most 35');
  });
});

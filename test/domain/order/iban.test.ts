import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSepaIban, spacedIban } from '../../../src/domain/order/iban.ts';
import { thrownBy } from '../../support/thrown.ts';

interface IbanVectors {
  valid: string[];
  invalid: { iban: string; reason: string }[];
  sepaCountriesThatOlderTablesMiss: string[];
}

const vectors: IbanVectors = JSON.parse(readFileSync('test/vectors/iban.json', 'utf8'));

/** The registry's example for each SEPA country that the vectors do not cover. */
const OTHER_SEPA_EXAMPLES = `
  AD1200012030200359100100 GB29NWBK60161331926819 GI75NWBK000000007099453 HU42117730161111101800000000
  IS140159260076545510730339 LI21088100002324013AA LV80BANK0000435195001 MC5811222000010123456789030
  MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 NO9386011117947
  PL61109010140000071219812874 RO49AAAA1B31007593840000 SK3112000000198742637541 VA59001123000012345678
`
  .trim()
  .split(/\s+/);

describe('the IBAN vectors', () => {
  it.each(vectors.valid)('psd2 accepts %s', (iban) => {
    expect(parseSepaIban(iban)).toBe(iban);
  });

  it.each(vectors.invalid.map(({ iban, reason }) => [iban, reason] as const))(
    'psd2 refuses %s: %s',
    (iban) => {
      expect(thrownBy(() => parseSepaIban(iban))).toMatchObject({ code: 'invalid_iban' });
    },
  );
});

it.each(OTHER_SEPA_EXAMPLES)('%s is in SEPA', (iban) => {
  expect(parseSepaIban(iban)).toBe(iban);
});

it('psd2 knows the 41 countries of SEPA, Gibraltar, and those missing in older tables', () => {
  const countries = new Set([...vectors.valid, ...OTHER_SEPA_EXAMPLES].map((iban) => iban.slice(0, 2)));
  expect(countries.size).toBe(42);
  expect([...countries]).toEqual(expect.arrayContaining(vectors.sepaCountriesThatOlderTablesMiss));
});

it('psd2 accepts spaces between the groups and lower case, and returns the compact form', () => {
  expect(parseSepaIban(' it60 X054 2811 1010 0000 0123 456 ')).toBe('IT60X0542811101000000123456');
  const unusual = '\ufeffit60\u00a0X054\u202f2811\u200b1010\u20090000\u2060\u30000123456\u200e';
  expect(parseSepaIban(unusual)).toBe('IT60X0542811101000000123456');
});

it.each([
  ['', 'is empty'],
  ['   ', 'is empty'],
  ['IT60-X054', 'contains the character "-": only letters, digits and spaces are allowed'],
  ['\u00a0\u200b', 'is empty'],
  ['IT60\u00a0X054', 'has 8 characters, which is not the length of an IBAN of IT'],
  ['IT60\u00adX054', 'contains the character U+00AD: only letters, digits and spaces are allowed'],
  ['IT60😀', 'contains the character "😀": only letters, digits and spaces are allowed'],
  ['DE893704004405320130', 'has 20 characters, which is not the length of an IBAN of DE'],
  ['GB96BARC202015300934591', 'has 23 characters, which is not the length of an IBAN of GB'],
  ['XX89370400440532013000', 'has the unknown country code "XX"'],
  ['12345678901234567890', 'has the unknown country code "12"'],
  ['DE99370400440532013000', 'has wrong check digits, so at least one of its characters is wrong'],
  ['IT60X0542811101000000123465', 'has wrong check digits, so at least one of its characters is wrong'],
  ['GB01BARC20714583608387', 'has wrong check digits, so at least one of its characters is wrong'],
  ['GB12BARC20201530093A59', 'has a letter where GB has digits, or a digit where it has letters'],
  ['BR1800360305000010009795493C1', 'is from the country BR, which is not in SEPA'],
  ['TR330006100519786457841326', 'is from the country TR, which is not in SEPA'],
])('psd2 refuses %j: it %s', (iban, what) => {
  expect(thrownBy(() => parseSepaIban(iban))).toMatchObject({
    code: 'invalid_iban',
    message: `The IBAN ${JSON.stringify(iban)} ${what}`,
    hint: 'Check it against the invoice or ask the payee for it again.',
  });
});

it.each([
  ['NO9386011117947', 'NO93 8601 1117 947'],
  ['BE68539007547034', 'BE68 5390 0754 7034'],
  ['IT60X0542811101000000123456', 'IT60 X054 2811 1010 0000 0123 456'],
])('psd2 shows %s in groups of four, as on paper: %s', (iban, spaced) => {
  expect(spacedIban(iban)).toBe(spaced);
  expect(parseSepaIban(spaced)).toBe(iban);
});

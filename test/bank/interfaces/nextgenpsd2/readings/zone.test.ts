import { expect, it } from 'vitest';
import { zoneOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/zone.ts';
import { described } from '../scripted.ts';

// A day that is read in another zone is the day before or after.

const banks = (...countries: string[]) => countries.map((country, at) => ({ name: `Bank ${at}`, country }));
const zone = (iban: string | null, countries: string[] = [], accounts: { zone?: string } = {}) =>
  zoneOf(
    { accounts: described({ accounts }).accounts, banks: described({ banks: banks(...countries) }).banks },
    iban,
  );

it.each([
  ['BG', 'Europe/Sofia'],
  ['CY', 'Asia/Nicosia'],
  ['EE', 'Europe/Tallinn'],
  ['FI', 'Europe/Helsinki'],
  ['FO', 'Atlantic/Faroe'],
  ['GB', 'Europe/London'],
  ['GE', 'Asia/Tbilisi'],
  ['GR', 'Europe/Athens'],
  ['IE', 'Europe/Dublin'],
  ['IS', 'Atlantic/Reykjavik'],
  ['LT', 'Europe/Vilnius'],
  ['LV', 'Europe/Riga'],
  ['MD', 'Europe/Chisinau'],
  ['PT', 'Europe/Lisbon'],
  ['RO', 'Europe/Bucharest'],
  ['TR', 'Europe/Istanbul'],
  ['UA', 'Europe/Kyiv'],
  ['IT', 'Europe/Rome'],
  ['DE', 'Europe/Rome'],
  ['XX', 'Europe/Rome'],
])('the days of an account in %s are those of %s', (country, capital) => {
  expect(zone(`${country}12 3456`)).toBe(capital);
  expect(zone(` ${country.toLowerCase()}123456`)).toBe(capital);
  expect(zone(null, [country])).toBe(capital);
  expect(() => new Intl.DateTimeFormat('en', { timeZone: capital })).not.toThrow();
});

it.each<[string, Parameters<typeof zone>, string]>([
  ['the file says it', ['FI12', ['GR'], { zone: 'Asia/Tokyo' }], 'Asia/Tokyo'],
  ['the account says it before its bank', ['FI12', ['GR']], 'Europe/Helsinki'],
  ['two banks of one country', [null, ['GR', 'GR']], 'Europe/Athens'],
  ['two banks of two countries', [null, ['GR', 'FI']], 'Europe/Rome'],
  ['nobody says it', [null], 'Europe/Rome'],
])('%s', (_, of, expected) => {
  expect(zone(...of)).toBe(expected);
});

import { expect, it } from 'vitest';
import { zoneOf, zoneOfAnswer } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/zone.ts';
import { described, PLAIN_FACTS, scriptedCalls, TRANSACTION_ID } from '../scripted.ts';

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

const READ = { ...PLAIN_FACTS, needsConsent: true, reads: { account: 'a1' } };
it.each<[string, object, listed: string | undefined, named: string | null, expected: string]>([
  ['of an account that the list has', READ, 'GR12', null, 'Europe/Athens'],
  ['of which the list knows better', READ, 'GR12', 'FI12', 'Europe/Athens'],
  ['that names the account itself', READ, undefined, 'FI12', 'Europe/Helsinki'],
  ['of nobody knows which account', READ, undefined, null, 'Europe/Rome'],
  ['that is a list', { ...READ, reads: 'list' }, 'GR12', 'FI12', 'Europe/Helsinki'],
  ['that reads no account', PLAIN_FACTS, 'GR12', 'FI12', 'Europe/Helsinki'],
])('the zone of the days in an answer %s', (_, facts, listed, named, expected) => {
  const { calls } = scriptedCalls([]);
  if (listed !== undefined) calls.ibans.set('a1', listed);
  const call = { method: 'GET', path: '/x', transactionId: TRANSACTION_ID } as const;
  expect(zoneOfAnswer(calls, { ...call, facts: { ...PLAIN_FACTS, ...facts } })(named)).toBe(expected);
});

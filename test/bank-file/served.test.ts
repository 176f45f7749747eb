import { expect, it } from 'vitest';
import { bankQuery, servedBy } from '../../src/bank-file/served.ts';
import { isIban } from '../../src/domain/order/iban.ts';
import { PLATFORMS } from './described.ts';

/** The platforms that serve a bank most exactly. */
function serving(text: string): string[] {
  const query = bankQuery(text, isIban);
  const found = Object.entries(PLATFORMS).flatMap(([name, file]) => {
    const served = servedBy(query, file.banks ?? [], [name, file.name ?? '']);
    return served ? [{ name, ...served }] : [];
  });
  const best = Math.max(...found.map(({ exactness }) => exactness));
  return found.filter(({ exactness }) => exactness === best).map(({ name }) => name);
}

it.each([
  // The code of a group, of one bank in it, after a letter, with letters, and of a country that no platform has.
  ['DE89 3704 0044 0532 0130 00', ['commerzbank']],
  ['DE22200411110123456789', ['comdirect']],
  ['DE11700905000123456789', ['sparda']],
  ['IT60X0542811101000000123456', []],
  ['IT61X0326811101000000123456', ['fabrick']],
  ['NL49ASNB0417164300', ['volksbank-nl']],
  ['BE68539007547034', []],
  ['FR1420041010050500013M02606', []],
  // A BIC with and without its branch, of a group, and one that only begins as another.
  ['NTSBDEB1', ['n26']],
  ['ntsbdeb1xxx', ['n26']],
  ['GENODEF1S04', ['sparda']],
  ['GENODEF1ERG', ['atruvia']],
  ['NTSBDEBB', []],
  // Words, without case and accents, of a bank or a platform. A name may look like a BIC.
  ['MUNCHEN', ['sparda']],
  ['caja rural', ['redsys']],
  ['rural norte', []],
  ['COMMERZBANK', ['commerzbank', 'commerzbank-sandbox']],
  ['', []],
])('%s is a bank of %j', (text, platforms) => {
  expect(serving(text).toSorted()).toEqual(platforms.toSorted());
});

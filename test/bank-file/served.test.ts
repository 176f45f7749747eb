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

it.each([
  ['DE89 3704 0044 0532 0130 00', { iban: 'DE89370400440532013000', words: [] }],
  ['DE89 3704 0044 0532 0130 01', { words: ['de89', '3704', '0044', '0532', '0130', '01'] }],
  ['ntsb debb', { bic: 'NTSBDEBB', words: ['ntsb', 'debb'] }],
  ['NTSBDEB', { words: ['ntsbdeb'] }],
  ['NTSBDEB1X', { words: ['ntsbdeb1x'] }],
  ['NTSBDEB1XX', { words: ['ntsbdeb1xx'] }],
  ['NTSBDEB1X2Y', { bic: 'NTSBDEB1X2Y', words: ['ntsbdeb1x2y'] }],
  ['NTSBDEB1XXXX', { words: ['ntsbdeb1xxxx'] }],
  ['1TSBDEB1', { words: ['1tsbdeb1'] }],
  ['Crédit-Mutuel, 7!', { words: ['credit', 'mutuel', '7'] }],
])('%s may name a bank so: %j', (text, query) => {
  expect(bankQuery(text, isIban)).toEqual(query);
});

const bank = (more: object = {}) => ({ name: 'Alpha Bank', ...more });
const OF_DE = { country: 'DE', bankCode: '37040044' };
it.each<[text: string, object, exactness: number | undefined]>([
  ['DE89370400440532013000', OF_DE, 8],
  ['DE89370400440532013000', { ...OF_DE, bankCode: '3704' }, 4],
  ['DE89370400440532013000', { ...OF_DE, bankCode: '370??0?4' }, 5],
  ['DE89370400440532013000', { ...OF_DE, bankCode: '37040045' }, undefined],
  ['DE89370400440532013000', { ...OF_DE, bankCode: '7040044' }, undefined],
  ['DE89370400440532013000', { ...OF_DE, country: 'AT' }, undefined],
  ['DE89370400440532013000', { bankCode: '37040044' }, undefined],
  ['DE89370400440532013000', { country: 'DE' }, undefined],
  ['DE89370400440532013000', { ...OF_DE, bankCode: '37040044?5' }, 9],
  // In Italy and San Marino, a letter stands before the code of the bank.
  ['IT60X0542811101000000123456', { country: 'IT', bankCode: '05428' }, 5],
  ['IT60X0542811101000000123456', { country: 'IT', bankCode: 'X0542' }, undefined],
  ['SM86U0322509800000000270100', { country: 'SM', bankCode: '03225' }, 5],
  ['FR1420041010050500013M02606', { country: 'FR', bankCode: '20041' }, 5],
  ['NTSBDEB1', { bic: 'NTSBDEB1' }, 8],
  ['NTSBDEB1XXX', { bic: 'NTSBDEB1' }, 8],
  ['NTSBDEB1', { bic: 'NTSBDEB1XXX' }, 8],
  ['NTSBDEB1ABC', { bic: 'NTSBDEB1' }, 8],
  ['NTSBDEB1ABC', { bic: 'NTSBDEB1XXX' }, 8],
  ['NTSBDEB1ABC', { bic: 'NTSBDEB1ABC' }, 11],
  ['NTSBDEB1ABC', { bic: 'NTSBDE' }, 6],
  ['NTSBDEB1', { bic: 'NTSBDEB1ABC' }, 8],
  ['NTSBDEB1', { bic: 'NTSBDEB2' }, undefined],
  ['NTSBDEB1', { bic: 'XNTSBDEB1' }, undefined],
  // What looks like a BIC may be a name.
  ['NTSBDEB1', { bic: 'NTSBDEB2', name: 'ntsbdeb1' }, 1],
  ['alpha', {}, 1],
  ['bank alpha', {}, 1],
  ['alp', {}, undefined],
  ['alpha beta', {}, undefined],
  // The words for a platform are those of its names together, and less exact than any code.
  ['north', {}, 1],
  ['north group', {}, 1],
  ['north alpha', {}, undefined],
  ['-', {}, undefined],
])('%s names a bank as exactly as this: %j', (text, more, exactness) => {
  const served = servedBy(bankQuery(text, isIban), [bank(more)], ['north', 'The Group']);
  expect(served?.exactness).toBe(exactness);
  if (served && text.startsWith('north')) expect(served.bank).toBeNull();
  else if (served) expect(served.bank).toEqual(bank(more));
});

it('of several banks, the one that is named most exactly serves, wherever it stands', () => {
  const [far, near, other] = ['NTSBDE', 'NTSBDEB1', 'NTSBFRPP'].map((bic) => bank({ bic }));
  const query = bankQuery('NTSBDEB1', isIban);
  for (const banks of [
    [far, near, other],
    [near, far, other],
    [other, far, near],
  ])
    expect(
      servedBy(
        query,
        banks.flatMap((each) => each ?? []),
        [],
      ),
    ).toEqual({ bank: near, exactness: 8 });
});

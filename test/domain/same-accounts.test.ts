import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ListedAccount, placeAccounts, type StoredAccount } from '../../src/domain/same-accounts.ts';

const IBAN = 'DE89370400440532013000';
const listed = (productId: string, more: Partial<ListedAccount> = {}): ListedAccount => ({
  ...{ productId, iban: IBAN, currency: 'EUR', name: null },
  ...more,
});
const stored = (id: string, more: Partial<ListedAccount> = {}): StoredAccount => ({
  ...listed(id, more),
  bankId: id,
});
const CARD = { iban: null, card: true, name: 'Visa' } as const;
const NAMELESS = { productId: 'a', bankId: 'a' };

it.each<[string, ListedAccount[], StoredAccount[], [string | null, string | null][]]>([
  ['an account of its own', [listed('a')], [], [['a', null]]],
  ['another id', [listed('b')], [stored('a')], [['a', null]]],
  [
    'an IBAN with blanks',
    [listed('b', { iban: 'de89 3704 0044 0532 0130 00' })],
    [stored('a')],
    [['a', null]],
  ],
  ['another currency', [listed('a', { currency: 'USD' })], [stored('a')], [['a~2', null]]],
  [
    'the id of another one',
    [listed('b'), listed('a', { iban: 'X' })],
    [stored('a')],
    [
      ['a', null],
      ['a~2', null],
    ],
  ],
  ['no currency in the list', [listed('b', { currency: '' })], [stored('a')], [['a', 'a']]],
  ['a card with the IBAN of the account', [listed('b', { card: true })], [stored('a')], [['b', null]]],
  [
    'its number in its country',
    [listed('b', { iban: null, bban: '12 34' })],
    [stored('a', { iban: null, bban: '1234' })],
    [['a', null]],
  ],
  [
    'a card by its number',
    [listed('b', { ...CARD, maskedPan: '5254 12XX XXXX 3241' })],
    [stored('a', { ...CARD, maskedPan: '525412******3241' })],
    [['a', null]],
  ],
  [
    'another card',
    [listed('b', { ...CARD, maskedPan: '**1111' })],
    [stored('a', { ...CARD, maskedPan: '**2222' })],
    [['b', null]],
  ],
  [
    'a card with another number under its id',
    [listed('a', { ...CARD, maskedPan: '**1111' })],
    [stored('a', { ...CARD, maskedPan: '**2222' })],
    [['a', 'a']],
  ],
  ['a card by its id alone', [listed('a', CARD)], [stored('a', CARD)], [['a', null]]],
  ['a card by its name alone', [listed('b', CARD)], [stored('a', CARD)], [['a', 'a']]],
  [
    'a card with another name under its id',
    [listed('a', { ...CARD, name: 'Gold' })],
    [stored('a', CARD)],
    [['a', 'a']],
  ],
  ['one of two cards', [listed('c', CARD)], [stored('a', CARD), stored('b', CARD)], [[null, null]]],
  [
    'two of one card',
    [listed('b', CARD), listed('c', CARD)],
    [stored('a', CARD)],
    [
      [null, null],
      [null, null],
    ],
  ],
  [
    'two of one IBAN and currency',
    [listed('c'), listed('d')],
    [stored('a'), stored('b')],
    [
      [null, null],
      [null, null],
    ],
  ],
  [
    'two of them with names',
    [listed('c', { name: 'Y' }), listed('d', { name: 'X' })],
    [stored('a', { name: 'X' }), stored('b', { name: 'Y' })],
    [
      ['b', null],
      ['a', null],
    ],
  ],
  [
    'one of two that keeps its id',
    [listed('b'), listed('d')],
    [stored('a'), stored('b')],
    [
      ['b', null],
      ['a', null],
    ],
  ],
  [
    'two of one name, of which one keeps its id',
    [listed('a', { name: 'X' }), listed('z', { name: 'X' })],
    [stored('a', { name: 'X' }), stored('b', { name: 'X' }), stored('c', { name: 'Y' })],
    [
      ['a', null],
      ['b', null],
    ],
  ],
  ['a card under the id of an account', [listed('a', { card: true })], [stored('a')], [['a~2', null]]],
  ['no number in the list', [listed('a', { iban: null })], [stored('a')], [['a', null]]],
  ['no number in the store', [listed('a')], [stored('a', { iban: null })], [['a', null]]],
  ['no number, and another name', [listed('a', { iban: null, name: 'X' })], [stored('a')], [['a', 'a']]],
  ['no number, and another id', [listed('b', { iban: null })], [stored('a')], [['a', 'a']]],
  ['no number, another id and name', [listed('b', { iban: null, name: 'X' })], [stored('a')], [['b', null]]],
  [
    'no number, and another currency',
    [listed('a', { iban: null, currency: 'USD' })],
    [stored('a')],
    [['a~2', null]],
  ],
  ['no currency in the store', [listed('b')], [stored('a', { currency: '' })], [['a', 'a']]],
  [
    'an IBAN and another number of its country',
    [listed('b', { bban: '2' })],
    [stored('a', { bban: '1' })],
    [['a', null]],
  ],
  [
    'a card of the same account with another number',
    [listed('b', { card: true, maskedPan: '**1111' })],
    [stored('a', { card: true, maskedPan: '**2222' })],
    [['b', null]],
  ],
  [
    'a card of the same account without a number',
    [listed('b', { card: true })],
    [stored('a', { card: true, maskedPan: '**2222' })],
    [['a', null]],
  ],
  [
    'an account with the card of another one',
    [listed('b', { iban: 'X', maskedPan: '**1111' })],
    [stored('a', { maskedPan: '**1111' })],
    [['b', null]],
  ],
  [
    'its number of its country, written otherwise',
    [listed('b', { iban: null, bban: 'ab-12 34' })],
    [stored('a', { iban: null, bban: 'AB1234' })],
    [['a', null]],
  ],
  [
    'three under the id of another one',
    [listed('a', { iban: 'X' }), listed('a', { iban: 'Y' }), listed('a~2', { iban: 'Z' })],
    [stored('a')],
    [
      ['a~2', null],
      ['a~3', null],
      ['a~2~2', null],
    ],
  ],
  [
    'a long id of another one',
    [listed('x'.repeat(70), { iban: 'X' })],
    [stored('x'.repeat(70))],
    [[`${'x'.repeat(64)}~2`, null]],
  ],
  [
    'one whose id was new before',
    [listed('c', { iban: null, name: 'X' })],
    [{ ...stored('a', { name: 'X' }), bankId: 'b' }],
    [['a', 'b']],
  ],
  [
    'one under the id that it had before',
    [listed('b', { iban: null, name: 'Y' }), listed('a', { iban: null, name: 'Z' })],
    [{ ...stored('a', { name: 'X' }), bankId: 'b' }],
    [
      ['a', 'b'],
      ['a~2', null],
    ],
  ],
  [
    'stored without its name',
    [listed('a'), listed('c')],
    [NAMELESS],
    [
      ['a', null],
      ['c', null],
    ],
  ],
])('%s', (_, list, store, places) => {
  const found = placeAccounts(list, store).map(({ storedAs, takenFor }) => [storedAs, takenFor]);
  expect(found).toEqual(places);
});

it('each of many accounts is found, whatever the order of the list and of the store', () => {
  const numbers = Array.from({ length: 15 }, (_, at) => `DE${10 + at}`);
  const known = numbers.map((iban) => stored(`old-${iban}`, { iban }));
  const today = numbers.map((iban) => listed(`new-${iban}`, { iban }));
  const orderOf = <Of>(all: Of[]) => fc.shuffledSubarray(all, { minLength: all.length });
  fc.assert(
    fc.property(orderOf(today), orderOf(known), (list, store) => {
      for (const { account, storedAs, takenFor } of placeAccounts(list, store))
        expect([storedAs, takenFor]).toEqual([`old-${account.iban}`, null]);
    }),
  );
});

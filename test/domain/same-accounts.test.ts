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

import { expect, test } from 'vitest';
import { Shelf } from '../../src/sandbox/shelf.ts';
import { seeded } from './seeded.ts';

const anna = seeded('anna');

test('a shelf has its things in their order, and the last of those with one id', () => {
  const shelf = new Shelf<{ id: string; of: string[] }>(({ of }) => of);
  const [one, two, again] = ['1', '2', '1'].map((id, index) => shelf.keep({ id, of: [String(index)] }));
  expect(shelf.find('1')).toBe(again);
  expect(shelf.find('2')).toBe(two);
  expect(shelf.find('3')).toBeUndefined();
  expect(shelf.list()).toEqual([again, two]);
  expect(shelf.list()).not.toContain(one);
});

test('a shelf forgets what is about a customer, also if others are in it', () => {
  const shelf = new Shelf<{ id: string; of: (string | undefined)[] }>(({ of }) => of);
  const [A, B] = [anna.customerId, '2073915'];
  for (const [index, of] of [[A], [B], [A, B], [B, A], [undefined], []].entries())
    shelf.keep({ id: String(index), of });
  shelf.forgetCustomer(anna);
  expect(shelf.list().map(({ id }) => id)).toEqual(['1', '4', '5']);
});

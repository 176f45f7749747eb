import { expect, test } from 'vitest';
import { Consents, endOfConsent } from '../../../src/sandbox/cb/consents.ts';
import { seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

const [anna, bruno] = [seeded('anna'), seeded('bruno')];
const AT = '2026-11-20T11:00:00.000Z';

test('a consent is for its customer, category and product, for 180 days', () => {
  const clock = new TestClock(AT);
  const consents = new Consents(clock.now);
  const given = { customerId: anna.customerId, category: 'A', productId: 'p' };
  consents.give(given);
  expect(consents.has(given)).toBe(true);
  for (const other of [{ customerId: bruno.customerId }, { category: 'B' }, { productId: 'q' }])
    expect(consents.has({ ...given, ...other })).toBe(false);
  expect(endOfConsent(clock.now()).toISOString()).toBe('2027-05-19T11:00:00.000Z');
  clock.advance(180 * 86_400_000 - 1);
  expect([consents.has(given), consents.inForce().length]).toEqual([true, 1]);
  clock.advance(1);
  expect([consents.has(given), consents.inForce(), consents.revokeAll(anna.customerId)]).toEqual([
    false,
    [],
    0,
  ]);
});

test('a new consent replaces the old one in its place, and a customer loses only their own', () => {
  const clock = new TestClock(AT);
  const consents = new Consents(clock.now);
  const give = (customerId: string, category: string) =>
    consents.give({ customerId, category, productId: 'p' });
  const inForce = () =>
    consents
      .inForce()
      .map(({ customerId, category, givenAt }) => [
        ...[customerId === anna.customerId ? 'anna' : 'bruno', category, givenAt.getTime() - Date.parse(AT)],
      ]);
  give(anna.customerId, 'A');
  give(bruno.customerId, 'A');
  clock.advance(5);
  give(anna.customerId, 'B');
  give(anna.customerId, 'A');
  expect(inForce()).toEqual([
    ['anna', 'A', 5],
    ['bruno', 'A', 0],
    ['anna', 'B', 5],
  ]);
  consents.forgetCustomer(bruno);
  expect(inForce()).toEqual([
    ['anna', 'A', 5],
    ['anna', 'B', 5],
  ]);
  give(bruno.customerId, 'C');
  expect(consents.revokeAll(anna.customerId)).toBe(2);
  expect(inForce()).toEqual([['bruno', 'C', 5]]);
});

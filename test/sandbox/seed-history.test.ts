import { isValidIBAN } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { Customers } from '../../src/sandbox/customers/customers.ts';
import { italianIban } from '../../src/sandbox/customers/italian-iban.ts';
import { type Customer, type Product, seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';
import type { Entry } from '../../src/sandbox/ledger/entry.ts';
import { Ledger } from '../../src/sandbox/ledger/ledger.ts';
import { seedHistory } from '../../src/sandbox/ledger/seed-history.ts';
import { defaultRules } from '../../src/sandbox/rules.ts';

const customers = new Customers({ ...defaultRules, customers: 0 });
const today = new Date('2026-11-20T11:00:00Z');
const whole = { from: undefined, to: undefined };

function products(): [name: string, customer: Customer, product: Product][] {
  return seedCustomers.flatMap((customer) =>
    customer.products.map((product): [string, Customer, Product] => [
      `${customer.user}'s ${product.kind}`,
      customer,
      product,
    ]),
  );
}

function booked(entries: readonly Entry[], from: string, to: string): Entry[] {
  return entries.filter(
    ({ bookingDay, preAuthorized }) => !preAuthorized && from <= bookingDay && bookingDay <= to,
  );
}

describe.each(products())('the history of %s', (_name, customer, product) => {
  test('the history is the same at every start', () => {
    expect(seedHistory(customer, product, today)).toEqual(seedHistory(customer, product, today));
  });

  test('two histories made on different days agree where they overlap', () => {
    const later = new Date('2026-12-28T20:00:00Z');
    const [one, other] = [seedHistory(customer, product, today), seedHistory(customer, product, later)];
    // The first card settlement of a history covers only the purchases within it.
    const [from, to] = ['2025-12-01', '2026-11-19'];
    expect(booked(one, from, to).length).toBeGreaterThan(5);
    expect(booked(other, from, to)).toEqual(booked(one, from, to));
  });

  test('the history is booked up to yesterday, and its pending rows are from the last two days', () => {
    const ledger = new Ledger(customers, today);
    const { booked: rows, pending } = ledger.entries(product, whole, today);
    const past = rows.slice(0, rows.count);
    expect(past[0]?.bookingDay ?? '').toMatch(/^2026-1/);
    expect((past[0]?.bookingDay ?? '') < '2026-11-20').toBe(true);
    expect((past.at(-1)?.bookingDay ?? '') >= '2025-09-20').toBe(true);
    expect(pending).toHaveLength(product.kind === 'savings' ? 0 : 3);
    for (const { enteredAt } of pending) {
      expect(enteredAt < today && enteredAt > new Date('2026-11-19T00:00:00Z')).toBe(true);
    }
  });

  test('a range of days has the pending rows that were entered on one of them, in Rome', () => {
    const ledger = new Ledger(customers, today);
    const entered = (from?: string, to?: string) =>
      ledger.entries(product, { from, to }, today).pending.map(({ enteredAt }) => enteredAt.toISOString());
    const all = entered();
    const isBefore = (at: string) => at < '2026-11-19T23:00:00.000Z';
    expect(entered(undefined, '2026-11-19')).toEqual(all.filter(isBefore));
    expect(entered('2026-11-20')).toEqual(all.filter((at) => !isBefore(at)));
    expect(entered('2026-11-19', '2026-11-20')).toEqual(all);
    expect(entered(undefined, '2026-11-18')).toEqual([]);
    expect(entered('2026-11-21')).toEqual([]);
  });

  test('a history can start right after midnight and at the turn of the year', () => {
    for (const now of ['2026-11-19T23:00:30Z', '2026-12-31T23:30:00Z', '2028-02-29T10:00:00Z'].map(
      (at) => new Date(at),
    )) {
      const { booked: rows, pending } = new Ledger(customers, now).entries(product, whole, now);
      const past = rows.slice(0, rows.count);
      expect(past.length).toBeGreaterThan(10);
      expect(past.every(({ bookedFrom }) => bookedFrom <= now)).toBe(true);
      expect(pending.every(({ enteredAt, bookedFrom }) => enteredAt < now && now < bookedFrom)).toBe(true);
    }
  });

  test('the history leaves enough money for tests, and keeps the card within its limit', () => {
    for (const now of [today, new Date('2027-08-03T08:00:00Z')]) {
      const { available } = new Ledger(customers, now).balance(product, now);
      if (product.kind === 'card') expect(-available).toBeLessThan(product.creditLimit);
      else expect(available).toBeGreaterThan(1_000_00);
    }
  });
});

test('money that leaves the current account for savings and card arrives there', () => {
  for (const customer of seedCustomers) {
    const history = (kind: Product['kind']): Entry[] =>
      customer.products
        .filter((product) => product.kind === kind)
        .flatMap((product) => seedHistory(customer, product, today));
    const moved = (entries: Entry[], shortDescription: string): [string, number][] =>
      entries
        .filter((entry) => entry.shortDescription === shortDescription)
        .map(({ bookingDay, amount }) => [bookingDay, Math.abs(amount)]);
    expect(moved(history('savings'), 'GIROCONTO')).toEqual(moved(history('current'), 'GIROCONTO'));
    expect(moved(history('card'), 'ADDEBITO CARTA')).toEqual(moved(history('current'), 'ADDEBITO CARTA'));
    const settlements = moved(history('card'), 'ADDEBITO CARTA').length;
    if (customer.user === 'carla') expect(settlements).toBe(0);
    else expect(settlements).toBeGreaterThan(10);
  }
});

test('the customers have well-formed ids, and no two products share one', () => {
  expect(seedCustomers).toHaveLength(3);
  const productIds = seedCustomers.flatMap(({ products: own }) => own.map(({ productId }) => productId));
  expect(new Set(productIds).size).toBe(14);
  for (const id of productIds) expect(id).toMatch(/^0[0-9A-Z]{9}$/);
  for (const { customerId } of seedCustomers) expect(customerId).toMatch(/^[1-9]\d{6}$/);
});

describe('an Italian IBAN', () => {
  test("an Italian IBAN has the check digits and the control letter of the IBAN registry's example", () => {
    expect(italianIban('05428', '11101', '000000123456')).toBe('IT60X0542811101000000123456');
  });

  test("the control letter matches the registry's example for San Marino, which uses the Italian form", () => {
    const iban = italianIban('03225', '09800', '000000270100');
    expect(iban.slice(4)).toBe('SM86U0322509800000000270100'.slice(4));
  });

  test('the IBAN of every seeded account is valid', () => {
    const ibans = seedCustomers.flatMap(({ products }) => products.map(({ iban }) => iban));
    expect(ibans).toHaveLength(14);
    for (const iban of ibans) expect([iban, isValidIBAN(iban)]).toEqual([iban, true]);
  });
});

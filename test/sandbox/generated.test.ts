import fc from 'fast-check';
import { isValidIBAN } from 'ibantools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customers } from '../../src/sandbox/customers/customers.ts';
import { seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';
import { addDays } from '../../src/sandbox/ledger/bank-time.ts';
import { GeneratedHistory } from '../../src/sandbox/ledger/generated-history.ts';
import { defaultRules } from '../../src/sandbox/rules.ts';
import { openTestBank, order, type Reply, resourceOf, type TestBank } from './tpp.ts';

const today = new Date('2026-11-20T11:00:00Z');
const whole = { from: undefined, to: undefined };

describe('a generated customer', () => {
  const customers = new Customers({ ...defaultRules, customers: 999_999 });
  const anyNumber = fc.integer({ min: 1, max: 999_999 });
  const userOf = (number: number) => `customer-${String(number).padStart(6, '0')}`;

  test('a generated customer is always the same, and is found by user, id, product and IBAN', () => {
    fc.assert(
      fc.property(anyNumber, (number) => {
        const customer = customers.byUser(userOf(number));
        if (!customer) throw new Error(`There is no customer ${number}`);
        expect(customer.password).toBe(`${userOf(number)}-sandbox`);
        expect(customer.customerId).toMatch(/^[1-9]\d{6}$/);
        expect(customers.find(customer.customerId)).toEqual(customer);
        for (const product of customer.products) {
          expect(product.productId).toMatch(/^0\d{9}$/);
          expect(isValidIBAN(product.iban)).toBe(true);
          expect(customers.byProduct(product.productId)).toEqual({ customer, product });
          if (product.kind !== 'card') expect(customers.accountByIban(product.iban)).toEqual(product);
        }
      }),
    );
  });

  test('no two customers share an id', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyNumber, { minLength: 2, maxLength: 5 }), (numbers) => {
        const all = [...seedCustomers, ...numbers.map((number) => customers.byUser(userOf(number)))];
        const ids = all.flatMap((one) => [one?.customerId, ...(one?.products ?? []).map((p) => p.productId)]);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('customers beyond the configured number do not exist', () => {
    const few = new Customers({ ...defaultRules, customers: 3 });
    expect(few.byUser('customer-000003')?.customerId).toBe('5000003');
    for (const user of ['customer-000004', 'customer-000000', 'customer-3', 'nobody'])
      expect(few.byUser(user)).toBeUndefined();
    for (const id of ['5000004', '5000000', '', '50000030']) expect(few.find(id)).toBeUndefined();
    expect(few.byProduct('0050000040')).toBeUndefined();
    expect(few.accountByIban('DE89370400440532013000')).toBeUndefined();
    expect(few.shown.map(({ user }) => user)).toEqual([
      ...['anna', 'bruno', 'carla', 'customer-000001', 'customer-000003'],
    ]);
  });
});

describe('a generated history', () => {
  const [product] = seedCustomers[0]?.products ?? [];
  if (!product) throw new Error('anna must have an account');
  const anyCount = fc.integer({ min: 1, max: 3000 });
  const anyDay = fc.integer({ min: -450, max: 10 }).map((days) => addDays('2026-11-20', days));

  test('the count, rows and sums of a range are those of its entries', () => {
    fc.assert(
      fc.property(anyCount, anyDay, anyDay, (count, from, to) => {
        const history = new GeneratedHistory(product, count, today);
        const all = history.rows(whole).slice(0, count);
        expect(all).toHaveLength(count);
        const wanted = all.filter(({ bookingDay }) => from <= bookingDay && bookingDay <= to);
        const rows = history.rows({ from, to });
        expect(rows.count).toBe(wanted.length);
        expect(rows.slice(0, rows.count)).toEqual(wanted);
        const sum = (sign: 1 | -1) =>
          wanted.reduce((total, { amount }) => total + (amount * sign > 0 ? amount : 0), 0);
        expect([rows.entering, rows.leaving]).toEqual([sum(1), sum(-1)]);
      }),
      { numRuns: 30 },
    );
  });

  test('the entries add up to the total, go from newest to oldest, end yesterday at the latest, and are all different', () => {
    fc.assert(
      fc.property(anyCount, (count) => {
        const history = new GeneratedHistory(product, count, today);
        const all = history.rows(whole).slice(0, count);
        expect(all.reduce((sum, { amount }) => sum + amount, 0)).toBe(history.total);
        const days = all.map(({ bookingDay }) => bookingDay);
        expect(days).toEqual(days.toSorted().toReversed());
        expect((all[0]?.bookingDay ?? '') <= '2026-11-19').toBe(true);
        expect((all.at(-1)?.bookingDay ?? '') >= '2025-09-20').toBe(true);
        expect(new Set(all.map(({ extendedDescription }) => extendedDescription)).size).toBe(count);
      }),
      { numRuns: 30 },
    );
  });

  test('the history never takes an account far below its opening balance', () => {
    const entries = new GeneratedHistory(product, 5000, today).rows(whole).slice(0, 5000).toReversed();
    let balance = 0;
    let lowest = 0;
    for (const { amount } of entries) {
      balance += amount;
      lowest = Math.min(lowest, balance);
    }
    expect(lowest).toBeGreaterThan(-10_000_00);
    expect(balance).toBeGreaterThan(-10_000_00);
  });
});

describe('a sandbox with many customers and transactions', () => {
  let bank: TestBank;
  let token: string;
  beforeAll(async () => {
    bank = await openTestBank({ customers: 10_000, transactions: 1_000_000, rowsAPage: 1000 });
    token = await tokenOf('5007777');
  });
  afterAll(() => bank.close());

  async function tokenOf(customerId: string): Promise<string> {
    return String((await order(bank.sandbox, 'POST', '/tokens', { customerId })).json.accessToken);
  }

  const retrieve = (query: string, productId = '0050077770', id = '5007777'): Promise<Reply> =>
    bank.tpp.send({
      path: `/private/customers/${id}/products/${productId}/transactions/retrieve${query}`,
      token,
    });

  test('the bank serves any page of a million transactions', async () => {
    const first = await retrieve('');
    expect(first.json.data).toMatchObject({
      numberTransactionsAccounting: 1_000_000,
      nextAccounting: 1001,
    });
    expect(first.json.data?.transactionsAccounting).toHaveLength(1000);
    const middle = await retrieve('?nextAccounting=500001');
    expect(middle.json.data?.transactionsAccounting?.[0]?.extendedDescription).toMatch(/ OP\. 000500000$/);
    const last = await retrieve('?nextAccounting=999001');
    expect(last.json.data?.transactionsAccounting?.[999]?.extendedDescription).toMatch(/ OP\. 000000001$/);
    expect(last.json.data?.nextAccounting).toBeUndefined();
  });

  test('a new transfer comes before the generated transactions, and lowers the balance by its total cost', async () => {
    const product = '/private/customers/5007777/products/0050077770';
    const balance = async () => {
      const { json } = await bank.tpp.send({ path: `${product}/balance/retrieve`, token });
      return Number(json.data?.accountBalance?.amount);
    };
    const before = await balance();
    const iban = new Customers({ ...defaultRules, customers: 10_000 }).find('5000001')?.products[0]?.iban;
    const payment = { iban: String(iban), description: 'to a neighbour' };
    const from = { productId: '0050077770', customerId: '5007777' };
    const id = resourceOf(await bank.tpp.verifyTransfer(token, { ...from, ...payment }));
    await bank.tpp.authorise(token, id);
    expect((await bank.tpp.execute(token, id, product)).status).toBe(200);
    bank.clock.advance(2000);
    expect(await balance()).toBeCloseTo(before - 1.5, 2);
    const { json } = await retrieve('');
    expect(json.data?.numberTransactionsAccounting).toBe(1_000_002);
    expect(json.data?.transactionsAccounting?.[0]?.shortDescription).toBe('COMMISSIONI');
    expect(json.data?.transactionsAccounting?.[2]?.extendedDescription).toMatch(/ OP\. 001000000$/);
    token = await tokenOf('5000001');
    const arrived = await retrieve('', '0050000010', '5000001');
    expect(arrived.json.data?.transactionsAccounting?.[0]?.extendedDescription).toContain('to a neighbour');
  });

  test("anna's current account also has a million transactions", async () => {
    token = await tokenOf('1048262');
    const { json } = await retrieve('', '0010482620', '1048262');
    expect(json.data?.numberTransactionsAccounting).toBe(1_000_000);
    const savings = await retrieve('', '0010482638', '1048262');
    expect(Number(savings.json.data?.numberTransactionsAccounting)).toBeLessThan(100);
  });
});

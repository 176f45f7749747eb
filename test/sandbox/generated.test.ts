import fc from 'fast-check';
import { isValidIBAN } from 'ibantools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customers } from '../../src/sandbox/customers/customers.ts';
import {
  generateCustomer,
  numberOfId,
  numberOfProduct,
  numberOfUser,
} from '../../src/sandbox/customers/generated-customers.ts';
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

describe('the generated customers', () => {
  // A sandbox has the same customers in every version: whoever wrote a script against one counts on it.
  test.each<[number: number, id: string, name: string, accounts: string[]]>([
    [
      ...([1, '5000001', 'Ines Marini'] as const),
      [
        'current 0050000010 IT36N0999001600000050000010 5874312 0',
        'savings 0050000018 IT46V0999001600000050000018 1530178 0',
        'card 0150000015 IT36N0999001600000050000010 0 1000000',
      ],
    ],
    [
      ...([2, '5000002', 'Gino Bassi'] as const),
      [
        'current 0050000020 IT77S0999001600000050000020 8467337 0',
        'savings 0050000028 IT80A0999001600000050000028 3075426 0',
        'card 0150000025 IT77S0999001600000050000020 0 1000000',
      ],
    ],
    [
      ...([999_999, '5999999', 'Bice Riva'] as const),
      [
        'current 0059999990 IT19X0999001600000059999990 5098309 0',
        'savings 0059999998 IT22F0999001600000059999998 3215381 0',
        'card 0159999995 IT19X0999001600000059999990 0 1000000',
      ],
    ],
  ])('number %i is always the same person, with the same accounts', (number, id, name, accounts) => {
    const { customerId, user, password, firstName, lastName, monthly, products } = generateCustomer(number);
    expect([customerId, `${firstName} ${lastName}`]).toEqual([id, name]);
    expect([user, password]).toEqual([`customer-${id.slice(1)}`, `customer-${id.slice(1)}-sandbox`]);
    expect(monthly).toEqual({ salary: 0, rent: 0, saving: 0 });
    expect(
      products.map(({ kind, productId, iban, opening, creditLimit }) =>
        [kind, productId, iban, opening, creditLimit].join(' '),
      ),
    ).toEqual(accounts);
    for (const one of products) expect([one.name, one.generatedTransactions]).toEqual(['', 120]);
  });

  test('each list of names is used as a whole', () => {
    const all = Array.from({ length: 300 }, (_, index) => generateCustomer(index + 1));
    const names = (of: 'firstName' | 'lastName') => [...new Set(all.map((one) => one[of]))].toSorted();
    expect(names('firstName').join(' ')).toBe('Ada Bice Dario Elio Fiora Gino Ines Livia Nico Olga');
    expect(names('lastName').join(' ')).toBe('Bassi Corsi Donati Ferri Galli Leoni Marini Neri Riva');
  });

  test('the one that was asked for last is kept, but not for another number or another history', () => {
    const counts = [generateCustomer(1), generateCustomer(2), generateCustomer(2, 5), generateCustomer(2, 6)];
    expect(counts.map(({ user, products: [one] }) => [user, one?.generatedTransactions])).toEqual([
      ...[['customer-000001', 120]],
      ...[120, 5, 6].map((count) => ['customer-000002', count]),
    ]);
    expect(generateCustomer(2, 6)).toBe(counts[3]);
  });

  test.each<[id: string, number: number | undefined]>([
    ['5000000', undefined],
    ['5000001', 1],
    ['5999999', 999_999],
    ['6000000', undefined],
    ['4999999', undefined],
    ['500001', undefined],
    ['50000010', undefined],
    ['500000x', undefined],
    ['', undefined],
  ])('the customer id %j is of number %s', (id, number) => {
    expect(numberOfId(id)).toBe(number);
    for (const end of '058') expect(numberOfProduct(`00${id}${end}`)).toBe(number);
    expect(numberOfProduct(`01${id}5`)).toBe(number);
    for (const other of [`02${id}0`, `10${id}0`, `00${id}1`, `a00${id}0`, `00${id}0a`])
      expect(numberOfProduct(other)).toBeUndefined();
  });

  test.each<[user: string, number: number | undefined]>([
    ['customer-000001', 1],
    ['customer-999999', 999_999],
    ['customer-000000', undefined],
    ['customer-00001', undefined],
    ['customer-0000001', undefined],
    ['a customer-000001', undefined],
    ['customer-00000x', undefined],
  ])('the user %j is number %s', (user, number) => {
    expect(numberOfUser(user)).toBe(number);
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

  // Anna's account has the same rows in every version. After 1000 entries the amounts repeat, and 50 entries are a round.
  test.each<[count: number, sums: [number, number], oldest: string, newest: string]>([
    [1, [0, -6565], '2025-09-20 MERCATO COPERTO', '2025-09-20 MERCATO COPERTO'],
    [999, [3_958_736, -3_947_402], '2025-09-20 MERCATO COPERTO', '2026-11-19 TRATTORIA'],
    [1000, [3_958_736, -3_948_652], '2025-09-20 MERCATO COPERTO', '2026-11-19 TRATTORIA'],
    [1001, [3_958_736, -3_955_217], '2025-09-20 MERCATO COPERTO', '2026-11-19 MERCATO COPERTO'],
    [2500, [9_935_941, -9_905_503], '2025-09-20 MERCATO COPERTO', '2026-11-19 TRATTORIA'],
  ])('a history of %i entries has these sums and ends', (count, sums, oldest, newest) => {
    const history = new GeneratedHistory(product, count, today);
    const rows = history.rows(whole);
    expect([rows.entering, rows.leaving]).toEqual(sums);
    const text = (start: number) => {
      const [entry] = rows.slice(start, start + 1);
      return `${entry?.bookingDay} ${entry?.extendedDescription}`;
    };
    expect(text(count - 1)).toBe(`${oldest} OP. 000000001`);
    expect(text(0)).toBe(`${newest} OP. ${String(count).padStart(9, '0')}`);
  });

  test('each kind of entry has its code and texts, and a sample of each is the oldest of the last 50', () => {
    const samples = new GeneratedHistory(product, 1000, today).rows(whole).samples();
    const fields = samples.map((entry) => [
      ...[entry.code, entry.shortDescription, entry.extendedDescription, entry.amount],
      ...[entry.isFee, entry.transferReference],
    ]);
    expect(fields).toEqual([
      ['43', 'PAGAMENTO TRAMITE POS', 'MERCATO COPERTO OP. 000000951', -6010, false, ''],
      ['16', 'COMMISSIONI', 'COSTO OPERAZIONE OP. 000000997', -153, true, ''],
      ['48', 'BONIFICO A VOSTRO FAVORE', 'ACCREDITO OP. 000000986', 234_409, false, ''],
      ['26', 'VOSTRA DISPOSIZIONE', 'A FAVORE DI TERZI OP. 000000967', -27_098, false, '00000000967'],
    ]);
    for (const { enteredAt, bookedFrom, bookingDay, valueDay, preAuthorized } of samples) {
      expect([enteredAt, valueDay, preAuthorized]).toEqual([bookedFrom, bookingDay, false]);
      expect(bookedFrom.toISOString()).toMatch(`${bookingDay}T0`);
    }
  });

  test('a range has samples of its own entries alone', () => {
    const history = new GeneratedHistory(product, 100, today);
    const samples = (from: string, to: string) =>
      history
        .rows({ from, to })
        .samples()
        .map(({ bookingDay }) => bookingDay);
    expect(samples('2026-11-07', '2026-11-15')).toEqual(['2026-11-07']);
    expect(samples('2026-11-02', '2026-11-15')).toEqual(['2026-11-07', '2026-11-02']);
    expect(samples('2026-11-12', '2026-11-14')).toEqual([]);
  });

  test.each<[start: number, end: number, days: string[]]>([
    [0, 0, []],
    [0, 1, ['2026-11-15']],
    [1, 3, ['2026-11-11', '2026-11-07']],
    [2, 99, ['2026-11-07']],
    [3, 4, []],
    [5, 4, []],
  ])('of three rows, those from %i to %i', (start, end, days) => {
    const rows = new GeneratedHistory(product, 100, today).rows({ from: '2026-11-07', to: undefined });
    expect(rows.slice(start, end).map(({ bookingDay }) => bookingDay)).toEqual(days);
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

import { isValidIBAN } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { Customers } from '../../src/sandbox/customers/customers.ts';
import { italianIban } from '../../src/sandbox/customers/italian-iban.ts';
import { type Customer, type Product, seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';
import type { Entry } from '../../src/sandbox/ledger/entry.ts';
import { Ledger } from '../../src/sandbox/ledger/ledger.ts';
import { pendingAt, seedHistory } from '../../src/sandbox/ledger/seed-history.ts';
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

// A sandbox of the same day has the same accounts in every version: whoever wrote a script against one counts on it.
describe('the history of a day', () => {
  const productOf = (user: string, kind: Product['kind']) => {
    const owner = seedCustomers.find((one) => one.user === user);
    const product = owner?.products.find((one) => one.kind === kind);
    if (!owner || !product) throw new Error(`${user} has no ${kind}`);
    return { owner, product };
  };
  const historyOf = (user: string, kind: Product['kind']) => {
    const { owner, product } = productOf(user, kind);
    return seedHistory(owner, product, today);
  };

  test.each<[user: string, kind: Product['kind'], sums: Record<string, [count: number, sum: number]>]>([
    [
      ...(['anna', 'current'] as const),
      {
        '43 PAGAMENTO TRAMITE POS': [227, -7_120_50],
        '27 EMOLUMENTI': [14, 30_100_00],
        '26 GIROCONTO': [14, -2_800_00],
        '16 COMMISSIONI': [5, -37_50],
        '26 VOSTRA DISPOSIZIONE': [14, -10_920_00],
        '50 PAGAMENTI DIVERSI': [7, -560_84],
        '50 ADDEBITO CARTA': [14, -4_287_07],
      },
    ],
    [...(['anna', 'savings'] as const), { '48 GIROCONTO': [14, 2_800_00], '18 INTERESSI': [5, 59_36] }],
    [
      ...(['anna', 'card'] as const),
      { '43 PAGAMENTO TRAMITE POS': [83, -4_536_66], '50 ADDEBITO CARTA': [14, 4_287_07] },
    ],
    [
      ...(['bruno', 'current'] as const),
      {
        '43 PAGAMENTO TRAMITE POS': [241, -7_036_55],
        '27 EMOLUMENTI': [14, 38_927_00],
        '26 GIROCONTO': [14, -4_900_00],
        '16 COMMISSIONI': [5, -37_50],
        '26 VOSTRA DISPOSIZIONE': [14, -14_700_00],
        '50 PAGAMENTI DIVERSI': [7, -560_84],
        '50 ADDEBITO CARTA': [14, -3_987_19],
      },
    ],
    [...(['bruno', 'savings'] as const), { '48 GIROCONTO': [14, 4_900_00], '18 INTERESSI': [5, 61_68] }],
  ])('%s, %s: so much of each kind', (user, kind, expected) => {
    const sums: Record<string, [count: number, sum: number]> = {};
    for (const entry of historyOf(user, kind).filter(({ preAuthorized }) => !preAuthorized)) {
      const [count, sum] = sums[`${entry.code} ${entry.shortDescription}`] ?? [0, 0];
      sums[`${entry.code} ${entry.shortDescription}`] = [count + 1, sum + entry.amount];
    }
    expect(sums).toEqual(expected);
  });

  test.each<[kind: Product['kind'], rows: string[]]>([
    [
      'current',
      [
        '2026-09-27 43 FARMACIA SAN MARCO DEL 27.09.2026 -1861',
        '2026-09-27 27 STIPENDIO 09/2026 215000',
        '2026-09-28 26 VERSO CONTO RISPARMIO -20000 01611409959',
        '2026-09-29 43 PANIFICIO DEL CORSO DEL 29.09.2026 -836',
        '2026-09-30 16 CANONE TRIMESTRALE -750 fee',
        '2026-10-01 26 AFFITTO 10/2026 -78000 02618984856',
        '2026-10-04 43 LIBRERIA DELLA TORRE DEL 04.10.2026 -3614',
        '2026-10-06 43 PANIFICIO DEL CORSO DEL 06.10.2026 -576',
        '2026-10-08 43 SUPERMERCATO CENTRALE DEL 08.10.2026 -7301',
        '2026-10-09 43 LIBRERIA DELLA TORRE DEL 09.10.2026 -1692',
        '2026-10-10 43 FARMACIA SAN MARCO DEL 10.10.2026 -2959',
        '2026-10-10 50 BOLLETTA ENERGIA 10/2026 -6584',
        '2026-10-11 43 STAZIONE DI SERVIZIO NORD DEL 11.10.2026 -3635',
        '2026-10-12 43 LIBRERIA DELLA TORRE DEL 12.10.2026 -3333',
        '2026-10-13 43 STAZIONE DI SERVIZIO NORD DEL 13.10.2026 -6394',
        '2026-10-15 43 PANIFICIO DEL CORSO DEL 15.10.2026 -925',
        '2026-10-15 50 SALDO CARTA 2026-09 -34916',
      ],
    ],
    [
      'savings',
      ['2026-09-28 48 DA CONTO CORRENTE 20000 01611409959', '2026-09-30 18 COMPETENZE TRIMESTRALI 1093'],
    ],
    [
      'card',
      [
        '2026-09-28 43 NEGOZIO ONLINE DEL 28.09.2026 -5733',
        '2026-09-30 43 BIGLIETTERIA FERROVIARIA DEL 30.09.2026 -4530',
        '2026-10-01 43 BIGLIETTERIA FERROVIARIA DEL 01.10.2026 -1721',
        '2026-10-02 43 BIGLIETTERIA FERROVIARIA DEL 02.10.2026 -1182',
        '2026-10-05 43 NEGOZIO ONLINE DEL 05.10.2026 -9844',
        '2026-10-11 43 NEGOZIO ONLINE DEL 11.10.2026 -8040',
        '2026-10-12 43 BIGLIETTERIA FERROVIARIA DEL 12.10.2026 -4176',
        '2026-10-15 50 SALDO CARTA 2026-09 34916',
      ],
    ],
  ])("anna's %s from 26 September to 15 October 2026", (kind, rows) => {
    const written = booked(historyOf('anna', kind), '2026-09-26', '2026-10-15').map((entry) =>
      [
        ...[entry.bookingDay, entry.code, entry.extendedDescription, entry.amount],
        ...(entry.transferReference === '' ? [] : [entry.transferReference]),
        ...(entry.isFee ? ['fee'] : []),
      ].join(' '),
    );
    expect(written).toEqual(rows);
  });

  test('an entry is booked and valued on its day, early in the morning', () => {
    const [first] = historyOf('anna', 'current');
    const at = new Date('2025-09-20T04:00:00Z');
    expect(first).toEqual({
      ...{ amount: -7_67, enteredAt: at, bookedFrom: at, bookingDay: '2025-09-20', valueDay: '2025-09-20' },
      ...{ code: '43', shortDescription: 'PAGAMENTO TRAMITE POS', transferReference: '' },
      ...{ extendedDescription: 'PANIFICIO DEL CORSO DEL 20.09.2025', isFee: false, preAuthorized: false },
    });
  });

  test.each<[kind: Product['kind'], rows: string[]]>([
    [
      'current',
      [
        '2026-11-23 STAZIONE DI SERVIZIO NORD -3974 2026-11-20T05:25:49.000Z',
        '2026-11-22 STAZIONE DI SERVIZIO NORD -4634 2026-11-19T14:52:44.000Z',
        '2026-11-21 PANIFICIO DEL CORSO -331 2026-11-19T03:57:02.000Z',
      ],
    ],
    ['savings', []],
    [
      'card',
      [
        '2026-11-23 RISTORANTE AL PORTO -4903 2026-11-20T05:38:22.000Z',
        '2026-11-22 RISTORANTE AL PORTO -6112 2026-11-19T14:28:59.000Z',
        '2026-11-21 RISTORANTE AL PORTO -7415 2026-11-19T03:57:39.000Z',
      ],
    ],
  ])("anna's %s: what is pending", (kind, rows) => {
    const pending = pendingAt(today, productOf('anna', kind).product);
    expect(
      pending.map(({ bookingDay, extendedDescription, amount, enteredAt }) =>
        [bookingDay, extendedDescription, amount, enteredAt.toISOString()].join(' '),
      ),
    ).toEqual(rows);
    expect(historyOf('anna', kind).filter(({ preAuthorized }) => preAuthorized)).toEqual(pending);
  });
});

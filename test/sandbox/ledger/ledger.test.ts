import { expect, test } from 'vitest';
import { Customers } from '../../../src/sandbox/customers/customers.ts';
import { account, type Customer } from '../../../src/sandbox/customers/seed-customers.ts';
import { decimal, euros, money, readCents, threeDecimals } from '../../../src/sandbox/ledger/cents.ts';
import { type Entry, joinRows, ledgerRows } from '../../../src/sandbox/ledger/entry.ts';
import { type DayRange, Ledger } from '../../../src/sandbox/ledger/ledger.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';

const now = new Date('2026-11-20T11:00:00Z');
const whole: DayRange = { from: undefined, to: undefined };
const anna = seeded('anna');
const current = accountOf(anna);

/** An entry of a day in November, pending if it has another day from which it is booked. */
function entry(
  amount: number,
  day: string,
  { bookedOn = day, ...changes }: Partial<Entry> & { bookedOn?: string } = {},
): Entry {
  return {
    ...{ amount, code: '26', shortDescription: `d${day}`, extendedDescription: '', transferReference: '' },
    ...{
      enteredAt: new Date(`2026-11-${day}T10:00:00Z`),
      bookedFrom: new Date(`2026-11-${bookedOn}T10:00:00Z`),
    },
    ...{
      bookingDay: `2026-11-${bookedOn}`,
      valueDay: `2026-11-${bookedOn}`,
      isFee: false,
      preAuthorized: false,
    },
    ...changes,
  };
}

const HISTORY = [
  entry(-10_00, '02'),
  entry(50_00, '05'),
  entry(-3_00, '18', { bookedOn: '25' }),
  entry(-4_00, '19', { bookedOn: '24' }),
];

/** A ledger of anna alone, whose first account has this history. */
function ledgerOf(history: readonly Entry[] = HISTORY) {
  const product = account('current', { ...current, productId: '0019999980', opening: 100_00, history });
  const other = account('savings', { ...current, productId: '0019999990', opening: 7_00, history: [] });
  const customer: Customer = { ...anna, customerId: '1999999', user: 'own', products: [product, other] };
  const customers = new Customers({ ...defaultRules, seed: [{ customer, record: {} }] });
  return { ledger: new Ledger(customers, now), product, other, customer };
}

const amounts = (entries: readonly Entry[]) => entries.map(({ amount }) => amount / 100);

function listed(
  { ledger, product }: Pick<ReturnType<typeof ledgerOf>, 'ledger' | 'product'>,
  range = whole,
  at = now,
) {
  const { booked, pending } = ledger.entries(product, range, at);
  return { booked: amounts(booked.slice(0, booked.count)), pending: amounts(pending) };
}

test.each<[at: string, booked: number[], pending: number[], balance: [number, number]]>([
  ['2026-11-20T11:00:00Z', [50, -10], [-4, -3], [140_00, 133_00]],
  ['2026-11-24T09:59:59.999Z', [50, -10], [-4, -3], [140_00, 133_00]],
  ['2026-11-24T10:00:00Z', [-4, 50, -10], [-3], [136_00, 133_00]],
  ['2026-11-25T10:00:00Z', [-3, -4, 50, -10], [], [133_00, 133_00]],
])('at %s, an entry is booked from its time on, newest first', (time, booked, pending, balance) => {
  const of = ledgerOf();
  const at = new Date(time);
  expect(listed(of, whole, at)).toEqual({ booked, pending });
  const { booked: sum, available } = of.ledger.balance(of.product, at);
  expect([sum, available]).toEqual(balance);
});

test.each<[from: string | undefined, to: string | undefined, booked: number[], pending: number[]]>([
  ['2026-11-02', undefined, [50, -10], [-4, -3]],
  ['2026-11-03', undefined, [50], [-4, -3]],
  ['2026-11-06', undefined, [], [-4, -3]],
  ['2026-11-19', undefined, [], [-4]],
  ['2026-11-20', undefined, [], []],
  [undefined, '2026-11-01', [], []],
  [undefined, '2026-11-02', [-10], []],
  [undefined, '2026-11-05', [50, -10], []],
  [undefined, '2026-11-18', [50, -10], [-3]],
  ['2026-11-05', '2026-11-05', [50], []],
  ['2026-11-05', '2026-11-04', [], []],
])('from %s to %s', (from, to, booked, pending) => {
  expect(listed(ledgerOf(), { from, to })).toEqual({ booked, pending });
});

test('a posted entry is of its account alone, and a forgotten customer has the history again', () => {
  const of = ledgerOf();
  of.ledger.post(of.product, entry(-1_00, '10'));
  of.ledger.post(of.other, entry(2_00, '10'));
  expect(listed(of).booked).toEqual([-1, 50, -10]);
  expect(of.ledger.balance(of.other, now)).toEqual({ booked: 9_00, available: 9_00 });
  of.ledger.forgetCustomer(anna);
  expect(listed(of).booked).toEqual([-1, 50, -10]);
  of.ledger.forgetCustomer(of.customer);
  expect(listed(of).booked).toEqual([50, -10]);
  expect(of.ledger.balance(of.other, now).booked).toBe(7_00);
});

test.each<[count: number, booked: number[], pending: number[]]>([
  [1, [-3, 50, -10], [-4]],
  [2, [-4, -3, 50, -10], []],
  [9, [-4, -3, 50, -10], []],
])('%i pending entries are settled now, the oldest first', (count, booked, pending) => {
  const of = ledgerOf();
  of.ledger.settle(of.product, count, now);
  const { booked: rows, pending: rest } = listed(of);
  expect([rows.toSorted(), rest]).toEqual([booked.toSorted(), pending]);
  const [first] = of.ledger.entries(of.product, whole, now).booked.slice(0, 1);
  expect([first?.bookedFrom, first?.bookingDay, first?.valueDay]).toEqual([
    ...[now, '2026-11-20', first?.amount === -3_00 ? '2026-11-25' : '2026-11-24'],
  ]);
});

test('what nobody ordered is booked now, a euro each, and counted over all accounts', () => {
  const of = ledgerOf([]);
  of.ledger.bookUnasked(of.product, 2, now);
  of.ledger.bookUnasked(of.other, 1, now);
  const rows = (product: typeof of.product) => {
    const { booked } = of.ledger.entries(product, whole, now);
    return booked.slice(0, booked.count);
  };
  const texts = [of.product, of.other].map((product) => rows(product).map((row) => row.extendedDescription));
  expect(texts).toEqual([['BOOKED MEANWHILE 2', 'BOOKED MEANWHILE 1'], ['BOOKED MEANWHILE 3']]);
  expect(rows(of.other)).toEqual([
    {
      ...{ amount: -1_00, enteredAt: now, bookedFrom: now, bookingDay: '2026-11-20', valueDay: '2026-11-20' },
      ...{ code: '43', shortDescription: 'PAGAMENTO TRAMITE POS', transferReference: '' },
      ...{ extendedDescription: 'BOOKED MEANWHILE 3', isFee: false, preAuthorized: false },
    },
  ]);
});

test('the debits of a reference are counted without fees and credits', () => {
  const with7 = { transferReference: '7' };
  const of = ledgerOf([
    ...[entry(-5_00, '02', with7), entry(-50, '02', { ...with7, isFee: true }), entry(5_00, '02', with7)],
    ...[entry(-5_00, '02', { transferReference: '8' }), entry(-5_00, '25', with7), entry(0, '02', with7)],
  ]);
  expect(['7', '8', '9'].map((reference) => of.ledger.debits(of.product, reference))).toEqual([2, 1, 0]);
});

test('a generated history is continued by the entries of its account', () => {
  const { ledger } = ledgerOf();
  const product = { ...current, generatedTransactions: 100 };
  const before = ledger.balance(product, now);
  const count = (range = whole) => ledger.entries(product, range, now).booked.count;
  expect([count(), ledger.entries(product, whole, now).pending.length]).toEqual([100, 3]);
  ledger.post(product, entry(-1_00, '20'));
  expect([count(), count({ from: '2026-11-20', to: undefined })]).toEqual([101, 1]);
  expect(ledger.balance(product, now)).toEqual({
    ...{ booked: before.booked - 1_00, available: before.available - 1_00 },
  });
});

const rows = (...all: [amount: number, code: string][]) =>
  ledgerRows(
    all.map(([amount, code], index) => ({ ...entry(amount, '02'), code, shortDescription: `${index}` })),
  );

test.each<[amounts: number[], entering: number, leaving: number]>([
  [[], 0, 0],
  [[5], 5, 0],
  [[-5], 0, -5],
  [[0], 0, 0],
  [[5, -3, 2, -1], 7, -4],
])('the rows %j have these sums', (all, entering, leaving) => {
  const own = rows(...all.map((amount): [number, string] => [amount, 'x']));
  expect([own.count, own.entering, own.leaving]).toEqual([all.length, entering, leaving]);
});

test('older rows follow newer ones, with the sums of both, and a sample of each code', () => {
  const joined = joinRows(rows([1, 'a'], [-2, 'b']), rows([3, 'b'], [-4, 'c'], [5, 'c']));
  expect([joined.count, joined.entering, joined.leaving]).toEqual([5, 9, -6]);
  const slice = (start: number, end: number) => joined.slice(start, end).map(({ amount }) => amount);
  expect([slice(0, 5), slice(0, 1), slice(1, 3), slice(2, 4), slice(4, 9), slice(2, 2)]).toEqual([
    ...[[1, -2, 3, -4, 5], [1], [-2, 3], [3, -4], [5], []],
  ]);
  const samples = joined.samples().map(({ code, amount }) => `${code} ${amount}`);
  // Of a code that is in both, the newer one counts.
  expect(samples.toSorted()).toEqual(['a 1', 'b -2', 'c 5']);
});

test.each<[cents: number, text: string]>([
  [0, '0.00'],
  [1, '0.01'],
  [-1, '-0.01'],
  [10, '0.10'],
  [99, '0.99'],
  [100, '1.00'],
  [-123_456, '-1234.56'],
])('%i cents are %s', (cents, text) => {
  expect(decimal(cents)).toBe(text);
  expect(money(cents)).toEqual({ amount: text, currency: 'EUR' });
  expect(threeDecimals(cents)).toBe(`${text}0`);
  expect(euros(cents)).toEqual({ amount: `${text}0`, currency: 'EUR' });
});

test.each<[text: string, cents: number | undefined]>([
  ['0', 0],
  ['1', 100],
  ['1.5', 150],
  ['1.50', 150],
  ['1.05', 105],
  ['999999999999.99', 99_999_999_999_999],
  ['1000000000000', undefined],
  ['1.', undefined],
  ['1.555', undefined],
  ['.5', undefined],
  ['-1', undefined],
  ['1,5', undefined],
  ['a1', undefined],
  ['1a', undefined],
  ['', undefined],
])('%j is read as %s cents', (text, cents) => {
  expect(readCents(text)).toBe(cents);
});

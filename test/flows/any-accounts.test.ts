import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Account, Accounts, Balance, Bank, Transaction } from '../../src/bank/ports/bank.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { syncCustomer } from '../../src/flows/sync.ts';
import { KnownRows } from '../../src/store/known-rows.ts';
import { byIdsOfToday, type NamedProgress } from '../../src/store/placed-accounts.ts';
import type { SyncedRow } from '../../src/store/ports/sync.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { transactionOf } from '../bank/transaction.ts';
import { decimalOf } from '../domain/bookings.ts';
import { fewer, SEED } from '../support/sample.ts';
import { TODAY } from './sync-bank.ts';

// A customer's accounts with their true bookings, and a bank that gives them other ids with each consent.

const ACCOUNT = fc.record({
  iban: fc.constantFrom('DE89370400440532013000', 'IT60X0542811101000000123456', null),
  currency: fc.constantFrom('EUR', 'EUR', 'USD', ''),
  name: fc.constantFrom('Main', 'Main', 'Savings', null),
  card: fc.constantFrom(null, null, 'no number', '525412******3241', '525412******9999'),
  cents: fc.array(fc.constantFrom(-350, -1200, 5000), { minLength: 1, maxLength: 4 }),
});
const SYNC = fc.record({
  /** It begins with a new consent. */
  isNew: fc.boolean(),
  /** What the customer chose, by the bits of the number. */
  covers: fc.oneof(fc.constant(255), fc.nat({ max: 255 })),
  shift: fc.nat({ max: 3 }),
});
const CUSTOMER = fc.record({
  accounts: fc.array(ACCOUNT, { minLength: 1, maxLength: 4 }),
  ids: fc.constantFrom('stable', 'of the consent', 'of the consent', 'place'),
  syncs: fc.array(SYNC, { minLength: 2, maxLength: 4 }),
});
type Customer = typeof CUSTOMER extends fc.Arbitrary<infer T> ? T : never;

interface Shown extends Account {
  /** Which of the accounts it is. */
  at: number;
}

/** The list at a sync. */
function listAt({ accounts, ids, syncs }: Customer, sync: number): Shown[] {
  const consent = syncs.slice(0, sync + 1).filter(({ isNew }) => isNew).length;
  const began = syncs.slice(0, sync + 1).findLast(({ isNew }) => isNew) ?? syncs[0];
  const { covers = 255, shift = 0 } = began ?? {};
  const shown = accounts.map((each, at) => ({ each, at })).filter(({ at }) => (covers >> at) & 1);
  // The order is another one with each consent.
  const turned = shown.map((_, at) => shown[(at + shift) % shown.length] ?? expect.unreachable());
  return turned.map(({ each: { iban, currency, name, card }, at }, place) => {
    const id = ids === 'stable' ? `A${at}` : ids === 'place' ? `${place}` : `A${at}-${consent}`;
    return {
      ...{ at, accountId: id, productId: id, iban: card === null ? iban : null, currency, name },
      ...{ productCode: null, productDescription: null },
      ...(card !== null && { card: true as const }),
      ...(card !== null && card !== 'no number' && { maskedPan: card }),
    };
  });
}

function bankOf(customer: Customer, sync: number): Bank {
  const list = listAt(customer, sync);
  const atOf = (productId: string) => list.find((each) => each.productId === productId)?.at ?? 0;
  const rows = (productId: string): Transaction[] =>
    (customer.accounts[atOf(productId)]?.cents ?? []).map((cents, number) =>
      transactionOf({
        ...{ index: String(number), bookingDate: addDays(TODAY, -number - 1), amount: decimalOf(cents) },
        ...{ currency: null, description: `of ${atOf(productId)}` },
      }),
    );
  const balance = (productId: string): Balance => ({
    ...{ accountId: productId, productId, availableBalance: null, accountAvailability: null },
    ...{ accountAvailableCredit: null, asOf: null, accountBalance: null },
  });
  const accounts: Accounts = {
    isId: () => true,
    namesAccounts: true,
    list: async () => list.map(({ at: _, ...account }) => account),
    balance: async (_customer, productId) => balance(productId),
    async *pages({ productId }) {
      const page = { rows: rows(productId), total: null, hasMore: false };
      yield { booked: page, pending: { rows: [], total: null, hasMore: false } };
    },
    document: () => Promise.reject(new TypeError('not called')),
    details: () => Promise.reject(new TypeError('not called')),
  };
  return { ...answeringBank(() => ({ data: {} })), accounts, earliestAnswer: () => undefined };
}

/** Whether number and currency name each of the accounts. A card under the id of another one may have taken its place, which is told. */
function isNamed({ accounts, ids }: Customer): boolean {
  const names = accounts.map(({ iban, card, currency }) => `${card ?? iban} ${currency}`);
  const cards = accounts.filter(({ card }) => card !== null);
  return (
    new Set(names).size === names.length &&
    (ids !== 'place' || cards.length <= 1) &&
    accounts.every(({ iban, card, currency }) => currency && (card ?? iban) && card !== 'no number')
  );
}

/** @returns undefined if each account that was shown is stored once, by itself, or something was told */
async function silentDifference(customer: Customer): Promise<string | undefined> {
  const stored = new Map<string, SyncedRow[]>();
  const progress = new Map<string, NamedProgress>();
  const rowsOf = (id: string) => stored.get(id) ?? [];
  const target = byIdsOfToday({
    stored: async () =>
      [...progress].map(([productId, { account }]) => ({ bankId: productId, ...account, productId })),
    progress: async (id) => progress.get(id),
    booked: async (id) =>
      new KnownRows({
        find: async (days) => rowsOf(id).filter(({ bookingDate }) => days.has(bookingDate ?? '')),
        add: async (rows) => void stored.set(id, [...rowsOf(id), ...rows]),
        mark: async () => {},
        recall: async () => {},
        lastDay: async () => undefined,
      }),
    replace: () => {},
    remember: (id, now) => void progress.set(id, now),
    commit: async () => {},
  });
  const shown = new Set<number>();
  for (const sync of customer.syncs.keys()) {
    for (const { at } of listAt(customer, sync)) shown.add(at);
    const query = { customerId: 'ada', since: undefined, today: TODAY, transactionId: 't' };
    const { failures, checks } = await syncCustomer(bankOf(customer, sync), target, query);
    const isTold = checks.some((each) => each.takenFor !== null || each.vanished + each.changed > 0);
    if (failures.length > 0 || isTold) return isNamed(customer) ? 'told without reason' : undefined;
  }
  const texts = [...stored.values()].map((rows) => rows.map(({ description }) => description));
  if (texts.some((of) => new Set(of).size > 1)) return `two accounts in one: ${JSON.stringify(texts)}`;
  const right = [...shown].flatMap((at) => customer.accounts[at]?.cents.map(() => `of ${at}`) ?? []);
  const found = texts.flat().toSorted().join();
  return found === right.toSorted().join() ? undefined : `${found} instead of ${right.toSorted().join()}`;
}

it('whatever ids a bank gives to accounts with each consent, each account is stored once, or a word says so', async () => {
  const holds = async (customer: Customer) => {
    expect(await silentDifference(customer)).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(CUSTOMER, holds), { numRuns: fewer(600), seed: Number(SEED) });
});

import fc from 'fast-check';
import type { Accounts, Balance, Bank, Transaction } from '../../src/bank/ports/bank.ts';
import { addDays, type IsoDate } from '../../src/domain/calendar.ts';
import { type AccountCheck, syncCustomer } from '../../src/flows/sync.ts';
import { KnownRows } from '../../src/store/known-rows.ts';
import type { Progress, SyncedRow, SyncTarget } from '../../src/store/ports/sync.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { decimalOf } from '../domain/bookings.ts';
import { PRODUCT, TODAY } from './sync-bank.ts';

// An account with its true bookings, and a bank that shows them in any of the ways that real banks have.

const BOOKING = fc.record({
  /** Days before or after the first sync. */
  day: fc.integer({ min: -40, max: 12 }),
  cents: fc.constantFrom(-350, -350, -1200, 5000),
  text: fc.constantFrom('Coffee', 'Coffee', 'Rent', 'Pay'),
  /** The sync that shows it first, if its day has come by then. */
  shownFrom: fc.constantFrom(0, 0, 0, 0, 1, 2),
  /** The bank moves its day by so many days, from this sync on. */
  moves: fc.option(fc.record({ by: fc.integer({ min: -3, max: 3 }), from: fc.integer({ min: 1, max: 3 }) }), {
    freq: 8,
  }),
});

export const HISTORY = fc.record({
  bookings: fc.array(BOOKING, { maxLength: 14 }),
  /** Days between the syncs. */
  gaps: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 4 }),
  ids: fc.constantFrom('stable', 'fresh', 'shared', 'place', 'constant', 'none', 'one moves'),
  order: fc.constantFrom('down', 'up', 'shuffled'),
  pageSize: fc.constantFrom(3, 100),
  hasBalance: fc.boolean(),
  showsComing: fc.boolean(),
});
/** Without a balance, nothing shows that a bank keeps back a row of days that are not read again. */
function knowable(history: History): History {
  if (history.hasBalance) return history;
  const bookings = history.bookings.map((each) =>
    each.shownFrom === 0
      ? each
      : { ...each, moves: null, shownFrom: each.day < -3 ? (0 as const) : each.shownFrom },
  );
  return { ...history, bookings };
}

type History = typeof HISTORY extends fc.Arbitrary<infer T> ? T : never;

function bankOf(history: History, sync: number, today: IsoDate): Bank {
  const { bookings, ids, order, pageSize, hasBalance, showsComing } = history;
  const dayAt = ({ day, moves }: History['bookings'][number], at: number) =>
    addDays(TODAY, day + (moves && at >= moves.from ? moves.by : 0));
  const isShown = (each: History['bookings'][number]) =>
    sync >= each.shownFrom && (showsComing || dayAt(each, sync) <= today);
  const idOf = (at: number, place: number): string | null => {
    if (ids === 'fresh') return `${sync}-${at}`;
    if (ids === 'shared') return `${at % 2}`;
    if (ids === 'place') return `${place}`;
    if (ids === 'one moves') return at === 0 ? `${sync}` : `T${at}`;
    return ids === 'none' ? null : ids === 'constant' ? '9998' : `T${at}`;
  };
  const rows = (from: IsoDate | undefined, to: IsoDate | undefined): Transaction[] => {
    const shown = bookings
      .map((each, at) => ({ each, at, day: dayAt(each, sync) }))
      .filter(({ each, day }) => isShown(each) && day >= (from ?? day) && day <= (to ?? day))
      .sort((a, b) =>
        a.day < b.day ? 1 : a.day > b.day ? -1 : order === 'shuffled' ? (a.at * 7 + sync) % 3 : 0,
      );
    if (order === 'up') shown.reverse();
    return shown.map(({ each, at, day }, place) => ({
      ...{
        index: String(place),
        status: 'booked',
        bookingDate: day,
        valueDate: day,
        amount: decimalOf(each.cents),
      },
      ...{ currency: 'EUR', description: each.text, details: '', code: null, transferReference: null },
      ...{ feeCharge: null, transactionId: idOf(at, place), entryReference: null },
    }));
  };
  // The balance of the first sync has what is shown. Later it has rows that the bank still keeps back.
  const isCounted = (each: History['bookings'][number]) =>
    dayAt(each, sync) <= today && (sync >= each.shownFrom || each.day > 0);
  const cents = bookings.reduce((sum, each) => sum + (isCounted(each) ? each.cents : 0), 0);
  const balance: Balance = {
    ...{ accountId: PRODUCT, productId: PRODUCT, availableBalance: null, accountAvailability: null },
    ...{ accountAvailableCredit: null, asOf: null },
    accountBalance: hasBalance ? { amount: decimalOf(100_000 + cents), currency: 'EUR' } : null,
  };
  const account = { accountId: PRODUCT, productId: PRODUCT, iban: null, currency: 'EUR', name: null };
  const accounts: Accounts = {
    isId: () => true,
    identifiesRows: true,
    list: async () => [{ ...account, productCode: null, productDescription: null }],
    balance: async () => balance,
    async *pages({ from, to, status }) {
      const all = status === 'pending' ? [] : rows(from, to);
      for (let begin = 0; begin === 0 || begin < all.length; begin += pageSize) {
        const hasMore = begin + pageSize < all.length;
        const page = { rows: all.slice(begin, begin + pageSize), total: null, hasMore };
        yield { booked: page, pending: { rows: [], total: null, hasMore } };
      }
    },
    document: () => Promise.reject(new TypeError('not called')),
    details: () => Promise.reject(new TypeError('not called')),
  };
  return { ...answeringBank(() => ({ data: {} })), accounts, earliestAnswer: () => undefined };
}

/** Syncs a history, and compares what is stored with the true bookings. @returns undefined if it is right, or told */
export async function silentDifference(any: History): Promise<string | undefined> {
  const history = knowable(any);
  const stored: SyncedRow[] = [];
  let progress: Progress | undefined;
  const target: SyncTarget = {
    progress: async () => progress,
    booked: async () =>
      new KnownRows({
        find: async (days, from) =>
          stored.filter(
            ({ bookingDate }) =>
              days.has(bookingDate ?? '') ||
              (from !== undefined && bookingDate !== null && bookingDate >= from),
          ),
        add: async (rows) => void stored.push(...rows),
        cancel: async (rows) => {
          for (const row of rows) row.cancelled = true;
        },
        recall: async () => {},
        lastDay: async () => undefined,
      }),
    replace: () => {},
    remember: (_productId, now) => {
      progress = now;
    },
    commit: async () => {},
  };
  const checks: AccountCheck[] = [];
  let today = TODAY;
  const days = [0, ...history.gaps];
  for (const [sync, gap] of days.entries()) {
    today = addDays(today, gap);
    const query = { customerId: 'ada', since: undefined, today, transactionId: 't' };
    checks.push(...(await syncCustomer(bankOf(history, sync, today), target, query)).checks);
  }
  const last = days.length - 1;
  const isTrue = (each: History['bookings'][number]) => {
    const day = addDays(TODAY, each.day + (each.moves && last >= each.moves.from ? each.moves.by : 0));
    return last >= each.shownFrom && (history.showsComing || day <= today);
  };
  const right = history.bookings.filter(isTrue).map(({ cents, text }) => `${decimalOf(cents)} ${text}`);
  const found = stored.flatMap(({ amount, description, cancelled }) =>
    cancelled ? [] : `${amount} ${description}`,
  );
  const ids = new Set(stored.map(({ id }) => id));
  if (ids.size < stored.length) return 'an id twice';
  if (right.toSorted().join() === found.toSorted().join()) return undefined;
  const isTold = checks.some(
    (each) =>
      each.balanced === false ||
      !each.complete ||
      each.late + each.vanished + each.changed + each.cancelled > 0,
  );
  return isTold ? undefined : `${found.toSorted().join()} instead of ${right.toSorted().join()}`;
}

import fc from 'fast-check';
import type { Accounts, Balance, Bank, Transaction } from '../../src/bank/ports/bank.ts';
import { addDays, type IsoDate } from '../../src/domain/calendar.ts';
import { type AccountCheck, syncCustomer } from '../../src/flows/sync.ts';
import { KnownRows } from '../../src/store/known-rows.ts';
import { counts, type Progress, type SyncedRow, type SyncTarget } from '../../src/store/ports/sync.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { transactionOf } from '../bank/transaction.ts';
import { decimalOf } from '../domain/bookings.ts';
import { rowsInMemory } from '../store/rows-in-memory.ts';
import { PRODUCT, TODAY } from './sync-bank.ts';

// An account with its true bookings, and a bank that shows them in any of the ways that real banks have.

/** More rows than any history has. */
const MANY = 1_000;
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const SYNC = fc.integer({ min: 1, max: 3 });
const BOOKING = fc.record({
  /** Days before or after the first sync. */
  day: fc.oneof(fc.integer({ min: -40, max: 12 }), fc.constantFrom(-1, 0)),
  cents: fc.constantFrom(-350, -350, -1200, 5000),
  text: fc.constantFrom('Coffee', 'Coffee', 'Rent', 'Pay'),
  /** The sync that shows it first, if its day has come by then. */
  shownFrom: fc.constantFrom(0, 0, 0, 0, 1, 2),
  /** It is booked while that sync reads its second page. */
  isMidRead: fc.constantFrom(false, false, false, true),
  /** The bank moves its day by so many days, from this sync on. */
  moves: rarely(fc.record({ by: fc.integer({ min: -3, max: 3 }), from: SYNC })),
  /** From this sync on, it is not booked any more, if its day has not come. */
  vanishes: rarely(SYNC),
  /** From this sync on, it is not booked any more, and another row of that day is booked for it. */
  replaced: rarely(SYNC),
  /** Then no other row is booked for it: the bank releases what was reserved. */
  isReleased: fc.boolean(),
});
type Drawn = typeof BOOKING extends fc.Arbitrary<infer T> ? T : never;
type Booking = Omit<Drawn, 'cents' | 'text' | 'shownFrom'> & {
  cents: number;
  text: string;
  shownFrom: number;
  /** It is booked for another one, from this sync on. */
  booksAnew?: number;
  /** Its value day, by so many days after the day of booking. Null: the bank gives none. Absent: the same day. */
  valued?: number | null;
};

export const HISTORY = fc.record({
  bookings: fc.array(BOOKING, { maxLength: 14 }),
  /** The bank gives as many rows, the newest ones, and no link to the others: payments by card of the last days. */
  cut: rarely(
    fc.record({
      at: fc.constantFrom(50, 100),
      old: fc.oneof(fc.nat({ max: 120 }), fc.constantFrom(50, 100)),
      days: fc.constantFrom(3, 40),
      late: fc.oneof(fc.nat({ max: 70 }), fc.constantFrom(50, 100)),
    }),
  ),
  /** The days that were asked for and that the bank does not heed. */
  ignores: fc.constantFrom('none', 'none', 'none', 'first', 'both'),
  /** Days between the syncs. */
  gaps: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 4 }),
  ids: fc.constantFrom('stable', 'fresh', 'shared', 'place', 'constant', 'none', 'one moves'),
  order: fc.constantFrom('down', 'up', 'shuffled'),
  pageSize: fc.constantFrom(3, MANY),
  hasBalance: fc.boolean(),
  /** The bank gives only the value day. */
  hasValueDayAlone: fc.boolean(),
  showsComing: fc.boolean(),
});
type History = typeof HISTORY extends fc.Arbitrary<infer T> ? T : never;
type Known = Omit<History, 'bookings'> & { bookings: Booking[] };

/** Without a balance, nothing shows that a bank keeps back a row of days that are not read again, or gives its id to another one. */
function knowable(history: History): Known {
  const { gaps, hasBalance, ids } = history;
  const isNamed = !['shared', 'place', 'constant'].includes(ids);
  const bookings = history.bookings.map((each) => {
    const shownFrom = hasBalance || each.day >= -3 ? each.shownFrom : 0;
    // Of equal rows that all move, one may come to the day that another one leaves: they cannot be told apart.
    const isAlone = !history.bookings.some(
      (other) => other !== each && other.cents === each.cents && other.text === each.text && other.moves,
    );
    const moves = hasBalance || (shownFrom === 0 && isNamed && isAlone) ? each.moves : null;
    // The last sync may store it or not.
    const isMidRead =
      each.isMidRead && shownFrom < gaps.length && (hasBalance || (each.day >= -3 && shownFrom < 2));
    const isBooked = each.day <= 0 && shownFrom < (each.replaced ?? 0) && !isMidRead && !moves;
    // A row that a sync misses and one that is hidden may have the same amount: then the balance is right without either.
    const isAnyMissed = history.bookings.some(
      (other) => other !== each && other.cents === each.cents && (other.shownFrom > 0 || other.isMidRead),
    );
    const replaced = isBooked && hasBalance && !isAnyMissed ? each.replaced : null;
    return { ...each, moves, shownFrom, isMidRead, replaced };
  });
  // What is booked without a day is booked today.
  const showsComing = history.showsComing && !history.hasValueDayAlone;
  return { ...history, showsComing, bookings };
}

/** Whether the bank shows each row from its day on, as it is, and all of them. */
function isPlain({ bookings, cut, ignores }: Known): boolean {
  return (
    ignores === 'none' &&
    !cut &&
    bookings.every(
      ({ shownFrom, isMidRead, moves, vanishes, replaced }) =>
        !moves && vanishes === null && replaced === null && !isMidRead && shownFrom === 0,
    )
  );
}

function paidByCard({ cut, gaps: [gap = 0] }: Known): Booking[] {
  const { old = 0, days = 1, late = 0 } = cut ?? {};
  const card = {
    ...{ cents: -100, text: 'Card', isMidRead: false, moves: null, vanishes: null, replaced: null },
    isReleased: false,
  };
  return [
    ...Array.from({ length: old }, (_, at) => ({ ...card, day: -(at % days), shownFrom: 0 })),
    ...Array.from({ length: late }, (_, at) => ({ ...card, day: gap - (at % 3), shownFrom: 1 })),
  ];
}

/** The bookings as a sync finds them. */
class Ledger {
  readonly history: Known;
  readonly bookings: readonly Booking[];
  readonly days: readonly IsoDate[];

  constructor(history: Known) {
    this.history = history;
    let day = TODAY;
    this.days = [0, ...history.gaps].map((gap) => {
      day = addDays(day, gap);
      return day;
    });
    this.bookings = [...history.bookings, ...paidByCard(history), ...this.#bookedAnew()];
  }

  #bookedAnew(): Booking[] {
    return this.history.bookings.flatMap(({ replaced, ...each }) => {
      if (replaced === null || each.isReleased || replaced >= this.days.length) return [];
      const day = this.history.gaps.slice(0, replaced).reduce((sum, gap) => sum + gap, 0);
      const anew = { day, shownFrom: replaced, booksAnew: replaced, replaced: null, vanishes: null };
      return [{ ...each, ...anew, text: 'Presented' }];
    });
  }

  today(sync: number): IsoDate {
    return this.days[sync] ?? TODAY;
  }

  dayOf({ day, moves }: Booking, sync: number): IsoDate {
    return addDays(TODAY, day + (moves && sync >= moves.from ? moves.by : 0));
  }

  /** @param hasBegun whether the sync has read a page */
  isShown(each: Booking, sync: number, hasBegun = true): boolean {
    return (
      (sync > each.shownFrom || (sync === each.shownFrom && (hasBegun || !each.isMidRead))) &&
      !this.#hasVanished(each, sync) &&
      sync < (each.replaced ?? MANY) &&
      (this.history.showsComing || this.dayOf(each, sync) <= this.today(sync))
    );
  }

  /** The balance of the first sync has what is shown. Later it has rows that the bank still keeps back. */
  isCounted(each: Booking, sync: number, hasBegun: boolean): boolean {
    const isBooked =
      sync >= each.shownFrom ? hasBegun || !each.isMidRead || sync > each.shownFrom : each.day > 0;
    const isThere = sync >= (each.booksAnew ?? 0) && sync < (each.replaced ?? MANY);
    return (
      isBooked && isThere && !this.#hasVanished(each, sync) && this.dayOf(each, sync) <= this.today(sync)
    );
  }

  #hasVanished(each: Booking, sync: number): boolean {
    const { vanishes } = each;
    return vanishes !== null && sync >= vanishes && this.dayOf(each, vanishes) > this.today(vanishes);
  }
}

function bankOf(ledger: Ledger, sync: number): Bank {
  const { history, bookings } = ledger;
  const { ids, order, hasBalance, cut, ignores } = history;
  const pageSize = cut ? MANY : history.pageSize;
  let hasBegun = false;
  const idOf = (at: number, place: number): string | null => {
    if (ids === 'fresh') return `${sync}-${at}`;
    if (ids === 'shared') return `${at % 2}`;
    if (ids === 'place') return `${place}`;
    if (ids === 'one moves') return at === 0 ? `${sync}` : `T${at}`;
    return ids === 'none' ? null : ids === 'constant' ? '9998' : `T${at}`;
  };
  const rows = (from: IsoDate | undefined, to: IsoDate | undefined): Transaction[] => {
    const first = ignores === 'none' ? from : undefined;
    const last = ignores === 'both' ? undefined : to;
    const shown = bookings
      .map((each, at) => ({ each, at, day: ledger.dayOf(each, sync) }))
      .filter(
        ({ each, day }) =>
          ledger.isShown(each, sync, hasBegun) && day >= (first ?? day) && day <= (last ?? day),
      )
      .sort((a, b) =>
        a.day < b.day ? 1 : a.day > b.day ? -1 : order === 'shuffled' ? (a.at * 7 + sync) % 3 : 0,
      )
      .slice(0, cut?.at);
    if (order === 'up') shown.reverse();
    return shown.map(({ each, at, day }, place) =>
      transactionOf({
        ...{ index: String(place), bookingDate: history.hasValueDayAlone ? null : day },
        valueDate: each.valued === null ? null : addDays(day, each.valued ?? 0),
        ...{ amount: decimalOf(each.cents), description: each.text, transactionId: idOf(at, place) },
        entryReference: null,
      }),
    );
  };
  const balance = (): Balance => {
    const cents = bookings.reduce(
      (sum, each) => sum + (ledger.isCounted(each, sync, hasBegun) ? each.cents : 0),
      0,
    );
    return {
      ...{ accountId: PRODUCT, productId: PRODUCT, availableBalance: null, accountAvailability: null },
      ...{ accountAvailableCredit: null, asOf: null },
      accountBalance: hasBalance ? { amount: decimalOf(100_000 + cents), currency: 'EUR' } : null,
    };
  };
  const account = { accountId: PRODUCT, productId: PRODUCT, iban: null, currency: 'EUR', name: null };
  const accounts: Accounts = {
    isId: () => true,
    identifiesRows: true,
    list: async () => [{ ...account, productCode: null, productDescription: null }],
    balance: async () => balance(),
    async *pages({ from, to, status }) {
      for (let begin = 0, hasMore = true; hasMore; begin += pageSize) {
        const all = status === 'pending' ? [] : rows(from, to);
        hasMore = begin + pageSize < all.length;
        const page = { rows: all.slice(begin, begin + pageSize), total: null, hasMore };
        yield { booked: page, pending: { rows: [], total: null, hasMore } };
        hasBegun = true;
      }
    },
    document: () => Promise.reject(new TypeError('not called')),
    details: () => Promise.reject(new TypeError('not called')),
  };
  return { ...answeringBank(() => ({ data: {} })), accounts, earliestAnswer: () => undefined };
}

/**
 * Syncs a history, and compares what is stored with the true bookings.
 *
 * @returns undefined if it is right, or a difference was told; and nothing was told if the bank does nothing odd
 */
export async function silentDifference(any: History): Promise<string | undefined> {
  const history = knowable(any);
  const ledger = new Ledger(history);
  const { stored, checks } = await syncAll(ledger);
  const last = ledger.days.length - 1;
  const right = ledger.bookings
    .filter((each) => ledger.isShown(each, last))
    .map(({ cents, text }) => `${decimalOf(cents)} ${text}`);
  const found = stored.flatMap((row) => (counts(row) ? `${row.amount} ${row.description}` : []));
  const ids = new Set(stored.map(({ id }) => id));
  if (ids.size < stored.length) return 'an id twice';
  const told = checks.filter(
    (each) =>
      each.balanced === false ||
      !each.complete ||
      each.late + each.vanished + each.changed + each.cancelled > 0,
  );
  if (right.toSorted().join() !== found.toSorted().join())
    return told.length > 0 ? undefined : `${found.toSorted().join()} instead of ${right.toSorted().join()}`;
  const marked = checks.some(({ replaced }) => replaced > 0);
  return (told.length > 0 || marked) && isPlain(history)
    ? `told without reason: ${JSON.stringify(told)}`
    : undefined;
}

/** @returns what is stored after all syncs of a history, and what each of them found */
export function syncHistory(history: Known): Promise<{ stored: SyncedRow[]; checks: AccountCheck[] }> {
  return syncAll(new Ledger(history));
}

async function syncAll(ledger: Ledger): Promise<{ stored: SyncedRow[]; checks: AccountCheck[] }> {
  const stored: SyncedRow[] = [];
  let progress: Progress | undefined;
  const target: SyncTarget = {
    place: async (accounts) =>
      accounts.map((account) => ({ account, storedAs: account.productId, takenFor: null })),
    progress: async () => progress,
    booked: async () => new KnownRows(rowsInMemory(stored)),
    replace: () => {},
    remember: (_productId, now) => {
      progress = now;
    },
    commit: async () => {},
  };
  const checks: AccountCheck[] = [];
  for (const [sync, today] of ledger.days.entries()) {
    const query = { customerId: 'ada', since: undefined, today, transactionId: 't' };
    checks.push(...(await syncCustomer(bankOf(ledger, sync), target, query)).checks);
  }
  return { stored, checks };
}

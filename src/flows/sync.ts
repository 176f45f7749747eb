import type { Bank } from '../bank/call/bank.ts';
import {
  type Balance,
  currencyOf,
  fetchAccounts,
  fetchBalance,
  type Transaction,
} from '../bank/endpoints/customers.ts';
import {
  collectTransactions,
  keepsChanging,
  MOST_READINGS,
  WholeReadings,
} from '../bank/endpoints/transaction-reading.ts';
import type { TransactionQuery } from '../bank/endpoints/transactions.ts';
import { withIds } from '../domain/booked-ids.ts';
import { addDays, bankDay, type IsoDate } from '../domain/calendar.ts';
import { type ErrorCode, Psd2Error } from '../errors.ts';
import type { SyncTarget } from '../store/ports/sync.ts';

/** The bank shows older transactions only after SCA (RTS (EU) 2018/389, article 10). */
export const DAYS_WITHOUT_SCA = 89;
/** Each sync fetches this many known days again, because a bank may book a transaction some days late. */
const OVERLAP_DAYS = 10;
/** Rows up to this many days older are recognised too, because a bank may select a range by another date. */
const FURTHER_KNOWN_DAYS = 30;
/** The maximum number of days per fetch and write, so that memory stays small and a kill loses little. */
const MOST_DAYS = 90;
/** With more rows than this, psd2 fetches fewer days at once. A single day is always fetched whole. */
const MOST_ROWS = 2_000;

export interface SyncedCustomer {
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that `mayRead` excluded. */
  skipped: string[];
  /** The errors of single products. The others are synced. */
  failures: { productId: string; error: Psd2Error }[];
}

/**
 * Brings a customer's folder up to date: the current accounts and balances, the booked transactions that are not there
 * yet, and the current pending ones.
 *
 * A day counts as synced only after the bank's own clock has reached it, because psd2 does not ask for a synced day again.
 *
 * @param query `since`: the first day to read, even if it was read before. Undefined: the first sync reads as far back as the
 *   bank shows transactions without SCA, later ones read what is new. `today`: the day by the clock of this machine.
 *   `mayRead`: called before each product
 * @throws Psd2Error if the customer as a whole cannot be synced. The written data is valid, and the next sync continues.
 */
export async function syncCustomer(
  callingBank: Bank,
  to: SyncTarget,
  query: {
    customerId: string;
    since: IsoDate | undefined;
    today: IsoDate;
    transactionId: string;
    mayRead?: (productId: string) => Promise<boolean>;
  },
): Promise<SyncedCustomer> {
  const { customerId, transactionId } = query;
  const { bank, clock } = withClock(callingBank, query.today);
  const synced: SyncedCustomer = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], failures: [] };
  const accounts = await fetchAccounts(bank, customerId, transactionId);
  for (const { productId } of accounts) assertProductId(productId, transactionId);
  to.replace('accounts', accounts);
  synced.accounts = accounts.length;

  const balances: Balance[] = [];
  for (const account of accounts) {
    const { productId } = account;
    if (query.mayRead && !(await query.mayRead(productId))) {
      synced.skipped.push(productId);
      continue;
    }
    try {
      const balance = await fetchBalance(bank, customerId, productId, transactionId);
      balances.push(balance);
      const currency = currencyOf(account, balance.accountBalance);
      const { added, pending } = await syncTransactions(bank, to, { ...query, productId, currency }, clock);
      synced.newTransactions += added;
      synced.pending += pending;
    } catch (error) {
      if (!(error instanceof Psd2Error) || !OF_ONE_PRODUCT.includes(error.code)) throw error;
      synced.failures.push({ productId, error });
    }
  }
  if (synced.skipped.length === 0) to.replace('balances', balances);
  // Keep the balances of skipped products.
  else for (const { productId, ...rest } of balances) to.replace(`balances/${productId}`, [rest]);
  return synced;
}

/** The errors that concern only one product. */
const OF_ONE_PRODUCT: ErrorCode[] = [
  ...(['forbidden', 'sca_required', 'bank_refused', 'bank_answer', 'list_changed'] as const),
];

/** The current day. Later answers may set it back. */
interface BankClock {
  /** The last day that both the bank and this machine have reached. */
  today: IsoDate;
  /** The oldest day that the bank shows without SCA. */
  oldest: IsoDate;
}

/**
 * Wraps a bank so that its answers set the clock.
 *
 * @param machineDay today by the clock of this machine. It may be wrong
 */
function withClock(bank: Bank, machineDay: IsoDate): { bank: Bank; clock: BankClock } {
  const clock = { today: machineDay, oldest: addDays(machineDay, -DAYS_WITHOUT_SCA) };
  let answered: IsoDate | undefined;
  return {
    clock,
    bank: {
      exchange: bank.exchange,
      async call(call, schema) {
        const reading = await bank.call(call, schema);
        const day = reading.answeredAt && bankDay(reading.answeredAt);
        if (day && (answered === undefined || day < answered)) {
          answered = day;
          clock.today = earlier(machineDay, day);
          clock.oldest = addDays(day, -DAYS_WITHOUT_SCA);
        }
        return reading;
      },
    },
  };
}

async function syncTransactions(
  bank: Bank,
  to: SyncTarget,
  query: Omit<RowsQuery, 'today'> & { since: IsoDate | undefined },
  clock: BankClock,
): Promise<{ added: number; pending: number }> {
  const { productId } = query;
  const { today, oldest } = clock;
  const since = earlier(query.since ?? oldest, today);
  const before = await to.progress(productId);
  // If this sync goes further back than before, any row of the file may be repeated.
  const furtherBack = before !== undefined && since < before.from;
  // If a clock was ahead, days may count as synced that the bank had not reached.
  const isCertain = before?.checked === true && before.through <= today;
  const readsAgain =
    query.since !== undefined && before !== undefined && since < addDays(before.through, -OVERLAP_DAYS);
  const readsKnownDays = before !== undefined && (furtherBack || readsAgain || !isCertain);
  const rows = await to.booked(productId, readsKnownDays);

  let first = since;
  if (before && !furtherBack) {
    // If a clock was ahead, only the rows show how far the sync really came.
    const through = before.through <= today ? before.through : ((await rows.lastDay(today)) ?? before.from);
    const overlap = addDays(through, -OVERLAP_DAYS);
    first = later(before.from, isCertain ? overlap : earlier(overlap, oldest));
    if (query.since !== undefined) first = earlier(first, since);
  }
  const known = addDays(first, -FURTHER_KNOWN_DAYS);

  let added = 0;
  for (let from = first, most = MOST_DAYS; ; ) {
    const { booked, pending, days } = await fetchWindow(bank, { ...query, today, from }, most);
    added += await rows.append(
      booked.filter(({ bookingDate }) => bookingDate === null || bookingDate >= known),
    );
    const end = addDays(from, days - 1);
    const last = end >= today;
    if (last || !readsKnownDays) {
      const through = earlier(last ? today : end, clock.today);
      to.remember(
        productId,
        { from: before && !furtherBack ? before.from : since, through, checked: true },
        addDays(through, -OVERLAP_DAYS - FURTHER_KNOWN_DAYS),
      );
    }
    if (last) {
      const open = from === first ? pending : await fetchPending(bank, { ...query, from: first });
      to.replace(`pending/${productId}`, open);
      return { added, pending: open.length };
    }
    await to.commit();
    from = addDays(end, 1);
    most = booked.length < MOST_ROWS / 4 ? Math.min(days * 2, MOST_DAYS) : days;
  }
}

type RowsQuery = Omit<TransactionQuery, 'status' | 'from' | 'to'> & { currency: string; today: IsoDate };

/** The bank's rows of some days. */
interface Window {
  /** With ids, oldest first. */
  booked: (Omit<Transaction, 'index'> & { id: string })[];
  /** Empty if the window ends before today. */
  pending: Transaction[];
  days: number;
}

/**
 * Fetches the rows of `most` days, or of fewer days if there are too many rows for the memory. If the rows come on one
 * page, they are already in memory, and fewer days would not help.
 */
async function fetchWindow(bank: Bank, query: RowsQuery & { from: IsoDate }, most: number): Promise<Window> {
  for (let days = most; ; ) {
    const end = addDays(query.from, days - 1);
    const to = end >= query.today ? undefined : end;
    const readings = new WholeReadings(bank, { ...query, to, status: to && 'booked' });
    /** If there are too many rows: the number of days that they belong to. */
    let daysOfTooMany: number | undefined;
    let rows: Transaction[] | undefined;
    for (let reading = 1; !rows && daysOfTooMany === undefined; reading += 1) {
      if (reading > MOST_READINGS) throw keepsChanging(query);
      rows = await readings.next((some, pageRows) => {
        const isTooMany = some.length > MOST_ROWS && pageRows < MOST_ROWS && days > 1;
        if (isTooMany) daysOfTooMany = new Set(some.map(({ bookingDate }) => bookingDate)).size;
        return isTooMany;
      });
    }
    if (rows && daysOfTooMany === undefined) {
      const booked = withIds(
        query,
        rows.filter((row) => row.status === 'booked'),
      )
        .map(({ index: _restarts, ...row }) => row)
        .reverse()
        .sort((a, b) => compare(a.bookingDate ?? '', b.bookingDate ?? ''));
      return { booked, pending: rows.filter((row) => row.status === 'pending'), days };
    }
    // Half of these days is a safe number.
    days = Math.max(1, Math.floor(Math.min(daysOfTooMany ?? days, days) / 2));
  }
}

/** All pending rows since a day. They are not split into windows. */
async function fetchPending(
  bank: Bank,
  query: Omit<RowsQuery, 'today'> & { from: IsoDate },
): Promise<Transaction[]> {
  return collectTransactions(bank, { ...query, to: undefined, status: 'pending' });
}

/** Checks a product id, because file names contain it. @throws Psd2Error `bank_answer` */
function assertProductId(productId: string, transactionId: string): void {
  if (/^[A-Za-z0-9]{1,35}$/.test(productId)) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank sent an account with the invalid product id ${JSON.stringify(productId)}`,
    {
      transactionId,
    },
  );
}

function later(a: IsoDate, b: IsoDate): IsoDate {
  return a > b ? a : b;
}

function earlier(a: IsoDate, b: IsoDate): IsoDate {
  return a < b ? a : b;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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

/** Older transactions are shown only after the customer's own SCA (RTS (EU) 2018/389, article 10). */
export const DAYS_WITHOUT_SCA = 89;
/** A bank may book a transaction some days late: so much of what is synced is fetched again each time. */
const OVERLAP_DAYS = 10;
/** A bank may choose the rows of a range by another of their dates, so older ones are recognised too. */
const FURTHER_KNOWN_DAYS = 30;
/** So much is fetched and written at once, so that memory stays small and a kill loses little. */
const MOST_DAYS = 90;
/** Days that have more rows are fetched in smaller parts; a single day is fetched whole, however many it has. */
const MOST_ROWS = 2_000;

export interface SyncedCustomer {
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that were not to be read now: see `mayRead`. */
  skipped: string[];
  /** What went wrong with single products; the others are synced. */
  failures: { productId: string; error: Psd2Error }[];
}

/**
 * Brings a customer's folder up to date: accounts and balances as they are now, booked transactions that are
 * not there yet, pending ones as they are now.
 *
 * No day counts as synced that the bank's own clock has not reached: one that counts is not asked for again.
 *
 * @param query `since`: the day to read from, even if it was read before; undefined goes back as far as the bank shows
 *   transactions without SCA at first, and then reads what is new. `today`: by the clock of this machine. `mayRead`: asked
 *   before a product is read
 * @throws Psd2Error when the customer as a whole can't be synced. What is written is good: the next sync goes on.
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
  // Of those that are skipped, what is there stays.
  else for (const { productId, ...rest } of balances) to.replace(`balances/${productId}`, [rest]);
  return synced;
}

/** What the bank may say of one product and not of another. */
const OF_ONE_PRODUCT: ErrorCode[] = [
  ...(['forbidden', 'sca_required', 'bank_refused', 'bank_answer', 'list_changed'] as const),
];

/** What day it is. Answers to come may turn it back. */
interface BankClock {
  /** The last day that both the bank and this machine have reached. */
  today: IsoDate;
  /** Since when the bank shows transactions without SCA. */
  oldest: IsoDate;
}

/**
 * A bank whose answers tell what day it is.
 *
 * @param machineDay today by the clock of this machine, which may be wrong
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
  // Going further back than ever before, any row of the file may come again.
  const furtherBack = before !== undefined && since < before.from;
  // A clock that was ahead may have set it: then days counted as synced that the bank had not come to.
  const isCertain = before?.checked === true && before.through <= today;
  const readsAgain =
    query.since !== undefined && before !== undefined && since < addDays(before.through, -OVERLAP_DAYS);
  const readsKnownDays = before !== undefined && (furtherBack || readsAgain || !isCertain);
  const rows = await to.booked(productId, readsKnownDays);

  let first = since;
  if (before && !furtherBack) {
    // How far a clock that was ahead came is told by its rows alone.
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

/** What a bank says of some days. */
interface Window {
  /** With ids, oldest first. */
  booked: (Omit<Transaction, 'index'> & { id: string })[];
  /** None where the window ends before today. */
  pending: Transaction[];
  days: number;
}

/**
 * The rows of `most` days, or of fewer, where these have more rows than are to be held at once. What the bank gives on
 * one page is held already: fewer days would be of no use.
 */
async function fetchWindow(bank: Bank, query: RowsQuery & { from: IsoDate }, most: number): Promise<Window> {
  for (let days = most; ; ) {
    const end = addDays(query.from, days - 1);
    const to = end >= query.today ? undefined : end;
    const readings = new WholeReadings(bank, { ...query, to, status: to && 'booked' });
    /** Where there are too many rows: how many of the days they are of. */
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
    // Half of the days will do with a margin.
    days = Math.max(1, Math.floor(Math.min(daysOfTooMany ?? days, days) / 2));
  }
}

/** All pending rows of some days, however many windows the booked ones take. */
async function fetchPending(
  bank: Bank,
  query: Omit<RowsQuery, 'today'> & { from: IsoDate },
): Promise<Transaction[]> {
  return collectTransactions(bank, { ...query, to: undefined, status: 'pending' });
}

/** A file is named after it. @throws Psd2Error `bank_answer` */
function assertProductId(productId: string, transactionId: string): void {
  if (/^[A-Za-z0-9]{1,35}$/.test(productId)) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank names an account ${JSON.stringify(productId)}, which is no product id`,
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

import type { Accounts, Balance, Bank, Transaction } from '../bank/ports/bank.ts';
import { withIds } from '../domain/booked-ids.ts';
import { addDays, bankDay, type IsoDate } from '../domain/calendar.ts';
import type { Money } from '../domain/decimal.ts';
import { type ErrorCode, Psd2Error } from '../errors.ts';
import type { BookedRows, Progress, SyncTarget } from '../store/ports/sync.ts';
import {
  type BookedTransaction,
  fetchAfter,
  newestOf,
  oldestFirst,
  type SyncQuery,
} from './reading/reading-on.ts';
import {
  collectTransactions,
  currencyOf,
  keepsChanging,
  MAX_READINGS,
  WholeReadings,
} from './reading/transaction-reading.ts';

/** The bank shows older transactions only after SCA (RTS (EU) 2018/389, article 10). */
export const DAYS_WITHOUT_SCA = 89;
/** Each sync fetches this many known days again, because a bank may book a transaction some days late. */
const OVERLAP_DAYS = 10;
/** Rows up to this many days older are recognised too, because a bank may select a range by another date. */
const FURTHER_KNOWN_DAYS = 30;
/** The maximum number of days per fetch and write, so that memory stays small and a kill loses little. */
const MAX_DAYS = 90;
/** With more rows than this, psd2 fetches fewer days at once. A single day is always fetched whole. */
const MAX_ROWS = 2_000;

export interface SyncedCustomer {
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that `mayRead` excluded, and those whose reads of today are used up for the bank. */
  skipped: string[];
  /** The errors of single products. The others are synced. */
  failures: { productId: string; error: Psd2Error }[];
}

/** What an error that ended the sync of a customer has left. */
export interface StoppedSync extends Pick<SyncedCustomer, 'skipped' | 'failures'> {
  /** The product of the error and those after it. */
  unread: string[];
}

/**
 * Brings a customer's folder up to date: the current accounts and balances, the booked transactions that are not there
 * yet, and the current pending ones.
 *
 * A day counts as synced only after the bank's own clock has reached it, because psd2 does not ask for a synced day again.
 *
 * @param query `since`: the first day to read, even if it was read before. Undefined: the first sync reads as far back as the
 *   bank shows transactions without SCA, later ones read what is new. `today`: the day by the clock of this machine.
 *   `mayRead`: called before each product. `onStopped`: called before an error that ends the sync of the customer
 * @throws Psd2Error if the customer as a whole cannot be synced. The written data is valid, and the next sync continues.
 */
export async function syncCustomer(
  bank: SyncedBank,
  to: SyncTarget,
  query: {
    customerId: string;
    since: IsoDate | undefined;
    today: IsoDate;
    transactionId: string;
    mayRead?: (productId: string) => Promise<boolean>;
    onStopped?: (at: StoppedSync) => void;
  },
): Promise<SyncedCustomer> {
  const { customerId, transactionId } = query;
  const { accounts: calls } = bank;
  const clock = clockOf(bank, query.today);
  const synced: SyncedCustomer = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], failures: [] };
  const accounts = await calls.list(customerId, transactionId);
  for (const { productId } of accounts) assertAccountId(calls, productId, transactionId);
  to.replace('accounts', accounts);
  synced.accounts = accounts.length;

  const balances: Balance[] = [];
  for (const [index, account] of accounts.entries()) {
    const { productId } = account;
    if (query.mayRead && !(await query.mayRead(productId))) {
      synced.skipped.push(productId);
      continue;
    }
    try {
      const balance = await calls.balance(customerId, productId, transactionId);
      balances.push(balance);
      const currency = currencyOf(account, balance.accountBalance);
      const { added, pending } = await syncTransactions(
        calls,
        to,
        { ...query, productId, currency, balance: balance.accountBalance },
        clock,
      );
      synced.newTransactions += added;
      synced.pending += pending;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (error.lasts) synced.skipped.push(productId);
      else if (isOfOneProduct(error)) synced.failures.push({ productId, error });
      else {
        const { skipped, failures } = synced;
        const unread = accounts.slice(index).map((each) => each.productId);
        query.onStopped?.({ unread, skipped, failures });
        throw error;
      }
    }
  }
  if (synced.skipped.length === 0) to.replace('balances', balances);
  // Keep the balances of skipped products.
  else for (const { productId, ...rest } of balances) to.replace(`balances/${productId}`, [rest]);
  return synced;
}

/** The errors that concern only one product. */
const OF_ONE_PRODUCT: ErrorCode[] = [
  ...(['forbidden', 'sca_required', 'bank_refused', 'bank_answer', 'bank_failing', 'list_changed'] as const),
];

/** A bank that accepts the login can still miss the customer's consent for a product: it has read the request then. */
function isOfOneProduct({ code, refusal }: Psd2Error): boolean {
  if (code === 'not_logged_in') return refusal === 'content' || refusal === 'other';
  return OF_ONE_PRODUCT.includes(code);
}

/** What a sync needs of a bank. */
type SyncedBank = Pick<Bank, 'accounts' | 'earliestAnswer'>;

/** The current day. Later answers may set it back. */
interface BankClock {
  /** The last day that both the bank and this machine have reached. */
  readonly today: IsoDate;
  /** The oldest day that the bank shows without SCA. */
  readonly oldest: IsoDate;
  /** The bank shows no earlier day at all. Undefined: it has not said so. */
  readonly earliest: IsoDate | undefined;
}

/** @param machineDay today by the clock of this machine. It may be wrong */
function clockOf({ accounts, earliestAnswer }: SyncedBank, machineDay: IsoDate): BankClock {
  const earliest = accounts.earliestDay?.();
  const answered = () => {
    const time = earliestAnswer();
    return time && bankDay(time);
  };
  return {
    get today() {
      const day = answered();
      return day === undefined ? machineDay : earlier(machineDay, day);
    },
    get oldest() {
      const withoutSca = addDays(answered() ?? machineDay, -DAYS_WITHOUT_SCA);
      return earliest === undefined ? withoutSca : later(withoutSca, earliest);
    },
    earliest,
  };
}

async function syncTransactions(
  calls: Accounts,
  to: SyncTarget,
  query: Omit<RowsQuery, 'today'> & { since: IsoDate | undefined; balance: Money | null },
  clock: BankClock,
): Promise<{ added: number; pending: number }> {
  const { productId } = query;
  const { today, oldest, earliest = query.since ?? oldest } = clock;
  const since = later(earlier(query.since ?? oldest, today), earlier(earliest, today));
  const before = await to.progress(productId);
  // If this sync goes further back than before, any row of the file may be repeated.
  const furtherBack = before !== undefined && since < before.from;
  // If a clock was ahead, days may count as synced that the bank had not reached.
  const isCertain = before?.checked === true && before.through <= today;
  const readsAgain =
    query.since !== undefined && before !== undefined && since < addDays(before.through, -OVERLAP_DAYS);
  const readsKnownDays = before !== undefined && (furtherBack || readsAgain || !isCertain);
  const rows = await to.booked(productId, readsKnownDays);

  const again = before && !furtherBack ? await firstAgain(before, rows, isCertain, { today, oldest }) : since;
  const first = query.since === undefined ? again : earlier(again, since);
  const known = addDays(first, -FURTHER_KNOWN_DAYS);
  const remember = (through: IsoDate, newest: string | undefined, isLast = true) => {
    const from = before && !furtherBack ? before.from : since;
    const reached = calls.readsOn && newest !== undefined ? { newest } : {};
    const balance = isLast && query.balance ? { balance: query.balance } : {};
    const progress: Progress = { from, through, checked: true, ...reached, ...balance };
    to.remember(productId, progress, addDays(through, -OVERLAP_DAYS - FURTHER_KNOWN_DAYS));
  };

  const readsDays = readsKnownDays || query.since !== undefined || first < oldest;
  const on = await appendAfter(calls, rows, query, readsDays ? undefined : before?.newest, known);
  let { added, newest = before?.newest } = on;
  if (on.pending) {
    remember(earlier(today, clock.today), newest);
    to.replace(`pending/${productId}`, on.pending);
    return { added, pending: on.pending.length };
  }
  for (let from = first, max = MAX_DAYS; ; ) {
    const { booked, pending, days } = await fetchWindow(calls, { ...query, today, from }, max);
    added += await rows.append(
      booked.filter(({ bookingDate }) => bookingDate === null || bookingDate >= known),
    );
    newest = newestOf(booked) ?? newest;
    const end = addDays(from, days - 1);
    const last = end >= today;
    // The bank may have booked a row of the days that are still to be read before the newest one of these.
    if (last || !readsKnownDays)
      remember(earlier(last ? today : end, clock.today), last ? newest : before?.newest, last);
    if (last) {
      const open = from === first ? pending : await fetchPending(calls, { ...query, from: first });
      to.replace(`pending/${productId}`, open);
      return { added, pending: open.length };
    }
    await to.commit();
    from = addDays(end, 1);
    max = booked.length < MAX_ROWS / 4 ? Math.min(days * 2, MAX_DAYS) : days;
  }
}

/** The first day to read after an earlier sync. */
async function firstAgain(
  before: Progress,
  rows: BookedRows,
  isCertain: boolean,
  { today, oldest }: Pick<BankClock, 'today' | 'oldest'>,
): Promise<IsoDate> {
  // If a clock was ahead, only the rows show how far the sync really came.
  const through = before.through <= today ? before.through : ((await rows.lastDay(today)) ?? before.from);
  const overlap = addDays(through, -OVERLAP_DAYS);
  return later(before.from, isCertain ? overlap : earlier(overlap, oldest));
}

/**
 * Appends what the bank has booked after the newest row of the last sync.
 *
 * @returns `pending` is missing if only whole days show what is new, because the bank gave rows that are there, or may be
 */
async function appendAfter(
  calls: Accounts,
  rows: BookedRows,
  query: SyncQuery,
  newest: string | undefined,
  known: IsoDate,
): Promise<{ added: number; newest?: string; pending?: Transaction[] }> {
  const on =
    newest === undefined ? undefined : await fetchAfter(calls, query, newest, { known, maxRows: MAX_ROWS });
  if (!on) return { added: 0 };
  const added = await rows.append(on.booked);
  const last = newestOf(on.booked);
  return {
    added,
    ...(last !== undefined && { newest: last }),
    ...(added === on.booked.length && { pending: on.pending }),
  };
}

type RowsQuery = SyncQuery & { today: IsoDate };

/** The bank's rows of some days. */
interface Window {
  /** With ids, oldest first. */
  booked: BookedTransaction[];
  /** Empty if the window ends before today. */
  pending: Transaction[];
  days: number;
}

/**
 * Fetches the rows of `max` days, or of fewer days if there are too many rows for the memory. If the rows come on one
 * page, they are already in memory, and fewer days would not help.
 */
async function fetchWindow(
  calls: Accounts,
  query: RowsQuery & { from: IsoDate },
  max: number,
): Promise<Window> {
  for (let days = max; ; ) {
    const end = addDays(query.from, days - 1);
    const to = end >= query.today ? undefined : end;
    const readings = new WholeReadings(calls, { ...query, to, status: to && 'booked' });
    /** If there are too many rows: the number of days that they belong to. */
    let daysOfTooMany: number | undefined;
    let rows: Transaction[] | undefined;
    for (let reading = 1; !rows && daysOfTooMany === undefined; reading += 1) {
      if (reading > MAX_READINGS) throw keepsChanging(query);
      rows = await readings.next((some, pageRows) => {
        const isTooMany = some.length > MAX_ROWS && pageRows < MAX_ROWS && days > 1;
        if (isTooMany) daysOfTooMany = new Set(some.map(({ bookingDate }) => bookingDate)).size;
        return isTooMany;
      });
    }
    if (rows && daysOfTooMany === undefined) {
      const booked = withIds(
        query,
        rows.filter((row) => row.status === 'booked'),
      ).map(({ index: _restarts, ...row }) => row);
      return { booked: oldestFirst(booked), pending: rows.filter((row) => row.status === 'pending'), days };
    }
    // Half of these days is a safe number.
    days = Math.max(1, Math.floor(Math.min(daysOfTooMany ?? days, days) / 2));
  }
}

/** All pending rows from a given day on. They are not split into windows. */
async function fetchPending(
  calls: Accounts,
  query: Omit<RowsQuery, 'today'> & { from: IsoDate },
): Promise<Transaction[]> {
  return collectTransactions(calls, { ...query, to: undefined, status: 'pending' });
}

/** Checks an account id, because the store keeps it. @throws Psd2Error `bank_answer` */
function assertAccountId(accounts: Accounts, accountId: string, transactionId: string): void {
  if (accounts.isId(accountId)) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank sent an account with the invalid product id ${JSON.stringify(accountId)}`,
    { transactionId },
  );
}

function later(a: IsoDate, b: IsoDate): IsoDate {
  return a > b ? a : b;
}

function earlier(a: IsoDate, b: IsoDate): IsoDate {
  return a < b ? a : b;
}

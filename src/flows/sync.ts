import type { Bank } from '../bank/bank.ts';
import { currencyOf, fetchAccounts, fetchBalance, type Transaction } from '../bank/customers.ts';
import { fetchTransactions, type TransactionQuery } from '../bank/transactions.ts';
import { withIds } from '../domain/booked-ids.ts';
import { addDays, type IsoDate } from '../domain/calendar.ts';
import { type ErrorCode, Psd2Error } from '../errors.ts';
import type { SyncFolder } from '../store/sync-folder.ts';

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
  /** What went wrong with single products; the others are synced. */
  failures: { productId: string; error: Psd2Error }[];
}

/**
 * Brings a customer's folder up to date: accounts and balances as they are now, booked transactions that are
 * not there yet, pending ones as they are now.
 *
 * @param since how far back the first sync of a product goes; an earlier day than that of the first sync goes
 *   back further
 * @throws Psd2Error when the customer as a whole can't be synced. What is written is good: the next sync goes on.
 */
export async function syncCustomer(
  bank: Bank,
  folder: SyncFolder,
  query: { customerId: string; since: IsoDate; today: IsoDate; transactionId: string },
): Promise<SyncedCustomer> {
  const { customerId, transactionId } = query;
  const synced: SyncedCustomer = { accounts: 0, newTransactions: 0, pending: 0, failures: [] };
  const accounts = await fetchAccounts(bank, customerId, transactionId);
  for (const { productId } of accounts) assertProductId(productId, transactionId);
  folder.replace('accounts', accounts);
  synced.accounts = accounts.length;

  const balances: object[] = [];
  for (const account of accounts) {
    const { productId } = account;
    try {
      const balance = await fetchBalance(bank, customerId, productId, transactionId);
      balances.push(balance);
      const currency = currencyOf(account, balance.accountBalance);
      const { added, pending } = await syncTransactions(bank, folder, { ...query, productId, currency });
      synced.newTransactions += added;
      synced.pending += pending;
    } catch (error) {
      if (!(error instanceof Psd2Error) || !OF_ONE_PRODUCT.includes(error.code)) throw error;
      synced.failures.push({ productId, error });
    }
  }
  folder.replace('balances', balances);
  return synced;
}

/** What the bank may say of one product and not of another. */
const OF_ONE_PRODUCT: ErrorCode[] = ['forbidden', 'sca_required', 'bank_refused', 'bank_answer'];

async function syncTransactions(
  bank: Bank,
  folder: SyncFolder,
  query: RowsQuery & { since: IsoDate },
): Promise<{ added: number; pending: number }> {
  const { productId, since, today } = query;
  const before = folder.progressOf(productId);
  // Going further back than ever before, any row of the file may come again.
  const furtherBack = before !== undefined && since < before.from;
  // The clock was ahead in an earlier sync: how far that came is told by its rows alone.
  const wasAhead = before !== undefined && before.through > today;
  const rows = folder.booked(productId, furtherBack || wasAhead ? 0 : (before?.settled ?? 0));
  const through = wasAhead ? (rows.lastDay(today) ?? before.from) : before?.through;
  const first =
    before && through && !furtherBack ? later(before.from, addDays(through, -OVERLAP_DAYS)) : since;
  const known = addDays(first, -FURTHER_KNOWN_DAYS);

  let added = 0;
  for (let from = first, most = MOST_DAYS; ; ) {
    const { booked, pending, days } = await fetchWindow(bank, { ...query, from }, most);
    added += rows.append(booked.filter(({ bookingDate }) => bookingDate === null || bookingDate >= known));
    const end = addDays(from, days - 1);
    const last = end >= today;
    if (last || !furtherBack) {
      const through = last ? today : end;
      folder.remember(productId, {
        from: before && !furtherBack ? before.from : since,
        through,
        settled: rows.settle(addDays(through, -OVERLAP_DAYS - FURTHER_KNOWN_DAYS)),
      });
    }
    if (last) {
      const open = from === first ? pending : await fetchPending(bank, { ...query, from: first });
      folder.replace(`pending/${productId}`, open);
      return { added, pending: open.length };
    }
    await folder.commit();
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
    const rows: Transaction[] = [];
    let isTooMany = false;
    for await (const page of fetchTransactions(bank, { ...query, to, status: to && 'booked' })) {
      // One by one: a page may have more of them than a call takes arguments.
      for (const row of page) rows.push(row);
      isTooMany = rows.length > MOST_ROWS && page.length < MOST_ROWS && days > 1;
      if (isTooMany) break;
    }
    if (!isTooMany) {
      const booked = withIds(
        query,
        rows.filter((row) => row.status === 'booked'),
      )
        .map(({ index: _restarts, ...row }) => row)
        .reverse()
        .sort((a, b) => compare(a.bookingDate ?? '', b.bookingDate ?? ''));
      return { booked, pending: rows.filter((row) => row.status === 'pending'), days };
    }
    // These are the rows of so many of the days; half of them will do with a margin.
    const seen = new Set(rows.map(({ bookingDate }) => bookingDate)).size;
    days = Math.max(1, Math.floor(Math.min(seen, days) / 2));
  }
}

/** All pending rows of some days, however many windows the booked ones take. */
async function fetchPending(bank: Bank, query: RowsQuery & { from: IsoDate }): Promise<Transaction[]> {
  const pending: Transaction[] = [];
  for await (const page of fetchTransactions(bank, { ...query, to: undefined, status: 'pending' }))
    for (const row of page) pending.push(row);
  return pending;
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { Bank } from '../../src/bank/ports/bank.ts';
import { addDays, type IsoDate, isIsoDate } from '../../src/domain/calendar.ts';
import { type SyncedCustomer, syncCustomer } from '../../src/flows/sync.ts';
import type { Progress, SyncedRow, SyncTarget } from '../../src/store/ports/sync.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { NO_ROWS } from '../store/row-of.ts';

// A bank and a sync target in memory, which keep what psd2 asked for and stored.

export const PRODUCT = '0010482620';
export const TODAY = isoDate('2026-11-21');
export const money = { amount: '-1.00', currency: 'EUR' };

export function isoDate(text: string): IsoDate {
  if (!isIsoDate(text)) throw new TypeError(text);
  return text;
}

/** The day some days before today. */
export function ago(days: number): IsoDate {
  return addDays(TODAY, -days);
}

export interface BankRow {
  day: IsoDate | null;
  text: string;
}

export interface BankSetting {
  products?: string[];
  /** The booked rows, newest first. */
  booked?: BankRow[];
  pending?: BankRow[];
  pageSize?: number;
  /** The bank returns all rows, whatever range psd2 asks for. */
  ignoresRange?: boolean;
  /** The bank's day when it answers each call, by the number of the call. The last one stays. */
  days?: IsoDate[];
  /** Called with the path of each call. May throw, as a call may. */
  onCall?: (path: string) => void;
}

/** Rows for each day, newest first. */
export function rowsOnEach(from: IsoDate, to: IsoDate, rowsOn: (day: IsoDate) => number): BankRow[] {
  const rows: BankRow[] = [];
  for (let day = to; day >= from; day = addDays(day, -1))
    for (let row = rowsOn(day); row > 0; row -= 1) rows.push({ day, text: `${day} ${row}` });
  return rows;
}

/** @returns the bank, the calls, and the ranges of transactions that psd2 began to read (`from..to`) */
export function syncBank(setting: BankSetting): { bank: Bank; calls: URL[]; ranges: string[] } {
  const { products = [PRODUCT], booked = [], pending = [], pageSize = 500 } = setting;
  const { ignoresRange = false, days = [], onCall = () => {} } = setting;
  const calls: URL[] = [];
  const ranges: string[] = [];
  const transactions = ({ searchParams }: URL) => {
    const date = (name: string) => searchParams.get(name)?.split('/').reverse().join('-') ?? '';
    const [from, to] = [date('dateFrom'), date('dateTo')];
    const cursors = ['nextAccounting', 'nextNotAccounting'].map((name) => searchParams.get(name));
    if (cursors.every((cursor) => cursor === null)) ranges.push(`${from}..${to}`);
    const [nextBooked, nextPending] = cursors.map((cursor) => Number(cursor ?? 1) - 1);
    const isAsked = ({ day }: BankRow) =>
      ignoresRange || day === null || (day >= from && (to === '' || day <= to));
    const page = (rows: BankRow[], begin = 0) => {
      const asked = rows.filter(isAsked);
      const next = begin + pageSize < asked.length ? begin + pageSize + 1 : null;
      return { rows: asked.slice(begin, begin + pageSize).map(wireRow), next };
    };
    const [one, other] = [page(booked, nextBooked), page(pending, nextPending)];
    return {
      ...{ transactionsAccounting: one.rows, nextAccounting: one.next },
      ...{ transactionsNotAccounting: other.rows, nextNotAccounting: other.next },
    };
  };
  const dataOf = (url: URL) => {
    if (url.pathname.endsWith('/accounts')) return { accounts: products.map((accountId) => ({ accountId })) };
    return url.pathname.endsWith('/transactions/retrieve') ? transactions(url) : { accountBalance: money };
  };
  const bank = answeringBank((url) => {
    onCall(`${url.pathname}${url.search}`);
    const day = days[calls.length] ?? days.at(-1);
    calls.push(url);
    return { data: dataOf(url), date: day && new Date(`${day}T12:00:00Z`) };
  });
  return { bank, calls, ranges };
}

function wireRow({ day, text }: BankRow) {
  return { extendedDescription: text, amountTransaction: money, dateAccountingCurrency: day };
}

/** What a sync stored. */
export interface Stored {
  /** What psd2 said about the rows that may come again. */
  readsAll: boolean | undefined;
  /** The texts of the appended rows, by batch. */
  appended: string[][];
  remembered: { from: string; through: string; settled: string }[];
  balance?: Progress['balance'];
  difference?: Progress['difference'];
  contradictions?: Progress['contradictions'];
  replaced: Record<string, object[]>;
  commits: number;
  /** How often rows of any day were made known. */
  recalls: number;
}

/** A folder in memory, with the progress of earlier syncs. @param lastDay the last day of the rows on disk */
export function syncTarget(progress?: Progress, lastDay?: IsoDate): { target: SyncTarget; stored: Stored } {
  const stored: Stored = {
    ...{ readsAll: undefined, appended: [], remembered: [], replaced: {} },
    ...{ commits: 0, recalls: 0 },
  };
  const target: SyncTarget = {
    async place(accounts) {
      stored.replaced.accounts = [...accounts];
      return accounts.map((account) => ({ account, storedAs: account.productId, takenFor: null }));
    },
    progress: async () => progress,
    async booked(_product, readsAll) {
      stored.readsAll = readsAll;
      return {
        ...NO_ROWS,
        async append(rows) {
          stored.appended.push(rows.map(textOf));
          return { added: [...rows], awaited: new Map(), unsure: 0, doubtful: [] };
        },
        async recall() {
          stored.recalls += 1;
        },
        lastDay: async (most) => (lastDay !== undefined && lastDay <= most ? lastDay : undefined),
      };
    },
    replace(name, rows) {
      stored.replaced[name] = [...rows];
    },
    remember(_product, { from, through, balance, difference, contradictions }, settled) {
      stored.balance = balance;
      stored.difference = difference;
      stored.contradictions = contradictions;
      stored.remembered.push({ from, through, settled });
    },
    async commit() {
      stored.commits += 1;
    },
  };
  return { target, stored };
}

function textOf(row: SyncedRow): string {
  return 'details' in row ? String(row.details) : '';
}

/** Syncs one customer. */
export async function synced(
  bank: Bank,
  target: SyncTarget,
  query: Partial<Pick<Parameters<typeof syncCustomer>[2], 'since' | 'today' | 'mayRead' | 'onStopped'>> = {},
): Promise<SyncedCustomer> {
  const { since, today = TODAY, mayRead, onStopped } = query;
  return syncCustomer(bank, target, {
    ...{ customerId: '1048262', since, today, transactionId: 't' },
    ...(mayRead && { mayRead }),
    ...(onStopped && { onStopped }),
  });
}

import { createHash } from 'node:crypto';
import type {
  Account,
  Accounts,
  Balance,
  ListPage,
  Transaction,
  TransactionPage,
  TransactionQuery,
} from '../../bank/ports/bank.ts';
import { Psd2Error } from '../../errors.ts';
import {
  continuesWith,
  isSameRow,
  REMEMBERED_ROWS,
  RecentRows,
  rowsInFront,
  SeenRows,
} from './moving-list.ts';
import { type Cut, pagesInHand } from './range.ts';

/** The maximum number of readings of a list that changes while psd2 reads it. */
export const MAX_READINGS = 3;
const STATUSES = ['booked', 'pending'] as const;

/**
 * Reads all transactions of a query as of one moment. If the list changes while psd2 reads it, psd2 reads it again.
 *
 * @param isEnough called after each page with the rows so far. True ends the reading early
 * @returns the rows in the bank's order
 * @throws Psd2Error `list_changed` if the list changes during each of three readings, and what {@link Accounts.pages} throws
 */
export async function collectTransactions(
  accounts: Accounts,
  query: TransactionQuery,
  isEnough?: (rows: readonly Transaction[]) => boolean,
): Promise<Transaction[]> {
  const readings = new WholeReadings(accounts, query);
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const rows = await readings.next(isEnough);
    if (rows) return rows;
  }
  throw keepsChanging(query);
}

/** The currency of an account. The bank may give it with the account or with the balance. */
export function currencyOf({ currency }: Account, accountBalance: Balance['accountBalance']): string {
  return currency || accountBalance?.currency || 'EUR';
}

/** The error for a list that changed during each of its readings. */
export function keepsChanging({
  productId,
  transactionId,
}: Pick<TransactionQuery, 'productId' | 'transactionId'>): Psd2Error {
  return new Psd2Error(
    'list_changed',
    `The transactions of ${productId} changed during each of ${MAX_READINGS} readings`,
    { hint: 'Run the command again.', transactionId },
  );
}

/**
 * Readings of one list, each from its start.
 *
 * A reading is in doubt if the bank's totals change between pages, if the number of rows differs from the total, or if the last
 * row of a page comes again. Each of these can also be normal for a bank: its totals may count something else, or two
 * transactions may be equal. If two readings see the same thing, a change was not the reason, and the reading is valid.
 */
export class WholeReadings {
  readonly #accounts: Accounts;
  readonly #query: TransactionQuery;
  /** What earlier readings had seen when they became doubtful. */
  readonly #seen = new Set<string>();
  /** Whether the last reading had more than one page. */
  hasPages = false;
  /** If the bank refused a page of it: what is certain. */
  cut: Cut | undefined;
  /** What the bank's own statements say in it that their rows do not. */
  readonly contradictions = new Set<string>();
  /** How many booked rows of it have a booking day that cannot be read. */
  unreadDays = 0;

  constructor(accounts: Accounts, query: TransactionQuery) {
    this.#accounts = accounts;
    this.#query = query;
  }

  /**
   * @param isEnough called after each page with the rows so far, and the number of rows on the page. True ends the reading early
   * @returns undefined if the list changed or may have changed. It must then be read again
   */
  async next(
    isEnough: (rows: readonly Transaction[], pageRows: number) => boolean = () => false,
  ): Promise<Transaction[] | undefined> {
    const rows: Transaction[] = [];
    const fresh: Transaction[] = [];
    const shownRows = new SeenRows(Number.POSITIVE_INFINITY);
    this.hasPages = false;
    this.cut = undefined;
    this.contradictions.clear();
    this.unreadDays = 0;
    const cut = (at: Cut) => {
      this.cut = at;
    };
    const totals: (number | null)[] = [];
    const lists = { booked: new CollectedList(), pending: new CollectedList() };
    const wasSeen = () => {
      const seen = readingIdentity(rows, totals);
      if (this.#seen.has(seen)) return true;
      this.#seen.add(seen);
      return false;
    };
    let doTotalsTell = true;
    let isEnded = true;
    for await (const page of pagesInHand(this.#accounts, this.#query, cut)) {
      const before = rows.length;
      for (const each of page.contradictions ?? []) this.contradictions.add(each);
      this.unreadDays += page.unreadDays ?? 0;
      let isChanged = false;
      for (const status of STATUSES) {
        const part = page[status];
        if (!part) continue;
        for (const row of part.rows) rows.push(row);
        for (const row of shownRows.fresh(part.rows)) fresh.push(row);
        totals.push(part.total);
        this.hasPages ||= part.hasMore;
        isChanged = lists[status].take(part) || isChanged;
      }
      const { endedBookedTotal: total } = page;
      if (total !== undefined) {
        totals.push(total);
        isChanged = lists.booked.take({ rows: [], total, hasMore: false }) || isChanged;
      }
      if (isChanged && doTotalsTell) {
        // Reading the rest would be useless.
        if (!wasSeen()) return undefined;
        doTotalsTell = false;
      }
      if (isEnough(rows, rows.length - before)) {
        isEnded = false;
        break;
      }
    }
    const both = Object.values(lists);
    const isInDoubt =
      both.some((list) => list.isInDoubt) ||
      (isEnded && doTotalsTell && both.some(({ isComplete }) => !isComplete));
    if (isInDoubt && !wasSeen()) return undefined;
    return shownRows.areShared ? rows : fresh;
  }
}

/** A row that moves past the end of a page comes again on one of so many pages. */
const REMEMBERED_ENDS = 10;

class CollectedList {
  /** The last rows of the last pages. */
  #ends: Transaction[] = [];
  #received = 0;
  #total: number | null = null;
  #wasEmpty = false;
  /** Rows may be repeated, or the list was empty and now has rows. */
  isInDoubt = false;

  /** @returns whether the bank's total has changed */
  take({ rows, total }: ListPage): boolean {
    const isChanged = this.#total !== null && total !== null && total !== this.#total;
    this.isInDoubt ||=
      (this.#wasEmpty && rows.length > 0) ||
      this.#ends.some((last) => rows.some((row) => isSameRow(row, last)));
    this.#wasEmpty = rows.length === 0;
    this.#ends = [...this.#ends, ...rows.slice(-1)].slice(-REMEMBERED_ENDS);
    this.#received += rows.length;
    this.#total = total ?? this.#total;
    return isChanged;
  }

  get isComplete(): boolean {
    return this.#total === null || this.#received === this.#total;
  }
}

/** A hash of what a reading saw, without `index`, to compare readings. */
function readingIdentity(rows: readonly Transaction[], totals: readonly (number | null)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(totals));
  for (const { index: _place, ...row } of rows) hash.update(JSON.stringify(row));
  return hash.digest('base64');
}

export interface StreamPorts {
  /** Shows a sentence to the operator. */
  tell(text: string): void;
  /** False if the bank's answers are printed directly (`--raw`). Additional calls are then not allowed. */
  mayAskAgain: boolean;
}

/**
 * Streams the transactions of a query page by page, in constant memory. The result is the list as it was at the start. If new
 * rows are booked in the meantime, older rows repeat on the next page. psd2 drops the repeated rows and tells the operator how
 * many rows were booked.
 *
 * If a page shows a sign of a change, psd2 reads the beginning of the list again. Only if the beginning is the same, with new
 * rows before it, is it certain which rows repeat.
 *
 * @throws Psd2Error `list_changed` if the list changed in another way, and what {@link Accounts.pages} throws
 */
export async function* streamTransactions(
  accounts: Accounts,
  query: TransactionQuery,
  { tell, mayAskAgain }: StreamPorts,
): AsyncGenerator<Transaction[]> {
  const lists = { booked: new StreamedList(query, 'booked'), pending: new StreamedList(query, 'pending') };
  const takePage = async (page: TransactionPage): Promise<Transaction[]> => {
    const fresh: Transaction[] = [];
    if (mayAskAgain && page.endedBookedTotal !== undefined) lists.booked.growTo(page.endedBookedTotal);
    for (const status of STATUSES) {
      const part = page[status];
      if (!part) continue;
      const list = lists[status];
      if (mayAskAgain && list.mayHaveMoved(part))
        list.compare(part, await readBeginning(accounts, { ...query, status }, list));
      for (const row of mayAskAgain ? list.take(part) : list.takeAsItIs(part)) fresh.push(row);
    }
    return fresh;
  };

  let failed = false;
  try {
    for await (const page of accounts.pages(query)) {
      const fresh = await takePage(page);
      if (fresh.length > 0) yield fresh;
    }
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    // This also runs if the caller stops early.
    if (!failed) {
      const [booked, pending] = [lists.booked.inFront, lists.pending.inFront];
      if (booked > 0)
        tell(`${countOf(booked, 'transaction')} booked while psd2 read the list: not included.`);
      if (pending > 0)
        tell(`${countOf(pending, 'pending transaction')} added while psd2 read the list: not included.`);
      for (const status of STATUSES) {
        const odd = lists[status].oddity;
        if (odd) tell(odd);
      }
    }
  }
}

function countOf(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** The list as it is now, up to or near the rows that it began with. */
interface Beginning {
  /** If totals are reliable, only the rows of the last page. Otherwise all rows so far. */
  rows: Transaction[];
  /** The number of rows on the pages before. */
  offset: number;
  total: number | null;
}

/** Reads a list from its start until the rows that it began with have appeared, or should have. */
async function readBeginning(
  accounts: Accounts,
  query: TransactionQuery,
  list: StreamedList,
): Promise<Beginning> {
  let beginning: Beginning = { rows: [], offset: 0, total: null };
  for await (const page of accounts.pages(query)) {
    const part = query.status && page[query.status];
    if (!part) break;
    const { rows, offset } = beginning;
    beginning = list.totalsTell(part.total)
      ? { rows: part.rows, offset: offset + rows.length, total: part.total }
      : { rows: [...rows, ...part.rows], offset, total: part.total };
    if (list.isReached(beginning) || beginning.offset + beginning.rows.length > 2 * REMEMBERED_ROWS) break;
  }
  return beginning;
}

class StreamedList {
  readonly #query: TransactionQuery;
  readonly #status: Transaction['status'];
  readonly #recent = new RecentRows();
  readonly #known = new SeenRows(REMEMBERED_ROWS);
  #first: Pick<ListPage, 'rows' | 'total'> | undefined;
  #total: number | null = null;
  #doTotalsTell = true;
  /** Whether the list ended on its first page, although a link follows. Undefined as long as no page has shown it. */
  #isFirstPageAll: boolean | undefined = false;
  #received = 0;
  #repeated = 0;
  /** The number of rows added before the list since its first page. */
  inFront = 0;
  /** A message to the operator about the bank's totals. */
  oddity: string | undefined;

  constructor(query: TransactionQuery, status: Transaction['status']) {
    this.#query = query;
    this.#status = status;
  }

  /** Whether a new page shows a sign of a change. */
  mayHaveMoved(page: ListPage): boolean {
    this.#learnWhatTotalsCount(page);
    const { rows, total } = page;
    // Nothing repeats and nothing is missing, whatever the total is now.
    if (this.#isFirstPageAll && rows.length === 0) return false;
    if (this.#doTotalsTell && this.#total !== null && total !== null && total !== this.#total) return true;
    // Repeated rows that are already known are not a new sign.
    return this.inFront === this.#repeated && this.#recent.possibleMoves(rows).length > 0;
  }

  /** Whether the rows that the list began with have appeared, or should have. */
  isReached({ rows, offset, total }: Beginning): boolean {
    const grown = this.#grownTo(total);
    if (grown !== null) return grown - offset < rows.length;
    return rowsInFront(rows, this.#first?.rows ?? []) !== undefined;
  }

  totalsTell(total: number | null): boolean {
    return this.#grownTo(total) !== null;
  }

  /**
   * Finds the number of rows added before the list from its beginning, which was read again after a sign of a change.
   *
   * @throws Psd2Error `list_changed`
   */
  compare(page: ListPage, now: Beginning): void {
    const first = this.#first?.rows ?? [];
    const grown = this.#grownTo(now.total);
    const isPlain = grown !== null && grown >= 0 && continuesWith(now.rows, first, grown - now.offset);
    const inFront = grown === null ? rowsInFront(now.rows, first) : isPlain ? grown : undefined;
    if (inFront === undefined) throw movedOtherwise(this.#query);
    let later = 0;
    if (grown !== null && page.total !== null && now.total !== null) {
      // Rows booked after the page was read.
      later = now.total - page.total;
      if (later < 0) throw movedOtherwise(this.#query);
    } else if (inFront !== this.inFront) {
      // Only the page can show how many rows were added before it was read. Others may have been added later.
      const [move, ...others] = this.#recent.possibleMoves(page.rows);
      if (move !== inFront - this.#repeated || others.length > 0) throw movedOtherwise(this.#query);
    }
    if (inFront - later < this.inFront) throw movedOtherwise(this.#query);
    this.inFront = inFront - later;
  }

  /** @returns the rows that are not repeated. @throws Psd2Error `list_changed` */
  take(page: ListPage): Transaction[] {
    const again = this.inFront - this.#repeated;
    if (!this.#recent.repeats(again, page.rows)) throw movedOtherwise(this.#query);
    const repeated = Math.min(again, page.rows.length);
    const fresh = page.rows.slice(repeated);
    this.#repeated += repeated;
    this.#remember(page, fresh);
    const printed = this.#known.fresh(fresh);
    const doesTotalTell = this.#doTotalsTell && !this.#isFirstPageAll;
    if (!page.hasMore && doesTotalTell && page.total !== null && page.total !== this.#received)
      this.oddity = `The bank announced ${countOf(page.total, `${this.#status} transaction`)} but sent ${this.#received}.`;
    return printed;
  }

  /** Counts the rows that were added after the list had ended. Without a total before, only an empty list is known. */
  growTo(total: number): void {
    const before = this.#total ?? (this.#received === 0 ? 0 : total);
    if (this.#doTotalsTell) this.inFront += Math.max(0, total - before);
    this.#total = total;
  }

  /** As {@link take}, but keeps all rows. */
  takeAsItIs(page: ListPage): Transaction[] {
    if (this.#total !== null && page.total !== null && page.total !== this.#total)
      this.oddity = `The list changed while psd2 read it: the bank announced ${countOf(this.#total, 'transaction')}, then ${page.total}. Rows may be repeated or missing. Run the command again.`;
    this.#remember(page, page.rows);
    return page.rows;
  }

  /**
   * If the first page has as many rows as its total but another page follows, there are two reasons. Either the total counts
   * the rows of the page, or the list has ended and the link is for the other list: one link leads to the next page of both.
   * The next page shows which: after the end of a list are at most as many rows as its total has grown.
   */
  #learnWhatTotalsCount({ rows, total }: ListPage): void {
    if (this.#isFirstPageAll !== undefined || (rows.length === 0 && total === null)) return;
    const before = this.#first?.rows.length ?? 0;
    this.#isFirstPageAll = total !== null && (rows.length === 0 || before + rows.length <= total);
    this.#doTotalsTell = this.#isFirstPageAll;
  }

  #remember(page: ListPage, fresh: Transaction[]): void {
    if (!this.#first) {
      this.#first = page;
      const { rows, total, hasMore } = page;
      this.#doTotalsTell = !hasMore || total === null || total > rows.length;
      this.#isFirstPageAll = hasMore && total === rows.length ? undefined : false;
    }
    this.#total = page.total ?? this.#total;
    this.#received += page.rows.length;
    this.#recent.add(fresh);
  }

  /** How many rows were added to the list since its first page, or null if totals are not reliable. */
  #grownTo(total: number | null): number | null {
    const before = this.#first?.total ?? null;
    return before === null || total === null || !this.#doTotalsTell ? null : total - before;
  }
}

function movedOtherwise({ productId, transactionId }: TransactionQuery): Psd2Error {
  return new Psd2Error(
    'list_changed',
    `The transactions of ${productId} changed while psd2 read them. Rows may be missing`,
    { hint: 'Discard the output and run the command again.', transactionId },
  );
}

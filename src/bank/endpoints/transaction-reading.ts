import { createHash } from 'node:crypto';
import { Psd2Error } from '../../errors.ts';
import type { Bank } from '../call/bank.ts';
import type { Transaction } from './customers.ts';
import { goesOnWith, REMEMBERED_ROWS, RecentRows, rowsInFront } from './moving-list.ts';
import { fetchPages, type ListPage, type TransactionPage, type TransactionQuery } from './transactions.ts';

/** So often is a list read that changes while it is read. */
export const MOST_READINGS = 3;
const STATUSES = ['booked', 'pending'] as const;

/**
 * All transactions of a query as they were at one moment. A list that changed while it was read is read again.
 *
 * @param isEnough ends the reading early; called after each page with the rows so far
 * @returns in the bank's order
 * @throws Psd2Error `list_changed` when the list changes during each of three readings, and what {@link fetchPages} throws
 */
export async function collectTransactions(
  bank: Bank,
  query: TransactionQuery,
  isEnough?: (rows: readonly Transaction[]) => boolean,
): Promise<Transaction[]> {
  const readings = new WholeReadings(bank, query);
  for (let reading = 1; reading <= MOST_READINGS; reading += 1) {
    const rows = await readings.next(isEnough);
    if (rows) return rows;
  }
  throw keepsChanging(query);
}

/** A list changed during each of its readings. */
export function keepsChanging({
  productId,
  transactionId,
}: Pick<TransactionQuery, 'productId' | 'transactionId'>): Psd2Error {
  return new Psd2Error(
    'list_changed',
    `The transactions of ${productId} changed during each of ${MOST_READINGS} readings`,
    { hint: 'Run the command again.', transactionId },
  );
}

/**
 * Readings of one list, each from its start.
 *
 * A reading is in doubt when the bank's totals change on the way, when the rows are not as many as the total, or when a
 * page begins as the one before ended. Each of these can be the bank's own way: totals that count something else, two
 * transactions that are alike. What two readings see in the same way did not come from a change, and counts.
 */
export class WholeReadings {
  readonly #bank: Bank;
  readonly #query: TransactionQuery;
  /** What earlier readings had seen when they came into doubt. */
  readonly #seen = new Set<string>();

  constructor(bank: Bank, query: TransactionQuery) {
    this.#bank = bank;
    this.#query = query;
  }

  /**
   * @param isEnough ends the reading early; called after each page with the rows so far, and how many of them are new
   * @returns undefined when the list changed, or may have: it is to be read again
   */
  async next(
    isEnough: (rows: readonly Transaction[], pageRows: number) => boolean = () => false,
  ): Promise<Transaction[] | undefined> {
    const rows: Transaction[] = [];
    const totals: (number | null)[] = [];
    const lists = { booked: new CollectedList(), pending: new CollectedList() };
    const wasSeen = () => {
      const seen = fingerprint(rows, totals);
      if (this.#seen.has(seen)) return true;
      this.#seen.add(seen);
      return false;
    };
    let doTotalsTell = true;
    let isEnded = true;
    for await (const page of fetchPages(this.#bank, this.#query)) {
      const before = rows.length;
      let isChanged = false;
      for (const status of STATUSES) {
        const part = page[status];
        if (!part) continue;
        for (const row of part.rows) rows.push(row);
        totals.push(part.total);
        isChanged = lists[status].take(part) || isChanged;
      }
      if (isChanged && doTotalsTell) {
        // The rest would be read in vain.
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
    return isInDoubt && !wasSeen() ? undefined : rows;
  }
}

class CollectedList {
  readonly #recent = new RecentRows();
  #received = 0;
  #total: number | null = null;
  #wasEmpty = false;
  /** Rows may have come twice, or the list had none and has some now. */
  isInDoubt = false;

  /** @returns whether the bank tells another total than before */
  take({ rows, total }: ListPage): boolean {
    const isChanged = this.#total !== null && total !== null && total !== this.#total;
    this.isInDoubt ||= this.#recent.possibleMoves(rows).length > 0 || (this.#wasEmpty && rows.length > 0);
    this.#wasEmpty = rows.length === 0;
    this.#recent.add(rows);
    this.#received += rows.length;
    this.#total = total ?? this.#total;
    return isChanged;
  }

  get isComplete(): boolean {
    return this.#total === null || this.#received === this.#total;
  }
}

/** Tells what one reading saw from what another did; `index` is left out. */
function fingerprint(rows: readonly Transaction[], totals: readonly (number | null)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(totals));
  for (const { index: _place, ...row } of rows) hash.update(JSON.stringify(row));
  return hash.digest('base64');
}

export interface StreamPorts {
  /** Takes a sentence for the operator. */
  tell(text: string): void;
  /** False when the bank's answers are themselves what is printed (`--raw`): no further call may be made. */
  mayAskAgain: boolean;
}

/**
 * The transactions of a query page by page as they come, in constant memory. Rows that come again, since others were
 * booked in front of them, are left out, and the operator is told how many were booked: what is given is the list as it
 * was when the reading began.
 *
 * When a page shows a sign of a change, the beginning of the list is read once more: only where it is what it was, with
 * new rows in front, is it certain which rows come again.
 *
 * @throws Psd2Error `list_changed` when the list changed in another way, and what {@link fetchPages} throws
 */
export async function* streamTransactions(
  bank: Bank,
  query: TransactionQuery,
  { tell, mayAskAgain }: StreamPorts,
): AsyncGenerator<Transaction[]> {
  const lists = { booked: new StreamedList(query, 'booked'), pending: new StreamedList(query, 'pending') };
  const takePage = async (page: TransactionPage): Promise<Transaction[]> => {
    const fresh: Transaction[] = [];
    for (const status of STATUSES) {
      const part = page[status];
      if (!part) continue;
      const list = lists[status];
      if (mayAskAgain && list.mayHaveMoved(part)) {
        list.compare(part, await readBeginning(bank, { ...query, status }, list));
      }
      for (const row of mayAskAgain ? list.take(part) : list.takeAsItIs(part)) fresh.push(row);
    }
    return fresh;
  };

  let failed = false;
  try {
    for await (const page of fetchPages(bank, query)) {
      const fresh = await takePage(page);
      if (fresh.length > 0) yield fresh;
    }
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    // Also where the operator wants no more rows.
    if (!failed) {
      const [booked, pending] = [lists.booked.inFront, lists.pending.inFront];
      if (booked > 0) tell(`${count(booked, 'transaction')} booked while the list was read: not in it.`);
      if (pending > 0)
        tell(`${count(pending, 'pending transaction')} came in while the list was read: not in it.`);
      for (const status of STATUSES) {
        const odd = lists[status].oddity;
        if (odd) tell(odd);
      }
    }
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** A list as it is now, up to or near the rows that it began with. */
interface Beginning {
  /** Of the last page that was read alone, where totals tell: then pages of one moment need no others. */
  rows: Transaction[];
  /** How many rows the pages before had. */
  offset: number;
  total: number | null;
}

/** Reads a list from its start, until the rows that it began with are there, or can't be far. */
async function readBeginning(bank: Bank, query: TransactionQuery, list: StreamedList): Promise<Beginning> {
  let beginning: Beginning = { rows: [], offset: 0, total: null };
  for await (const page of fetchPages(bank, query)) {
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
  #first: Pick<ListPage, 'rows' | 'total'> | undefined;
  #total: number | null = null;
  #doTotalsTell = true;
  #received = 0;
  #repeated = 0;
  /** How many rows came in front of the list since its first page. */
  inFront = 0;
  /** What the operator has to know of the bank's totals. */
  oddity: string | undefined;

  constructor(query: TransactionQuery, status: Transaction['status']) {
    this.#query = query;
    this.#status = status;
  }

  /** Whether a page, that is still to be taken, shows a sign of a change. */
  mayHaveMoved({ rows, total }: ListPage): boolean {
    if (!this.#first) return false;
    if (this.#doTotalsTell && this.#total !== null && total !== null && total !== this.#total) return true;
    // Rows that are known to come again are no new sign.
    return this.inFront === this.#repeated && this.#recent.possibleMoves(rows).length > 0;
  }

  /** Whether the rows that the list began with stand in what was read, or should. */
  isReached({ rows, offset, total }: Beginning): boolean {
    const grown = this.#grownTo(total);
    if (grown !== null) return grown - offset < rows.length;
    return rowsInFront(rows, this.#first?.rows ?? []) !== undefined;
  }

  totalsTell(total: number | null): boolean {
    return this.#grownTo(total) !== null;
  }

  /**
   * Concludes what came in front of the list from its beginning, read after a page that shows a sign of a change.
   *
   * @throws Psd2Error `list_changed`
   */
  compare(page: ListPage, now: Beginning): void {
    const first = this.#first?.rows ?? [];
    const grown = this.#grownTo(now.total);
    const isPlain = grown !== null && grown >= 0 && goesOnWith(now.rows, first, grown - now.offset);
    const inFront = grown === null ? rowsInFront(now.rows, first) : isPlain ? grown : undefined;
    if (inFront === undefined) throw movedOtherwise(this.#query);
    let later = 0;
    if (grown !== null && page.total !== null && now.total !== null) {
      // Booked after the page was given.
      later = now.total - page.total;
      if (later < 0) throw movedOtherwise(this.#query);
    } else if (inFront !== this.inFront) {
      // The page itself has to tell how many came before it: others may have come after.
      const [move, ...others] = this.#recent.possibleMoves(page.rows);
      if (move !== inFront - this.#repeated || others.length > 0) throw movedOtherwise(this.#query);
    }
    if (inFront - later < this.inFront) throw movedOtherwise(this.#query);
    this.inFront = inFront - later;
  }

  /** @returns the rows that did not come before. @throws Psd2Error `list_changed` */
  take(page: ListPage): Transaction[] {
    const again = this.inFront - this.#repeated;
    if (!this.#recent.comeAgain(again, page.rows)) throw movedOtherwise(this.#query);
    const repeated = Math.min(again, page.rows.length);
    const fresh = page.rows.slice(repeated);
    this.#repeated += repeated;
    this.#remember(page, fresh);
    if (!page.goesOn && this.#doTotalsTell && page.total !== null && page.total !== this.#received) {
      this.oddity = `The bank told of ${count(page.total, `${this.#status} transaction`)} and gave ${this.#received}.`;
    }
    return fresh;
  }

  /** As {@link take}, where nothing can be left out. */
  takeAsItIs(page: ListPage): Transaction[] {
    if (this.#total !== null && page.total !== null && page.total !== this.#total) {
      this.oddity = `The list changed while it was read: the bank told of ${count(this.#total, 'transaction')}, then of ${page.total}. Rows may be there twice or be missing; run the command again.`;
    }
    this.#remember(page, page.rows);
    return page.rows;
  }

  #remember(page: ListPage, fresh: Transaction[]): void {
    if (!this.#first) {
      this.#first = page;
      // A total that leaves nothing for the pages to come is none of the range.
      this.#doTotalsTell = !page.goesOn || page.total === null || page.total > page.rows.length;
    }
    this.#total = page.total ?? this.#total;
    this.#received += page.rows.length;
    this.#recent.add(fresh);
  }

  /** By how many rows the list has grown since its first page, as far as totals tell. */
  #grownTo(total: number | null): number | null {
    const before = this.#first?.total ?? null;
    return before === null || total === null || !this.#doTotalsTell ? null : total - before;
  }
}

function movedOtherwise({ productId, transactionId }: TransactionQuery): Psd2Error {
  return new Psd2Error(
    'list_changed',
    `The transactions of ${productId} changed while they were read; rows may be missing`,
    { hint: 'Discard what was printed, and run the command again.', transactionId },
  );
}

import type { Transaction } from '../../bank/ports/bank.ts';

/** The number of rows that are kept to recognise repeated ones. */
export const REMEMBERED_ROWS = 1000;

/** Whether two rows have the same content. Their positions (`index`) may differ. */
export function isSameRow(a: Transaction, b: Transaction): boolean {
  return (
    a.amount === b.amount &&
    a.bookingDate === b.bookingDate &&
    a.valueDate === b.valueDate &&
    a.details === b.details &&
    a.description === b.description &&
    a.transferReference === b.transferReference &&
    a.currency === b.currency &&
    a.code === b.code &&
    a.feeCharge === b.feeCharge &&
    a.status === b.status
  );
}

/** What banks write where there is no reference (ISO 20022). */
const NO_REFERENCE = 'NOTPROVIDED';

/**
 * Recognises rows that a moving list shows again on a later page, by the ids of the bank. If two rows of one page have an id, or
 * it comes with other content, ids name no rows in this list.
 */
export class SeenRows {
  readonly #rows = new Map<string, Transaction>();
  readonly #most: number;
  /** Two rows have one id. */
  areShared = false;

  /** @param most the number of rows to remember */
  constructor(most: number) {
    this.#most = most;
  }

  /** The rows of a page that did not come on an earlier one. */
  fresh(page: readonly Transaction[]): Transaction[] {
    const ids = page.map(rowIds);
    const bankIds = ids.filter((id) => id !== undefined);
    this.areShared ||= new Set(bankIds).size < bankIds.length;
    const isShown = page.map((row, place) => {
      const id = ids[place];
      if (id === undefined || this.areShared) return false;
      const earlierRow = this.#rows.get(id);
      this.#rows.set(id, row);
      const [oldest] = this.#rows.size > this.#most ? this.#rows.keys() : [];
      if (oldest !== undefined) this.#rows.delete(oldest);
      this.areShared = earlierRow !== undefined && !isSameRow(earlierRow, row);
      return earlierRow !== undefined;
    });
    return this.areShared ? [...page] : page.filter((_, place) => !isShown[place]);
  }
}

/** Undefined if the bank names the row in no way. */
function rowIds({ status, transactionId, entryReference }: Transaction): string | undefined {
  const bankIds = [transactionId, entryReference].filter((id) => id && id !== NO_REFERENCE);
  return bankIds.length === 0 ? undefined : JSON.stringify([status, ...bankIds]);
}

/** The last rows that were read from a list, in constant memory. */
export class RecentRows {
  #rows: Transaction[] = [];
  /** No row was dropped: these are all rows that were read. */
  #isWhole = true;

  add(rows: readonly Transaction[]): void {
    this.#isWhole &&= this.#rows.length + rows.length <= REMEMBERED_ROWS;
    this.#rows = [...this.#rows, ...rows.slice(-REMEMBERED_ROWS)].slice(-REMEMBERED_ROWS);
  }

  /**
   * Whether a page begins as it would if `count` new rows had moved the list: with the last `count` rows that were read, or
   * with some of the new rows and then all rows that were read.
   */
  repeats(count: number, page: readonly Transaction[]): boolean {
    const start = this.#rows.length - count;
    if (start < 0 && !this.#isWhole) return false;
    const max = Math.min(count, page.length);
    for (let place = Math.max(0, -start); place < max; place += 1) {
      const [recent, row] = [this.#rows[start + place], page[place]];
      if (!recent || !row || !isSameRow(recent, row)) return false;
    }
    return true;
  }

  /**
   * All numbers of new rows that would explain the beginning of a page. The list may not have moved at all, because two rows
   * can be equal.
   */
  possibleMoves(page: readonly Transaction[]): number[] {
    if (page.length === 0 || this.#rows.length === 0) return [];
    const max = this.#rows.length + (this.#isWhole ? page.length - 1 : 0);
    const counts: number[] = [];
    for (let count = 1; count <= max; count += 1) if (this.repeats(count, page)) counts.push(count);
    return counts;
  }
}

/**
 * Whether a part of a list continues with the rows that the list began with, after `count` new rows. If `count` is
 * negative, those rows begin before the part.
 */
export function continuesWith(
  part: readonly Transaction[],
  beginning: readonly Transaction[],
  count: number,
): boolean {
  if (count >= part.length || count + beginning.length <= 0) return false;
  return beginning.every((row, place) => {
    const otherRow = part[count + place];
    return otherRow === undefined || isSameRow(row, otherRow);
  });
}

/**
 * The number of new rows before those that a list began with. Undefined if the latter are not all there, or if it began with
 * an empty page, which proves nothing.
 */
export function rowsInFront(
  list: readonly Transaction[],
  beginning: readonly Transaction[],
): number | undefined {
  if (beginning.length === 0) return undefined;
  for (let count = 0; count + beginning.length <= list.length; count += 1)
    if (continuesWith(list, beginning, count)) return count;
  return undefined;
}

import type { Transaction } from './customers.ts';

/** So many rows are remembered to recognise the ones that come again. */
export const REMEMBERED_ROWS = 1000;

/** Whether the bank says the same of two rows; their places, which `index` counts, may differ. */
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

/** The last rows of what was read of a list. Constant memory. */
export class RecentRows {
  #rows: Transaction[] = [];
  /** Nothing was forgotten: these are all rows that were read. */
  #isWhole = true;

  add(rows: readonly Transaction[]): void {
    this.#isWhole &&= this.#rows.length + rows.length <= REMEMBERED_ROWS;
    this.#rows = [...this.#rows, ...rows.slice(-REMEMBERED_ROWS)].slice(-REMEMBERED_ROWS);
  }

  /**
   * Whether a page begins as it does when `count` new rows have moved the list: with the last `count` rows that were
   * read, or with the last of the new ones and all that were read.
   */
  comeAgain(count: number, page: readonly Transaction[]): boolean {
    const start = this.#rows.length - count;
    if (start < 0 && !this.#isWhole) return false;
    const most = Math.min(count, page.length);
    for (let place = Math.max(0, -start); place < most; place += 1) {
      const [recent, row] = [this.#rows[start + place], page[place]];
      if (!recent || !row || !isSameRow(recent, row)) return false;
    }
    return true;
  }

  /**
   * All numbers of new rows for which a page begins as it would if they had moved the list. It may not have moved: two
   * rows can be alike.
   */
  possibleMoves(page: readonly Transaction[]): number[] {
    if (page.length === 0 || this.#rows.length === 0) return [];
    const most = this.#rows.length + (this.#isWhole ? page.length - 1 : 0);
    const counts: number[] = [];
    for (let count = 1; count <= most; count += 1) if (this.comeAgain(count, page)) counts.push(count);
    return counts;
  }
}

/**
 * Whether a part of a list goes on with the rows that the list began with, once `count` new ones are in front of the part
 * (before its beginning, where it is negative).
 */
export function goesOnWith(
  part: readonly Transaction[],
  beginning: readonly Transaction[],
  count: number,
): boolean {
  if (count >= part.length || count + beginning.length <= 0) return false;
  return beginning.every((row, place) => {
    const found = part[count + place];
    return found === undefined || isSameRow(row, found);
  });
}

/** How many new rows are in front of those that a list began with; undefined where these are not all there. */
export function rowsInFront(
  list: readonly Transaction[],
  beginning: readonly Transaction[],
): number | undefined {
  for (let count = 0; count + beginning.length <= list.length; count += 1)
    if (goesOnWith(list, beginning, count)) return count;
  return undefined;
}

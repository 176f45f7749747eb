import type { Accounts, Transaction, TransactionPage, TransactionQuery } from '../../bank/ports/bank.ts';
import { dayOfRow } from '../../domain/booked-ids.ts';
import { addDays, type DayRange, type IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';

/** Some banks select days by the value date. More days outside the range mean that the bank ignores it. */
export const OUTSIDE_DAYS = 5;
/** Banks that cut a list do so after as many rows, or a multiple. */
const ROUND_NUMBER = 50;

/** Whether a row is of the days that were asked for. Only a booked row with a day can be outside. */
export function isWithin(row: Transaction, { from, to }: DayRange): boolean {
  const day = row.status === 'pending' ? null : dayOfRow(row);
  return day === null || ((from === undefined || day >= from) && (to === undefined || day <= to));
}

/** Whether a bank refuses a page, and would refuse it again. */
function isRefusedForGood(error: unknown): boolean {
  if (!(error instanceof Psd2Error)) return false;
  return error.lasts || error.code === 'bank_refused' || error.code === 'forbidden';
}

/**
 * The pages of a list. Some banks count each page as a reading, and refuse one when the readings of the day are used up. Others refuse
 * all but the first. Then the list ends before it, if its rows came newest first. So only older rows are missing.
 *
 * @param cut called if it ends so
 */
export async function* pagesInHand(
  accounts: Accounts,
  query: TransactionQuery,
  cut: () => void,
): AsyncGenerator<TransactionPage> {
  const days: (IsoDate | null)[] = [];
  let hasMore = false;
  try {
    for await (const page of accounts.pages(query)) {
      for (const row of page.booked?.rows ?? []) {
        const day = dayOfRow(row);
        if (days.length === 0 || days.at(-1) !== day) days.push(day);
      }
      hasMore = page.booked?.hasMore ?? false;
      yield page;
    }
  } catch (error) {
    const isNewestFirst = days.length > 1 && days.every((day, at) => day && day <= (days[at - 1] ?? day));
    if (!(isRefusedForGood(error) && hasMore && isNewestFirst)) throw error;
    cut();
  }
}

/** How a list ended that was read. */
interface Ended {
  /** A link leads to more. All pages together reach as far back as the bank goes. */
  hasPages: boolean;
  /** The bank refused a page: see {@link pagesInHand}. */
  isCut?: boolean;
  /** These two as `TransactionPage` has them. */
  contradictions?: Iterable<string>;
  unreadDays?: number;
}

/**
 * Watches whether a list of booked rows has all of the days that were asked for. A bank that gives rows of other days ignores the
 * range, and may have cut the list: then the oldest row shows how far back it goes.
 */
export class RangeWatch {
  readonly #range: DayRange & { today: IsoDate };
  #oldest: IsoDate | undefined;
  #isIgnored = false;
  #rows = 0;
  #hasPages = false;
  #isCut = false;
  /** What the bank's own statements say that their rows do not. */
  readonly contradictions = new Set<string>();
  /** How many booked rows have a booking day that cannot be read. */
  unreadDays = 0;

  /** @param range `today`: coming rows may be after any range */
  constructor(range: DayRange & { today: IsoDate }) {
    this.#range = range;
  }

  add(
    rows: readonly Transaction[],
    { hasPages, isCut = false, contradictions = [], unreadDays = 0 }: Ended,
  ): this {
    const { from, to, today } = this.#range;
    const earliest = from && addDays(from, -OUTSIDE_DAYS);
    const latest = to && addDays(to, OUTSIDE_DAYS);
    this.#hasPages ||= hasPages;
    this.#isCut ||= isCut;
    for (const each of contradictions) this.contradictions.add(each);
    this.unreadDays += unreadDays;
    for (const row of rows) {
      const day = row.status === 'booked' ? dayOfRow(row) : null;
      this.#rows += row.status === 'booked' ? 1 : 0;
      if (day === null) continue;
      if (this.#oldest === undefined || day < this.#oldest) this.#oldest = day;
      this.#isIgnored ||= earliest !== undefined && day < earliest;
      this.#isIgnored ||= latest !== undefined && day <= today && day > latest;
    }
    return this;
  }

  /** The same accounts, with all lists watched. */
  over(accounts: Accounts): Accounts {
    const add = ({ booked, contradictions = [], unreadDays = 0 }: TransactionPage) =>
      this.add(booked?.rows ?? [], { hasPages: booked?.hasMore ?? false, contradictions, unreadDays });
    const cut = () => {
      this.#isCut = true;
    };
    return {
      ...accounts,
      async *pages(query) {
        for await (const page of pagesInHand(accounts, query, cut)) {
          add(page);
          yield page;
        }
      },
    };
  }

  /** The first day from which the list is shown to be complete. Undefined if all of it is, as far as the rows show. */
  get certainFrom(): IsoDate | undefined {
    const oldest = this.#isCut ? this.#oldest : this.#unreached;
    return (this.#isCut || this.#isIgnored) && oldest !== undefined ? addDays(oldest, 1) : undefined;
  }

  /** The oldest day of a list that the bank may have cut. Undefined if nothing says so. */
  get cutAt(): IsoDate | undefined {
    return this.#rows > 0 && this.#rows % ROUND_NUMBER === 0 ? this.#unreached : undefined;
  }

  /** The oldest day, if no row and no link leads to a day before the first one. */
  get #unreached(): IsoDate | undefined {
    const { from } = this.#range;
    if (from === undefined || this.#oldest === undefined || this.#hasPages) return undefined;
    return this.#oldest >= from ? this.#oldest : undefined;
  }
}

/** A list, and how much of it is certain. */
export interface WatchedList {
  rows: Transaction[];
  certainFrom: IsoDate | undefined;
  cutAt: IsoDate | undefined;
}

/**
 * Asks once more for the days up to the oldest row of a list that the bank may have cut.
 *
 * @param older reads the days up to one. Undefined: there is no reading left
 * @returns the whole list, or what is certain of it
 */
export async function withOlder<List extends WatchedList>(
  list: List,
  older: (to: IsoDate) => Promise<WatchedList | undefined>,
): Promise<List> {
  const { cutAt, rows } = list;
  if (cutAt === undefined) return list;
  const uncertain = { ...list, certainFrom: addDays(cutAt, 1) };
  const found = await older(cutAt);
  const isOld = (row: Transaction) => row.status === 'booked' && (dayOfRow(row) ?? cutAt) <= cutAt;
  const before = found?.rows.filter(isOld) ?? [];
  const ofLastDay = before.filter((row) => (dayOfRow(row) ?? cutAt) === cutAt);
  if (!found || ofLastDay.length < rows.filter(isOld).length) return uncertain;
  const certainFrom = found.certainFrom ?? (found.cutAt && addDays(found.cutAt, 1));
  return { ...list, rows: [...rows.filter((row) => !isOld(row)), ...before], certainFrom };
}

/** @param contradictions what the bank's own statements say that their rows do not. One at least */
export function contradicts(productId: string, contradictions: Iterable<string>): Psd2Error {
  const [first = '', ...more] = contradictions;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return new Psd2Error(
    'needs_attention',
    `The bank's statements of ${productId} contradict their own transactions. ${first}${others}`,
    { hint: 'psd2 gives the transactions as the bank does. Some may be missing, or have another sign.' },
  );
}

/** @param count how many booked rows have a booking day that cannot be read */
export function lacksDays(productId: string, count: number): Psd2Error {
  const what = count === 1 ? '1 transaction has' : `${count} transactions have`;
  return new Psd2Error(
    'needs_attention',
    `The booking day (bookingDate) cannot be read: ${what} none of ${productId}`,
    {
      hint: 'Their value days place them, also in the range of --from and --to. See what the bank sent with --raw.',
    },
  );
}

/** @param from the first day from which the list is complete */
export function notComplete(productId: string, from: IsoDate | null): Psd2Error {
  const certain = from === null ? '' : `, and only days from ${from} on are certain`;
  return new Psd2Error(
    'needs_attention',
    `The bank's list of the transactions of ${productId} is not complete: it does not reach back to the first day${certain}`,
    {
      hint: 'The bank ignores the range of days, has cut the list, or gives no further page. Older transactions may be missing.',
    },
  );
}

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
function isRefusedForGood(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  return error.lasts || error.code === 'bank_refused' || error.code === 'forbidden';
}

/** A list that ends before a page that the bank refuses. */
export interface Cut {
  /** What the bank said. */
  refusal: Psd2Error;
  /** The last day that is whole, if the rows came oldest first: newer ones are missing. Undefined: they came newest first. */
  certainThrough: IsoDate | undefined;
}

/**
 * The pages of a list. Some banks count each page as a reading, and refuse one when the readings of the day are used up. Others refuse
 * all but the first. Then the list ends before it, if its rows came in the order of their days. So only older rows are missing, or newer
 * ones.
 *
 * @param cut called if it ends so
 */
export async function* pagesInHand(
  accounts: Accounts,
  query: TransactionQuery,
  cut: (at: Cut) => void,
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
    const last = days.at(-1);
    if (!(isRefusedForGood(error) && hasMore && days.length > 1 && last)) throw error;
    const isNewestFirst = days.every((day, at) => day && day <= (days[at - 1] ?? day));
    const isOldestFirst = days.every((day, at) => day && day >= (days[at - 1] ?? day));
    if (!isNewestFirst && !isOldestFirst) throw error;
    cut({ refusal: error, certainThrough: isOldestFirst ? addDays(last, -1) : undefined });
  }
}

/** How a list ended that was read. */
interface Ended {
  /** A link leads to more. All pages together reach as far back as the bank goes. */
  hasPages: boolean;
  /** The bank refused a page: see {@link pagesInHand}. */
  cut?: Cut | undefined;
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
  #cut: Cut | undefined;
  /** What the bank's own statements say that their rows do not. */
  readonly contradictions = new Set<string>();
  /** How many booked rows have a booking day that cannot be read. */
  unreadDays = 0;

  /** @param range `today`: coming rows may be after any range */
  constructor(range: DayRange & { today: IsoDate }) {
    this.#range = range;
  }

  add(rows: readonly Transaction[], { hasPages, cut, contradictions = [], unreadDays = 0 }: Ended): this {
    const { to, today } = this.#range;
    const latest = to && addDays(to, OUTSIDE_DAYS);
    this.#hasPages ||= hasPages;
    this.#cut ??= cut;
    for (const each of contradictions) this.contradictions.add(each);
    this.unreadDays += unreadDays;
    for (const row of rows) {
      const day = row.status === 'booked' ? dayOfRow(row) : null;
      this.#rows += row.status === 'booked' ? 1 : 0;
      if (day === null) continue;
      if (this.#oldest === undefined || day < this.#oldest) this.#oldest = day;
      this.#isIgnored ||= latest !== undefined && day <= today && day > latest;
    }
    return this;
  }

  /** The same accounts, with all lists watched. */
  over(accounts: Accounts): Accounts {
    const add = ({ booked, contradictions = [] }: TransactionPage) =>
      this.add(booked?.rows ?? [], { hasPages: booked?.hasMore ?? false, contradictions });
    const cut = (at: Cut) => {
      this.#cut ??= at;
    };
    // A list may be read again.
    const count = (unreadDays: number) => {
      this.unreadDays = Math.max(this.unreadDays, unreadDays);
    };
    return {
      ...accounts,
      async *pages(query) {
        let unreadDays = 0;
        for await (const page of pagesInHand(accounts, query, cut)) {
          add(page);
          unreadDays += page.unreadDays ?? 0;
          count(unreadDays);
          yield page;
        }
      },
    };
  }

  /** What is certain of the list, as far as the rows show. */
  get certain(): Certain {
    const { certainFrom, certainThrough } = this;
    return { certainFrom, certainThrough, refusal: this.#cut?.refusal };
  }

  /** The last day up to which the list is complete. Undefined if the newest one is. */
  get certainThrough(): IsoDate | undefined {
    return this.#cut?.certainThrough;
  }

  /** The first day from which the list is shown to be complete. Undefined if all of it is, as far as the rows show. */
  get certainFrom(): IsoDate | undefined {
    const isCut = this.#cut !== undefined && this.#cut.certainThrough === undefined;
    const oldest = isCut ? this.#oldest : this.#unreached;
    return (isCut || this.#isIgnored) && oldest !== undefined ? addDays(oldest, 1) : undefined;
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
export interface WatchedList extends Certain {
  rows: Transaction[];
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
  const olderList = await older(cutAt);
  const isOld = (row: Transaction) => row.status === 'booked' && (dayOfRow(row) ?? cutAt) <= cutAt;
  const before = olderList?.rows.filter(isOld) ?? [];
  const ofLastDay = before.filter((row) => (dayOfRow(row) ?? cutAt) === cutAt);
  if (!olderList || ofLastDay.length < rows.filter(isOld).length) return uncertain;
  const certainFrom = olderList.certainFrom ?? (olderList.cutAt && addDays(olderList.cutAt, 1));
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

/** The days whose rows are all in a list. */
export interface Certain {
  /** The first of them. Undefined: all days that were asked for are. */
  certainFrom?: IsoDate | undefined;
  /** The last of them, likewise. */
  certainThrough?: IsoDate | undefined;
  /** What the bank said to the page that it refused. */
  refusal?: { message: string } | undefined;
}

/** Whether all days that were asked for are certain. */
export function isWhole({ certainFrom, certainThrough }: Certain): boolean {
  return certainFrom === undefined && certainThrough === undefined;
}

/** The days that are certain, in words. `''`: nobody knows. */
export function certainDays({
  certainFrom: from,
  certainThrough: through,
}: {
  certainFrom?: string | null | undefined;
  certainThrough?: string | null | undefined;
}): string {
  const days = [from && `from ${from} on`, through && `up to ${through}`].filter(Boolean).join(' and ');
  return days && `only days ${days} are certain`;
}

/** @throws Psd2Error `needs_attention` unless the list has all days that were asked for */
export function assertComplete(productId: string, certain: Certain): void {
  if (!isWhole(certain)) throw notComplete(productId, certain);
}

/** The error for a list that is not {@link isWhole}. */
export function notComplete(productId: string, certain: Certain): Psd2Error {
  const { certainThrough, refusal } = certain;
  const why = refusal
    ? `the bank refused its next page (${refusal.message})`
    : 'it does not reach back to the first day';
  const days = certainDays(certain);
  return new Psd2Error(
    'needs_attention',
    `The bank's list of the transactions of ${productId} is not complete: ${why}${days && `, and ${days}`}`,
    {
      hint:
        certainThrough === undefined
          ? 'The bank ignores the range of days, has cut the list, or gives no further page. Older transactions may be missing.'
          : 'Newer transactions may be missing. Read them with a later --from, or once the bank gives more pages.',
    },
  );
}

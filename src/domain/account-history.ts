import Big from 'big.js';
import { addDays, type IsoDate } from './calendar.ts';
import { type Decimal, isDecimal, normalDecimal } from './decimal.ts';

/** A booked transaction of an account, in the account's currency. */
export interface Booking {
  /** Made by `withIds`. */
  id: string;
  /** The booking day. */
  day: IsoDate;
  valueDate: IsoDate | null;
  amount: Decimal;
  description: string;
  details: string;
  /** The bank's own code for the kind of transaction. */
  code: string | null;
  transferReference: string | null;
  feeCharge: boolean | null;
}

/** What an account did from one day to another, both included. */
export interface AccountHistory {
  from: IsoDate;
  to: IsoDate;
  /** The balance before the first day; null where the bank gives no balance. */
  opening: Decimal | null;
  /** The balance after the last day. */
  closing: Decimal | null;
  /** Oldest first. */
  bookings: Booking[];
  /** The balance at the end of each day; empty where the bank gives none. */
  balances: { date: IsoDate; balance: Decimal }[];
  /** Every month of the range, also one in which nothing happened. `out` is negative or zero. */
  months: { month: string; in: Decimal; out: Decimal; net: Decimal }[];
}

/**
 * The history of an account, counted back from its balance now. Exact.
 *
 * @param bookings all from the first day until now, those after the last day included, newest first as the bank has them
 * @param balance now: the sum of all that is booked; null where the bank gives none
 * @param from undefined: from the first booking on
 */
export function accountHistory(
  bookings: readonly Booking[],
  balance: Decimal | null,
  { from, to }: { from: IsoDate | undefined; to: IsoDate },
): AccountHistory {
  const within = bookings.filter(({ day }) => day <= to && day >= (from ?? day)).toReversed();
  // Stable: what the bank has in some order on one day stays in it.
  within.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  const first = from ?? within[0]?.day ?? to;
  const later = bookings.filter(({ day }) => day > to);
  const closing = balance === null ? null : new Big(balance).minus(sumOf(later));
  const opening = closing?.minus(sumOf(within)) ?? null;

  const balances: AccountHistory['balances'] = [];
  const months: AccountHistory['months'] = [];
  let running = opening;
  let next = 0;
  let [into, out] = [new Big(0), new Big(0)];
  for (let day = first; day <= to; day = addDays(day, 1)) {
    for (let booking = within[next]; booking?.day === day; booking = within[++next]) {
      running = running?.plus(booking.amount) ?? null;
      if (booking.amount.startsWith('-')) out = out.plus(booking.amount);
      else into = into.plus(booking.amount);
    }
    if (running) balances.push({ date: day, balance: written(running) });
    if (day === to || addDays(day, 1).slice(0, 7) !== day.slice(0, 7)) {
      months.push({
        month: day.slice(0, 7),
        in: written(into),
        out: written(out),
        net: written(into.plus(out)),
      });
      [into, out] = [new Big(0), new Big(0)];
    }
  }
  return {
    from: first,
    to,
    opening: opening && written(opening),
    closing: closing && written(closing),
    bookings: within,
    balances,
    months,
  };
}

/** The exact sum. */
export function sumOf(bookings: readonly Pick<Booking, 'amount'>[]): Decimal {
  return written(bookings.reduce((sum, { amount }) => sum.plus(amount), new Big(0)));
}

/** One who paid or was paid, as far as the bank's texts tell, with all that went to or came from them. */
export interface Counterparty {
  name: string;
  total: Decimal;
  count: number;
}

/**
 * Who the most money went to, and who it came from. The bank names no counterparty: bookings whose texts are the same but
 * for dates and numbers count as one.
 *
 * @param most how many of each
 */
export function largestCounterparties(
  bookings: readonly Booking[],
  most: number,
): { paid: Counterparty[]; received: Counterparty[] } {
  const largest = (some: Booking[]) => {
    const groups = new Map<string, Booking[]>();
    for (const booking of some) {
      const name = counterpartyOf(booking);
      const group = groups.get(name);
      if (group) group.push(booking);
      else groups.set(name, [booking]);
    }
    return [...groups]
      .map(([name, group]) => ({ name, total: sumOf(group), count: group.length }))
      .sort((a, b) => new Big(b.total).abs().cmp(new Big(a.total).abs()) || (a.name < b.name ? -1 : 1))
      .slice(0, most);
  };
  const isPaid = ({ amount }: Booking) => amount.startsWith('-');
  return {
    paid: largest(bookings.filter(isPaid)),
    received: largest(bookings.filter((booking) => !isPaid(booking))),
  };
}

function counterpartyOf({ description, details }: Booking): string {
  const name = (details || description)
    .toUpperCase()
    // Dates and months (14.11.2026, 11/2026, 2026-11-14) with the preposition before them, and long numbers.
    .replace(
      /(\b(DEL|DAL|AL|IL|OF|ON)\s+)?\b(\d{1,2}[./-]){0,2}\d{4}([./-]\d{1,2}){0,2}\b|\b[\dX*]{5,}\b/g,
      ' ',
    )
    .replace(/\s+/g, ' ')
    .trim();
  return name || (details || description).trim() || '(no text)';
}

/** As {@link normalDecimal} writes it. */
export function written(amount: Big): Decimal {
  const text = amount.toFixed();
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return normalDecimal(text);
}

import Big from 'big.js';
import { addDays, type IsoDate } from './calendar.ts';
import { type Decimal, isDecimal, normalDecimal } from './decimal.ts';
import type { TransactionFacts } from './transaction-facts.ts';

/** A booked transaction of an account, in the account's currency. */
export interface Booking extends TransactionFacts {
  /** Assigned by `withIds`. */
  id: string;
  /** The booking day, or what places the booking if it has none. */
  day: IsoDate;
  /** The bank says no booking day that can be read: `day` is the value day. */
  isValueDay?: true;
  valueDate: IsoDate | null;
  /** In the form of {@link normalDecimal}. */
  amount: Decimal;
  description: string;
  details: string;
  /** The bank's own code for the kind of transaction. */
  code: string | null;
  transferReference: string | null;
  feeCharge: boolean | null;
}

/** A booked transaction in another currency than its account's. */
export interface ForeignBooking extends Booking {
  currency: string;
}

/** The order of bookings, the oldest first. */
export function byDay(a: Pick<Booking, 'day'>, b: Pick<Booking, 'day'>): number {
  return a.day < b.day ? -1 : a.day > b.day ? 1 : 0;
}

/** Separates bookings by whether they are in the account's currency. @returns the others of a range, oldest first */
export function byCurrency(
  bookings: readonly ForeignBooking[],
  currency: string,
  { from, to }: { from: IsoDate | undefined; to: IsoDate },
): { own: Booking[]; foreign: ForeignBooking[] } {
  const own = bookings.flatMap(({ currency: of, ...booking }) => (of === currency ? [booking] : []));
  const foreign = bookings.filter(
    ({ currency: of, day }) => of !== currency && day <= to && day >= (from ?? day),
  );
  return { own, foreign: foreign.toReversed().sort(byDay) };
}

/** The history of an account from one day to another, both included. */
export interface AccountHistory {
  from: IsoDate;
  to: IsoDate;
  /** The balance before the first day. Null if the bank gives no balance. */
  opening: Decimal | null;
  /** The balance after the last day. */
  closing: Decimal | null;
  /** Oldest first. */
  bookings: Booking[];
  /** The balance at the end of each day. Empty if the bank gives no balance. */
  balances: { date: IsoDate; balance: Decimal }[];
  /** All months of the range, including months without transactions. `out` is negative or zero. */
  months: { month: string; in: Decimal; out: Decimal; net: Decimal }[];
}

/**
 * Calculates the exact history of an account from its balance of one day.
 *
 * @param bookings all bookings from the first day, or the day after that of the balance, until now, also those after the last day.
 *   Newest first, in the bank's order
 * @param balance the balance. Null if none is known
 * @param range `from` undefined: the day of the first booking. `balanceDay`: the last day whose bookings are in the balance.
 *   Undefined: all bookings are
 */
export function accountHistory(
  bookings: readonly Booking[],
  balance: Decimal | null,
  { from, to, balanceDay }: { from: IsoDate | undefined; to: IsoDate; balanceDay?: IsoDate | undefined },
): AccountHistory {
  const within = bookings.filter(({ day }) => day <= to && day >= (from ?? day)).toReversed();
  // The sort is stable, so bookings of one day keep the bank's order.
  within.sort(byDay);
  const first = from ?? within[0]?.day ?? to;
  const later = bookings.filter(({ day }) => day > to && day <= (balanceDay ?? day));
  const since = bookings.filter(({ day }) => day <= to && day > (balanceDay ?? day));
  const closing = balance === null ? null : new Big(balance).minus(sumOf(later)).plus(sumOf(since));
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

/** The exact sum of the amounts. */
export function sumOf(bookings: readonly Pick<Booking, 'amount'>[]): Decimal {
  return written(bookings.reduce((sum, { amount }) => sum.plus(amount), new Big(0)));
}

/** A payer or payee, as the bank names it, or else as its texts show, with the total of their transactions. */
export interface Counterparty {
  name: string;
  total: Decimal;
  count: number;
}

/**
 * The payees and payers with the largest totals. Where the bank does not name them, bookings whose texts differ only in dates
 * and numbers count as one.
 *
 * @param max the maximum number of payees and of payers
 */
export function largestCounterparties(
  bookings: readonly Booking[],
  max: number,
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
      .slice(0, max);
  };
  const isPaid = ({ amount }: Booking) => amount.startsWith('-');
  return {
    paid: largest(bookings.filter(isPaid)),
    received: largest(bookings.filter((booking) => !isPaid(booking))),
  };
}

/** The other side, as the bank names it. */
export function namedCounterparty(booking: TransactionFacts): string | undefined {
  const { counterpartyName, counterpartyIban, counterpartyAccount } = booking;
  const names = [counterpartyName, counterpartyIban, counterpartyAccount];
  return names.find((each) => each?.trim())?.trim();
}

function counterpartyOf(booking: Booking): string {
  const named = namedCounterparty(booking);
  if (named !== undefined) return named.replace(/\s+/g, ' ').toUpperCase();
  const { description, details } = booking;
  const text = details.trim() || description.trim();
  const name = text
    .toUpperCase()
    // Removes dates and months (14.11.2026, 11/2026, 2026-11-14) with the preposition before them, and long numbers.
    .replace(
      /(\b(DEL|DAL|AL|IL|OF|ON)\s+)?\b(\d{1,2}[./-]){0,2}\d{4}([./-]\d{1,2}){0,2}\b|\b[\dX*]{5,}\b/g,
      ' ',
    )
    .replace(/\s+/g, ' ')
    .trim();
  return name || text || '(no text)';
}

/** Writes a number in the form of {@link normalDecimal}. */
export function written(amount: Big): Decimal {
  const text = amount.toFixed();
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return normalDecimal(text);
}

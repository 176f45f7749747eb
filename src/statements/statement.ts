import { type AccountHistory, type Booking, byDay, type ForeignBooking } from '../domain/account-history.ts';
import type { IsoDate } from '../domain/calendar.ts';

/** An account and its history, as input for an export. */
export interface Statement {
  productId: string;
  iban: string | null;
  /** ISO 4217. */
  currency: string;
  /** The customer's name for the account, or the bank's name for the product. */
  name: string | null;
  productCode: string | null;
  history: AccountHistory;
  /** The bookings of these days in other currencies, oldest first. Balances and sums do not have them. */
  foreign: readonly ForeignBooking[];
  /** Why the history has no balances. Null if it has, or the bank gives none for this product. */
  noBalance: string | null;
  /** The first day from which the history is shown to be complete. Null if all of it is. */
  certainFrom: IsoDate | null;
  /** The last day up to which it is shown to be complete, likewise. */
  certainThrough?: IsoDate | undefined;
  /** The bank's refusal of a page of the list, if that is the reason. */
  refusal?: { message: string } | undefined;
  /** What a sync was not certain of, in words, and whether rows may be missing for that. Null: nothing. */
  doubt: { message: string; mayLackRows: boolean } | null;
  /** What the bank's own statements say that their rows do not, in sentences. */
  contradictions: readonly string[];
  /** How many bookings have a booking day that cannot be read. Absent: nobody has counted. */
  unreadDays?: number;
  /** Whether a credit line is in the balances. Null: the bank does not say. */
  creditLimitIncluded: boolean | null;
  /** When the export was made, in the bank's time zone: ISO 8601 with offset. */
  createdAt: string;
}

/** All bookings in any currency, oldest first. One without a currency is in the account's. */
export function allBookings({ history, foreign }: Statement): (Booking & Partial<ForeignBooking>)[] {
  if (foreign.length === 0) return history.bookings;
  return [...history.bookings, ...foreign].sort(byDay);
}

/** What a document with one currency leaves out, as a sentence. Null: nothing. */
export function leftOutOf({ foreign, currency }: Statement, document: string): string | null {
  if (foreign.length === 0) return null;
  const currencies = [...new Set(foreign.map((each) => each.currency))].join(', ');
  const what = foreign.length === 1 ? '1 transaction' : `${foreign.length} transactions`;
  return `${what} in ${currencies} left out: ${document} has ${currency} alone.`;
}

import type { IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';

/** A transaction of an account. It is pending until `bookedFrom`, then booked. */
export interface Entry {
  /** Negative if the money leaves the account. */
  amount: Cents;
  enteredAt: Date;
  bookedFrom: Date;
  bookingDay: IsoDate;
  valueDay: IsoDate;
  /** The Italian banks' code for the kind of transaction. */
  code: string;
  shortDescription: string;
  extendedDescription: string;
  /** The reference of a transfer, or `''`. */
  transferReference: string;
  isFee: boolean;
  /** A card payment that the shop has authorised but not collected. */
  preAuthorized: boolean;
}

/** Entries of an account, newest first. They may be computed on request. */
export interface Rows {
  count: number;
  /** The sum of the amounts that entered the account. */
  entering: Cents;
  /** The sum of the amounts that left it. At most 0. */
  leaving: Cents;
  /** The entries from index `start` up to but excluding `end`. */
  slice(start: number, end: number): Entry[];
  /** One entry of each code that occurs. */
  samples(): Entry[];
}

/** Rows of a complete list of entries. */
export function ledgerRows(entries: readonly Entry[]): Rows {
  const sum = (counts: (amount: Cents) => boolean): Cents =>
    entries.reduce((total, { amount }) => (counts(amount) ? total + amount : total), 0);
  return {
    count: entries.length,
    entering: sum((amount) => amount > 0),
    leaving: sum((amount) => amount < 0),
    slice: (start, end) => entries.slice(start, end),
    samples: () => [...new Map(entries.map((entry) => [entry.code, entry])).values()],
  };
}

/** The rows of `older` after those of `newer`. */
export function joinRows(newer: Rows, older: Rows): Rows {
  return {
    count: newer.count + older.count,
    entering: newer.entering + older.entering,
    leaving: newer.leaving + older.leaving,
    slice: (start, end) => [
      ...newer.slice(start, end),
      ...older.slice(Math.max(0, start - newer.count), Math.max(0, end - newer.count)),
    ],
    samples: () => ledgerRows([...older.samples(), ...newer.samples()]).samples(),
  };
}

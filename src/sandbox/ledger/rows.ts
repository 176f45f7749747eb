import type { Cents } from './cents.ts';
import type { Entry } from './entry.ts';

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
export function rowsOf(entries: readonly Entry[]): Rows {
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
    samples: () => rowsOf([...older.samples(), ...newer.samples()]).samples(),
  };
}

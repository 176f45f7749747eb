import type { IsoDate } from '../../domain/calendar.ts';

/** Where `psd2 sync` keeps what it has read. */
export interface Sync {
  /** Shows other runs that this one is alive, while `work` runs. @throws Psd2Error `config` */
  run<T>(signal: AbortSignal, work: (run: SyncRun) => Promise<T>): Promise<T>;
}

export interface SyncRun {
  /**
   * Works on a customer, one run at a time. What the work has said until it ended, well or not, is committed.
   *
   * @throws Psd2Error `config` when another run is at it for too long or has taken it over, or what is stored is damaged
   */
  customer<T>(customerId: string, work: (to: SyncTarget) => Promise<T>): Promise<T>;
}

/** How far the transactions of a product are synced. */
export interface Progress {
  /** The first and the last day whose booked transactions are stored. */
  from: IsoDate;
  through: IsoDate;
  /** `through` was compared with the bank's own day. */
  checked?: true | undefined;
}

/** A row as it is stored: its id, and the day it is sorted and looked up by. */
export interface SyncedRow {
  id: string;
  bookingDate: string | null;
}

/** What is kept of one customer. Rows and what is said of them are one step: after {@link commit} all of it is durable. */
export interface SyncTarget {
  /** None where the rows that it tells of are not all there: they are fetched again then. */
  progress(productId: string): Promise<Progress | undefined>;
  /**
   * The booked transactions of a product.
   *
   * @param readsAll rows of any day may come again, and not only those that were not settled
   */
  booked(productId: string, readsAll: boolean): Promise<BookedRows>;
  /** @param name `accounts`, `balances`, `balances/<productId>` or `pending/<productId>`: what is as it is now */
  replace(name: string, rows: readonly object[]): void;
  /**
   * To be said after the rows it tells of were appended.
   *
   * @param settled nothing that was booked before this day can come again
   */
  remember(productId: string, progress: Progress, settled: IsoDate): void;
  /** @throws Psd2Error `config` when it can't be written, or another run has taken the customer over */
  commit(): Promise<void>;
}

/** The booked transactions of a product: a row is there once, whatever is fetched again. */
export interface BookedRows {
  /** Appends the rows that are not there yet. @returns how many these are */
  append(rows: readonly SyncedRow[]): Promise<number>;
  /** The latest day, up to `most`, that a row which may come again was booked on. */
  lastDay(most: IsoDate): Promise<IsoDate | undefined>;
}

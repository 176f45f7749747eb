import type { IsoDate } from '../../domain/calendar.ts';

/** Where `psd2 sync` stores what it has read. */
export interface Sync {
  /** Runs `work`, and shows other runs that this one is alive. @throws Psd2Error `config` */
  run<T>(signal: AbortSignal, work: (run: SyncRun) => Promise<T>): Promise<T>;
}

export interface SyncRun {
  /**
   * Works on a customer, one run at a time. When `work` ends, even with an error, it commits what `work` stored so far.
   *
   * @throws Psd2Error `config` if another run holds the customer for too long, or stored data is damaged; `overtaken` if
   *   another run has taken the customer over
   */
  customer<T>(customerId: string, work: (to: SyncTarget) => Promise<T>): Promise<T>;
}

/** Which days of a product's transactions are synced. */
export interface Progress {
  /** The first and the last day whose booked transactions are stored. */
  from: IsoDate;
  through: IsoDate;
  /** True if `through` was compared with the bank's own day. */
  checked?: true | undefined;
}

/** A stored row: its id, and the day that psd2 sorts and finds it by. */
export interface SyncedRow {
  id: string;
  bookingDate: string | null;
}

/** The synced data of one customer. {@link commit} makes rows and progress durable in one step. */
export interface SyncTarget {
  /** Undefined if not all rows are there that the progress counts on. The caller fetches them again then. */
  progress(productId: string): Promise<Progress | undefined>;
  /**
   * The booked transactions of a product.
   *
   * @param readsAll whether rows of any day may come again, and not only those that were not settled
   */
  booked(productId: string, readsAll: boolean): Promise<BookedRows>;
  /** Replaces the current state of `accounts`, `balances`, `balances/<productId>` or `pending/<productId>` (`name`). */
  replace(name: string, rows: readonly object[]): void;
  /**
   * Stores the progress. Call it after the rows were appended.
   *
   * @param settled no row that was booked before this day can come again
   */
  remember(productId: string, progress: Progress, settled: IsoDate): void;
  /** @throws Psd2Error `config` if it cannot be written; `overtaken` if another run has taken the customer over */
  commit(): Promise<void>;
}

/** The booked transactions of a product. Each row is stored once, even if it is fetched again. */
export interface BookedRows {
  /** Appends the rows that are missing. @returns how many it appended */
  append(rows: readonly SyncedRow[]): Promise<number>;
  /** The latest booking day, up to `most`, of a row that may come again. */
  lastDay(most: IsoDate): Promise<IsoDate | undefined>;
}

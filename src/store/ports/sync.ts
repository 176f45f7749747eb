import type { RowsOf } from '../../domain/booked-ids.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import type { Decimal, Money } from '../../domain/decimal.ts';
import type { ListedAccount, Placed } from '../../domain/same-accounts.ts';
import type { NamedRow } from '../../domain/same-rows.ts';

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
  /** The booked balance of the bank after the stored rows. Absent: the bank gave none, or a sync has not come to the last day yet. */
  balance?: Money | undefined;
  /** What the bank's balance has beyond that of the stored rows. Absent: nothing, or it is not known. */
  difference?: Decimal | undefined;
  /** What the bank's own statements say that their rows do not, among those of the stored days. */
  contradictions?: readonly Contradiction[] | undefined;
  /** The bank's reference of the newest stored row, at a bank that gives what comes after it. */
  newest?: string | undefined;
}

/** A sentence about a statement of the bank whose rows do not lead to its figures, and the days in which it was read. */
export interface Contradiction {
  says: string;
  from: IsoDate;
  through: IsoDate;
}

/** A stored row, without what only its readers need. */
export interface SyncedRow extends NamedRow {
  /** It vanished before its day. */
  cancelled?: boolean | null | undefined;
  /** The bank hid it, and its balance agrees without it: another one was booked for it, or it was released. */
  replaced?: boolean | null | undefined;
}

/** Why a stored row does not count any more. */
export type RowMark = 'cancelled' | 'replaced';

/** Whether a stored row is one of the account. */
export function counts({ cancelled, replaced }: Pick<SyncedRow, RowMark>): boolean {
  return !cancelled && !replaced;
}

/** An account as a list of the bank has it. */
export interface AccountOfList extends ListedAccount {
  accountId: string;
  productCode: string | null;
  productDescription: string | null;
  status?: string | undefined;
}

/**
 * The synced data of one customer. {@link commit} makes rows and progress durable in one step. All take the ids that the bank gives the
 * accounts today.
 */
export interface SyncTarget {
  /**
   * Replaces the accounts, and finds where each is stored (`domain/same-accounts.ts`).
   *
   * @param areNamed whether an account is its number and currency, and not its id
   */
  place<Listed extends AccountOfList>(
    accounts: readonly Listed[],
    areNamed: boolean,
  ): Promise<Placed<Listed>[]>;
  /** Undefined if not all rows are there that the progress counts on. The caller fetches them again then. */
  progress(productId: string): Promise<Progress | undefined>;
  /**
   * The booked transactions of a product.
   *
   * @param readsAll whether rows of any day may come again, and not only those that were not settled
   */
  booked(productId: string, readsAll: boolean): Promise<BookedRows>;
  /** Replaces the current state of `balances`, `balances/<account>` or `pending/<account>` (`name`). */
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

/** The booked transactions of a product. Each row is stored once, even if it is fetched again (`domain/same-rows.ts`). */
export interface BookedRows {
  /** Appends the rows that are missing. @param how `covered`: the days that the rows are all of */
  append<Row extends SyncedRow>(rows: readonly Row[], how: HowToAppend): Promise<Appended<Row>>;
  /** Makes rows of any day known, also those that were settled. */
  recall(): Promise<void>;
  /** The stored rows of the days read so far that the bank has not shown again. */
  gone(): Promise<SyncedRow[]>;
  /** Marks some of {@link gone} as replaced. */
  replace(rows: readonly SyncedRow[]): Promise<void>;
  /**
   * Ends a reading: marks the coming rows cancelled that it has not shown again.
   *
   * @param from rows of earlier days may be missing because the bank selects days by another date
   * @returns how many it marked, and how many other stored rows the bank does not show any more
   */
  end(from: IsoDate): Promise<{ cancelled: number; gone: number }>;
  /** The latest booking day, not after `latest`, of a row that may come again. */
  lastDay(latest: IsoDate): Promise<IsoDate | undefined>;
}

export interface HowToAppend {
  of: RowsOf;
  /** The days whose rows these all are. Undefined: rows that came after others. Without `to`: all from a day on. */
  covered: { from: IsoDate; to: IsoDate | undefined } | undefined;
  /** A row that was stored before its day is like any other from then on. */
  today?: IsoDate;
}

export interface Appended<Row> {
  /** Of the rows, those that were missing. */
  added: Row[];
  /** Of the rows, those that were stored before their day, as they are stored. */
  awaited: ReadonlyMap<Row, SyncedRow>;
  /** Rows that are probably stored, with another text or day: nothing names them for certain. */
  unsure: number;
  /** For each added row that may be stored too, the stored rows that it may be. */
  doubtful: readonly (readonly { id: string }[])[];
}

/** The rounds of `psd2 sync --all-customers` over the customers of a profile. All workers share them. */
export interface Rounds {
  /** A round over these customers, for this process only. */
  over(customers: readonly string[]): Round;
  /**
   * Joins the open round, if workers take part in it or it began not long ago. Otherwise begins a round, in which all
   * customers with stored tokens are due, and those without who have a consent at the profile's bank.
   *
   * @param every milliseconds from the beginning of one round to the beginning of the next. Without it, the next one
   *   begins now
   * @returns the round, or the milliseconds until the next one begins
   * @throws Psd2Error `config`
   */
  join(every?: number): Promise<Round | { dueIn: number }>;
  /** Joins the round of another thread of this process. */
  rejoin(share: RoundShare): Round;
  /** The progress of the last round; undefined if there was none. @throws Psd2Error `config` */
  status(): Promise<RoundStatus | undefined>;
  /** Whether the error means that the store cannot be reached now, so that the same call may succeed later. */
  isAway(error: unknown): boolean;
}

/** What another thread needs to join a round. */
export type RoundShare =
  | { customers: readonly string[]; taken: Int32Array<SharedArrayBuffer> }
  | { round: number; begunAt: string; size: number };

/**
 * A worker's part in a round. Each customer is dealt to one worker. Customers of a dead worker are due again within
 * seconds.
 */
export interface Round {
  readonly share: RoundShare;
  /** The number of customers in the round. */
  readonly size: number;
  /**
   * Takes the next customer, one that no other worker has and that is not finished in this round. `later`: other workers
   * have the rest, and may give some back. `over`: all are finished.
   *
   * @param max maximum number of customers to deal to this worker in advance
   * @throws Psd2Error `config` if the store cannot be reached. What was dealt before stays dealt
   */
  next(max: number): Promise<Dealt | 'later' | 'over'>;
  /** How many customers are due, and how many workers have taken. */
  counts(): Promise<{ due: number; atWork: number }>;
  /** Adds what this process has done since its last note to the progress that `status` shows. */
  note(done: RoundNote): Promise<void>;
  /** Gives back the customers that were dealt and are not finished. If that fails, they are due again some seconds later. */
  leave(): Promise<void>;
}

/** A customer that was dealt to this worker. */
export interface Dealt {
  readonly customerId: string;
  /**
   * Records that the customer was processed in this round. Does nothing if another worker has taken the customer over.
   *
   * @throws Psd2Error `config` if the store cannot be reached. Once it is back, {@link Round.next} records it
   */
  finish(end: CustomerEnd): Promise<void>;
  /** Gives the customer another turn later, by this worker, unless another worker has taken the customer over. */
  again(): void;
}

/** The result of a customer's turn. */
export interface CustomerEnd {
  /** `waiting`: psd2 may not read the customer's accounts now. */
  status: 'synced' | 'partly' | 'waiting' | 'failed';
  /** The code of the first failure; null if there was none. */
  code: string | null;
  message: string | null;
}

/** What a process has done in a round. */
export interface RoundNote {
  calls: number;
  ends: readonly (CustomerEnd & { customerId: string })[];
  /** Whether all customers were processed. */
  isOver: boolean;
}

/** The data of `psd2 sync status`. Times are ISO 8601 with zone. */
export interface RoundStatus {
  begunAt: string;
  /** Null while the round is open. */
  endedAt: string | null;
  due: number;
  atWork: number;
  /** The number of customers by result. */
  done: Record<CustomerEnd['status'], number>;
  /** The failures, the most frequent first, those of the same number by their codes, each with one of its customers. */
  failures: { code: string; customers: number; customerId: string; message: string }[];
  /** Customers whose SCA the bank requires, at most 100, sorted. */
  needSca: string[];
  workers: { worker: string; customers: number }[];
  /** Over the last minutes; null if nothing was done. */
  callsPerSecond: number | null;
  customersPerSecond: number | null;
}

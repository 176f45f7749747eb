/** How `psd2 sync --all-customers` goes over the customers of a profile, whichever workers take part. */
export interface Rounds {
  /** A round over these customers, for this process alone. */
  over(customers: readonly string[]): Round;
  /**
   * Takes part in the round that workers are at, or that was left unfinished not long ago. Where there is none, begins one:
   * all customers whose tokens are kept are due in it.
   *
   * @param every milliseconds from the beginning of one round to the beginning of the next; without it the next one begins now
   * @returns the round; or in how many milliseconds the next one begins
   * @throws Psd2Error `config`
   */
  join(every?: number): Promise<Round | { dueIn: number }>;
  /** The round that another thread of this process takes part in. */
  rejoin(share: RoundShare): Round;
  /** How far the last round is; undefined where there was none. @throws Psd2Error `config` */
  status(): Promise<RoundStatus | undefined>;
  /** Whether the store can't be reached now, and the same may go well when it is back. */
  isAway(error: unknown): boolean;
}

/** What another thread is given to take part in a round. */
export type RoundShare =
  | { customers: readonly string[]; taken: Int32Array<SharedArrayBuffer> }
  | { round: number; begunAt: string; size: number };

/** A worker's part in a round. A customer is dealt to one worker; one that dies gives back what it had within seconds. */
export interface Round {
  readonly share: RoundShare;
  /** How many customers it is over. */
  readonly size: number;
  /**
   * The next customer, whom no other worker has and who is not finished in this round. `later`: others have the rest, and
   * may give some back. `over`: all are finished.
   *
   * @param most how many may be dealt to this worker in advance
   * @throws Psd2Error `config` when the store can't be reached: what was dealt before stays so
   */
  next(most: number): Promise<Dealt | 'later' | 'over'>;
  /** How many customers are to be dealt, and how many workers have. */
  counts(): Promise<{ due: number; atWork: number }>;
  /** Adds to what `status` tells of the last minutes: what this process has done since it said so before. */
  note(done: RoundNote): Promise<void>;
  /** Gives back what was dealt and is not finished. What can't be given back now, comes back by itself. */
  leave(): Promise<void>;
}

/** A customer who was dealt to this worker. */
export interface Dealt {
  readonly customerId: string;
  /**
   * The customer had their turn in this round. Where another worker has taken them over meanwhile, nothing is said.
   *
   * @throws Psd2Error `config` when the store can't be reached; it is said as soon as the store is back, by {@link Round.next}
   */
  finish(end: CustomerEnd): Promise<void>;
  /** The customer has their turn again later, of this worker, unless another worker has taken them over meanwhile. */
  again(): void;
}

/** What became of a customer in a round. */
export interface CustomerEnd {
  /** `waiting`: they were read as often as they may be today. */
  status: 'synced' | 'partly' | 'waiting' | 'failed';
  /** The first thing that went wrong; null where nothing did. */
  code: string | null;
  message: string | null;
}

/** What a process has done in a round. */
export interface RoundNote {
  calls: number;
  ends: readonly (CustomerEnd & { customerId: string })[];
  /** All customers had their turn. */
  isOver: boolean;
}

/** What `psd2 sync status` says. Times are ISO 8601 with zone. */
export interface RoundStatus {
  begunAt: string;
  /** Null while it is open. */
  endedAt: string | null;
  due: number;
  atWork: number;
  /** Customers by what became of them. */
  done: Record<CustomerEnd['status'], number>;
  /** What went wrong, most often first, with the customer of one of them. */
  failures: { code: string; customers: number; customerId: string; message: string }[];
  /** Customers whose SCA the bank wants, at most a hundred. */
  needSca: string[];
  workers: { worker: string; customers: number }[];
  /** Over the last minutes; null where nothing was done. */
  callsPerSecond: number | null;
  customersPerSecond: number | null;
}

/** What a store keeps of the reads of one customer. */
export interface CustomerReads {
  /** When psd2 last read all accounts that are not in `failed`; null if never. */
  readAt: string | null;
  failed: readonly Omit<FailedRead, 'customerId'>[];
  /** What the last sync of each account could not know. */
  doubts: readonly Doubt[];
}

/** What is not certain of the rows of an account. */
export interface Doubt {
  productId: string;
  /** ISO 8601 with zone. */
  at: string;
  balanced: boolean | null;
  difference: string | null;
  complete: boolean;
  certainFrom: string | null;
  /** All of it, in words. */
  message: string;
}

/** What a sync found of one customer. */
export interface ReadResult {
  customerId: string;
  /** ISO 8601 with zone. */
  at: string;
  /** The accounts that could not be read. A `productId` of null is the customer as a whole. */
  failures: readonly ReadFailure[];
  /** The accounts that psd2 did not try to read. */
  skipped: readonly string[];
  /** The accounts whose rows are not certain. Absent: all that were read are. */
  doubts?: readonly Omit<Doubt, 'at'>[];
}

export interface ReadFailure {
  productId: string | null;
  /** Error code. */
  code: string;
  message: string;
}

/** An account that could not be read. Times are ISO 8601 with zone. */
export interface FailedRead extends ReadFailure {
  customerId: string;
  /** The first of the failures in a row. */
  since: string;
  /** How many there were in a row. */
  failures: number;
  lastFailedAt: string;
  /** The last read that brought data, also if it came after the failures; null if psd2 knows of none. */
  lastReadAt: string | null;
}

/** A customer whose oldest data is of this time (ISO 8601 with zone). Null: psd2 has read nothing, and `since` then it has tried. */
export interface OutdatedCustomer {
  customerId: string;
  readAt: string | null;
  since: string;
}

/**
 * What syncs could not read, and when they last read. The store keeps a failure for 30 days. All workers of a profile share
 * it. A power cut may lose the last results.
 */
export interface ReadResults {
  /** Adds the results of a sync. Each result is newer than those before. @throws Psd2Error `config` */
  add(results: readonly ReadResult[]): Promise<void>;
  /** What has failed since a time, also if it was read again. No particular order. @throws Psd2Error `config` */
  failed(since: Date): Promise<FailedRead[]>;
  /** The customers whose oldest data is older than a time, or who were never read since it. @throws Psd2Error `config` */
  outdated(before: Date): Promise<OutdatedCustomer[]>;
  /** What the last syncs could not know. @throws Psd2Error `config` */
  doubts(): Promise<(Doubt & { customerId: string })[]>;
  /** Removes what is kept of a customer. @throws Psd2Error `config` */
  forget(customerId: string): Promise<void>;
}

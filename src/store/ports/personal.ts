/** A random name that stands for a word: the id of a customer, or an account of theirs. */
export interface Pseudonym {
  pseudonym: string;
  customerId: string;
  word: string;
}

/** What a store keeps about one customer of a profile, without secrets. */
export interface CollectedData {
  /** At any bank. Times are ISO 8601, null if the bank gave none. */
  logins: {
    baseUrl: string;
    accessTokenExpiresAt: string | null;
    refreshTokenExpiresAt: string | null;
    scope: string | null;
  }[];
  /** Also those that have the customer's pseudonym already. The events are as they were written. */
  flows: { flow: string; kind: string; events: { at: string; event: unknown }[] }[];
  /** Everything else but batches, the audit log, the log of calls and the folders of syncs, by the name of its table or file. */
  rows: StoredRows[];
}

/** Rows of a table, lines of a file. */
export interface StoredRows {
  name: string;
  rows: unknown[];
}

/** What was removed. */
export interface Removed {
  /** The name of a table, a file or a folder. */
  name: string;
  /** The number of rows, lines or files. */
  count: number;
}

/**
 * What a store keeps about one customer of a profile, and how it goes (privacy page). Each step of forgetting can be repeated: a
 * step that was interrupted finds what it has left.
 */
export interface PersonalData {
  /** @throws Psd2Error `config` if something is damaged */
  collect(customerId: string): Promise<CollectedData>;
  /** @throws Psd2Error `config` if this user of the store may not forget customers */
  assertMayForget(): Promise<void>;
  /**
   * The pseudonym of the customer, or of an account of theirs. The same word always has the same one, until
   * {@link forgetPseudonyms}.
   *
   * @throws Psd2Error `config`
   */
  pseudonymOf(customerId: string, word: string): Promise<string>;
  /** The pseudonyms of all customers. @throws Psd2Error `config` */
  pseudonyms(): Promise<Pseudonym[]>;
  /**
   * Changes the events of a flow, as a whole or not at all. What `change` gives must be valid events of the same kind.
   *
   * @throws Psd2Error `config` if the journal is damaged, or another worker works on the flow
   */
  rewriteFlow(flow: string, change: (event: unknown) => unknown): Promise<void>;
  /** Removes tokens and all rows of the customer, at any bank. Waits for a worker that uses them. @throws Psd2Error `config` */
  removeRows(customerId: string): Promise<Removed[]>;
  /** Forgets whose the pseudonyms are. This cannot be undone, and comes last. @throws Psd2Error `config` */
  forgetPseudonyms(customerId: string): Promise<void>;
  /** What a sync with `--out` has written about a customer in a folder. */
  syncedInto(out: string): SyncedFolder;
}

export interface SyncedFolder {
  /** @throws Psd2Error `config` */
  rows(customerId: string): Promise<StoredRows[]>;
  /** Waits for a sync that works on the customer. @returns the number of files. @throws Psd2Error `config` */
  remove(customerId: string): Promise<number>;
}

/** Whether psd2 has forgotten a customer of a profile since this command began. */
export type IsForgotten = (profile: string, customerId: string) => boolean;

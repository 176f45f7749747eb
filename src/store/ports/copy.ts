import type { StoredTokens } from './tokens.ts';

// What `psd2 store copy` knows of a home: the records of what it holds, and the mark that says where they went.

/** Another store, by its id and where it is. */
export interface OtherStore {
  id: string;
  /** For the operator: a folder; or host, port and database, never a password. */
  place: string;
}

/** What a store says of itself. Workers are refused while it has moved away, and while a copy into it has not ended. */
export interface Mark {
  /** Made at random with the store. */
  id: string;
  movedTo: OtherStore | null;
  copiedFrom: (OtherStore & { isComplete: boolean }) | null;
}

/** The tokens of a holder as they stand; null where the operator has logged out. Times are ISO 8601 in UTC. */
export interface LoginRecord {
  kind: 'login';
  /** Empty for the application's own. */
  holder: string;
  generation: number;
  /** The generation that the refresh token came with. */
  origin: number;
  baseUrl: string;
  tokens: StoredTokens | null;
}

/** A flow with what happened to it. */
export interface FlowRecord {
  kind: 'flow';
  flow: string;
  underWay: boolean;
  /** In their order, as they were written; `at` is ISO 8601 in UTC. */
  events: { at: string; event: unknown }[];
}

/** How often something was done on a day, `YYYY-MM-DD`: calls with client credentials, or reads of an account. */
export interface CountRecord {
  kind: 'count';
  day: string;
  /** Null for the calls; else what was read, without its customer: an empty product is the list of accounts. */
  read: { customerId: string; productId: string } | null;
  count: number;
}

/** What the bank refused a holder. Times are ISO 8601 in UTC. */
export interface NoteRecord {
  kind: 'note';
  holder: string;
  refresh: { at: string; message: string; of: string | null } | null;
  call: { at: string; message: string } | null;
}

/** Who logged in last. */
export interface LastLoginRecord {
  kind: 'last-login';
  customerId: string;
}

export type StoredRecord = LoginRecord | FlowRecord | CountRecord | NoteRecord | LastLoginRecord;

/** What a home holds of one profile. */
export interface Holdings {
  /** All of it. @throws Psd2Error `config` for what is damaged, or can't be decrypted */
  records(): AsyncIterable<StoredRecord>;
  /** What is held in the place of such a record; undefined where there is none. @throws Psd2Error `config` */
  counterpart(record: StoredRecord): Promise<StoredRecord | undefined>;
  /**
   * Holds a record from now on, durably. Older tokens never replace newer ones, and of a flow the events that are missing are
   * added.
   *
   * @throws Psd2Error `config`
   */
  put(record: StoredRecord): Promise<void>;
}

/** A home as the copy sees it. */
export interface CopySide {
  /** A folder; or host, port and database, never a password. */
  readonly place: string;
  mark(): Promise<Mark>;
  /** Changes the mark, durably: what was claimed before can be seen by {@link atWork} after it. @throws Psd2Error `config` */
  setMark(change: Partial<Omit<Mark, 'id'>>): Promise<void>;
  /** Who works on something at this moment. */
  atWork(): Promise<string[]>;
  /** Whose records are held. */
  profiles(): Promise<string[]>;
  open(profile: string): Holdings;
}

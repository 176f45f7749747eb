import type { EmbeddedStep } from '../../domain/embedded.ts';
import type { AuditLine } from './audit.ts';
import type { KeptCustomer } from './customers.ts';
import type { Pseudonym } from './personal.ts';
import type { CustomerReads } from './read-results.ts';
import type { StoredTokens } from './tokens.ts';

// What `psd2 store copy` knows about a backend: its records, and the mark that says where they were copied to or from.

/** Another store: its id and where it is. */
interface OtherStore {
  id: string;
  /** For the operator: a folder; or host, port and database, never a password. */
  place: string;
}

/** The mark of a store. Workers are refused after it was copied to another store, and until a copy into it is complete. */
export interface Mark {
  /** Random, created with the store. */
  id: string;
  movedTo: OtherStore | null;
  copiedFrom: (OtherStore & { isComplete: boolean }) | null;
}

/** The tokens of a holder; null after a logout. Times are ISO 8601 in UTC. */
export interface LoginRecord {
  kind: 'login';
  /** Empty for the application. */
  holder: string;
  generation: number;
  /** The generation in which the bank gave the refresh token. */
  origin: number;
  baseUrl: string;
  tokens: StoredTokens | null;
}

/** What a store holds of a flow until the authorisation is over: what the bank has said for the step that the customer takes next. */
export interface HeldSteps {
  links?: EmbeddedStep;
  cancellationLinks?: EmbeddedStep;
}

/** A flow with its events. */
export interface FlowRecord {
  kind: 'flow';
  flow: string;
  underWay: boolean;
  /** The events in their order, as they were written. `at` is ISO 8601 in UTC. */
  events: { at: string; event: unknown }[];
  /** What the bank has said for the customer's next step, which the events do not have. It says nothing of which record is newer. */
  steps?: HeldSteps;
}

/** A count of one day, `YYYY-MM-DD`: of calls with client credentials, or of reads of an account. */
export interface CountRecord {
  kind: 'count';
  day: string;
  /** Null for calls. For reads: the customer and the product, which is empty for the list of accounts. */
  read: { customerId: string; productId: string } | null;
  count: number;
}

/** What the bank refused to a holder. Times are ISO 8601 in UTC. */
export interface NoteRecord {
  kind: 'note';
  holder: string;
  refresh: { at: string; message: string; of: string | null } | null;
  call: { at: string; message: string } | null;
}

/** The customer who logged in last. */
export interface LastLoginRecord {
  kind: 'last-login';
  customerId: string;
}

/** What is kept of a customer at a bank; null after psd2 has forgotten the customer. */
export interface CustomerRecord {
  kind: 'customer';
  baseUrl: string;
  customer: string;
  generation: number;
  kept: KeptCustomer | null;
}

/** What syncs could not read of a customer, and when they last read. */
export interface ReadsRecord {
  kind: 'reads';
  customerId: string;
  reads: CustomerReads;
}

/** A pseudonym of the audit log: whose it is. */
export interface PseudonymRecord extends Pseudonym {
  kind: 'pseudonym';
}

/** A line of the audit log, as it was written. */
export interface AuditRecord extends AuditLine {
  kind: 'audit';
}

/** A batch, with its lines and its events in their order, as they were written. `at` is ISO 8601 in UTC. */
export interface BatchRecord {
  kind: 'batch';
  batch: string;
  lines: unknown[];
  events: { at: string; event: unknown }[];
}

export type StoredRecord =
  | AuditRecord
  | PseudonymRecord
  | LoginRecord
  | FlowRecord
  | CountRecord
  | NoteRecord
  | LastLoginRecord
  | ReadsRecord
  | CustomerRecord
  | BatchRecord;

/** The data of one profile in a backend. */
export interface Holdings {
  /** All records. @throws Psd2Error `config` if one is damaged or cannot be decrypted */
  records(): AsyncIterable<StoredRecord>;
  /** This backend's version of a record; undefined if it has none. @throws Psd2Error `config` */
  counterpart(record: StoredRecord): Promise<StoredRecord | undefined>;
  /**
   * Stores a record, durably. Older tokens and customers never replace newer ones. Of a flow, it adds the missing events.
   *
   * @throws Psd2Error `config`
   */
  put(record: StoredRecord): Promise<void>;
  /** Opens the key with which this backend stores logins. @throws Psd2Error `config` if it is not available */
  openKey(): Promise<void>;
}

/** The PINs of a person at a bank that were sent and not accepted yet: all profiles share the count. */
export interface CountedPins {
  /** A digest of the bank and the PSU-ID. */
  person: string;
  sent: number;
}

/** A backend as a side of the copy. */
export interface CopySide {
  /** A folder; or host, port and database. Never contains a password. */
  readonly place: string;
  mark(): Promise<Mark>;
  /**
   * Changes the mark, durably. After that, {@link atWork} sees everything that was claimed before.
   *
   * @throws Psd2Error `config`
   */
  setMark(change: Partial<Omit<Mark, 'id'>>): Promise<void>;
  /** The workers that work on something now. */
  atWork(): Promise<string[]>;
  /** The profiles with data. */
  profiles(): Promise<string[]>;
  open(profile: string): Holdings;
  /** The PINs that no bank has accepted. @throws Psd2Error `config` */
  pins(): Promise<CountedPins[]>;
  /** Counts at least so many, durably. @throws Psd2Error `config` */
  countPins(pins: CountedPins): Promise<void>;
}

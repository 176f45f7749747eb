import type { Advice, Psd2Error } from '../../errors.ts';
import type { AccessNotes, CallCount, Turns, UnattendedReads } from './access.ts';
import type { Audit } from './audit.ts';
import type { Batches } from './batches.ts';
import type { Customers } from './customers.ts';
import type { Flows, Kind } from './flows.ts';
import type { PersonalData } from './personal.ts';
import type { UnacceptedPins } from './pins.ts';
import type { ReadResults } from './read-results.ts';
import type { Rounds, Sync } from './sync.ts';
import type { SyncedData } from './synced.ts';
import type { Tokens } from './tokens.ts';

// What the rest of the program knows about a store: types only. A backend (files on a disk, a database) keeps these promises,
// and test/store/contract/ tests them for each backend. A method that cannot keep its promise throws a Psd2Error `config`,
// unless stated otherwise. It has written nothing then.

/** Keeps tokens, customers, flows, references, the pace of calls, and synced rows. */
export interface Store {
  /** Where the store is, as the end of a sentence: `in /home/ada/.config/psd2`. Never contains a password. */
  readonly place: string;
  readonly home: StoreStatus['home'];
  /** Where the choice of this store comes from. */
  readonly source: 'environment' | 'profile' | 'default';
  /** Whether a sync writes its rows into a folder that the operator must name. */
  readonly needsFolder: boolean;
  /**
   * The data of one profile. It reads and connects only on demand.
   *
   * @param bank the profile's current base URL. Tokens and records of customers at another bank do not count. Without `bank`,
   *   psd2 finds none and can write none
   * @throws Psd2Error `config` if the data of the profile is in another store. A database may also find this out later
   */
  open(profile: string, bank?: URL): ProfileData;
  /**
   * The checks of `psd2 doctor` for the backend, in the order in which they run. The first one, `store`, says where it is.
   *
   * @param profile whose data must be in this store
   */
  check(profile?: string): AsyncIterable<StoreCheck>;
  /** How much the store keeps, and who works on it. @throws Psd2Error `config` */
  status(): Promise<StoreStatus>;
  /** Closes connections. Call it after all other calls have ended. */
  close(): Promise<void>;
}

/** The data of one profile. */
export interface ProfileData {
  readonly tokens: Tokens;
  readonly customers: Customers;
  readonly flows: Flows;
  readonly audit: Audit;
  readonly personal: PersonalData;
  readonly batches: Batches;
  readonly calls: CallCount;
  readonly notes: AccessNotes;
  readonly reads: UnattendedReads;
  readonly results: ReadResults;
  /** Of the bank that the data was opened with. */
  pins(): Promise<UnacceptedPins>;
  /**
   * The pace that all workers of the store share.
   *
   * @param own the pace of this process. A backend on one machine uses only this
   */
  turns(own: Turns): Turns;
  /** @param out the folder of `--out`. A backend that does not need it may get none, or also writes there */
  sync(out: string | undefined): Sync;
  /** The folder of the last sync, absolute, if syncs of this store need one. @throws Psd2Error `config` */
  lastSyncFolder(): string | undefined;
  /**
   * What syncs have stored.
   *
   * @param out the folder of `--out`, if syncs of this store need one
   */
  synced(out: string | undefined): Promise<SyncedData>;
  rounds(): Promise<Rounds>;
  /**
   * Runs `work` while no other machine of the store makes a smoke test of the profile.
   *
   * @throws the error of `busy`, at once, if one does
   */
  smoking<T>(work: () => Promise<T>, busy: (holder: string) => Psd2Error): Promise<T>;
}

/** One check of `psd2 doctor` for the backend. The doctor itself checks owners and modes of this machine's folders. */
export interface StoreCheck {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; null if there is nothing to do. */
  fix: Advice | null;
}

/** What completion offers for a profile. It is quick, and offers nothing if data is damaged or missing. */
export interface Glance {
  /** Customers with stored tokens, sorted. */
  customers(): Promise<string[]>;
  /** The first event of each of the profile's newest flows, as it was written. */
  begun(kind: Kind | undefined, max: number): Promise<{ flow: string; at: string; event: object }[]>;
  /** The first event of each of the profile's newest batches, as it was written. */
  batches(max: number): Promise<{ batch: string; at: string; event: object }[]>;
}

/** What `psd2 store status` shows for a backend. */
export interface StoreStatus {
  home: 'files' | 'postgres';
  /** The folder; or host, port and database, never a password. */
  place: string;
  /** For a database: the version of its tables (0 if it has none), and the version that this program needs. */
  schema: { version: number; needed: number } | null;
  profiles: {
    profile: string;
    /** How many are logged in. */
    customers: number;
    flows: { kind: string; state: string; count: number }[];
    /** How many batches are stored. */
    batches: number;
  }[];
  /** What workers claim now. `until` is ISO 8601 with zone; null if the claim does not expire. */
  claims: { profile: string; kind: string; name: string; worker: string; until: string | null }[];
  /** Its size on the disk. */
  bytes: number;
}

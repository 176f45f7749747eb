import type { AccessNotes, UnattendedReads } from './access.ts';
import type { CallCount, Turns } from './calls.ts';
import type { Flows, Kind } from './flows.ts';
import type { Rounds } from './rounds.ts';
import type { Sync } from './sync.ts';
import type { Tokens } from './tokens.ts';

// What the rest of the program knows of a store: types only. A home (files on a disk, a database) keeps these promises,
// and test/store/contract/ shows them for each. Everything that can't be kept is a Psd2Error `config`, unless said
// otherwise; what a method was to write has not happened then.

/** Where tokens, flows, references, pace and the rows of a sync are kept. */
export interface Store {
  /** Which home, as the end of a sentence: `in /home/ada/.config/psd2`. Never a password. */
  readonly place: string;
  /** The rows of a sync go into a folder, which has to be named. */
  readonly needsFolder: boolean;
  /**
   * What is kept of one profile. Nothing is read or connected to before it is asked for.
   *
   * @param bank what the profile means by its bank now: tokens that another one granted count as none. Without it no login is
   *   found, and none can be written
   */
  open(profile: string, bank?: URL): ProfileData;
  /** What `psd2 doctor` says of the home, in the order in which it was looked at. */
  check(): AsyncIterable<StoreCheck>;
  /** How much is kept, and who works on it. @throws Psd2Error `config` */
  status(): Promise<StoreStatus>;
  /** Lets go of connections. What was asked for has been answered. */
  close(): Promise<void>;
}

/** What is kept of one profile. */
export interface ProfileData {
  readonly tokens: Tokens;
  readonly flows: Flows;
  readonly calls: CallCount;
  readonly notes: AccessNotes;
  readonly reads: UnattendedReads;
  /**
   * The pace that all workers of the store keep together.
   *
   * @param own that of this process; a home of one machine has no other
   */
  turns(own: Turns): Turns;
  /** @param out the folder of `--out`; a home that needs none may be given none, and writes there besides where it is given */
  sync(out: string | undefined): Sync;
  rounds(): Promise<Rounds>;
}

/** What `psd2 doctor` says of a part of the home. Folders of this machine, with their owners and modes, are looked at by itself. */
export interface StoreCheck {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; null where there is nothing to do. */
  fix: string | null;
}

/** What completion offers of a profile: quick, and nothing where something is odd or missing. */
export interface Glance {
  /** Customers whose tokens are kept, sorted. */
  customers(): Promise<string[]>;
  /** How the newest flows of the profile began: `event` is the first one, as it was written. */
  begun(kind: Kind | undefined, most: number): Promise<{ flow: string; at: string; event: object }[]>;
}

/** What `psd2 store status` says of a home. */
export interface StoreStatus {
  home: 'files' | 'postgres';
  /** The folder; or host, port and database, never a password. */
  place: string;
  /** Of a database: the version that is there, 0 without any, and the one that this program reads and writes. */
  schema: { version: number; needed: number } | null;
  profiles: {
    profile: string;
    /** Who is logged in. */
    customers: number;
    flows: { kind: string; state: string; count: number }[];
  }[];
  /** What workers have claimed at this moment. `until` is ISO 8601 with zone; null where a claim has no end of its own. */
  claims: { profile: string; kind: string; name: string; worker: string; until: string | null }[];
  /** What it takes on the disk. */
  bytes: number;
}

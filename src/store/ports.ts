import type { IsoDate } from '../domain/calendar.ts';
import type { Consent, ConsentEvent } from '../domain/consent.ts';
import type { GenericOrder, Operation, OperationEvent } from '../domain/operation.ts';
import type { Transfer, TransferEvent } from '../domain/transfer.ts';
import type { Psd2Error } from '../errors.ts';

// What the rest of the program knows of a store: types only. A home (files on a disk, a database) keeps these promises,
// and test/store/contract/ shows them for each. Everything that can't be kept is a Psd2Error `config`, unless said
// otherwise; what a method was to write has not happened then.

/** Where tokens, flows, references, pace and the rows of a sync are kept. */
export interface Store {
  /** Which home, as the end of a sentence: `in /home/ada/.config/psd2`. Never a password. */
  readonly place: string;
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
  /**
   * The pace that all workers of the store keep together.
   *
   * @param own that of this process; a home of one machine has no other
   */
  turns(own: Turns): Turns;
  /** @param out the folder of `--out`; a home that needs none may be given none */
  sync(out: string | undefined): Sync;
}

// Tokens ---------------------------------------------------------------------------------------------------------------

export type GrantType = 'authorization_code' | 'client_credentials';

/** Whose tokens: a customer's id, or null for the `client_credentials` application, which has no customer of its own. */
export type Holder = string | null;

/** What is known of a login without its tokens. Times are ISO 8601 with zone, null where the bank gave none. */
export interface StoredLogin {
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  scope: string | null;
  /** The bank's session id, sent back as `cb-apitrack-id` with all calls made with these tokens. */
  apiTrackId?: string | undefined;
}

export interface StoredTokens extends StoredLogin {
  accessToken: string | null;
  refreshToken: string | null;
}

/** Tokens as they were read. */
export interface ReadTokens extends StoredTokens {
  /** Newer ones have a higher one. It never goes back, also when tokens are forgotten. */
  generation: number;
  /**
   * The generation that the refresh token came with, where this one only says more of it: that the bank refused it, or
   * how it is encrypted.
   */
  origin?: number | undefined;
}

/**
 * The tokens of one profile at one bank. None waits for another's. Where the profile is protected they are encrypted
 * before they reach the home, and open only as those of this holder at this bank.
 */
export interface Tokens {
  /** Opens no key. @throws Psd2Error `config` when what is stored is damaged */
  login(holder: Holder): Promise<StoredLogin | undefined>;
  /** @throws Psd2Error `config` when they are damaged, or the key of a protected profile can't be had */
  read(holder: Holder): Promise<ReadTokens | undefined>;
  /**
   * One worker at a time, for what changes the tokens. Before `work` begins it is certain that they can be encrypted, if
   * they have to be. A worker that shows no sign of life for some seconds loses its claim to the next one, and is refused
   * whatever it is about to write after that.
   *
   * @param signal ends the wait for another worker; the operator's Ctrl-C unless another is given
   * @throws Psd2Error `config` when another worker is at it for too long
   */
  change<T>(holder: Holder, work: (slot: TokenSlot) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Forgets tokens, one worker at a time as {@link change}. What a renewal that was stopped has in hand is not stored
   * after that. Needs no key.
   *
   * @param before what is done first: the bank may be asked to revoke them. What it throws keeps them
   */
  forget(holder: Holder, before?: () => Promise<void>): Promise<void>;
  /** Forgets the tokens of every holder, at whatever bank; renewals that are under way are waited for. */
  forgetAll(): Promise<void>;
  /**
   * Makes sure that tokens can be stored, before the bank is asked for them: what it gives for a code or a refresh token,
   * it gives once.
   *
   * @returns what gives the room back, to be called before they are written; further calls do nothing
   * @throws Psd2Error `config` when there is no room, or the home can't be written
   */
  ready(): Promise<() => Promise<void>>;
  /** Customers whose tokens are kept, sorted; also those whose tokens are damaged. */
  customers(): Promise<string[]>;
  /** The customer who logged in last. */
  last(): Promise<string | undefined>;
  remember(customerId: string): Promise<void>;
  /** Writes all tokens of the profile, whatever bank granted them, as its protection wants it now. */
  rewrite(): Promise<void>;
  /** What was damaged and is kept beside what replaced it, as it was: paths that the operator may remove. */
  damaged(): Promise<string[]>;
}

/** A worker's right to change the tokens of one holder. */
export interface TokenSlot {
  /**
   * Who had the claim and showed no sign of life, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`:
   * killed, or standing still and about to go on. Undefined where it was free.
   */
  readonly takenOverFrom: string | undefined;
  /** As {@link Tokens.read}. */
  read(): Promise<ReadTokens | undefined>;
  /**
   * Whether no other worker has taken the claim over since, and no newer tokens are stored than those that were read. It
   * may happen right after the answer: what is written then is refused.
   */
  isOurs(read: ReadTokens | undefined): Promise<boolean>;
  /** Writes the tokens of a new login, in the place of all before. */
  write(tokens: StoredTokens): Promise<void>;
  /**
   * Writes what the bank gave for a refresh token, unless tokens that are newer than the spent ones are stored: those of a
   * new login, or of another worker that was given some as well.
   *
   * @param spent the tokens that were read before; undefined for an application that had none
   * @returns the tokens that are stored now; undefined when the operator has logged out in the meantime
   */
  replace(spent: ReadTokens | undefined, tokens: StoredTokens): Promise<StoredTokens | undefined>;
  /** Notes that the bank no longer accepts a refresh token; nothing where newer tokens are stored. */
  refuse(tokens: ReadTokens): Promise<void>;
}

// Flows ----------------------------------------------------------------------------------------------------------------

export type GenericOperation = Operation<GenericOrder>;

/** The kinds of flow: what each is, and what happens to it. */
export interface Kinds {
  transfer: { flow: Transfer; event: TransferEvent };
  operation: { flow: GenericOperation; event: OperationEvent<GenericOrder> };
  consent: { flow: Consent; event: ConsentEvent };
}
export type Kind = keyof Kinds;
export type FlowOf<K extends Kind> = Kinds[K]['flow'];
export type EventOf<K extends Kind> = Kinds[K]['event'];

/** What a flow begins with, but for the id that the store gives it. */
export type Begin<K extends Kind> = Omit<Extract<EventOf<K>, { type: 'created' }>, 'type' | 'flow'>;

/** A flow that this worker works on. */
export interface OpenFlow<Flow, Event> {
  /** As this worker knows it. */
  readonly current: Flow;
  /**
   * Makes an event durable and applies it: when the promise is kept, it outlives a power cut. Of two workers that write the
   * next event of a flow, the store lets one. Before an event that announces that money is about to move, it is certain
   * that there is room for what comes of it.
   *
   * @returns the flow after it
   * @throws Psd2Error `config` when it can't be written, or that can't be told: then it counts as not happened, and what it
   *   was to announce must not begin; `overtaken` when another worker has gone on with the flow
   */
  record(event: Event): Promise<Flow>;
  /** Makes sure that no other worker has gone on with the flow. @throws Psd2Error `overtaken` */
  assertOurs(): Promise<void>;
  /** Reads the flow again, to go on from what another worker has made of it; also one that was overtaken may write then. */
  reread(): Promise<Flow>;
}

/** A flow of some kind that this worker works on. */
export type Open<K extends Kind> = OpenFlow<FlowOf<K>, EventOf<K>>;

/** Which flows are wanted. */
export interface Filter {
  /** Nothing is read that was created earlier. */
  since?: Date | undefined;
  /** Takes a flow that can't be read, in its place; without it, that is thrown. */
  onDamaged?: ((damage: Psd2Error, flow: string) => void) | undefined;
}

/**
 * The flows of one profile: each is the fold of its events, in the order in which they were made durable. Local ids are in
 * the order of creation.
 */
export interface Flows {
  /**
   * Begins a flow, and works on it. The flow and its reference are one step: when `work` begins, the flow is durable, and a
   * reference that it has is its own, as `comparableReference` compares them. A reference is free again when the flow that
   * had it has plainly failed.
   *
   * @throws Psd2Error `duplicate_reference` naming the flow that has the reference: then nothing may be sent; what `work`
   *   throws
   */
  begin<K extends Kind, T>(kind: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * Works on a flow, one worker at a time; one that shows no sign of life for some seconds is taken over from. The flow is
   * read after that. One whose money was not asked for yet takes its reference again: its worker may have been stopped
   * before it had it.
   *
   * A flow whose work throws, or whose worker dies, is left behind ({@link leftBehind}); one whose work returns is as far as
   * the operator wanted it.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`, `config` when another worker is at it, `duplicate_reference` as {@link begin}; what
   *   `work` throws
   */
  resume<K extends Kind, T>(kind: K, reference: string, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * A flow as it stands.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`; where something could not be looked at, it says so. `config` when it is damaged
   */
  find<K extends Kind>(kind: K, reference: string): Promise<FlowOf<K>>;
  /** Newest first, each read when it is asked for. @throws Psd2Error `config` for one that is damaged, unless that is taken */
  list<K extends Kind>(kind: K, filter?: Filter): AsyncIterable<FlowOf<K>>;
  /**
   * What happened to a flow, in its order, as it was written.
   *
   * @param flow its local id
   * @returns null when there is no such flow
   * @throws Psd2Error `config` when it is damaged
   */
  history(flow: string): Promise<FlowMoment[] | null>;
  /**
   * The flows that no worker works on and that have not come to their end, newest first. What nobody took up for a week is
   * not told of any more. One of which nothing ever reached the bank is ended here. Where it can't be told, it is none.
   *
   * @param most how many are read
   * @param except the flow that a command is about, as the operator named it
   */
  leftBehind(most: number, except?: string): Promise<LeftBehind>;
  /** The flows that other workers work on at this moment, and which workers. */
  atWork(): Promise<{ flow: string; holder: string }[]>;
  /**
   * No flow of the profile begins while `work` runs.
   *
   * @throws Psd2Error `config` when another worker is at it for too long
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Where the record of the flows is, for the operator; undefined where there is none. */
  recordedIn(): Promise<string | undefined>;
}

/** Something that happened to a flow. */
export interface FlowMoment {
  /** ISO 8601 with zone. */
  at: string;
  type: string;
  /** What the bank called it, where it did; or what a person said. */
  detail: string | null;
}

export interface LeftBehind {
  flows: { kind: Kind; flow: string; state: string; resourceId: string | null }[];
  /** How many there may be besides: not all of them are read. */
  more: number;
}

// Calls ----------------------------------------------------------------------------------------------------------------

/** The calls of a profile with client credentials, which PSD2 limits per day (interface specification, "Limits"). */
export interface CallCount {
  /** Counts one more; that need not outlive a power cut. @throws Psd2Error `config` */
  count(day: IsoDate): Promise<void>;
  /** How many were counted; 0 where that can't be told. */
  on(day: IsoDate): Promise<number>;
}

/** When calls may go to a bank that limits how many it takes (interface specification, "Limits": HTTP 420). */
export interface Turns {
  /** Resolves when the next call may begin. @throws what ends waiting when the operator interrupts */
  turn(): Promise<void>;
  /**
   * The bank has turned a call away: all are held up.
   *
   * @param asked milliseconds that the bank wants to be left alone, or null when it did not say
   */
  slowDown(asked: number | null): Promise<void>;
  /** The bank has taken a call. */
  goOn(): Promise<void>;
}

// Sync -----------------------------------------------------------------------------------------------------------------

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
  /** @param name `accounts`, `balances` or `pending/<productId>`: what is as it is now */
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

// Looking ---------------------------------------------------------------------------------------------------------------

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

// Status ----------------------------------------------------------------------------------------------------------------

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

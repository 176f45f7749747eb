import type { X509Certificate } from 'node:crypto';
import type { Repeated } from '../advice.ts';
import type {
  Bank,
  BankInterface,
  Capability,
  ComposedRequest,
  FreeCall,
  RequestSettings,
} from '../bank/ports/bank.ts';
import type { Observation, OwnPace, PaceState, Route, TokenSource, Turns } from '../bank/ports/call.ts';
import type { BankClient, ClientCredentials } from '../bank/ports/customer.ts';
import type { BankConnection } from '../bank/transport/connection.ts';
import type { KeyPair, PairName } from '../certificates/key-pair.ts';
import type { WorldPorts } from '../flows/ports.ts';
import type { StoreFolder } from '../store/machine/folder.ts';
import type { ProfileStore } from '../store/machine/profiles.ts';
import type { Environment, Profile } from '../store/machine/settings.ts';
import type { ReadTurn } from '../store/ports/access.ts';
import type { ProfileData, Store } from '../store/ports/store.ts';
import type { GrantType, Holder, TokenSlot } from '../store/ports/tokens.ts';
import type { Output } from '../terminal/output/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The global options, from the option, the environment or the default. */
export interface Globals {
  profile: string | undefined;
  customer: string | undefined;
  grant: GrantType;
  /** The operator confirms everything in advance. */
  yes: boolean;
  verbose: boolean;
  /** Print the bank's own answers, byte for byte. */
  raw: boolean;
  /** Show the address for the customer instead of opening it. */
  noBrowser: boolean;
  /** Also show the address as a QR code. */
  qrCode: boolean;
  timeoutMs: number;
  scaTimeoutMs: number;
  psuIpAddress: string | undefined;
  language: string | undefined;
  /** The component of `CB-Trace-Id`. */
  traceComponent: string | undefined;
}

/** Where a value comes from (command contract, "Precedence"). */
export type Source = 'option' | 'environment' | 'profile' | 'default';

/** The world in which a command runs. */
export interface Surroundings {
  globals: Globals;
  /** Where the value of a global option comes from. */
  sourceOf(option: 'profile' | 'customer' | 'timeout' | 'scaTimeout' | 'psuIp' | 'lang' | 'trace'): Source;
  /** What options of this command say of the customer's credentials. */
  credentials?: GivenCredentials;
  /** Options of this command that the commands in its messages repeat. */
  repeated: Repeated;
  env: Environment;
  folder: StoreFolder;
  profiles: ProfileStore;
  /** The flows that this command has opened or begun, by their transaction id. */
  openFlows: Map<string, string>;
  terminal: Terminal;
  output: Output;
  /** Writes bytes of the bank to stdout as they are. */
  printBytes(bytes: Uint8Array): void;
  stdoutIsTerminal: boolean;
  /** Both streams go to a terminal, as a table: a person reads them. */
  isForPerson: boolean;
  /** The terminal's width in cells, if stdout is a terminal that knows it. */
  stdoutColumns: number | undefined;
  world: WorldPorts & { random: () => number };
  /** What the command wants to know of its calls. */
  calls?: CallWatch;
  /** The pace of other threads that call the same bank. */
  pace?: PaceState;
  /** What other threads count with, too. */
  tally?: SharedArrayBuffer;
  /**
   * From now on the first Ctrl-C, or the first SIGTERM, ends nothing by itself: it aborts this signal alone, whose reason is
   * the name of the system's signal. The next one interrupts.
   */
  stopGently(): AbortSignal;
  /** Interrupts the command, as the operator would. What waits rejects with the reason, or as interrupted. */
  interrupt(reason: Error): void;
  /** Standard input as one text. */
  readStdin(): Promise<string>;
  /** Registers what is said last, whether the command succeeds or fails. An error still comes after it. */
  atLast(say: () => void): void;
  /** Registers work for the end of the command, whether it succeeds or fails. */
  onEnd(close: () => Promise<void>): void;
}

/** Where credentials come from that nobody types, and the method that is chosen (docs/embedded.md). */
export interface GivenCredentials {
  /** Path of a file with the PIN, or `-`. */
  psuPasswordFile?: string | undefined;
  /** Path of a file with the TAN, or `-`. */
  otpFile?: string | undefined;
  /** Id, type or name of a method. */
  scaMethod?: string | undefined;
}

/** What a command wants to know of its calls. */
export interface CallWatch {
  /** The run that they belong to, for the log. */
  run?: string;
  /** Called after each attempt. */
  heard?(call: Observation): void;
  /** Called with each answer to a call for a customer, before it is read. */
  answered?(answer: HeardAnswer): void;
}

/** An answer as it came. */
export interface HeardAnswer {
  method: string;
  route: Route;
  status: number;
  contentType: string | undefined;
  /** Undefined if it is not JSON. */
  json: unknown;
}

/**
 * The profile that a command works with, and its resources. Each resource is opened on first use, and only once. All throw
 * Psd2Error if the resource can't be opened.
 */
export interface ProfileContext extends Surroundings {
  /** Its settings, without decrypting anything. @throws Psd2Error `no_profile`, `config` */
  profile(): Profile;
  /** Its settings, decrypted. @throws Psd2Error `config` if they can't be decrypted */
  unsealed(): Promise<Profile>;
  /** The store that it uses, with the data of all profiles. Opening it reads no data yet. */
  wholeStore(): Promise<Store>;
  /** The name of the profile, even if its settings are missing or damaged. */
  profileName(): string;
  /**
   * Its tokens and flows. Names the interrupted flows, once.
   *
   * @param own the flow that this command continues, as the operator named it; it is not named as interrupted
   */
  store(own?: string): Promise<ProfileData>;
  /** The number of reads of its customers' accounts while the customer is not there. */
  reads(): Promise<AccountReads>;
  /** Its certificates and keys, each read on first use. */
  keys(): Promise<KeyRing>;
  /** What psd2 knows of the bank's interface, without its settings. */
  bankInterface(): Promise<BankInterface>;
  /** @throws Psd2Error `usage` if the bank's interface lacks something */
  needs(capability: Capability): Promise<void>;
  /** What all calls of an application share: certificates, signer, connection, pace. Sends nothing yet. */
  transport(grant?: GrantType): Promise<Transport>;
  /** The bank, for calls of an application that concern no customer. */
  applicationBank(grant?: GrantType): Promise<ApplicationBank>;
}

/** The context of every command. */
export interface Context extends ProfileContext {
  /** The bank, with the customer's token. Inquiries that need SCA send the customer to the bank. */
  bank(): Promise<CustomerBank>;
  /** The same, while the customer is not there. */
  unattendedBank(): Promise<CustomerBank>;
  /** A context for another customer of the profile. It shares the profile's open resources. */
  forCustomer(customerId: string): Context;
  /** The same, for calls whose answers `--raw` does not print. */
  forLookups(): Context;
  /** The same profile with other certificates and keys. It shares the store, the pace and the counters. */
  withKeysOf(profile: Profile, shared: Required<Pick<Surroundings, 'pace' | 'tally'>>): Context;
  /** The same profile in other surroundings, with connections of its own. It shares the store, the keys and the counters. */
  within(changes: Partial<Surroundings>): Context;
  /** A context for another profile, by its name or its settings. */
  forProfile(profile: string | Profile): Context;
}

/**
 * The certificates and keys of a profile. If a passphrase is not in the environment, psd2 asks for it at a terminal, once
 * for both pairs if it opens both.
 *
 * All methods throw Psd2Error `config` or `certificate`.
 */
export interface KeyRing {
  /** A certificate and its key, checked. */
  pair(name: PairName): Promise<KeyPair>;
  /** A certificate alone, checked. */
  certificate(name: PairName): Promise<X509Certificate>;
  /** Certificates and key as PEM, unchecked. The key is undefined if there is none. */
  read(name: PairName): Promise<{ certificate: string; key: () => string | undefined }>;
  /** Runs `open` with the known passphrase. If `open` throws WrongPassphrase, asks for the passphrase. */
  opening<T>(what: string, open: (passphrase: string | undefined) => T | Promise<T>): Promise<T>;
}

/** Counts what the calls of an application do. Threads share the counters. */
export interface Tally {
  /** The counters, for other threads. */
  readonly state: SharedArrayBuffer;
  /** How often tokens were renewed. */
  readonly renewals: number;
  /** The total time that calls have waited for their turn, in seconds. */
  readonly secondsWaited: number;
  /** The calls by result: `2xx`, `3xx`, `4xx`, `5xx`, or `none` without an answer. */
  readonly byResult: ReadonlyMap<string, number>;
  /** Counts a call. @param outcome the HTTP status, or why there is none */
  count(outcome: number | string): void;
  /** Wraps a slot: counts the renewed tokens that it stores. */
  countingRenewals(slot: TokenSlot): TokenSlot;
}

/** What all calls of an application share, for any customer. */
export interface Transport {
  grant: GrantType;
  connection: BankConnection;
  /** The pace that all workers of the store share. */
  pace: Turns;
  /** The pace of this process. */
  ownPace: OwnPace;
  tally: Tally;
  baseUrl: URL;
  /** How its requests are written. @throws Psd2Error `config` if the bank's certificate cannot be read */
  requests(): RequestSettings;
  /**
   * The application's id and secret.
   *
   * @param known the application as the bank knows it; null: as the profile names it
   * @throws Psd2Error `config` if one is not set
   */
  client(known: BankClient | null): ClientCredentials;
  observe: (call: Observation) => Promise<void>;
  /** Records that psd2 could not use the answer to a call that it has observed. */
  unusable: (call: Observation) => void;
}

/** The bank of a profile, for the calls of an application. */
export interface ApplicationBank {
  profile: Profile;
  baseUrl: URL;
  /** The bank's session id, once an answer has contained one. */
  session: { apiTrackId: string | undefined };
  /** OAuth calls need no tokens. Private calls need a source of tokens. */
  connect(tokens?: TokenSource): Bank;
  client(): ClientCredentials;
  /** The request that psd2 would send for a call. @param bearer what stands in place of the token */
  compose(call: FreeCall, bearer?: string): Promise<ComposedRequest>;
}

/** The bank of a profile, for calls about one customer. */
export interface CustomerBank extends ApplicationBank, Pick<ProfileData, 'tokens' | 'flows'> {
  bank: Bank;
  accessTokens: TokenSource;
  customerId: string;
  /** The owner of the tokens that the calls use: the customer, or null for the application. */
  holder: Holder;
  /** Counts the reads of accounts while the customer is absent. */
  reads: AccountReads;
}

/** How often psd2 may read an account while the customer is absent. */
export interface Allowance {
  /** Maximum number of reads a day. */
  budget: number;
  /** The operator has chosen the budget. Otherwise a consent that says how often psd2 may read decides. */
  isOperators: boolean;
  /** Spread the reads over the day, and pause after failed ones. */
  isSpread: boolean;
}

/** Counts the reads of accounts that psd2 makes while the customer is absent. Only reads that brought data count. */
export interface AccountReads {
  /** Begins a run. All calls of one run to the same account are one read. */
  begin(): void;
  /**
   * Counts a read before it is made, once per run.
   *
   * @param productId null for the list of accounts
   * @returns `taken`, or why the caller must not read
   */
  take(customerId: string, productId: string | null, allowance?: Allowance): Promise<ReadTurn>;
  /**
   * Makes a call that reads an account, and counts it. If it brings no data, and this run has no data of the account yet, the
   * read is given back.
   *
   * @throws what the call throws
   */
  during<T>(read: OwnCall<T>): Promise<T>;
  /** Gives back what was taken for a customer, if no call followed. */
  giveBack(customerId: string): Promise<void>;
}

/** A call that reads an account. */
interface OwnCall<T> {
  customerId: string;
  /** Null for the list of accounts. */
  productId: string | null;
  call(): Promise<T>;
  hasData(answer: T): boolean;
}

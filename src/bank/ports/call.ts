import type { LoggedGift } from '../../domain/embedded.ts';

/** The identity of an attempt: the id of the request, and the `Digest` of its body or null without one. */
export interface Intent {
  requestId: string;
  digest: string | null;
}

/** Called with the identity of an attempt before it leaves. The attempt waits for it. */
export type BeforeSend = (intent: Intent) => Promise<Announced | undefined>;

/** The callbacks of an announced attempt. */
export interface Announced {
  /**
   * Called after the connection is open, just before the first byte leaves.
   *
   * @throws an error that prevents the attempt
   */
  beforeFirstByte?(): Promise<void>;
  /** Called as soon as it is certain that no byte of the attempt left. Another attempt may follow. */
  notBegun?(): Promise<void>;
  /** Called if the bank says that it refused the attempt without processing it. Another attempt may follow. */
  turnedAway?(): Promise<void>;
}

/** What of the customer's a call gives the bank (docs/embedded.md). */
export type Gives = Pick<LoggedGift, 'what' | 'ofCancellation'>;

/** What happened on the wire, for `--verbose` and the log. Contains no secrets. */
export interface Observation {
  method: string;
  path: string;
  /** The HTTP status, or the reason why there is none. */
  outcome: number | string;
  /** Whose the failure is, if there is no usable answer. */
  failureKind?: FailureKind;
  /** When the call was sent. */
  at: Date;
  milliseconds: number;
  tppRequestId: string;
  transactionId: string;
  /** The id that the bank gave its answer. */
  requestId: string | null;
  apiTrackId: string | undefined;
  /** The call had an access token. */
  isPrivate: boolean;
  /** Bytes of the request may have left. */
  mayHaveLeft: boolean;
  /** The call does something that cannot be taken back. */
  irrevocable: boolean;
  /** What it gave the bank of the customer's (embedded SCA). The value is nowhere. */
  gives?: Gives;
  /** The id that the bank gave to what it has begun. */
  begun?: string;
  /** What the answer proves of an initiation. */
  verdict?: Verdict['says'];
  /** The operator's name for the customer whom the call is about, at a bank whose paths do not name customers. */
  customer?: string;
  route: Route;
  /** How long the connection took to open, TLS included. Absent: an open one was used, or none could be opened. */
  connectMs?: number;
  /** From the first byte of the request to the first byte of the answer. Absent: there was no answer. */
  firstByteMs?: number;
  /** The connection that was opened for the call. */
  tls?: TlsFacts;
}

/**
 * What the answers to an initiation prove. `why`: a sentence for the operator, why this is a proof or none. `isDuplicate`: the bank has
 * rejected it because it has another one like it. `isLacking`: the bank does not have the service.
 */
export type Verdict =
  | { says: 'began' }
  | { says: 'nothing began' | 'unknown' | 'ask again'; why: string; isDuplicate?: true; isLacking?: true };

/**
 * Why a call has no usable answer. `own`: for reasons of this machine (Ctrl-C, proxy, DNS, certificates, store). `unusable`: psd2
 * could not use the answer. `no reply`: anything else, which figures count as the bank's.
 */
export type FailureKind = 'own' | 'unusable' | 'no reply';

/** What a call is about, for figures about a bank. `auth`: tokens and logins. `consent`: consents and the SCA of anything. */
export type CallKind = 'ais' | 'pis' | 'piis' | 'consent' | 'auth' | 'other';

/** A call without its ids. */
export interface Route {
  /** Relative to the base URL, with names in braces in place of ids. Contains nothing of a customer. */
  path: string;
  kind: CallKind;
}

/** An open TLS connection. */
export interface TlsFacts {
  /** `TLSv1.3`. Null: it is not known. */
  protocol: string | null;
  /** When the bank's certificate ends. Null: it is not known. */
  certificateEnds: Date | null;
}

/** The source of access tokens for private calls. */
export interface TokenSource {
  /** A token that does not expire soon. @throws Psd2Error `not_logged_in` */
  current(): Promise<string>;
  /** A new token after the bank answered 401 to `refused`. @throws Psd2Error `not_logged_in` */
  renewed(refused: string): Promise<string>;
}

/** A reading: the list of accounts, or something of one account. */
export type Read = 'list' | { account: string; of?: 'balances' | 'transactions' };

/** An account as a list has it. */
export interface ListedAccount {
  accountId: string;
  iban: string | null;
  kind?: 'card';
  currency?: string;
  name?: string | null;
  productCode?: string | null;
  /** `enabled`, `blocked` or `deleted`. */
  status?: string;
}

/** Where the consent of a call comes from, at a bank whose readings name their consent. */
export interface ConsentSource {
  /**
   * The customer's valid consent for the list of accounts, or for what is read of one account.
   *
   * @throws Psd2Error `not_logged_in` if there is none, with the command that requests one
   */
  for(what: Read): Promise<{
    consentId: string;
    reads: readonly ('accounts' | 'balances' | 'transactions')[];
    /** The consent covers no card account. */
    cards?: 'none';
  }>;
  /** When the customer has granted the newest valid consent. */
  lastGrantedAt?(): Date | undefined;
  /** The currency of an account that a list had. */
  currencyOf?(accountId: string): string | undefined;
  /** The IBAN of an account that a list had. Undefined: no list had it, as far as psd2 knows. */
  ibanOf?(accountId: string): string | null | undefined;
  /** Whether a list had this id as that of a card. */
  isCard?(accountId: string): boolean;
  /**
   * Notes what the bank has listed with a consent. Never throws for want of a place.
   *
   * @param cards `none`: the bank refuses its card accounts to this consent
   */
  listed?(consentId: string, accounts: readonly ListedAccount[], cards?: 'none'): Promise<void>;
  /** The format in which the bank gives account reports with a consent. Undefined: in its first, as far as psd2 knows. */
  reportOf?(consentId: string): 'json' | 'camt' | 'mt940' | undefined;
  /** The lists of transactions that the bank gives one by one with a consent. Undefined: as its bank file says. */
  listsOf?(consentId: string): readonly ('booked' | 'pending')[] | undefined;
  /** Notes that the bank refuses to give both lists at once, and which it gives. Never throws for want of a place. */
  tookLists?(consentId: string, lists: readonly ('booked' | 'pending')[]): Promise<void>;
  /** Notes the format of account reports that the bank has given with a consent. Never throws for want of a place. */
  took?(consentId: string, report: 'json' | 'camt' | 'mt940'): Promise<void>;
}

/** Who the customer is in the bank's own words, as far as the operator has said. */
export interface PsuIdentification {
  id: string | undefined;
  idType: string | undefined;
  corporateId: string | undefined;
}

/** Decides when calls may go to a bank that limits them. Calls that the bank counts together share one object. */
export interface Turns {
  /** Resolves when the next call may start. @throws the operator's interruption, which ends the wait */
  turn(): Promise<void>;
  /**
   * Slows all calls down after the bank refused one because of its limit.
   *
   * @param delay the delay in milliseconds that it asked for, or null
   */
  slowDown(delay: number | null): Promise<void>;
  /** Speeds calls up again after the bank accepted one. */
  goOn(): Promise<void>;
}

/** The state of a pace. Threads can share it. */
export type PaceState = SharedArrayBuffer;

/** The pace of one process. */
export interface OwnPace extends Turns {
  /** To share with other threads. */
  readonly state: PaceState;
  /** The number of calls that had their turn. */
  readonly turns: number;
}

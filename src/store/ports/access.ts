import type { IsoDate } from '../../domain/calendar.ts';
import type { Holder, StoredLogin } from './tokens.ts';

/** The bank's message of a refusal, and its time (ISO 8601 with zone). */
export interface AccessNote {
  at: string;
  message: string;
}

/**
 * What the bank has refused since a login was made: its renewal, or a call that it does not allow (HTTP 403). Tokens do not
 * show this. A refused renewal counts only for the tokens that it used. A new login clears all notes.
 */
export interface AccessNotes {
  /** @throws Psd2Error `config` if a note is damaged */
  read(
    holder: Holder,
    login: StoredLogin,
  ): Promise<{ refresh: AccessNote | undefined; call: AccessNote | undefined }>;
  /** Notes that the bank refused to renew the login. @throws Psd2Error `config` */
  refreshRefused(holder: Holder, login: StoredLogin, refused: AccessNote): Promise<void>;
  /** Notes that the bank does not allow a call; undefined: it allows calls again. @throws Psd2Error `config` */
  callRefused(holder: Holder, refused: AccessNote | undefined): Promise<void>;
  /** Whether the bank refused a call and has allowed none since. @throws Psd2Error `config` */
  hasRefusedCall(holder: Holder): Promise<boolean>;
  /** The holders that have notes, perhaps of earlier logins. @throws Psd2Error `config` */
  holders(): Promise<Holder[]>;
  /** Clears the notes after a new login. @throws Psd2Error `config` */
  forget(holder: Holder): Promise<void>;
}

/** A read of a customer's account; `productId` is null for the list of accounts. */
export interface AccountRead {
  /** The day at the bank. */
  day: IsoDate;
  customerId: string;
  productId: string | null;
}

/** When a read may be made. */
export interface ReadLimit {
  /** Maximum number of reads that may have begun by now. */
  budget: number;
  /** The minute of the bank's day. If it is given, psd2 pauses after failed reads. */
  minute?: number;
}

/** `used-up`: the budget is, whether psd2 pauses or not. `paused`: the last reads have failed, and psd2 pauses. */
export type ReadTurn = 'taken' | 'used-up' | 'paused';

/**
 * How often psd2 read accounts while the customer was absent. A bank may limit this to four times a day (RTS (EU) 2018/389,
 * article 36 (5) (b)). All workers share one count. psd2 counts a read before it makes it, and gives it back if the bank
 * sent no data. So a read whose process was killed stays counted. A power cut may lose the last ones.
 */
export interface UnattendedReads {
  /** Begins a run. All calls of one run to the same account are one read. */
  begin(): void;
  /**
   * Counts a read before it is made, once per run.
   *
   * @param limit default: none
   * @returns `taken`, or why the caller must not read
   * @throws Psd2Error `config` if the count cannot be written
   */
  take(read: AccountRead, limit?: ReadLimit): Promise<ReadTurn>;
  /**
   * Gives back a read that this run has taken, unless it has {@link succeeded}.
   *
   * @param failedAt the minute of the bank's day, if a pause follows. Pauses end with the day
   * @throws Psd2Error `config` if the count cannot be written
   */
  giveBack(read: AccountRead, failedAt?: number): Promise<void>;
  /** A read that this run has taken brought data: it stays counted, and pauses end. @throws Psd2Error `config` */
  succeeded(read: AccountRead): Promise<void>;
}

/** Counts a profile's calls with client credentials, which PSD2 limits per day (interface specification, "Limits"). */
export interface CallCount {
  /** Counts one more call. A power cut may lose it. @throws Psd2Error `config` */
  count(day: IsoDate): Promise<void>;
  /** The number of calls on the last day that was counted, or a later one; 0 if it cannot be read. */
  on(day: IsoDate): Promise<number>;
}

/** The pace of calls to a bank that limits them (interface specification, "Limits": HTTP 420). */
export interface Turns {
  /** Resolves when the next call may begin. @throws the operator's interruption, which ends the wait */
  turn(): Promise<void>;
  /**
   * Slows all calls down after the bank rejected one because of its limit.
   *
   * @param retryAfterMs what the bank asked to wait, in milliseconds; null if it did not say
   */
  slowDown(retryAfterMs: number | null): Promise<void>;
  /** Speeds calls up again after the bank accepted one. */
  goOn(): Promise<void>;
}

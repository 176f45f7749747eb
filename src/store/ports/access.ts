import type { IsoDate } from '../../domain/calendar.ts';
import type { Holder, StoredLogin } from './tokens.ts';

/** What the bank refused, and when: ISO 8601 with zone. */
export interface AccessNote {
  at: string;
  message: string;
}

/**
 * What the bank refused a login since it was made: its renewal, or a call that it does not allow (HTTP 403). Tokens alone do not
 * tell. A refused renewal counts for the tokens that it was made with; all is forgotten with a new login.
 */
export interface AccessNotes {
  /** @throws Psd2Error `config` when it is damaged */
  read(
    holder: Holder,
    login: StoredLogin,
  ): Promise<{ refresh: AccessNote | undefined; call: AccessNote | undefined }>;
  /** The bank refused to renew the login. @throws Psd2Error `config` */
  refreshRefused(holder: Holder, login: StoredLogin, refused: AccessNote): Promise<void>;
  /** The bank does not allow a call; undefined when it does again. @throws Psd2Error `config` */
  callRefused(holder: Holder, refused: AccessNote | undefined): Promise<void>;
  /** Whether a call was refused and none was allowed since. @throws Psd2Error `config` */
  hasRefusedCall(holder: Holder): Promise<boolean>;
  /** After a new login. @throws Psd2Error `config` */
  forget(holder: Holder): Promise<void>;
}

/** A read of a customer's account; `productId` is null for the list of accounts. */
export interface AccountRead {
  /** At the bank. */
  day: IsoDate;
  customerId: string;
  productId: string | null;
}

/**
 * How often accounts were read while the customer was not there, which a bank may limit to four times a day (RTS (EU)
 * 2018/389, article 36 (5) (b)). All workers count together. It is counted before the read is made; a power cut may lose the
 * last ones.
 */
export interface UnattendedReads {
  /** From now on the same accounts count anew: the calls of one run are one read. */
  begin(): void;
  /**
   * Counts a read that is about to be made, once a run.
   *
   * @param budget how many may be made a day; without it any number
   * @returns false, and the read is not to be made, where that many are made already
   * @throws Psd2Error `config` when it can't be written
   */
  take(read: AccountRead, budget?: number): Promise<boolean>;
}

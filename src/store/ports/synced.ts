import type { Booking } from '../../domain/account-history.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import type { CreditLimits } from '../../domain/credit-limits.ts';
import type { Decimal, Money } from '../../domain/decimal.ts';
import type { Contradiction } from './sync.ts';

/** An account as the last sync has read it. */
export interface SyncedAccount {
  productId: string;
  iban: string | null;
  currency: string;
  name: string | null;
  productCode: string | null;
  productDescription: string | null;
  /** It is a card account. */
  card?: boolean | undefined;
  bban?: string | null | undefined;
  maskedPan?: string | null | undefined;
  /** As the bank says it: `blocked`. */
  status?: string | undefined;
  /** The bank's id of the last sync, if the account is stored under another one. */
  bankId?: string | undefined;
}

/** The balance of an account as the last sync has read it. */
export interface SyncedBalance {
  productId: string;
  accountBalance: Money | null;
  availableBalance: Money | null;
  accountAvailability: Money | null;
  accountAvailableCredit: Money | null;
  asOf: string | null;
  /** Whether a credit line is in these. Absent: the bank does not say. */
  creditLimitIncluded?: CreditLimits;
  /** Why the balance could not be read. Absent: it was. */
  reason?: string;
}

/** A booked row as a sync has stored it. */
export interface SyncedBooking extends Omit<Booking, 'day'> {
  bookingDate: IsoDate | null;
  /** Null: the currency of the account. */
  currency: string | null;
}

/** The first and the last day whose rows are stored. The last day may not be complete. */
export interface SyncedDays {
  from: IsoDate;
  through: IsoDate;
}

/** Rows that belong together. */
export interface SyncedBookings extends SyncedDays {
  rows: SyncedBooking[];
  /** The booked balance that all rows lead to. Null if the bank gave none, or the last sync has not come to its end. */
  balance: Money | null;
  /** What the bank's balance has beyond that of the rows. Null: nothing, or it is not known. */
  difference: Decimal | null;
  /** What the bank's own statements say that their rows do not. */
  contradictions: readonly Contradiction[];
}

/** What syncs have stored, for reading alone. A sync may write at the same time. */
export interface SyncedData {
  /** The customers with synced accounts, sorted. @throws Psd2Error `config` */
  customers(): Promise<string[]>;
  /** Empty if no sync has stored any. @throws Psd2Error `config` */
  accounts(customerId: string): Promise<SyncedAccount[]>;
  /** @throws Psd2Error `config` */
  balance(customerId: string, productId: string): Promise<SyncedBalance | undefined>;
  /** @throws Psd2Error `config` */
  days(customerId: string, productId: string): Promise<SyncedDays | undefined>;
  /**
   * The booked rows from a day on, the newest first, as of the last sync that has come to its end.
   *
   * @returns undefined if no sync has stored any day
   * @throws Psd2Error `config`
   */
  booked(customerId: string, productId: string, from: IsoDate): Promise<SyncedBookings | undefined>;
}

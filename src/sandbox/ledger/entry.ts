import type { IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';

/** A transaction of an account. It is pending until `bookedFrom`, then booked. */
export interface Entry {
  /** Negative if the money leaves the account. */
  amount: Cents;
  enteredAt: Date;
  bookedFrom: Date;
  bookingDay: IsoDate;
  valueDay: IsoDate;
  /** The Italian banks' code for the kind of transaction. */
  code: string;
  shortDescription: string;
  extendedDescription: string;
  /** The reference of a transfer, or `''`. */
  transferReference: string;
  isFee: boolean;
  /** A card payment that the shop has authorised but not collected. */
  preAuthorized: boolean;
}

import type { IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';

/** A movement of an account. It is pending until `bookedFrom`, and booked from then on. */
export interface Entry {
  /** Negative when it leaves the account. */
  amount: Cents;
  enteredAt: Date;
  bookedFrom: Date;
  bookingDay: IsoDate;
  valueDay: IsoDate;
  /** The Italian banks' code for its reason. */
  code: string;
  shortDescription: string;
  extendedDescription: string;
  /** The reference of a transfer, or `''`. */
  transferReference: string;
  isFee: boolean;
  /** A card payment that the shop has not collected yet. */
  preAuthorized: boolean;
}

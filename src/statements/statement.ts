import type { AccountHistory } from '../domain/account-history.ts';
import type { IsoDate } from '../domain/calendar.ts';

/** An account and its history, as input for an export. */
export interface Statement {
  productId: string;
  iban: string | null;
  /** ISO 4217. */
  currency: string;
  /** The customer's name for the account, or the bank's name for the product. */
  name: string | null;
  productCode: string | null;
  history: AccountHistory;
  /** Why the history has no balances. Null if it has, or the bank gives none for this product. */
  noBalance: string | null;
  /** The first day from which the history is shown to be complete. Null if all of it is. */
  certainFrom: IsoDate | null;
  /** What a sync was not certain of, in words, and whether rows may be missing for that. Null: nothing. */
  doubt: { message: string; mayLackRows: boolean } | null;
  /** When the export was made, in the bank's time zone: ISO 8601 with offset. */
  createdAt: string;
}

import type { AccountHistory } from '../domain/account-history.ts';

/** An account's history with the account, as a file of it says it. */
export interface Statement {
  productId: string;
  iban: string | null;
  /** ISO 4217. */
  currency: string;
  /** The customer's name for it, or the bank's for the product. */
  name: string | null;
  productCode: string | null;
  history: AccountHistory;
  /** When it was made, and with which offset the bank's clock ran then: ISO 8601 with zone. */
  createdAt: string;
}

import type { IsoDate } from '../../../../domain/calendar.ts';
import { dayIn, decimalIn } from '../../../../domain/odd-values.ts';
import type { TransactionsAnswer } from '../wire/accounts.ts';
import type { NextGenReading } from '../wire/answer.ts';

/**
 * What a report has, in the words of the standard's JSON: one schema reads the rows of all formats. What a format lacks is absent.
 */
export interface AccountReport {
  /** The account, as the report names it. */
  account?: ReportedAccount;
  transactions: { booked: ReportRow[]; pending: ReportRow[] };
  /** It says itself that more pages follow. */
  isPart: boolean;
  /** What its own balances and sums say that its rows do not lead to: sentences with both figures. */
  contradictions: readonly string[];
}

/** An account, as far as a report names it. */
export interface ReportedAccount {
  iban: string | undefined;
  bban: string | undefined;
  currency: string | undefined;
}

/**
 * A list of transactions. Of a report that is not JSON, `isPart` says whether more pages follow, and `contradictions` what its own
 * figures say that its rows do not.
 */
export type ReportReading = NextGenReading<TransactionsAnswer> & {
  isPart?: boolean;
  contradictions?: readonly string[];
};

/** A row in the standard's words. */
export interface ReportRow {
  transactionAmount: { amount: string; currency: string };
  [field: string]: unknown;
}

/** Refuses a report. @param what is wrong with it, without the place */
export type Refuse = (what: string) => never;

/**
 * The amount of an entry with its sign. Formats of reports have the sign in a field of its own.
 *
 * @throws what `refuse` throws unless it is an exact decimal without a sign
 */
export function signedAmount(text: string | undefined, isDebit: boolean, refuse: Refuse): string {
  const amount = decimalIn(text);
  if (amount === null || amount.startsWith('-'))
    return refuse(`The amount ${JSON.stringify(text?.slice(0, 40) ?? '')} is not a decimal number`);
  return isDebit && /[1-9]/.test(amount) ? `-${amount}` : amount;
}

/** The day of an entry at a bank in this zone. @throws what `refuse` throws for what is no day */
export function reportDay(text: string | undefined, zone: string, refuse: Refuse): IsoDate | undefined {
  const day = dayIn(text, zone);
  return day === 'unreadable'
    ? refuse(`${JSON.stringify(text?.slice(0, 40))} is not a day`)
    : (day ?? undefined);
}

/** The row without the fields that have nothing. */
export function filledRow(row: ReportRow): ReportRow {
  const filled: ReportRow = { transactionAmount: row.transactionAmount };
  for (const name in row) if (row[name] !== undefined && row[name] !== '') filled[name] = row[name];
  return filled;
}

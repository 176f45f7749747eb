import { hash } from 'node:crypto';
import type { IsoDate } from './calendar.ts';
import { type Decimal, normalDecimal } from './decimal.ts';

/** The fields of a transaction that are the same in every query. */
export interface BookedRow {
  bookingDate: IsoDate | null;
  valueDate: IsoDate | null;
  amount: Decimal;
  /** ISO 4217. Null means the account's currency. */
  currency: string | null;
  description: string;
  details: string;
  code: string | null;
  transferReference: string | null;
  /** The bank's own ids of it, at a bank that has them. */
  transactionId?: string | null;
  entryReference?: string | null;
}

/**
 * Assigns ids to booked transactions, so that reading a transaction twice makes no duplicate. `psd2 sync` and exports assign
 * the same id. If the bank gives no id (its `index` restarts with every query), an id is a hash of the product, the row's fields
 * (both dates, amount, currency, texts, code, transfer reference), and the number of older rows with the same fields. Equal
 * rows have the same dates, so a range of whole days contains all of them or none, and the number is the same in every range.
 * If the bank gives one, its id and the day stand for the fields: a bank may complete a text later. The number stays, because
 * some banks give the same id twice.
 *
 * @param account the product, and the currency of rows that name none
 * @param rows the rows of whole days, newest first, in the bank's order
 * @returns the rows in the same order. An id has 32 hexadecimal digits
 */
export function withIds<Row extends BookedRow>(
  { productId, currency }: { productId: string; currency: string },
  rows: readonly Row[],
): (Row & { id: string })[] {
  const seen = new Map<string, number>();
  return rows
    .toReversed()
    .map((row) => {
      const content = JSON.stringify(
        bankIdOf(productId, row) ?? [
          ...[productId, row.bookingDate, row.valueDate, normalDecimal(row.amount), row.currency ?? currency],
          ...[
            withPlainBlanks(row.description),
            withPlainBlanks(row.details),
            row.code,
            row.transferReference,
          ],
        ],
      );
      const older = seen.get(content) ?? 0;
      seen.set(content, older + 1);
      const id = hash('sha256', `${content}#${older}`, 'hex').slice(0, 32);
      return { id, ...row };
    })
    .reverse();
}

/** What identifies a row at a bank with ids. */
function bankIdOf(
  productId: string,
  { bookingDate, transactionId, entryReference }: BookedRow,
): (string | null)[] | undefined {
  if (transactionId) return [productId, bookingDate, 'transactionId', transactionId];
  if (entryReference) return [productId, bookingDate, 'entryReference', entryReference];
  return undefined;
}

/** Removes whitespace at both ends, and replaces other whitespace by single spaces. */
function withPlainBlanks(text: string): string {
  // Replacing only what is not a single space is four times as fast.
  return text.replace(/\s\s+|[^\S ]/g, ' ').trim();
}

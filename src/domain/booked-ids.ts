import { hash } from 'node:crypto';
import type { IsoDate } from './calendar.ts';
import { type Decimal, normalDecimal } from './decimal.ts';

/** What the bank says of a transaction, whatever query it is asked by. */
export interface BookedRow {
  bookingDate: IsoDate | null;
  valueDate: IsoDate | null;
  amount: Decimal;
  /** ISO 4217; null is the account's. */
  currency: string | null;
  description: string;
  details: string;
  code: string | null;
  transferReference: string | null;
}

/**
 * Gives booked transactions ids, so that what is read twice makes no duplicates: a row that `psd2 sync` writes and one
 * that is exported have the same. The bank has none, since its `index` restarts with every query. An id is a hash of the
 * product, of what the bank says of the row (both dates, amount, currency, texts, code, transfer reference), and of how
 * many older rows it says the same of. Rows that are alike have the same dates, so a range of whole days has them all or
 * none, and the count is the same in every range.
 *
 * @param account the product, and the currency of a row that names none
 * @param rows those of whole days, newest first as the bank has them
 * @returns in the same order; an id has 32 hexadecimal digits
 */
export function withIds<Row extends BookedRow>(
  { productId, currency }: { productId: string; currency: string },
  rows: readonly Row[],
): (Row & { id: string })[] {
  const seen = new Map<string, number>();
  return rows
    .toReversed()
    .map((row) => {
      const content = JSON.stringify([
        ...[productId, row.bookingDate, row.valueDate, normalDecimal(row.amount), row.currency ?? currency],
        ...[withPlainBlanks(row.description), withPlainBlanks(row.details), row.code, row.transferReference],
      ]);
      const older = seen.get(content) ?? 0;
      seen.set(content, older + 1);
      const id = hash('sha256', `${content}#${older}`, 'hex').slice(0, 32);
      return { id, ...row };
    })
    .reverse();
}

/** Without blanks around it, and with one where there are several or one of another kind. */
function withPlainBlanks(text: string): string {
  return /^\s|\s$|\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ').trim() : text;
}

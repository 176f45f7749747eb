import { hash } from 'node:crypto';
import { type IsoDate, isBookingDay } from './calendar.ts';
import { type Decimal, normalDecimal } from './decimal.ts';

/** The ids that a bank may give to a row. */
export const ID_KINDS = ['transactionId', 'entryReference', 'internalTransactionId'] as const;
export type IdKind = (typeof ID_KINDS)[number];
/** What names a row of an account: an id of the bank, the row's content, or what is seen to hold. */
export type RowNaming = IdKind | 'content' | 'auto';

/** The fields of a transaction that are the same in every query. */
export interface BookedRow extends Partial<Record<IdKind, string | null | undefined>> {
  bookingDate: IsoDate | null;
  valueDate: IsoDate | null;
  amount: Decimal;
  /** ISO 4217. Null means the account's currency. */
  currency: string | null;
  description: string;
  details: string;
  code: string | null;
  transferReference: string | null;
  counterpartyIban?: string | null | undefined;
}

/**
 * The day that counts for a booked row: the value day where the bank gives no booking day. Null: it gives neither.
 *
 * @param row as it is stored: psd2 once stored `0001-01-01`
 */
export function dayOfRow<Day extends string>({
  bookingDate,
  valueDate,
}: {
  bookingDate: Day | null;
  valueDate?: Day | null;
}): Day | null {
  return bookingDate !== null && isBookingDay(bookingDate) ? bookingDate : (valueDate ?? null);
}

/** Whether a booked row is to come, and may vanish before. Without a day of booking it is not, whatever its value day. */
export function isFuture({ bookingDate }: { bookingDate: IsoDate | null }, today: IsoDate): boolean {
  return bookingDate !== null && bookingDate > today;
}

/** The product, the currency of its rows that name none, and what names its rows. */
export interface RowsOf {
  productId: string;
  currency: string;
  naming?: RowNaming | undefined;
}

/**
 * Assigns ids to booked transactions, so that reading a transaction twice makes no duplicate. `psd2 sync` and exports assign
 * the same id. An id is a hash of the product, the row's fields (both dates, amount, currency, texts, code, transfer
 * reference), and the number of older rows with the same fields. Equal rows have the same dates, so a range of whole days
 * contains all of them or none, and the number is the same in every range. An id of the bank stands for the fields only if
 * its bank file says so, and only if no other of these rows has it: ids may be new in each answer, or the place in a list.
 *
 * @param rows the rows of whole days, newest first, in the bank's order
 * @returns the rows in the same order. An id has 32 hexadecimal digits
 */
export function withIds<Row extends BookedRow>(
  { productId, currency, naming = 'auto' }: RowsOf,
  rows: readonly Row[],
): (Row & { id: string })[] {
  const seen = new Map<string, number>();
  const unique = naming === 'auto' || naming === 'content' ? undefined : uniqueIds(rows, naming);
  return rows
    .toReversed()
    .map((row) => {
      const bankId = unique?.get(row);
      const content = JSON.stringify(
        bankId === undefined
          ? [
              productId,
              row.bookingDate,
              row.valueDate,
              normalDecimal(row.amount),
              row.currency ?? currency,
              withPlainBlanks(row.description),
              withPlainBlanks(row.details),
              row.code,
              row.transferReference,
            ]
          : [productId, naming, bankId],
      );
      const older = seen.get(content) ?? 0;
      seen.set(content, older + 1);
      const id = hash('sha256', `${content}#${older}`, 'hex').slice(0, 32);
      return { id, ...row };
    })
    .reverse();
}

/** The ids of one kind that only one of the rows has. */
export function uniqueIds<Row extends BookedRow>(rows: readonly Row[], kind: IdKind): Map<Row, string> {
  const counts = new Map<string, number>();
  for (const { [kind]: id } of rows) if (id) counts.set(id, (counts.get(id) ?? 0) + 1);
  return new Map(
    rows.flatMap((row): [Row, string][] => {
      const id = row[kind];
      return id && counts.get(id) === 1 ? [[row, id]] : [];
    }),
  );
}

/** Removes whitespace at both ends, and replaces other whitespace by single spaces. */
export function withPlainBlanks(text: string): string {
  // Replacing only what is not a single space is four times as fast.
  return text.replace(/\s\s+|[^\S ]/g, ' ').trim();
}

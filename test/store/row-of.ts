import { isIsoDate } from '../../src/domain/calendar.ts';
import { isDecimal } from '../../src/domain/decimal.ts';
import type { BookedRows, HowToAppend, SyncedRow } from '../../src/store/ports/sync.ts';

/** A row of a sync, with content of its own. */
export function rowOf(
  id: string,
  bookingDate: string | null,
  amount = '1.00',
): SyncedRow & { status: 'booked' } {
  if (!isDecimal(amount) || (bookingDate !== null && !isIsoDate(bookingDate))) throw new TypeError(id);
  const texts = { description: id, details: '', code: null, transferReference: null };
  return { id, bookingDate, valueDate: null, amount, currency: 'EUR', ...texts, status: 'booked' };
}

/** Appends rows that are all of their days. @returns how many were missing */
export async function append(rows: BookedRows, some: readonly SyncedRow[]): Promise<number> {
  const how: HowToAppend = { of: { productId: 'A1', currency: 'EUR' }, covered: undefined };
  return (await rows.append(some, how)).added.length;
}

/** Rows of a product that nothing is stored of. */
export const NO_ROWS: BookedRows = {
  append: async () => ({ added: [], awaited: new Map(), unsure: 0, doubtful: [] }),
  gone: async () => [],
  replace: async () => {},
  recall: async () => {},
  end: async () => ({ cancelled: 0, gone: 0 }),
  lastDay: async () => undefined,
};

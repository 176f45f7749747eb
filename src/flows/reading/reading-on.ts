import type { Accounts, Transaction, TransactionQuery } from '../../bank/ports/bank.ts';
import { dayOfRow, type RowsOf, withIds } from '../../domain/booked-ids.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { MAX_READINGS, WholeReadings } from './transaction-reading.ts';

/** The rows of one account, whatever their range. */
export type SyncQuery = Omit<TransactionQuery, 'status' | 'from' | 'to' | 'after'> & { currency: string };

/** A booked transaction as a sync stores it. */
export type BookedTransaction = Omit<Transaction, 'index'> & { id: string; future?: true };

/**
 * Reads on from the newest row of the last sync, at a bank that can ({@link Accounts.readsOn}).
 *
 * @param newest the bank's `entryReference` of that row
 * @param limits `knownFrom`: older rows cannot be recognised any more. `maxRows`: more rows are too many for the memory
 * @returns the booked rows, oldest first, and the pending ones. Undefined if only days show what is new: the bank does not
 *   know the row any more, a row has no id of the bank, or there are too many rows
 * @throws Psd2Error for what no other reading can help with
 */
export async function fetchAfter(
  accounts: Accounts,
  query: SyncQuery & { of: RowsOf },
  newest: string,
  { knownFrom, maxRows }: { knownFrom: IsoDate; maxRows: number },
): Promise<{ booked: BookedTransaction[]; pending: Transaction[] } | undefined> {
  if (!accounts.readsOn) return undefined;
  const rows = await readAfter(accounts, query, newest, maxRows);
  if (!rows) return undefined;
  // Some banks give that row, too.
  const booked = rows.filter((row) => row.status === 'booked' && row.entryReference !== newest);
  if (!booked.every((row) => isIdentified(row) && (dayOfRow(row) ?? '') >= knownFrom)) return undefined;
  const withoutIndex = withIds(query.of, booked).map(({ index: _restarts, ...row }) => row);
  return { booked: oldestFirst(withoutIndex), pending: rows.filter(({ status }) => status === 'pending') };
}

async function readAfter(
  accounts: Accounts,
  query: SyncQuery,
  after: string,
  maxRows: number,
): Promise<Transaction[] | undefined> {
  const range = { from: undefined, to: undefined, status: undefined, after };
  const readings = new WholeReadings(accounts, { ...query, ...range });
  let isTooMany = false;
  try {
    for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
      const rows = await readings.next((some) => {
        isTooMany = some.length > maxRows;
        return isTooMany;
      });
      if (isTooMany || readings.cut) return undefined;
      if (rows) return rows;
    }
    return undefined;
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'bank_refused') return undefined;
    throw error;
  }
}

/** Without the bank's id, only whole days tell equal rows from the same row again. */
function isIdentified({ transactionId, entryReference }: Transaction): boolean {
  return Boolean(transactionId || entryReference);
}

/** @param rows newest first, as most banks list them. Within a day, they keep that order */
export function oldestFirst<Row extends Parameters<typeof dayOfRow>[0]>(rows: readonly Row[]): Row[] {
  return rows.toReversed().sort((one, other) => compare(dayOfRow(one) ?? '', dayOfRow(other) ?? ''));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * The reference to read on from. All that the bank books later comes after any row that is there now, so any will do: the
 * newest leaves the least to read again.
 *
 * @param rows oldest first
 */
export function newestOf(rows: readonly Pick<Transaction, 'entryReference'>[]): string | undefined {
  const reference = rows.findLast(({ entryReference }) => Boolean(entryReference))?.entryReference;
  return reference ?? undefined;
}

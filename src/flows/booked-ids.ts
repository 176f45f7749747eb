import { createHash } from 'node:crypto';
import type { Transaction } from '../bank/customers.ts';

/** A booked transaction with an id that is the same whenever it is fetched. */
export type IdentifiedTransaction = { id: string } & Omit<Transaction, 'index'>;

/**
 * Gives booked transactions ids, since the bank has none (its `index` restarts with every query): a hash of
 * what the bank says of each, and which of several alike of one day it is.
 *
 * @param rows those of whole days, so that the ones alike are counted from the first
 */
export function withIds(productId: string, rows: readonly Transaction[]): IdentifiedTransaction[] {
  const alike = new Map<string, number>();
  return rows.map(({ index: _position, ...row }) => {
    const { bookingDate, valueDate, amount, currency, description, details, code, transferReference } = row;
    // The bank may write an amount with more zeros another day.
    const exact = amount.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
    const content = [
      productId,
      bookingDate,
      valueDate,
      exact,
      currency,
      description,
      details,
      code,
      transferReference,
    ];
    const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 27);
    const number = (alike.get(hash) ?? 0) + 1;
    alike.set(hash, number);
    return { id: number === 1 ? hash : `${hash}-${number}`, ...row };
  });
}

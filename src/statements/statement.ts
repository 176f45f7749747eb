import { createHash } from 'node:crypto';
import type { AccountHistory, Booking } from '../domain/account-history.ts';

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

/** A booking with an id that is the same in every file. */
export type IdentifiedBooking = Booking & { id: string };

/**
 * Gives bookings ids, so that what is imported twice makes no duplicates. The bank has none: its `index` restarts with
 * every query. An id is made of what the bank says of a booking, and counts those of a day of which it says the same; a
 * range of days has whole days, so the count is the same in every file.
 *
 * @returns in the same order; an id has 32 hexadecimal digits
 */
export function withIds({ productId, currency, history }: Statement): IdentifiedBooking[] {
  const seen = new Map<string, number>();
  return history.bookings.map((booking) => {
    const content = JSON.stringify([
      ...[productId, booking.day, booking.valueDate, currency, sameAmount(booking.amount)],
      ...[booking.description, booking.details].map((text) => text.replace(/\s+/g, ' ').trim()),
      booking.transferReference,
    ]);
    const before = seen.get(content) ?? 0;
    seen.set(content, before + 1);
    const id = createHash('sha256').update(`${content}#${before}`).digest('hex').slice(0, 32);
    return { ...booking, id };
  });
}

/** The amount without the zeros that a bank may write after it. */
export function sameAmount(amount: string): string {
  const [whole = '', decimals = ''] = amount.replace(/^\+/, '').split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

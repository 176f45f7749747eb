import Big from 'big.js';
import { written } from '../account-history.ts';
import type { IsoDate } from '../calendar.ts';
import type { Decimal } from '../decimal.ts';
import type { BatchLine } from './line.ts';

/** What payments come to, by currency. */
export function sumsOf(payments: Iterable<Pick<BatchLine, 'amount' | 'currency'>>): Map<string, Big> {
  const sums = new Map<string, Big>();
  for (const { currency, amount } of payments)
    sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(amount));
  return sums;
}

/** What one account pays on one day. */
export interface BatchTotal {
  customer: string | null;
  /** The account's id or IBAN, as the file has it. Null: the file names no account. */
  from: string | null;
  /** Null: the day on which psd2 pays. */
  executionDate: IsoDate | null;
  instant: boolean;
  /** How a bulk payment of them is booked. Absent: nobody said it. */
  batchBooking?: boolean;
  currency: string;
  count: number;
  amount: Decimal;
}

/** Adds up the lines of a batch by customer, account, day and product. */
export interface Totals {
  add(line: BatchLine): void;
  /** In the order of the file. */
  read(): BatchTotal[];
}

export function addUp(): Totals {
  const sums = new Map<string, Omit<BatchTotal, 'amount'> & { sum: Big }>();
  return {
    add({ customer, fromIban, from: id, executionDate, instant, batchBooking, currency, amount }) {
      const from = fromIban ?? id;
      const key = JSON.stringify([customer, from, executionDate, instant, currency, batchBooking]);
      const before = sums.get(key) ?? {
        customer,
        from,
        executionDate,
        instant,
        currency,
        ...(batchBooking !== undefined && { batchBooking }),
        count: 0,
        sum: new Big(0),
      };
      sums.set(key, { ...before, count: before.count + 1, sum: before.sum.plus(amount) });
    },
    read: () => [...sums.values()].map(({ sum, ...total }) => ({ ...total, amount: written(sum) })),
  };
}

import { bankDay, type IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';
import type { Entry } from './entry.ts';
import type { Customer, Product } from './seed-customers.ts';
import { seedHistory } from './seed-history.ts';

export interface Balance {
  /** The sum of what is booked. */
  booked: Cents;
  /** The sum of what is booked and of what is pending. */
  available: Cents;
}

/** Which days are asked for, both included; undefined has no bound. */
export interface DayRange {
  from: IsoDate | undefined;
  to: IsoDate | undefined;
}

/**
 * The customers' accounts. A history is made when it is first asked for. Balances are sums of the entries, so the
 * two can't disagree.
 */
export class Ledger {
  readonly #customers: readonly Customer[];
  readonly #startedAt: Date;
  readonly #entries = new Map<Product, Entry[]>();

  /** @param startedAt until when the histories are made up; what comes after it is posted. */
  constructor(customers: readonly Customer[], startedAt: Date) {
    this.#customers = customers;
    this.#startedAt = startedAt;
  }

  /** Adds an entry to the history of a product. */
  post(product: Product, entry: Entry): void {
    this.#history(product).push(entry);
  }

  balance(product: Product, now: Date): Balance {
    let [booked, available] = [product.opening, product.opening];
    for (const entry of this.#history(product)) {
      available += entry.amount;
      if (isBooked(entry, now)) booked += entry.amount;
    }
    return { booked, available };
  }

  /** The booked entries by their booking day, the pending ones by the day they were entered; newest first. */
  entries(product: Product, { from, to }: DayRange, now: Date): { booked: Entry[]; pending: Entry[] } {
    const inRange = (day: IsoDate): boolean => (from ?? day) <= day && day <= (to ?? day);
    const newestFirst = this.#history(product).toReversed();
    return {
      booked: newestFirst
        .filter((entry) => isBooked(entry, now) && inRange(entry.bookingDay))
        .sort((a, b) => b.bookedFrom.getTime() - a.bookedFrom.getTime()),
      pending: newestFirst
        .filter((entry) => !isBooked(entry, now) && inRange(bankDay(entry.enteredAt)))
        .sort((a, b) => b.enteredAt.getTime() - a.enteredAt.getTime()),
    };
  }

  #history(product: Product): Entry[] {
    const known = this.#entries.get(product);
    if (known) return known;
    const owner = this.#customers.find(({ products }) => products.includes(product));
    const entries = owner ? seedHistory(owner, product, this.#startedAt) : [];
    this.#entries.set(product, entries);
    return entries;
  }
}

function isBooked({ bookedFrom }: Entry, now: Date): boolean {
  return bookedFrom <= now;
}

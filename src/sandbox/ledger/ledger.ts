import type { Customers } from '../customers/customers.ts';
import type { Product } from '../customers/seed-customers.ts';
import { bankDay, type IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';
import type { Entry } from './entry.ts';
import { GeneratedHistory } from './generated-history.ts';
import { joinRows, type Rows, rowsOf } from './rows.ts';
import { pendingAt, seedHistory } from './seed-history.ts';

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
 * The customers' accounts. A history is made when it is first asked for, or is a formula and never made at all.
 * Balances are sums of the entries, so the two can't disagree.
 */
export class Ledger {
  readonly #customers: Customers;
  readonly #startedAt: Date;
  /** By product id: the whole history, or what comes after the formula. */
  readonly #entries = new Map<string, Entry[]>();
  /** How many transactions {@link bookUnasked} booked. */
  #unasked = 0;

  /** @param startedAt until when the histories are made up; what comes after it is posted. */
  constructor(customers: Customers, startedAt: Date) {
    this.#customers = customers;
    this.#startedAt = startedAt;
  }

  /** Adds an entry to the history of a product. */
  post(product: Product, entry: Entry): void {
    this.#entries.set(product.productId, [...this.#listed(product), entry]);
  }

  /** Books `count` transactions that nobody ordered, now. Each has a text of its own. */
  bookUnasked(product: Product, count: number, now: Date): void {
    for (let booked = 0; booked < count; booked += 1) {
      this.#unasked += 1;
      this.post(product, {
        amount: -1_00,
        enteredAt: now,
        bookedFrom: now,
        bookingDay: bankDay(now),
        valueDay: bankDay(now),
        code: '43',
        shortDescription: 'PAGAMENTO TRAMITE POS',
        extendedDescription: `BOOKED MEANWHILE ${this.#unasked}`,
        transferReference: '',
        isFee: false,
        preAuthorized: false,
      });
    }
  }

  /** Books the `count` oldest of the pending transactions of a product, now. */
  settle(product: Product, count: number, now: Date): void {
    const entries = this.#listed(product);
    const settling = new Set(entries.filter((entry) => !isBooked(entry, now)).slice(0, count));
    const settled = (entry: Entry): Entry => ({ ...entry, bookedFrom: now, bookingDay: bankDay(now) });
    this.#entries.set(
      product.productId,
      entries.map((entry) => (settling.has(entry) ? settled(entry) : entry)),
    );
  }

  balance(product: Product, now: Date): Balance {
    const begin = product.opening + (this.#generated(product)?.total ?? 0);
    let [booked, available] = [begin, begin];
    for (const entry of this.#listed(product)) {
      available += entry.amount;
      if (isBooked(entry, now)) booked += entry.amount;
    }
    return { booked, available };
  }

  /** The booked entries by their booking day, the pending ones by the day they were entered; newest first. */
  entries(product: Product, range: DayRange, now: Date): { booked: Rows; pending: Entry[] } {
    const { from, to } = range;
    const inRange = (day: IsoDate): boolean => (from ?? day) <= day && day <= (to ?? day);
    const newestFirst = this.#listed(product).toReversed();
    const booked = rowsOf(
      newestFirst
        .filter((entry) => isBooked(entry, now) && inRange(entry.bookingDay))
        .sort((a, b) => b.bookedFrom.getTime() - a.bookedFrom.getTime()),
    );
    const older = this.#generated(product)?.rows(range);
    return {
      booked: older ? joinRows(booked, older) : booked,
      pending: newestFirst
        .filter((entry) => !isBooked(entry, now) && inRange(bankDay(entry.enteredAt)))
        .sort((a, b) => b.enteredAt.getTime() - a.enteredAt.getTime()),
    };
  }

  #generated(product: Product): GeneratedHistory | undefined {
    const { generatedTransactions: count } = product;
    return count === undefined ? undefined : new GeneratedHistory(product, count, this.#startedAt);
  }

  #listed(product: Product): Entry[] {
    const known = this.#entries.get(product.productId);
    if (known) return known;
    if (product.generatedTransactions !== undefined) return pendingAt(this.#startedAt, product);
    const owner = this.#customers.byProduct(product.productId)?.customer;
    const entries = owner ? seedHistory(owner, product, this.#startedAt) : [];
    this.#entries.set(product.productId, entries);
    return entries;
  }
}

function isBooked({ bookedFrom }: Entry, now: Date): boolean {
  return bookedFrom <= now;
}

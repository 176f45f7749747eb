import type { Customers } from '../customers/customers.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import type { StatePart } from '../state-part.ts';
import { bankDay, type IsoDate } from './bank-time.ts';
import type { Cents } from './cents.ts';
import { type Entry, joinRows, ledgerRows, type Rows } from './entry.ts';
import { GeneratedHistory } from './generated-history.ts';
import { pendingAt, seedHistory } from './seed-history.ts';

export interface Balance {
  /** The sum of the booked entries. */
  booked: Cents;
  /** The sum of the booked and the pending entries. */
  available: Cents;
}

/** A range of days, both included. Undefined means no limit. */
export interface DayRange {
  from: IsoDate | undefined;
  to: IsoDate | undefined;
}

interface LedgerMemory {
  /** The end of the histories. */
  startedAt: Date;
  /** By product id: the whole history, or the entries after a generated history. */
  entries: Map<string, Entry[]>;
  /** The number of transactions that {@link Ledger.bookUnasked} has booked. */
  unasked: number;
}

/**
 * The entries of the customers' accounts. A seeded history is made at its first use. A generated history is a formula.
 * Balances are sums of the entries, so the two always agree.
 */
export class Ledger implements StatePart {
  memory: LedgerMemory;
  readonly #customers: Customers;

  /** @param startedAt the end of the histories. Later entries are posted. */
  constructor(customers: Customers, startedAt: Date) {
    this.#customers = customers;
    this.memory = { startedAt, entries: new Map(), unasked: 0 };
  }

  /** Adds an entry to the history of a product. */
  post(product: Product, entry: Entry): void {
    this.memory.entries.set(product.productId, [...this.#listed(product), entry]);
  }

  /** Books `count` transactions that no customer ordered. Each has its own text. */
  bookUnasked(product: Product, count: number, now: Date): void {
    for (let booked = 0; booked < count; booked += 1) {
      this.memory.unasked += 1;
      this.post(product, {
        amount: -1_00,
        enteredAt: now,
        bookedFrom: now,
        bookingDay: bankDay(now),
        valueDay: bankDay(now),
        code: '43',
        shortDescription: 'PAGAMENTO TRAMITE POS',
        extendedDescription: `BOOKED MEANWHILE ${this.memory.unasked}`,
        transferReference: '',
        isFee: false,
        preAuthorized: false,
      });
    }
  }

  /** Books the `count` oldest pending transactions of a product. */
  settle(product: Product, count: number, now: Date): void {
    const entries = this.#listed(product);
    const settling = new Set(entries.filter((entry) => !isBooked(entry, now)).slice(0, count));
    const settled = (entry: Entry): Entry => ({ ...entry, bookedFrom: now, bookingDay: bankDay(now) });
    this.memory.entries.set(
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

  /** The entries, newest first. The range applies to the booking day of booked ones and the entry day of pending ones. */
  entries(product: Product, range: DayRange, now: Date): { booked: Rows; pending: Entry[] } {
    const { from, to } = range;
    const inRange = (day: IsoDate): boolean => (from ?? day) <= day && day <= (to ?? day);
    const newestFirst = this.#listed(product).toReversed();
    const booked = ledgerRows(
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

  /** How many times an account was debited with a reference. Fees do not count. */
  debits(product: Product, reference: string): number {
    return this.#listed(product).filter(
      ({ amount, isFee, transferReference }) => amount < 0 && !isFee && transferReference === reference,
    ).length;
  }

  /** Restores the histories of a customer's accounts. */
  forgetCustomer({ products }: Customer): void {
    for (const { productId } of products) this.memory.entries.delete(productId);
  }

  #generated(product: Product): GeneratedHistory | undefined {
    const { generatedTransactions: count } = product;
    return count === undefined ? undefined : new GeneratedHistory(product, count, this.memory.startedAt);
  }

  #listed(product: Product): Entry[] {
    const stored = this.memory.entries.get(product.productId);
    if (stored) return stored;
    if (product.generatedTransactions !== undefined) return pendingAt(this.memory.startedAt, product);
    if (product.history) return [...product.history];
    const owner = this.#customers.byProduct(product.productId)?.customer;
    const entries = owner ? seedHistory(owner, product, this.memory.startedAt) : [];
    this.memory.entries.set(product.productId, entries);
    return entries;
  }
}

function isBooked({ bookedFrom }: Entry, now: Date): boolean {
  return bookedFrom <= now;
}

import Big from 'big.js';
import { written } from '../domain/account-history.ts';
import { dayOfRow } from '../domain/booked-ids.ts';
import { addDays, earlier, type IsoDate } from '../domain/calendar.ts';
import type { Decimal, Money } from '../domain/decimal.ts';
import type { Appended, Progress, SyncedRow } from '../store/ports/sync.ts';

/** A booked balance, and the last day whose rows are in it. */
export interface DayBalance {
  money: Money;
  day: IsoDate;
}

/** The balance of an earlier day is carried over as many days. */
const CARRIED_DAYS = 15;

/** Compares the bank's balance with the stored one and the rows since: a difference shows that a row is missing. */
export class BalanceAudit {
  readonly #before: Progress | undefined;
  readonly #currency: string;
  /** The sums of the last days. */
  readonly #shown = new Map<IsoDate, Big>();
  readonly #counted = new Set<string>();
  readonly #came = new Set<string>();
  #first: IsoDate | undefined;
  #since = new Big(0);

  /** @param before the progress of the last sync */
  constructor(before: Progress | undefined, currency: string) {
    this.#before = before;
    this.#currency = currency;
  }

  /**
   * Counts the rows of some days in the account's currency. A row that comes again counts once. Rows of days to come do not count.
   *
   * @param from the first of the days. Undefined: the rows are only those that came after others
   */
  add<Row extends SyncedRow>(
    rows: readonly Row[],
    { added, awaited }: Pick<Appended<Row>, 'added' | 'awaited'>,
    from: IsoDate | undefined,
    today: IsoDate,
  ): void {
    const { from: first = today, through = today } = this.#before ?? {};
    const isNew = new Set(added);
    if (from !== undefined && (this.#first === undefined || from < this.#first)) this.#first = from;
    const last = addDays(today, -CARRIED_DAYS);
    for (const row of rows) {
      const { id, currency, amount } = row;
      // A balance has the rows of its own currency.
      if (currency !== null && currency !== this.#currency) continue;
      const day = countedOn(row, today);
      if (day === null || day > today) continue;
      const awaitedRow = awaited.get(row);
      // A row that was stored before its day counts when the day has come.
      const isDue =
        awaitedRow !== undefined && (dayOfRow(awaitedRow) ?? '') > through && !this.#came.has(awaitedRow.id);
      if (awaitedRow) this.#came.add(awaitedRow.id);
      if (isNew.has(row) ? day >= first : isDue) this.#since = this.#since.plus(amount);
      if (this.#counted.has(id)) continue;
      // No balance of an earlier day is carried over.
      if (day >= last) {
        this.#counted.add(id);
        this.#shown.set(day, (this.#shown.get(day) ?? new Big(0)).plus(amount));
      }
    }
  }

  /** Takes out rows that are in the stored balance, and not in the account any more. */
  without(rows: readonly SyncedRow[]): void {
    for (const { amount } of rows) this.#since = this.#since.minus(amount);
  }

  /** The balance that the rows lead to on a day, from that of the bank. Undefined if its day is too early. */
  carried(balance: DayBalance | undefined, today: IsoDate): Money | undefined {
    if (!balance) return undefined;
    const { money, day } = balance;
    if (day >= today) return money;
    if (money.currency !== this.#currency) return undefined;
    const from = addDays(day, 1);
    if (this.#first === undefined || from < this.#first || from < addDays(today, -CARRIED_DAYS))
      return undefined;
    const later = [...this.#shown].flatMap(([at, sum]) => (at > day && at <= today ? [sum] : []));
    const amount = later.reduce((all, sum) => all.plus(sum), new Big(money.amount));
    return { ...money, amount: written(amount) };
  }

  /**
   * The stored balance with the rows since. It still has what the bank's balance had beyond the rows. Undefined if none in the account's
   * currency is stored.
   */
  get goneOn(): Money | undefined {
    const { balance } = this.#before ?? {};
    if (balance?.currency !== this.#currency) return undefined;
    return { ...balance, amount: written(new Big(balance.amount).plus(this.#since)) };
  }

  /** The balance that the rows lead to: {@link goneOn} without what the bank's balance had beyond them. */
  get expected(): Money | undefined {
    const balance = this.goneOn;
    const { difference = '0' } = this.#before ?? {};
    return balance && { ...balance, amount: written(new Big(balance.amount).minus(difference)) };
  }

  /** What a balance has beyond the expected one. Undefined if it cannot be said. */
  differenceOf(balance: Money | undefined): Decimal | undefined {
    const { expected } = this;
    if (!balance || !expected || balance.currency !== expected.currency) return undefined;
    return written(new Big(balance.amount).minus(expected.amount));
  }
}

/** The day from which a balance has a row. One without a booking day is booked, even if its value day is to come. */
function countedOn(row: SyncedRow, today: IsoDate): IsoDate | null {
  const day = dayOfRow(row);
  return row.bookingDate === null && day !== null ? earlier(day, today) : day;
}

import Big from 'big.js';
import { written } from './account-history.ts';
import type { Money } from './decimal.ts';

/** The amounts of some rows, with their signs. Most statements have nothing to compare their sums with. */
interface Amounts {
  readonly credits: string[];
  readonly debits: string[];
}

/** What a statement says of its rows. Absent: it does not. */
export interface OwnFigures {
  opening?: Money | undefined;
  closing?: Money | undefined;
  /** Of money in and money out, without signs. */
  credits?: OwnTotal | undefined;
  debits?: OwnTotal | undefined;
  /** Of all rows. */
  all?: OwnTotal | undefined;
  /** The money in without the money out. */
  net?: OwnNet | undefined;
}

/** An amount without a sign. `isDebit` undefined: the statement does not say the direction. */
export interface OwnNet {
  amount: string | undefined;
  isDebit: boolean | undefined;
}

/** Texts of whole and of exact decimal numbers. */
export interface OwnTotal {
  sum?: string | undefined;
  count?: string | undefined;
}

/** Adds up the rows of a statement, and compares them with the figures that it has itself. */
export class StatementCheck {
  readonly #booked: Amounts = { credits: [], debits: [] };
  readonly #pending: Amounts = { credits: [], debits: [] };
  #currency: string | undefined;
  #isMixed = false;

  /** @param money with a sign */
  add({ amount, currency }: Record<keyof Money, string>, isBooked: boolean): void {
    this.#currency ??= currency;
    this.#isMixed ||= this.#currency !== currency;
    const { credits, debits } = isBooked ? this.#booked : this.#pending;
    (amount.startsWith('-') ? debits : credits).push(amount);
  }

  /**
   * @param name of the statement, in words
   * @returns sentences with both figures. None: the rows lead to what the statement says, or it says nothing, or its rows have several
   *   currencies
   */
  contradictions(name: string, own: OwnFigures): string[] {
    if (this.#isMixed) return [];
    return [this.#ofBalances(own), ...this.#ofTotals(own), this.#ofNet(own)].flatMap((what) =>
      what ? [`${name} ${what}`] : [],
    );
  }

  #ofBalances({ opening, closing }: OwnFigures): string | undefined {
    if (!opening || !closing || opening.currency !== closing.currency) return undefined;
    if (this.#currency !== undefined && this.#currency !== closing.currency) return undefined;
    const { credits, debits } = this.#booked;
    const reached = new Big(opening.amount).plus(sumOfAmounts(credits)).plus(sumOfAmounts(debits));
    if (reached.eq(closing.amount)) return undefined;
    const [from, to] = [opening, closing].map(({ amount }) => written(new Big(amount)));
    return `has the balances ${from} and ${to} ${closing.currency}, and its rows lead to ${written(reached)}`;
  }

  *#ofTotals({ credits, debits, all }: OwnFigures): Generator<string> {
    yield* this.#ofTotal('money in', credits, (rows) => rows.credits);
    yield* this.#ofTotal('money out', debits, (rows) => rows.debits);
    yield* this.#ofTotal('entries', all, (rows) => [...rows.credits, ...rows.debits.map(unsigned)]);
  }

  #ofNet({ net }: OwnFigures): string | undefined {
    if (!isNumber(net?.amount)) return undefined;
    const netOf = ({ credits, debits }: Amounts) => sumOfAmounts(credits).plus(sumOfAmounts(debits));
    const [booked, pending] = [netOf(this.#booked), netOf(this.#pending)];
    const own = new Big(net.amount).times(net.isDebit ? -1 : 1);
    const isReached = (sum: Big) => own.eq(net.isDebit === undefined ? sum.abs() : sum);
    if (isReached(booked) || isReached(booked.plus(pending))) return undefined;
    return `has the net sum ${written(own)}, and its rows have ${written(booked)}`;
  }

  /** Banks count booked entries alone, or pending ones too. */
  *#ofTotal(what: string, own: OwnTotal | undefined, of: (rows: Amounts) => string[]): Generator<string> {
    const { sum, count } = own ?? {};
    if (!isNumber(sum) && !isNumber(count)) return;
    const [booked, pending] = [of(this.#booked), of(this.#pending)];
    const bookedSum = sumOfAmounts(booked);
    const together = bookedSum.plus(sumOfAmounts(pending)).abs();
    if (isNumber(sum) && ![bookedSum.abs(), together].some((each) => each.eq(sum)))
      yield `has ${written(new Big(sum))} for ${what}, and its rows have ${written(bookedSum.abs())}`;
    if (isNumber(count) && ![booked.length, booked.length + pending.length].includes(Number(count)))
      yield `counts ${count} for ${what}, and has ${booked.length}`;
  }
}

/**
 * Whether a statement begins where the one before it ends.
 *
 * @param name of the statement, in words
 * @param before the closing balance of the one before
 * @returns a sentence with both figures. None: it does, or one of them says nothing, or in another currency
 */
export function gapBetween(name: string, before: Money | undefined, opening: Money | undefined): string[] {
  if (!before || !opening || before.currency !== opening.currency) return [];
  const [from, to] = [new Big(opening.amount), new Big(before.amount)];
  if (from.eq(to)) return [];
  return [
    `${name} begins with ${written(from)} ${opening.currency}, and the one before ends with ${written(to)}`,
  ];
}

function sumOfAmounts(amounts: readonly string[]): Big {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Big(0));
}

function unsigned(amount: string): string {
  return amount.replace('-', '');
}

function isNumber(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,30}(?:\.\d{1,10})?$/.test(text);
}

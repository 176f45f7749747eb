import { type Money, normalDecimal } from '../../domain/decimal.ts';

/** An amount of money as a table shows it: at least two decimals, without the zeros that the bank adds after them. */
export function writeMoney(money: Money | null): string | null {
  return money && `${normalDecimal(money.amount)} ${money.currency}`.trim();
}

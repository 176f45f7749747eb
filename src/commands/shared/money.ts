import { inCurrency, type Money } from '../../domain/decimal.ts';

/** An amount of money as a table shows it: with the decimals of its currency. */
export function writeMoney(money: Money | null): string | null {
  return money && `${inCurrency(money.amount, money.currency)} ${money.currency}`.trim();
}

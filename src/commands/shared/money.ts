import type { Money } from '../../domain/decimal.ts';

/** An amount of money as a table shows it. */
export function writeMoney(money: Money | null): string | null {
  return money && `${writeAmount(money.amount)} ${money.currency}`.trim();
}

/** At least two decimals; the zeros that the bank adds after them are left out of tables. */
export function writeAmount(amount: string): string {
  const [whole = '', decimals = ''] = amount.split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

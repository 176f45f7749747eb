import Big from 'big.js';
import type { Decimal } from './decimal.ts';

/** Chance could explain a sum of more rows. */
const MAX_ROWS = 10;

/**
 * Finds the rows without which the balance of an account agrees.
 *
 * @param rows stored rows that the bank no longer shows
 * @param difference what the bank's balance has beyond that of all stored rows
 * @returns as few rows as possible. None if nothing explains the difference, or different rows do
 */
export function rowsBeyondBalance<Row extends { amount: Decimal }>(
  rows: readonly Row[],
  difference: Decimal,
): readonly Row[] {
  const counted = rows.filter(({ amount }) => !new Big(amount).eq(0));
  if (counted.length > MAX_ROWS) return [];
  const sum = new Big(difference).neg();
  const explaining = setsOf(counted).filter((set) => amountSum(set).eq(sum));
  const fewest = Math.min(...explaining.map(({ length }) => length));
  const [smallest = [], ...others] = explaining.filter(({ length }) => length === fewest);
  return others.length === 0 ? smallest : [];
}

/** All choices of some of the rows. */
function setsOf<Row>(rows: readonly Row[]): Row[][] {
  const sets: Row[][] = [[]];
  for (const row of rows) sets.push(...sets.map((set) => [...set, row]));
  return sets;
}

function amountSum(rows: readonly { amount: Decimal }[]): Big {
  return rows.reduce((sum, { amount }) => sum.plus(amount), new Big(0));
}

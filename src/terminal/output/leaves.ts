import { inCurrency } from '../../domain/decimal.ts';

/** Each value in data with its path, for example `totalAmount.amount`. A missing value is ''. */
export function* leavesOf(value: unknown, path = ''): Generator<[path: string, value: string]> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* leavesOf(inner, path === '' ? key : `${path}.${key}`);
  } else yield [path, value === null || value === undefined ? '' : String(value)];
}

/** The data with each amount of money in the decimals of its currency. */
export function withDecimals(data: object): object;
export function withDecimals(data: unknown): unknown;
export function withDecimals(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return data.map(withDecimals);
  const copy = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withDecimals(value)]));
  const { amount, currency } = copy;
  if (typeof amount === 'string' && typeof currency === 'string') copy.amount = inCurrency(amount, currency);
  return copy;
}

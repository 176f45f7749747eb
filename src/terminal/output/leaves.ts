import { inCurrency } from '../../domain/decimal.ts';

/** Each value in data with its path, for example `totalAmount.amount`. A missing value is ''. */
export function* leavesOf(value: unknown, path = ''): Generator<[path: string, value: string]> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* leavesOf(inner, path === '' ? key : `${path}.${key}`);
  } else yield [path, value === null || value === undefined ? '' : String(value)];
}

/** The data with each amount of money in the decimals of its currency. What has them already is not copied: a list may have a million rows. */
export function withDecimals(data: object): object;
export function withDecimals(data: unknown): unknown;
export function withDecimals(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const changes: [string, unknown][] = [];
  for (const key of Object.keys(data)) {
    const value: unknown = Reflect.get(data, key);
    const written = typeof value === 'object' ? withDecimals(value) : value;
    if (written !== value) changes.push([key, written]);
  }
  if ('amount' in data && 'currency' in data) {
    const { amount, currency } = data;
    if (typeof amount === 'string' && typeof currency === 'string') {
      const written = inCurrency(amount, currency);
      if (written !== amount) changes.push(['amount', written]);
    }
  }
  if (changes.length === 0) return data;
  if (Array.isArray(data)) return data.map(withDecimals);
  return { ...data, ...Object.fromEntries(changes) };
}

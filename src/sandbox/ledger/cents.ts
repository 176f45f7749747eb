/** An amount of euros as a whole number of cents, so that sums are exact. */
export type Cents = number;

/** `{amount, currency}` in the bank's format. */
interface BankAmount {
  /** A decimal with three places, `-12.300`. */
  amount: string;
  currency: 'EUR';
}

/** `1234` as `12.34`. */
export function decimal(cents: Cents): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** An amount for a page: `12.34`. */
export function money(cents: Cents): { amount: string; currency: 'EUR' } {
  return { amount: decimal(cents), currency: 'EUR' };
}

/** `1234` as `12.340`: the API's answers have three decimals. */
export function threeDecimals(cents: Cents): string {
  return `${decimal(cents)}0`;
}

/** An amount for an answer of the API. */
export function euros(cents: Cents): BankAmount {
  return { amount: threeDecimals(cents), currency: 'EUR' };
}

/** Reads a decimal with at most two places, `12.3`. Undefined for any other text. */
export function readCents(text: string): Cents | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : Number(`${whole}${fraction.padEnd(2, '0')}`);
}

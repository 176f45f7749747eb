/** An exact decimal number in plain notation, as text: `"12.30"`, `"-0.005"`. Never a float. */
export type Decimal = string & { readonly __decimal: unique symbol };

/** An amount of money. `currency` is an ISO 4217 code. */
export interface Money {
  amount: Decimal;
  currency: string;
}

/** Whether `text` is a decimal in plain notation: optional sign, digits, optional point and digits. No exponent, no grouping. */
export function isDecimal(text: string): text is Decimal {
  return /^[+-]?\d+(\.\d+)?$/.test(text);
}

/** The same number in normal form: no `+`, at least two decimals, and no trailing zeros after the second. */
export function normalDecimal(decimal: Decimal): Decimal {
  // Nearly all amounts are: rows are compared by the million.
  if (/^-?\d+\.\d\d$/.test(decimal)) return decimal;
  const short = /^-?\d+\.\d\d(?=0$)/.exec(decimal)?.[0] ?? '';
  if (isDecimal(short)) return short;
  const [whole = '', decimals = ''] = decimal.replace(/^\+/, '').split('.');
  const text = `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return text;
}

/** Whether a decimal is exactly zero. */
export function isZero(decimal: Decimal): boolean {
  return /^[+-]?0+(\.0+)?$/.test(decimal);
}

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

/** The same number in normal form: no `+`, no `-` before zero, no zeros before it, at least two decimals, and no trailing zeros after the second. */
export function normalDecimal(decimal: Decimal): Decimal {
  // Nearly all amounts are: rows are compared by the million.
  if (/^(?!-0\.00$)-?(?:[1-9]\d*|0)\.\d\d$/.test(decimal)) return decimal;
  const short = /^(?!-0\.000$)-?(?:[1-9]\d*|0)\.\d\d(?=0$)/.exec(decimal)?.[0] ?? '';
  if (isDecimal(short)) return short;
  const [whole = '', decimals = ''] = decimal.replace(isZero(decimal) ? /^[+-]/ : /^\+/, '').split('.');
  const text = `${whole.replace(/^(-?)0+(?=\d)/, '$1')}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return text;
}

/** The currencies of ISO 4217 that have no cents, or more than two decimals. */
const DECIMALS: Readonly<Record<string, number>> = {
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  CLF: 4,
  UYW: 4,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
};

/** The same amount with the decimals of its currency, and with more only where they are not zero. */
export function inCurrency(amount: string, currency: string): string {
  const decimals = DECIMALS[currency] ?? 2;
  if (!isDecimal(amount)) return amount;
  if (decimals === 2) return normalDecimal(amount);
  const [whole = '', fraction = ''] = amount.replace(/^\+/, '').split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(decimals, '0');
  return shown === '' ? whole : `${whole}.${shown}`;
}

/** Whether a decimal is exactly zero. */
export function isZero(decimal: Decimal): boolean {
  return /^[+-]?0+(\.0+)?$/.test(decimal);
}

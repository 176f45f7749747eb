import { Psd2Error } from '../../errors.ts';

/**
 * Reads an option that takes a whole number, written in decimal digits.
 *
 * @param option its name: `--limit`
 * @param max the largest allowed; without it, any number of at most 9 digits
 * @throws Psd2Error `usage`
 */
export function readWholeNumber(option: string, text: string, min: number, max?: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && (max === undefined || number <= max)) return number;
  const range = max === undefined ? `from ${min}` : `from ${min} to ${max}`;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a whole number ${range}`);
}

/** Reads `--limit`, the maximum number; without it, returns `otherwise`. @throws Psd2Error `usage` */
export function readLimit(text: string | undefined, otherwise = Number.POSITIVE_INFINITY): number {
  return text === undefined ? otherwise : readWholeNumber('--limit', text, 1);
}

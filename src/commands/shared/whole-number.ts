import { Psd2Error } from '../../errors.ts';

/**
 * Reads an option that takes a whole number, written in decimal digits.
 *
 * @param option its name: `--limit`
 * @param most the largest allowed; without it, any number of at most 9 digits
 * @throws Psd2Error `usage`
 */
export function readWholeNumber(option: string, text: string, least: number, most?: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && (most === undefined || number <= most)) return number;
  const range = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a whole number ${range}`);
}

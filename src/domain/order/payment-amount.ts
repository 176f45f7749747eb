import { Psd2Error } from '../../errors.ts';
import { type Decimal, isDecimal, isZero } from '../decimal.ts';
import { UNUSUAL_BLANKS } from './sepa-text.ts';

/** Blanks of a document around an amount, or between its thousands. Elsewhere they could hide a slip. */
const AT_THE_EDGES = new RegExp(`^(${UNUSUAL_BLANKS.source})+|(${UNUSUAL_BLANKS.source})+$`, 'g');
const GROUPED = new RegExp(`^\\d{1,3}(${UNUSUAL_BLANKS.source}\\d{3})+(?=[.,]|$)`);

/**
 * Reads the amount of a SEPA transfer: 0.01 to 999999999.99, with at most two decimals after a point. Unusual
 * blanks may stand around it and between thousands.
 *
 * @returns the amount with exactly two decimals: `"12.5"` becomes `"12.50"`.
 * @throws Psd2Error `invalid_amount`. The message says what is wrong.
 */
export function parsePaymentAmount(text: string): Decimal {
  const refuse = (what: string): never => {
    throw new Psd2Error('invalid_amount', `The amount ${JSON.stringify(text)} ${what}`, {
      hint: 'Use digits, with a point and at most two decimals, for example 12.50.',
    });
  };
  const plain = text.replace(AT_THE_EDGES, '').replace(GROUPED, (units) => units.replace(UNUSUAL_BLANKS, ''));
  if (/^\d+(\.\d{3})*,\d+$/.test(plain)) return refuse('has a decimal comma');
  if (plain.startsWith('-')) return refuse('is negative');
  const match = /^(\d+)(?:\.(\d+))?$/.exec(plain);
  if (!match) return refuse('is not a decimal number');
  const [, whole = '', decimals = ''] = match;
  if (decimals.length > 2) return refuse('has more than two decimals');
  const units = whole.replace(/^0+(?=\d)/, '');
  if (units.length > 9) return refuse('is more than 999999999.99');
  const amount = `${units}.${decimals.padEnd(2, '0')}`;
  if (!isDecimal(amount)) return refuse('is not a decimal number');
  if (isZero(amount)) return refuse('is zero');
  return amount;
}

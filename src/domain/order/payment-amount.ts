import { Psd2Error } from '../../errors.ts';
import { type Decimal, isDecimal, isZero } from '../decimal.ts';

/**
 * Reads the amount of a SEPA transfer: 0.01 to 999999999.99, a point before at most two decimals.
 *
 * @returns the amount with exactly two decimals, `"12.5"` becoming `"12.50"`.
 * @throws Psd2Error `invalid_amount`, saying what is wrong with it.
 */
export function parsePaymentAmount(text: string): Decimal {
  const refuse = (what: string): never => {
    throw new Psd2Error('invalid_amount', `The amount ${JSON.stringify(text)} ${what}`, {
      hint: 'Give it as digits with a point before at most two decimals, for example 12.50.',
    });
  };
  if (/^\d+(\.\d{3})*,\d+$/.test(text)) return refuse('has a decimal comma');
  if (text.startsWith('-')) return refuse('is negative');
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
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

import { Psd2Error } from '../../errors.ts';
import { type IsoDate, parseDate } from '../calendar.ts';

/** How often a standing order pays, in the words of the standard. */
export const FREQUENCIES = [
  'Daily',
  'Weekly',
  'EveryTwoWeeks',
  'Monthly',
  'EveryTwoMonths',
  'Quarterly',
  'SemiAnnual',
  'Annual',
  'MonthlyVariable',
] as const;

/** Those without a day of the month. */
export const IN_WEEKS: readonly string[] = ['Daily', 'Weekly', 'EveryTwoWeeks'];

/** The currency of a SEPA transfer. @throws Psd2Error `usage` */
export function parseSepaCurrency(code: string): 'EUR' {
  if (code === 'EUR') return code;
  throw new Psd2Error(
    'usage',
    `The currency ${JSON.stringify(code)} is not possible: SEPA transfers are in EUR`,
  );
}

/**
 * The day on which the bank shall execute a transfer: today at the bank, or later.
 *
 * @param called how the message names the date: an option, or words that begin a sentence
 * @throws Psd2Error `invalid_date`
 */
export function parseExecutionDate(text: string, today: IsoDate, called = '--date'): IsoDate {
  const day = parseDate(called, text);
  if (day >= today) return day;
  throw new Psd2Error('invalid_date', `${called} ${day} is in the past: at the bank it is ${today}`);
}

/** The bank takes no account to debit (`payments.debtorAccount` of its file). */
export function takesNoDebtor(): Psd2Error {
  return new Psd2Error(
    'usage',
    'At this bank the customer chooses the account to debit, and a payment names none',
    { hint: 'psd2 has sent nothing. Leave out --from.' },
  );
}

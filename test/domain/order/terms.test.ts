import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import {
  FREQUENCIES,
  IN_WEEKS,
  parseExecutionDate,
  parseSepaCurrency,
  takesNoDebtor,
} from '../../../src/domain/order/terms.ts';
import { thrownBy } from '../../support/thrown.ts';

const TODAY = parseDate('a day', '2026-11-24');

describe('the day of a transfer', () => {
  it.each(['2026-11-24', '2026-11-25', '2027-01-01'])('may be %s on 2026-11-24', (day) => {
    expect(parseExecutionDate(day, TODAY)).toBe(day);
  });

  it.each([
    ['2026-11-23', '--date 2026-11-23 is in the past: at the bank it is 2026-11-24'],
    ['2025-12-31', '--date 2025-12-31 is in the past: at the bank it is 2026-11-24'],
    ['2026-11-31', '--date "2026-11-31" is a day that does not exist'],
    ['tomorrow', '--date "tomorrow" is not a date in the form YYYY-MM-DD'],
  ])('cannot be %s', (day, message) => {
    expect(thrownBy(() => parseExecutionDate(day, TODAY))).toMatchObject({ code: 'invalid_date', message });
  });

  it('has the name that its reader knows', () => {
    expect(() => parseExecutionDate('2026-11-23', TODAY, 'The date')).toThrow(/^The date 2026-11-23 is in/);
    expect(() => parseExecutionDate('x', TODAY, '--start')).toThrow(/^--start "x" is not/);
  });
});

it('a SEPA transfer is in EUR, written so', () => {
  expect(parseSepaCurrency('EUR')).toBe('EUR');
  for (const code of ['eur', ' EUR', 'EUR ', 'CHF', 'USD', ''])
    expect(thrownBy(() => parseSepaCurrency(code))).toMatchObject({
      code: 'usage',
      message: `The currency ${JSON.stringify(code)} is not possible: SEPA transfers are in EUR`,
    });
});

it('a standing order has a day of the month unless it pays by days or weeks', () => {
  expect(FREQUENCIES.filter((each) => !IN_WEEKS.includes(each))).toEqual([
    ...['Monthly', 'EveryTwoMonths', 'Quarterly', 'SemiAnnual', 'Annual', 'MonthlyVariable'],
  ]);
  expect(IN_WEEKS).toEqual(['Daily', 'Weekly', 'EveryTwoWeeks']);
});

it('a bank that lets the customer choose the account gets none', () => {
  expect(takesNoDebtor()).toMatchObject({
    code: 'usage',
    message: 'At this bank the customer chooses the account to debit, and a payment names none',
    hint: 'psd2 has sent nothing. Leave out --from.',
  });
});

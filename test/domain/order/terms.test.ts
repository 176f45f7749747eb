import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { FREQUENCIES, parseExecutionDate, parseSepaCurrency } from '../../../src/domain/order/terms.ts';
import { Psd2Error } from '../../../src/errors.ts';

const TODAY = parseDate('--date', '2026-11-24');

function errorIn(read: () => unknown) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { code: error.code, message: error.message };
  }
}

it('a SEPA transfer is in euros', () => {
  expect(parseSepaCurrency('EUR')).toBe('EUR');
});

it.each(['CHF', 'eur', ' EUR', ''])('the currency %j is refused', (code) => {
  expect(errorIn(() => parseSepaCurrency(code))).toEqual({
    code: 'usage',
    message: `The currency ${JSON.stringify(code)} is not possible: SEPA transfers are in EUR`,
  });
});

it.each(['2026-11-24', '2026-11-25', '2027-01-01'])('a transfer may be executed on %s', (day) => {
  expect(parseExecutionDate(day, TODAY)).toBe(day);
});

it.each([
  [undefined, '--date 2026-11-23 is in the past: at the bank it is 2026-11-24'],
  ['The date', 'The date 2026-11-23 is in the past: at the bank it is 2026-11-24'],
])('a day that is over is named: %s', (called, message) => {
  expect(errorIn(() => parseExecutionDate('2026-11-23', TODAY, called))).toEqual({
    code: 'invalid_date',
    message,
  });
});

it('what is no day is refused under its name', () => {
  expect(errorIn(() => parseExecutionDate('tomorrow', TODAY, 'The date'))).toMatchObject({
    code: 'invalid_date',
    message: expect.stringMatching(/^The date /),
  });
});

it('standing orders pay as often as NextGenPSD2 1.3 says', () => {
  expect(FREQUENCIES).toEqual([
    ...['Daily', 'Weekly', 'EveryTwoWeeks', 'Monthly', 'EveryTwoMonths', 'Quarterly', 'SemiAnnual'],
    ...['Annual', 'MonthlyVariable'],
  ]);
});

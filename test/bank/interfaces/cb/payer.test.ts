import { expect, it } from 'vitest';
import { cb } from '../../../../src/bank/interfaces/cb/interface.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { thrownBy } from '../../../support/thrown.ts';

const TODAY = parseDate('--date', '2026-11-20');
const PLAN = { urgent: false, description: '', address: null, from: '0010482620' };

it.each([
  ['06AB', false],
  ['CA30', true],
  ['CAPC', true],
  ['SI11', false],
  ['SI12', true],
  ['SI19', true],
  ['SI20', true],
  ['XCA30', false],
  ['CA30X', false],
  [null, false],
])('of the codes of products, %s is one that cannot pay: %s', (productCode, cannotPay) => {
  expect(cb.cannotPay?.({ productCode })).toBe(cannotPay);
});

it('an instant transfer for a later day is refused before it is sent, and no other one', () => {
  const plan = (instant: boolean, day: string | null) => () =>
    cb.refusePayment?.(
      { ...PLAN, instant, executionDate: day === null ? null : parseDate('--date', day) },
      TODAY,
    );
  for (const allowed of [plan(true, '2026-11-20'), plan(true, null), plan(false, '2026-11-21')])
    expect(allowed).not.toThrow();
  expect(thrownBy(plan(true, '2026-11-21'))).toMatchObject({
    code: 'invalid_date',
    message: 'An instant transfer is executed at once, so this bank takes none for 2026-11-21',
  });
});

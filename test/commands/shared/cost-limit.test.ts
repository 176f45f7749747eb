import { expect, it } from 'vitest';
import { costAboveLimit } from '../../../src/commands/shared/cost-limit.ts';
import { verification } from '../../../src/domain/events.ts';

const said = (commissions: object | null, totalAmount: object | null = null, unreadFees?: string) =>
  verification.parse({
    ...{ resourceId: 'p1', totalAmount, commissions, bankName: null, nextStep: 'execute' },
    ...(unreadFees !== undefined && { unreadFees }),
  });
const eur = (amount: string) => ({ amount, currency: 'EUR' });
const usd = (amount: string) => ({ amount, currency: 'USD' });

const OF_BOTH = 'from the account (amount 12.50 EUR, fees of the bank';
it.each([
  ['no fees', said(null), null],
  ['fees up to it', said(eur('87.50')), null],
  ['fees above it', said(eur('87.51')), `100.01 ${OF_BOTH} 87.51 EUR)`],
  ['fees with a sign', said(eur('-87.51')), '100.01 from'],
  [
    'fees of another currency',
    said(usd('0.01')),
    'cannot add to 12.50 EUR (0.01 USD), so the payment may take more than',
  ],
  ['no fees in another currency', said(usd('0.00')), null],
  ['fees that psd2 cannot read', said(null, null, '"4.99e2"'), 'cannot add to 12.50 EUR ("4.99e2")'],
  ['a fee beside one that psd2 cannot read', said(eur('0.50'), null, '1.00 USD'), 'EUR (1.00 USD)'],
  ['a total up to it', said(null, eur('100')), null],
  ['a total above it', said(eur('0.50'), eur('101.00')), `101.00 ${OF_BOTH} 0.50 EUR)`],
  ['a total in another currency', said(null, usd('4000')), null],
  ['nothing said', null, null],
])('the largest amount is 100, and the bank names %s', (_, verified, refusal) => {
  const profile = { name: 'bank', settings: { maxAmount: '100' } };
  const found = costAboveLimit(profile, eur('12.50'), verified);
  expect(found?.code ?? null).toBe(refusal === null ? null : 'invalid_amount');
  expect(found?.message ?? '').toContain(refusal ?? '');
});

it('without a largest amount, or for an operation whose amount psd2 does not know, nothing is refused', () => {
  const much = said(eur('1000'));
  expect(costAboveLimit({ name: 'bank', settings: {} }, eur('12.50'), much)).toBeNull();
  expect(costAboveLimit({ name: 'bank', settings: { maxAmount: '1' } }, {}, much)).toBeNull();
  expect(costAboveLimit({ name: 'bank', settings: { maxAmount: '1' } }, eur('12.50'), much)).not.toBeNull();
});

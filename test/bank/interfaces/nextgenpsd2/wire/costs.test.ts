import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { costIn, costPart } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/costs.ts';

const answer = z.object(costPart);
const eur = (amount: unknown) => ({ amount, currency: 'EUR' });
const unread = (unreadFees: string, more: object = {}) => ({
  ...{ totalAmount: null, commissions: null, unreadFees },
  ...more,
});
const fees = (commissions: object, totalAmount: object | null = null) => ({ totalAmount, commissions });

it.each<[string, object, object | null]>([
  ['nothing', {}, null],
  ['that there are no fees', { transactionFeeIndicator: false }, null],
  [
    'empty fees',
    { transactionFees: {}, currencyConversionFee: [], transactionFee: '', estimatedTotalAmount: null },
    null,
  ],
  ['fees in the plural', { transactionFees: eur('4.99') }, fees(eur('4.99'))],
  ['fees in the singular', { transactionFee: eur('4.99') }, fees(eur('4.99'))],
  ['fees in both', { transactionFees: eur('4.99'), transactionFee: eur('4.99') }, fees(eur('4.99'))],
  ['other fees in both', { transactionFees: eur('4.99'), transactionFee: eur('0.01') }, fees(eur('5.00'))],
  ['fees of a conversion in the plural', { currencyConversionFees: eur('2.50') }, fees(eur('2.50'))],
  ['fees of a conversion in the singular', { currencyConversionFee: eur('2.50') }, fees(eur('2.50'))],
  ['both fees', { transactionFees: eur('4.99'), currencyConversionFees: eur('2.50') }, fees(eur('7.49'))],
  [
    'a fee and a refund',
    { transactionFees: eur('4.99'), currencyConversionFees: eur('-4.99') },
    fees(eur('9.98')),
  ],
  [
    'fees, and that there are some',
    { transactionFees: eur('4.99'), transactionFeeIndicator: true },
    fees(eur('4.99')),
  ],
  ['a total', { estimatedTotalAmount: eur('14.99') }, { totalAmount: eur('14.99'), commissions: null }],
  ['fees without an amount', { transactionFeeIndicator: 'true' }, unread('fees without an amount')],
  [
    'fees without an amount, and a total',
    { transactionFeeIndicator: true, estimatedTotalAmount: eur('14.99') },
    unread('fees without an amount', { totalAmount: eur('14.99') }),
  ],
  ['an exponent', { transactionFees: eur('4.99e2') }, unread('{"amount":"4.99e2","currency":"EUR"}')],
  [
    'a currency in the amount',
    { transactionFee: eur('499.00 EUR') },
    unread('{"amount":"499.00 EUR","currency":"EUR"}'),
  ],
  ['an amount alone', { transactionFees: '499.00' }, unread('"499.00"')],
  ['a list', { transactionFees: [eur('499.00')] }, unread('[{"amount":"499.00","currency":"EUR"}]')],
  ['no currency', { currencyConversionFee: { amount: '499.00' } }, unread('{"amount":"499.00"}')],
  [
    'a total that is none',
    { estimatedTotalAmount: eur('much') },
    unread('{"amount":"much","currency":"EUR"}'),
  ],
  [
    'fees of two currencies',
    { transactionFees: eur('4.99'), currencyConversionFees: { amount: '2.50', currency: 'USD' } },
    { ...fees(eur('4.99')), unreadFees: '2.50 USD' },
  ],
])('of the cost of a payment, an answer says %s', (_, said, cost) => {
  expect(costIn(answer.parse(said))).toEqual(cost);
});

it('what is no amount is kept in short, and without the number of a card', () => {
  expect(
    costIn(answer.parse({ transactionFee: `card 4111 1111 1111 1111 ${'x'.repeat(200)}` }))?.unreadFees,
  ).toMatch(/^"card 411111\*{6}1111 x{60,80}$/);
});

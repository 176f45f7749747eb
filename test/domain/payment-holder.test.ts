import { expect, it } from 'vitest';
import { isPaymentHolder, paymentHolder } from '../../src/domain/identifiers.ts';

it('the tokens of a payment have a holder that no customer can be', () => {
  expect(paymentHolder('t1')).toBe('payment:t1');
  expect(['payment:t1', 'payment:', 'payment', 't1', 'my payment:t1'].map(isPaymentHolder)).toEqual([
    ...[true, true, false, false, false],
  ]);
});

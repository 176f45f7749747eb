import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { useSecondDoor } from './second-door-customer.ts';

// Where the customer logs in with a payment, the bank may want the token of that login with each later call about it.

const PAY = [
  ...['transfer', 'create', '--from', 'IT89F0999001600000010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00', '--yes'],
];
const transfer = z.looseObject({
  flow: z.string(),
  state: z.string(),
  transactionStatus: z.string().nullable(),
});

describe('at a bank that wants the token of a payment', () => {
  const operator = useSecondDoor(['--variation', 'payment-tokens'], {
    oauth: { mode: 'integrated' },
    payments: { futureDays: 30, products: { 'periodic-payments': ['sepa-credit-transfers'] } },
  });
  const kept = () =>
    readdirSync(join(operator.config, 'tokens', 'env')).filter((name) => name.startsWith('payment'));

  /** No holidays last as long. */
  const aWeekLater = async () => {
    expect((await operator.psd2(['sandbox', 'clock', '+7d'])).code).toBe(0);
  };

  it('a payment is followed to its end, and then its token is gone', async () => {
    const { state } = await operator.json(transfer, [...PAY, '--instant', '--payee-verified']);
    expect(state).toBe('settled');
    const { flow } = await operator.json(transfer, PAY);
    // The bank has accepted it, and may still reject it: psd2 asks again.
    expect(kept()).toHaveLength(1);
    await aWeekLater();
    expect(await operator.json(transfer, ['transfer', 'status', flow])).toMatchObject({
      ...{ state: 'executed', transactionStatus: 'ACSC' },
    });
    expect(kept()).toEqual([]);
  });
});

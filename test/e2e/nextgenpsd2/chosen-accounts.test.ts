import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { useSecondDoor } from './second-door-customer.ts';

// The customer chooses the account to debit at the bank (payments.debtorAccount), and psd2 shows what the bank names afterwards.

const TO = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '1.00'];
const SCT = ['sepa-credit-transfers'];
const IBAN = /^IT\d\d[A-Z0-9]{23}$/;
const paid = z.object({ state: z.string(), from: z.string().nullable() });

describe.each(['optional', 'never'] as const)('at a bank with payments.debtorAccount %s', (debtorAccount) => {
  const operator = useSecondDoor([], {
    payments: { debtorAccount, products: { 'bulk-payments': SCT, 'periodic-payments': SCT } },
  });
  const START = ['--frequency', 'Monthly', '--start', '2099-01-01'];

  it.each([
    ['a transfer', ['create'], /^(executed|ordered)$/],
    ['an instant transfer', ['create', '--instant', '--payee-verified'], /^settled$/],
    ['a standing order', ['standing', ...START], /^ordered$/],
  ])('%s has the account that the customer chose', async (_, words, state) => {
    const made = await operator.json(paid, ['transfer', ...words, ...TO, '--yes']);
    expect(made).toMatchObject({
      state: expect.stringMatching(state),
      from: expect.stringMatching(IBAN),
    });
  });

  it('--from is taken, or refused before anything is sent', async () => {
    const ended = await operator.psd2([
      ...['transfer', '--from', 'IT89F0999001600000010482620', ...TO, '--yes', '--json'],
    ]);
    if (debtorAccount === 'optional')
      expect(paid.parse(JSON.parse(ended.stdout)).from).toBe('IT89F0999001600000010482620');
    else
      expect([ended.code, readError(ended).message]).toEqual([
        2,
        'At this bank the customer chooses the account to debit, and a payment names none',
      ]);
  });
});

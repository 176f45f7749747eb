import { expect, it } from 'vitest';
import { json, type NextGenOptions, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

// Whether psd2 asks again after a refusal, and with which token.

const bank = useNextGenBank();
const open = useNextGen(bank);

function read(answers: Parameters<typeof bank.expect>[2][], options: NextGenOptions = {}) {
  for (const answer of answers) bank.expect('GET', '/v1/accounts/a1/balances', answer);
  const { bank: opened, sleeps } = open(options);
  return { balance: opened.accounts.balance('shop', 'a1', TRANSACTION_ID), sleeps };
}

it('readings that are used up are not asked for again, and do not slow other calls down', async () => {
  const { balance, sleeps } = read([refusal(429, 'ACCESS_EXCEEDED')]);
  await expect(balance).rejects.toMatchObject({
    ...{ code: 'too_many_calls', lasts: true },
    hint: expect.stringContaining('tomorrow'),
  });
  expect(sleeps).toEqual([]);
});

it('another 429 is asked for again', async () => {
  const balances = [{ balanceType: 'x', balanceAmount: { amount: '1', currency: 'EUR' } }];
  const { balance, sleeps } = read([{ status: 429, headers: { 'retry-after': '1' } }, json({ balances })]);
  await balance;
  expect(sleeps.length).toBeGreaterThan(0);
});

it('a refused consent costs no new token, a refused token does', async () => {
  const used: string[] = [];
  const tokens = {
    current: async () => 'old',
    renewed: async (refused: string) => {
      used.push(refused);
      return 'new';
    },
  };
  const invalid = read([refusal(401, 'CONSENT_INVALID')], { tokens });
  await expect(invalid.balance).rejects.toMatchObject({ code: 'not_logged_in' });
  expect(used).toEqual([]);
  const expired = refusal(401, 'TOKEN_EXPIRED');
  await expect(read([expired, expired], { tokens }).balance).rejects.toMatchObject({ code: 'not_logged_in' });
  expect(used).toEqual(['old']);
  expect(bank.last.headers.authorization).toBe('Bearer new');
});

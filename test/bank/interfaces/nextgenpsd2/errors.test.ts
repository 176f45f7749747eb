import { describe, expect, it } from 'vitest';
import type { Psd2Error } from '../../../../src/errors.ts';
import { isRefusal } from '../../../../src/flows/refusals.ts';
import type { WrittenAnswer } from '../../recorded-bank.ts';
import { json, type NextGenOptions, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

async function failure(answer: WrittenAnswer, options: NextGenOptions = {}): Promise<Psd2Error> {
  bank.expect('GET', '/v1/accounts/a1/balances', answer);
  // A card account may have this id.
  if (answer.status === 404 || answer.body?.includes('RESOURCE_UNKNOWN'))
    bank.expect('GET', '/v1/card-accounts/a1/balances', answer);
  return open(options)
    .bank.accounts.balance('shop', 'a1', TRANSACTION_ID)
    .then(
      () => Promise.reject(new TypeError('The call succeeded')),
      (error: Psd2Error) => error,
    );
}

it('what a bank says is cut and has no control characters', async () => {
  const error = await failure(refusal(400, 'FORMAT_ERROR', `\u001b[31m${'x'.repeat(5000)}`));
  expect(error.message).not.toMatch(/\p{Cc}/u);
  expect(error.message.length).toBeLessThan(1200);
});

describe('a refusal', () => {
  it('readings that are used up are not asked for again, and do not slow other calls down', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', refusal(429, 'ACCESS_EXCEEDED'));
    const { bank: opened, sleeps } = open();
    await expect(opened.accounts.balance('shop', 'a1', TRANSACTION_ID)).rejects.toMatchObject({
      ...{ code: 'too_many_calls', lasts: true },
      hint: expect.stringContaining('tomorrow'),
    });
    expect(sleeps).toEqual([]);
  });

  it('another 429 is asked for again', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', { status: 429, headers: { 'retry-after': '1' } });
    bank.expect(
      'GET',
      '/v1/accounts/a1/balances',
      json({ balances: [{ balanceType: 'x', balanceAmount: { amount: '1', currency: 'EUR' } }] }),
    );
    const { bank: opened, sleeps } = open();
    await opened.accounts.balance('shop', 'a1', TRANSACTION_ID);
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
    await failure(refusal(401, 'CONSENT_INVALID'), { tokens });
    expect(used).toEqual([]);
    bank.expect('GET', '/v1/accounts/a1/balances', refusal(401, 'TOKEN_EXPIRED'));
    await failure(refusal(401, 'TOKEN_EXPIRED'), { tokens });
    expect(used).toEqual(['old']);
    expect(bank.last.headers.authorization).toBe('Bearer new');
  });
});

describe('answers that cannot be used', () => {
  it.each([
    ['deep JSON', { status: 200, body: '['.repeat(100_000) }, 'is not JSON'],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://evil.example' }, body: '' },
      'with a redirect',
    ],
    [
      'a float amount that is none',
      json({ balances: [{ balanceAmount: { amount: '1e5', currency: 'EUR' } }] }),
      'expected a balance',
    ],
    ['no balances', json({ balances: [] }), 'expected a balance'],
  ] as const)('%s', async (_name, answer, says) => {
    const error = await failure(answer);
    expect(error.code).toBe('bank_answer');
    expect(error.message).toContain(says);
    expect(isRefusal(error)).toBe(false);
  });

  it.each([
    [
      'a wrong digest',
      { digest: 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' },
      'does not match its Digest',
    ],
    ['a wrong digest of SHA-512', { digest: 'SHA-512=AAAA' }, 'does not match its Digest'],
  ])('%s', async (_name, headers, says) => {
    const error = await failure(json({ balances: [] }, 200, headers));
    expect(error).toMatchObject({ code: 'bank_answer', message: expect.stringContaining(says) });
  });
});

import { expect, it } from 'vitest';
import type { AccountReads } from '../../../src/commands/context.ts';
import { countingByConsent } from '../../../src/commands/open/consent-reads.ts';

/** Records what is counted. */
function counter() {
  const counted: { account: string | null; budget: number | undefined }[] = [];
  const reads: AccountReads = {
    begin: () => {},
    giveBack: async () => {},
    async take(_customer, account, allowance) {
      counted.push({ account, budget: allowance?.budget });
      return 'taken';
    },
    async during({ productId: account, call }) {
      counted.push({ account, budget: undefined });
      return call();
    },
  };
  return { reads, counted };
}

it('reads are counted by account and consent, as often as the consent and the operator allow', async () => {
  const { reads, counted } = counter();
  let consent = { consentId: 'x'.repeat(500), frequencyPerDay: 6, reads: [] };
  const ofConsent = countingByConsent(reads, { for: async () => consent, instead: async () => undefined });
  const taken = (account: string | null, budget: number, isOperators: boolean) =>
    ofConsent.take('anna', account, { budget, isOperators, isSpread: false });
  await taken('a1', 4, false);
  await taken('a1', 4, true);
  await taken(null, 9, true);
  consent = { consentId: 'other', frequencyPerDay: 1, reads: [] };
  await taken('a1', 4, false);
  expect(counted.map(({ budget }) => budget)).toEqual([6, 4, 6, 1]);
  const [first, second, list, other] = counted.map(({ account }) => account);
  expect(first).toBe(second);
  expect(new Set([first, list, other]).size).toBe(3);
  const answer = await ofConsent.during({
    ...{ customerId: 'anna', productId: 'a1', call: async () => 'data', hasData: () => true },
  });
  expect(answer).toBe('data');
  expect(counted.at(-1)?.account).toBe(other);
});

it('when the consent for one reading is used up, another one is counted and read with', async () => {
  const counted: (string | null)[] = [];
  const reads: AccountReads = {
    ...counter().reads,
    async take(_customer, account) {
      counted.push(account);
      return counted.length === 1 ? 'used-up' : 'taken';
    },
  };
  const consent = (consentId: string) => ({ consentId, frequencyPerDay: 1, reads: [] });
  const asked: unknown[] = [];
  const ofConsent = countingByConsent(reads, {
    for: async () => consent('once'),
    instead: async (...which) => {
      asked.push(which);
      return consent('recurring');
    },
  });
  const allowance = { budget: 4, isOperators: false, isSpread: false };
  expect(await ofConsent.take('anna', 'a1', allowance)).toBe('taken');
  expect(asked).toEqual([['once', { account: 'a1' }]]);
  expect(new Set(counted).size).toBe(2);
});

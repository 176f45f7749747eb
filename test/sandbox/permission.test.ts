import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TppRole } from '../../src/sandbox/rules.ts';
import {
  codeOf,
  detailOf,
  newTestBank,
  openTestBank,
  type Reply,
  refusalOf,
  resourceOf,
  type TestBank,
} from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const SAVINGS = `${CUSTOMER}/products/0010482638`;
const OPEN = ['/private/customers/customerid-info', `${CUSTOMER}/accounts`, `${CUSTOMER}/products`];
const INQUIRIES = [CURRENT, `${CURRENT}/balance/retrieve`, `${CURRENT}/transactions/retrieve`];
const PAYMENTS = [`${CURRENT}/moneyTransfer/prepare`, `${CURRENT}/standingOrder/prepare`];

async function answersOf(bank: TestBank, token: string, paths: readonly string[]): Promise<string[]> {
  const replies: Reply[] = [];
  for (const path of paths) replies.push(await bank.tpp.send({ path, token }));
  return replies.map((reply) => (reply.status === 200 ? 'OK' : `${reply.status} ${codeOf(reply)}`));
}

describe('enforced consents', () => {
  let bank: TestBank;
  let token: string;
  beforeEach(async () => {
    bank = await newTestBank({ consents: 'enforced' });
    token = (await bank.tpp.login()).accessToken;
  });

  test('without a consent, only the customer id and the lists of accounts and products are open', async () => {
    expect(await answersOf(bank, token, OPEN)).toEqual(['OK', 'OK', 'OK']);
    const refused = [...INQUIRIES, ...PAYMENTS].map(() => '403 CONSENT_MISSING');
    expect(await answersOf(bank, token, [...INQUIRIES, ...PAYMENTS])).toEqual(refused);
  });

  test("without a consent, client credentials cannot even list a customer's accounts", async () => {
    const credentials = await bank.tpp.clientCredentials();
    const reply = await bank.tpp.send({ path: `${CUSTOMER}/accounts`, ...credentials });
    expect(refusalOf(reply)).toBe('403 CONSENT_MISSING');
  });

  test('a refusal names the category, the product and the command that requests the consent', async () => {
    const reply = await bank.tpp.send({ path: `${CURRENT}/moneyTransfer/prepare`, token });
    expect(reply.json.result?.messages?.[0]?.message).toBe(
      'The customer 1048262 has given no consent PAYMENTS for the product 0010482620',
    );
    const remedy = 'psd2 consent request --category PAYMENTS --account 0010482620';
    expect(detailOf(reply)).toBe(`Get it with: ${remedy}`);
  });

  test('a consent covers only its category and product, for client credentials too', async () => {
    await bank.tpp.giveConsent(token);
    expect(await answersOf(bank, token, INQUIRIES)).toEqual(['OK', 'OK', 'OK']);
    const others = [`${SAVINGS}/balance/retrieve`, ...PAYMENTS];
    expect(await answersOf(bank, token, others)).toEqual(Array(3).fill('403 CONSENT_MISSING'));
    const credentials = await bank.tpp.clientCredentials();
    const balance = await bank.tpp.send({ path: `${CURRENT}/balance/retrieve`, ...credentials });
    expect(balance.status).toBe(200);
    const other = await bank.tpp.send({ path: '/private/customers/2073915/accounts', ...credentials });
    expect(codeOf(other)).toBe('CONSENT_MISSING');
  });

  test('a consent counts only after it is confirmed', async () => {
    const payments = [{ name: 'PAYMENTS', products: ['0010482620'] }];
    const id = resourceOf(await bank.tpp.requestConsent(token, payments));
    await bank.tpp.authorise(token, id);
    expect(await answersOf(bank, token, PAYMENTS)).toEqual(Array(2).fill('403 CONSENT_MISSING'));
    await bank.tpp.confirmConsent(token, id);
    expect(await answersOf(bank, token, PAYMENTS)).toEqual(['OK', 'OK']);
  });
});

test('a consent lasts 180 days', async () => {
  const day = 24 * 60 * 60;
  const bank = await newTestBank({ consents: 'enforced', tokenTtlSeconds: 200 * day });
  const token = (await bank.tpp.login()).accessToken;
  await bank.tpp.giveConsent(token);
  bank.clock.advance(180 * day * 1000 - 1);
  expect(await answersOf(bank, token, [CURRENT])).toEqual(['OK']);
  bank.clock.advance(1);
  expect(await answersOf(bank, token, [CURRENT])).toEqual(['403 CONSENT_MISSING']);
});

test('the bank declines FUNDS_AVAILABILITY for a card and accepts the rest of the request', async () => {
  const bank = await newTestBank({ consents: 'enforced' });
  const { accessToken } = await bank.tpp.login();
  const reply = await bank.tpp.giveConsent(accessToken, '1048262', [
    { name: 'FUNDS_AVAILABILITY', products: ['0010482620', '0000093017'] },
    { name: 'ACCOUNT_INFO', products: ['0010482620', '0000093017'] },
  ]);
  expect(reply.json.data?.categoriesOutcome).toEqual([
    { name: 'FUNDS_AVAILABILITY', outcome: false },
    { name: 'ACCOUNT_INFO', outcome: true },
  ]);
  expect(await answersOf(bank, accessToken, INQUIRIES)).toEqual(['OK', 'OK', 'OK']);
});

describe.each<[TppRole, readonly string[], readonly string[], readonly string[]]>([
  ['AISP', INQUIRIES, PAYMENTS, ['ACCOUNT_INFO']],
  ['PISP', PAYMENTS, INQUIRIES, ['PAYMENTS', 'FUNDS_AVAILABILITY']],
  ['PIISP', OPEN, [...INQUIRIES, ...PAYMENTS], ['FUNDS_AVAILABILITY']],
])('a TPP with only the role %s', (role, allowed, refused, categories) => {
  let bank: TestBank;
  let token: string;
  beforeAll(async () => {
    bank = await openTestBank({ roles: [role] });
    token = (await bank.tpp.login()).accessToken;
  });
  afterAll(() => bank.close());

  test('a TPP can make only the calls of its role', async () => {
    const open = [...OPEN, ...allowed];
    expect(await answersOf(bank, token, open)).toEqual(open.map(() => 'OK'));
    expect(await answersOf(bank, token, refused)).toEqual(refused.map(() => '403 ROLE_MISSING'));
  });

  test('a refusal says which role is needed, and which one the TPP has', async () => {
    const reply = await bank.tpp.send({ path: refused[0] ?? '', token });
    const needed = role === 'AISP' ? 'PISP' : 'AISP';
    expect(detailOf(reply)).toBe(`Expected: ${needed}. Received: ${role}.`);
  });

  test('a TPP can request only the categories of its role', async () => {
    for (const name of ['ACCOUNT_INFO', 'PAYMENTS', 'FUNDS_AVAILABILITY']) {
      const reply = await bank.tpp.requestConsent(token, [{ name, products: ['0010482620'] }]);
      expect([name, reply.status]).toEqual([name, categories.includes(name) ? 200 : 403]);
    }
  });
});

test.each<[roles: TppRole[], words: string]>([
  [[], 'no role'],
  [['PIISP'], 'PIISP'],
  [['AISP', 'PIISP'], 'AISP, PIISP'],
])('a TPP with the roles %j makes no payment', async (roles, words) => {
  const bank = await newTestBank({ roles });
  const { accessToken } = await bank.tpp.login();
  const reply = await bank.tpp.send({ path: `${CURRENT}/moneyTransfer/prepare`, token: accessToken });
  expect([refusalOf(reply), detailOf(reply)]).toEqual([
    ...['403 ROLE_MISSING', `Expected: PISP. Received: ${words}.`],
  ]);
});

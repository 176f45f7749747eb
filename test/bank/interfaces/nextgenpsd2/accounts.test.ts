import { describe, expect, it } from 'vitest';
import { json, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const IBAN = 'DE89370400440532013000';
const ACCOUNT = {
  resourceId: 'a1',
  iban: IBAN,
  currency: 'EUR',
  name: 'Main',
  product: 'Giro',
  cashAccountType: 'CACC',
};
const CARD = { resourceId: 'c1', maskedPan: '525412******3241', currency: 'EUR', product: 'Credit' };
const balance = (balanceType: string, amount: string, more: object = {}) => ({
  balanceType,
  balanceAmount: { amount, currency: 'EUR' },
  ...more,
});

function expectLists(cards: Parameters<typeof bank.expect>[2]): void {
  bank.expect('GET', '/v1/accounts', json({ accounts: [ACCOUNT] }));
  bank.expect('GET', '/v1/card-accounts', cards);
}

describe('the list of accounts', () => {
  it('has accounts and cards', async () => {
    expectLists(json({ cardAccounts: [CARD] }));
    const { bank: opened, consentsFor } = open();
    expect(await opened.accounts.list('shop', TRANSACTION_ID)).toEqual([
      {
        accountId: 'a1',
        productId: 'a1',
        iban: IBAN,
        currency: 'EUR',
        name: 'Main',
        productCode: 'CACC',
        productDescription: 'Giro',
      },
      {
        accountId: 'c1',
        productId: 'c1',
        iban: null,
        currency: 'EUR',
        name: '525412******3241',
        productCode: null,
        productDescription: 'Credit',
      },
    ]);
    expect(consentsFor).toEqual(['list', 'list', 'list']);
  });

  it('of a bank with accounts.cards never takes one call', async () => {
    bank.expect('GET', '/v1/accounts', json({ accounts: [ACCOUNT] }));
    expect(
      await open({ file: { accounts: { cards: 'never' } } }).bank.accounts.list('shop', TRANSACTION_ID),
    ).toHaveLength(1);
  });
});

describe('balances', () => {
  it('the newest of the bank’s balances that psd2 calls booked and available, and all of them', async () => {
    const balances = [
      balance('expected', '900.10', { lastChangeDateTime: '2026-11-20T15:30:35.035Z' }),
      balance('interimBooked', '12345678901234567890.123456789', { referenceDate: '2026-11-21' }),
      balance('closingBooked', '500.00', { referenceDate: '2026-11-19' }),
    ];
    bank.expect('GET', '/v1/accounts/a1/balances', json({ balances }));
    const { bank: opened, consentsFor } = open();
    expect(await opened.accounts.balance('shop', 'a1', TRANSACTION_ID)).toEqual({
      accountId: 'a1',
      productId: 'a1',
      accountBalance: { amount: '12345678901234567890.123456789', currency: 'EUR' },
      availableBalance: { amount: '900.10', currency: 'EUR' },
      accountAvailability: null,
      accountAvailableCredit: null,
      asOf: '2026-11-21',
      bookedDay: '2026-11-21',
      balances: [
        { type: 'expected', amount: '900.10', currency: 'EUR', date: null, at: '2026-11-20T15:30:35.035Z' },
        {
          type: 'interimBooked',
          amount: '12345678901234567890.123456789',
          currency: 'EUR',
          date: '2026-11-21',
          at: null,
        },
        { type: 'closingBooked', amount: '500.00', currency: 'EUR', date: '2026-11-19', at: null },
      ],
    });
    expect(consentsFor).toEqual([{ account: 'a1', of: 'balances' }]);
  });

  it('a bare number keeps all its digits', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', {
      status: 200,
      body: '{"balances":[{"balanceType":"closingBooked","balanceAmount":{"currency":"EUR","amount":12345678901234567.10}}]}',
    });
    const read = await open().bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
    expect(read.accountBalance?.amount).toBe('12345678901234567.10');
  });

  it.each<[string, object[], [string | undefined, string | undefined] | 'bank_answer']>([
    ['a type in capitals', [balance(' INTERIMBOOKED ', '1.00')], ['1.00', undefined]],
    [
      'an available one that cannot be read',
      [balance('interimAvailable', 'n/a'), balance('closingBooked', '1.00')],
      ['1.00', undefined],
    ],
    [
      'a booked one that cannot be read beside another',
      [balance('interimBooked', 'n/a'), balance('closingBooked', '1.00')],
      ['1.00', undefined],
    ],
    [
      'a booked one that cannot be read',
      [balance('closingBooked', 'n/a'), balance('interimAvailable', '2.00')],
      'bank_answer',
    ],
    [
      'one that cannot be read at all',
      [{ amount: '1.00' }, balance('interimAvailable', '2.00')],
      'bank_answer',
    ],
  ])('%s', async (_, balances, expected) => {
    bank.expect('GET', '/v1/accounts/a1/balances', json({ balances }));
    const read = open().bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
    if (expected === 'bank_answer') return expect(read).rejects.toMatchObject({ code: expected });
    const { accountBalance, availableBalance } = await read;
    return expect([accountBalance?.amount, availableBalance?.amount]).toEqual(expected);
  });

  it('an amount has no plus sign', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', json({ balances: [balance('closingBooked', '+5.00')] }));
    const read = await open().bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
    expect(read.accountBalance?.amount).toBe('5.00');
    expect(read.balances).toMatchObject([{ amount: '5.00' }]);
  });
});

describe('cards have paths of their own', () => {
  const BALANCES = json({ balances: [balance('interimBooked', '14355.78')] });

  it('the list tells which accounts are cards', async () => {
    expectLists(json({ cardAccounts: [CARD] }));
    bank.expect('GET', '/v1/card-accounts/c1/balances', BALANCES);
    const { accounts } = open().bank;
    await accounts.list('shop', TRANSACTION_ID);
    expect((await accounts.balance('shop', 'c1', TRANSACTION_ID)).accountBalance?.amount).toBe('14355.78');
  });
});

it('details with another id than asked decide nothing', async () => {
  bank.expect('GET', '/v1/accounts/a1?withBalance=true', json({ account: { ...ACCOUNT, resourceId: 'a2' } }));
  await expect(
    open().bank.accounts.details({ what: 'product', customerId: 'shop', productId: 'a1' }, TRANSACTION_ID),
  ).rejects.toMatchObject({
    code: 'bank_answer',
    message: "The bank's answer is about the account a2, not about a1",
  });
});

it('a card with the id of an account is read at its own address', async () => {
  bank.expect('GET', '/v1/card-accounts/a1/balances', json({ balances: [balance('expected', '1.00')] }));
  expect(await open().bank.accounts.balance('shop', 'card:a1', TRANSACTION_ID)).toMatchObject({
    accountId: 'card:a1',
  });
});

import { describe, expect, it } from 'vitest';
import type { ConsentSource } from '../../../../src/bank/ports/call.ts';
import { parseProductId } from '../../../../src/domain/identifiers.ts';
import { CONSENT_ID, json, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

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

  it('of a consent that covers no card takes one call, and is noted', async () => {
    bank.expect('GET', '/v1/accounts', json({ accounts: [ACCOUNT] }));
    const listed: unknown[] = [];
    const consents: ConsentSource = {
      for: async () => ({ consentId: CONSENT_ID, reads: ['accounts'], cards: 'none' }),
      listed: async (consentId, accounts) => {
        listed.push({ consentId, accounts: accounts.map(({ accountId, iban }) => ({ accountId, iban })) });
      },
    };
    expect(await open({ consents }).bank.accounts.list('shop', TRANSACTION_ID)).toHaveLength(1);
    expect(listed).toEqual([{ consentId: CONSENT_ID, accounts: [{ accountId: 'a1', iban: IBAN }] }]);
  });

  it.each([
    ['404', { status: 404, body: '' }],
    ['403', refusal(403, 'SERVICE_BLOCKED')],
    ['405', refusal(405, 'SERVICE_INVALID')],
    ['401 for a consent without cards', refusal(401, 'CONSENT_INVALID')],
  ])('a bank without card accounts says %s, which is no error', async (_name, cards) => {
    expectLists(cards);
    expect(await open().bank.accounts.list('shop', TRANSACTION_ID)).toHaveLength(1);
  });

  it('of a bank with accounts.cards never takes one call', async () => {
    bank.expect('GET', '/v1/accounts', json({ accounts: [ACCOUNT] }));
    expect(
      await open({ file: { accounts: { cards: 'never' } } }).bank.accounts.list('shop', TRANSACTION_ID),
    ).toHaveLength(1);
  });

  it('another failure of the cards is an error: the list would not be whole', async () => {
    expectLists(refusal(429, 'ACCESS_EXCEEDED'));
    await expect(open().bank.accounts.list('shop', TRANSACTION_ID)).rejects.toMatchObject({
      code: 'too_many_calls',
    });
  });

  it('many currencies are none, and an account without a resource has its IBAN as id', async () => {
    bank.expect('GET', '/v1/accounts', json({ accounts: [{ iban: IBAN, currency: 'XXX' }] }));
    bank.expect('GET', '/v1/card-accounts', { status: 404 });
    const [account] = await open().bank.accounts.list('shop', TRANSACTION_ID);
    expect(account).toMatchObject({ accountId: IBAN, currency: '' });
  });

  it('an account without any name is an error', async () => {
    bank.expect('GET', '/v1/accounts', json({ accounts: [{ currency: 'EUR' }] }));
    await expect(open().bank.accounts.list('shop', TRANSACTION_ID)).rejects.toMatchObject({
      code: 'bank_answer',
    });
  });

  it('without a source of consents there is no reading', async () => {
    await expect(
      open({ consents: undefined }).bank.accounts.list('shop', TRANSACTION_ID),
    ).rejects.toMatchObject({
      code: 'not_logged_in',
      next: [['consent', 'request']],
    });
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

  it('accounts.balances says which they are; without one of these there is none', async () => {
    const balances = [balance('own', '1.00'), balance('nonInvoiced', '2.00')];
    bank.expect('GET', '/v1/accounts/a1/balances', json({ balances }));
    const file = { accounts: { balances: { booked: ['own'], available: ['other'] } } };
    const read = await open({ file }).bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
    expect([read.accountBalance?.amount, read.availableBalance]).toEqual(['1.00', null]);
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

  it('with many currencies, the account’s own comes first', async () => {
    const balances = [
      { ...balance('closingBooked', '1.00'), balanceAmount: { amount: '1.00', currency: 'USD' } },
      balance('closingBooked', '2.00'),
    ];
    bank.expect('GET', '/v1/accounts/a1/balances', json({ account: { currency: 'EUR' }, balances }));
    const read = await open().bank.accounts.balance('shop', 'a1', TRANSACTION_ID);
    expect(read.accountBalance).toEqual({ amount: '2.00', currency: 'EUR' });
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

  it('without the list, an account that the bank does not know may be a card, and psd2 remembers it', async () => {
    bank.expect('GET', '/v1/accounts/c1/balances', refusal(404, 'RESOURCE_UNKNOWN'));
    bank.expect('GET', '/v1/card-accounts/c1/balances', BALANCES);
    bank.expect('GET', '/v1/card-accounts/c1', json({ cardAccount: CARD }));
    const { accounts } = open().bank;
    await accounts.balance('shop', 'c1', TRANSACTION_ID);
    const of = { what: 'product', customerId: 'shop', productId: 'c1' } as const;
    expect(await accounts.details(of, TRANSACTION_ID)).toEqual(CARD);
  });

  it('an id that is neither gives the first refusal', async () => {
    bank.expect('GET', '/v1/accounts/x/balances', refusal(404, 'RESOURCE_UNKNOWN', 'no account'));
    bank.expect('GET', '/v1/card-accounts/x/balances', { status: 405 });
    await expect(open().bank.accounts.balance('shop', 'x', TRANSACTION_ID)).rejects.toMatchObject({
      message: expect.stringContaining('no account'),
    });
  });
});

it('details of an account are shown as they are, with its balances', async () => {
  bank.expect('GET', '/v1/accounts/a1?withBalance=true', json({ account: { ...ACCOUNT, usage: 'PRIV' } }));
  const of = { what: 'product', customerId: 'shop', productId: 'a1' } as const;
  expect(await open().bank.accounts.details(of, TRANSACTION_ID)).toMatchObject({ usage: 'PRIV' });
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

it('details come without balances if the bank or the consent does not allow them', async () => {
  const of = { what: 'product', customerId: 'shop', productId: 'a1' } as const;
  const consents: ConsentSource = { for: async () => ({ consentId: CONSENT_ID, reads: ['transactions'] }) };
  for (const opened of [open({ file: { accounts: { withBalance: false } } }), open({ consents })]) {
    bank.expect('GET', '/v1/accounts/a1', json({ account: ACCOUNT }));
    expect(await opened.bank.accounts.details(of, TRANSACTION_ID)).toMatchObject(ACCOUNT);
  }
});

it('what the interface lacks is wrong use', async () => {
  const { accounts, payments } = open().bank;
  const of = { what: 'customer', customerId: 'shop' } as const;
  await expect(accounts.details(of, TRANSACTION_ID)).rejects.toMatchObject({ code: 'usage' });
  const query = {
    customerId: 'shop',
    productId: 'a1',
    from: undefined,
    to: undefined,
    transactionId: TRANSACTION_ID,
  };
  await expect(accounts.document(query, 'pdf')).rejects.toMatchObject({ code: 'usage' });
  await expect(
    payments.terms({ customerId: 'shop', from: parseProductId('0000012345') }, TRANSACTION_ID),
  ).rejects.toMatchObject({
    code: 'usage',
  });
});

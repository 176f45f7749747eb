import { expect, it } from 'vitest';
import { accountsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/accounts.ts';
import type { Accounts } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { TRANSACTION_ID } from '../client.ts';
import { failureOf, type Scripted, said, scriptedCalls } from '../scripted.ts';

// Whoever observes the calls hears of each answer that psd2 could not use, once, whenever psd2 found that out.

const CONSENTS: ConsentSource = {
  for: async () => ({ consentId: 'c1', reads: ['accounts', 'balances', 'transactions'], cards: 'none' }),
};
const IBAN = 'DE89370400440532013000';
const OTHER = { iban: 'DE44500105175407324931' };
const AT = '/v1/accounts/a1';
const listed = said({ accounts: [{ resourceId: 'a1', iban: IBAN, currency: 'EUR' }] });
const BOOKED = { balanceType: 'closingBooked', balanceAmount: { amount: '1.00', currency: 'EUR' } };
const page: Scripted = { body: '<html>', headers: { 'content-type': 'text/html' } };

const balance = (accounts: Accounts) => accounts.balance('shop', 'a1', TRANSACTION_ID);
const details = (accounts: Accounts) =>
  accounts.details({ what: 'product', customerId: 'shop', productId: 'a1' }, TRANSACTION_ID);
const transactions = async (accounts: Accounts) => {
  const query = { customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status: undefined };
  for await (const _ of accounts.pages({ ...query, transactionId: TRANSACTION_ID }));
};
const ROW = { transactionId: 'a', transactionAmount: { amount: '-1.00', currency: 'EUR' } };

it.each<[what: string, (accounts: Accounts) => Promise<unknown>, Scripted[], unusable: string[]]>([
  ['a page', balance, [page], [`${AT}/balances`]],
  ['half of a JSON', balance, [{ body: '{"balances":[' }], [`${AT}/balances`]],
  [
    'a balance without an amount',
    balance,
    [said({ balances: [{ balanceType: 'expected' }] })],
    [`${AT}/balances`],
  ],
  ['another account', balance, [said({ account: OTHER, balances: [BOOKED] }), listed], [`${AT}/balances`]],
  ['the details of another account', details, [said({ account: { resourceId: 'a2' } })], [AT]],
  [
    'a row without an amount',
    transactions,
    [said({ transactions: { booked: [{}] } })],
    [`${AT}/transactions`],
  ],
  ['no rows', transactions, [said({})], [`${AT}/transactions`]],
  [
    'transactions of another account',
    transactions,
    [said({ account: OTHER, transactions: { booked: [ROW] } }), listed],
    [`${AT}/transactions`],
  ],
  [
    'a report in XML that cannot be read',
    transactions,
    [{ body: '<?xml version="1.0"?><Document/>', headers: { 'content-type': 'application/xml' } }],
    [`${AT}/transactions`],
  ],
  [
    'a report of another account in MT940',
    transactions,
    [
      {
        body: `:20:A\r\n:25:${OTHER.iban}\r\n:28C:1\r\n:60F:C261120EUR1,00\r\n:62F:C261120EUR1,00\r\n-\r\n`,
        headers: { 'content-type': 'text/plain' },
      },
      listed,
    ],
    [`${AT}/transactions`],
  ],
])('%s', async (_, read, answers, expected) => {
  const { calls, unusable } = scriptedCalls(answers, {}, CONSENTS);
  const accounts = accountsOf({ ...calls, list: (transactionId) => accounts.list('shop', transactionId) });
  expect(await failureOf(read(accounts))).toMatchObject({ code: 'bank_answer' });
  expect(unusable).toEqual(expected);
});

it('a refusal of the bank is not counted as an answer that psd2 could not use', async () => {
  const refusal = said({ tppMessages: [{ category: 'ERROR', code: 'CONSENT_INVALID' }] }, 401);
  const { calls, unusable } = scriptedCalls([refusal], {}, CONSENTS);
  await expect(balance(accountsOf(calls))).rejects.toMatchObject({ httpStatus: 401 });
  expect(unusable).toEqual([]);
});

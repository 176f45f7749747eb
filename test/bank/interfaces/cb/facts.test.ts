import { expect, it } from 'vitest';
import { factsOf, pathSegment } from '../../../../src/bank/interfaces/cb/accounts.ts';
import type { Details } from '../../../../src/bank/ports/bank.ts';
import { success } from '../../answers.ts';
import { useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const NOTHING = { reads: null, needsConsent: false, login: false };
const READING = { ...NOTHING, needsConsent: true, reads: { account: '0000012345' } };
const OF = '/private/customers/1234567';

it.each([
  ['GET', `${OF}/accounts`, { ...NOTHING, reads: 'list' }],
  ['GET', `${OF}/products`, { ...NOTHING, reads: 'list' }],
  ['GET', `${OF}/accounts?page=2`, { ...NOTHING, reads: 'list' }],
  ['GET', `${OF}/accounts/more`, NOTHING],
  ['GET', '/private/customers//accounts', NOTHING],
  ['GET', OF, NOTHING],
  ['GET', `${OF}/products/0000012345`, READING],
  ['GET', `${OF}/products/0000012345/balance/retrieve`, READING],
  ['GET', `${OF}/products/0000012345/transactions/retrieve?nextAccounting=11`, READING],
  ['GET', `${OF}/products/0000012345/balance/other`, { ...NOTHING, needsConsent: true }],
  ['GET', `${OF}/products/0000012345/balance/retrieve/more`, { ...NOTHING, needsConsent: true }],
  ['GET', `${OF}/products/0000012345/b4lance/retrieve`, { ...NOTHING, needsConsent: true }],
  ['GET', '/private/customers//products/0000012345', { ...NOTHING, needsConsent: true }],
  ['GET', `${OF}/products/${'a'.repeat(36)}`, { ...NOTHING, needsConsent: true }],
  ['GET', `${OF}/products/00-1`, { ...NOTHING, needsConsent: true }],
  ['POST', `${OF}/products/0000012345/balance/retrieve`, NOTHING],
  ['PUT', `${OF}/accounts`, NOTHING],
  ['GET', '/auth/oauth/v2/authorize?response_type=code', { ...NOTHING, login: true }],
  ['POST', '/auth/oauth/v2/token', { ...NOTHING, login: true }],
  ['GET', '', NOTHING],
])('what %s %s does is read from its path', (method, path, facts) => {
  expect(factsOf(method, path)).toEqual(facts);
});

it('pathSegment replaces an unpaired surrogate, which no address can have', () => {
  expect(pathSegment('a\u{D800}/b')).toBe('a%EF%BF%BD%2Fb');
});

const customerId = '1234567';
it.each<[Details, string]>([
  [{ what: 'customer', customerId }, OF],
  [{ what: 'products', customerId }, `${OF}/products`],
  [{ what: 'product', customerId, productId: '0000012345' }, `${OF}/products/0000012345`],
])('psd2 reads %j with its own call, and gives the answer unread', async (of, path) => {
  recorded.expect('GET', path, success('{"anything":{"deep":["x"]}}'));
  expect(await openClient().bank.accounts.details(of, 't')).toEqual({ anything: { deep: ['x'] } });
});

it.each([
  ['0000012345', true],
  ['a'.repeat(35), true],
  ['a'.repeat(36), false],
  ['', false],
  ['-000012345', false],
  ['000012345-', false],
])('whether %j can be an account of this bank: %s', (text, isId) => {
  expect(openClient().bank.accounts.isId(text)).toBe(isId);
});

/** The pages as the port gives them, without their rows. */
async function pagesOf(status?: 'booked' | 'pending') {
  const query = { customerId, productId: '0000012345', from: undefined, to: undefined, status };
  const found: object[] = [];
  const { accounts } = openClient().bank;
  for await (const { booked, pending, ...page } of accounts.pages({ ...query, transactionId: 't' })) {
    found.push({
      ...page,
      ...(booked && { booked: { ...booked, rows: booked.rows.length } }),
      ...(pending && { pending: { ...pending, rows: pending.rows.length } }),
    });
  }
  return found;
}

const BASE = `${OF}/products/0000012345/transactions/retrieve`;
const ROW =
  '{"index":"1","shortDescription":"","extendedDescription":"","amountTransaction":{"amount":"-1.00","currency":"EUR"},"dateLiquidationValue":"20260701T00:00:00"}';
const lists = (fields: string) =>
  success(`{"transactionsAccounting":[${ROW}],"transactionsNotAccounting":[${ROW}]${fields}}`);

it('a page says of each list its total and whether it continues, and of an ended list the total alone', async () => {
  const totals = ',"numberTransactionsAccounting":1,"numberTransactionsNotAccounting":2';
  recorded.expect('GET', BASE, lists(`${totals},"nextNotAccounting":7`));
  recorded.expect('GET', `${BASE}?nextNotAccounting=7`, lists(',"numberTransactionsAccounting":3'));
  expect(await pagesOf()).toEqual([
    { booked: { rows: 1, total: 1, hasMore: false }, pending: { rows: 1, total: 2, hasMore: true } },
    { endedBookedTotal: 3, pending: { rows: 1, total: null, hasMore: false } },
  ]);
});

it('a page says nothing of the days of rows in which something else cannot be read', async () => {
  const rows = ['"shortDescription":[]', '"dateLiquidationValue":"soon"', '"isFeeCharge":"perhaps"'].map(
    (field) => ROW.replace(/"shortDescription":""/, `${field},"dateAccountingCurrency":"20260630"`),
  );
  recorded.expect('GET', BASE, success(`{"transactionsAccounting":[${rows}]}`));
  expect(await pagesOf('booked')).toEqual([{ booked: { rows: 3, total: null, hasMore: false } }]);
});

it('a page says that the booked list continues', async () => {
  recorded.expect('GET', BASE, lists(',"nextAccounting":7'));
  recorded.expect('GET', `${BASE}?nextAccounting=7`, lists(''));
  expect(await pagesOf('booked')).toEqual([
    { booked: { rows: 1, total: null, hasMore: true } },
    { booked: { rows: 1, total: null, hasMore: false } },
  ]);
});

it('pending transactions alone bring no word about booked ones', async () => {
  recorded.expect('GET', BASE, lists(',"numberTransactionsAccounting":3'));
  expect(await pagesOf('pending')).toEqual([{ pending: { rows: 1, total: null, hasMore: false } }]);
});

it.each([
  [['20260630'], undefined],
  [['soon'], 1],
  [['soon', '20260630', 'later'], 2],
  [[], undefined],
])('a page with the booking days %j says how many nobody can read: %s', async (days, unreadDays) => {
  const rows = days.map((day) =>
    ROW.replace('"dateLiquidationValue"', `"dateAccountingCurrency":"${day}","dateLiquidationValue"`),
  );
  recorded.expect('GET', BASE, success(`{"transactionsAccounting":[${rows}]}`));
  const [page] = await pagesOf('booked');
  expect(page).toEqual({
    booked: { rows: days.length, total: null, hasMore: false },
    ...(unreadDays !== undefined && { unreadDays }),
  });
});

import { describe, expect, test } from 'vitest';
import {
  cents,
  codeOf,
  detailOf,
  type Json,
  list,
  newTestBank,
  type Reply,
  refusalOf,
  useTestBank,
} from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const SAVINGS = `${CUSTOMER}/products/0010482638`;
const CARD = `${CUSTOMER}/products/0000093017`;

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

function get(path: string): Promise<Reply> {
  return bank.tpp.send({ path, token });
}

interface Rows {
  booked: Json[];
  pending: Json[];
  pages: Json[];
}

/** Reads all pages with both cursors, like a client that does not know how the bank restarts a finished list. */
async function readAll(product: string, query = ''): Promise<Rows> {
  const rows: Rows = { booked: [], pending: [], pages: [] };
  let next: Json | undefined;
  do {
    const cursor = next === undefined ? '' : `nextAccounting=${next}`;
    const parameters = [query, cursor].filter(Boolean).join('&');
    const { json } = await get(`${product}/transactions/retrieve?${parameters}`);
    rows.pages.push(json.data ?? {});
    rows.booked.push(...list(json.data?.transactionsAccounting));
    if (rows.pages.length === 1) rows.pending.push(...list(json.data?.transactionsNotAccounting));
    next = json.data?.nextAccounting;
  } while (next !== undefined);
  return rows;
}

test("customerid-info has the customer's id, an extra result, and no links", async () => {
  const { json } = await get('/private/customers/customerid-info');
  expect(json).toEqual({
    result: {
      ...{ outcome: 'SUCCESS', requestId: expect.any(String), flushMessages: true, messages: [] },
      result: true,
    },
    data: { customerid: '1048262' },
  });
});

test('the accounts are a current account, a savings account, and a card with the IBAN of the current account', async () => {
  const { json } = await get(`${CUSTOMER}/accounts`);
  const account = (accountId: string, code: string, description: string, iban: string, name: string) => ({
    ...{ accountId, product: { code, description }, currency: 'EUR', iban, name },
  });
  const [current, savings] = ['IT89F0999001600000010482620', 'IT31P0999001600000010482638'];
  expect(json.data).toEqual({
    accounts: [
      account('0010482620', 'AZIM', 'CONTO CORRENTE', current, 'Conto di casa'),
      account('0010482638', '0650', 'CONTO RISPARMIO', savings, 'Risparmi'),
      account('0000093017', 'CA30', 'CARTA DI CREDITO', current, ''),
    ],
  });
  expect(json._links).toEqual({
    self: { href: 'accounts', method: 'GET' },
    curies: [{ href: `${bank.sandbox.baseUrl}${CUSTOMER}/{rel}`, name: 'accounts' }],
  });
});

test('the products endpoint gives the same list, and a single product is the same record', async () => {
  const accounts = (await get(`${CUSTOMER}/accounts`)).json.data?.accounts;
  expect((await get(`${CUSTOMER}/products`)).json.data).toEqual({ products: accounts });
  const one = await get(SAVINGS);
  expect(one.json.data).toEqual(accounts?.[1]);
  expect(one.json._links?.self).toEqual({ href: '0010482638', method: 'GET' });
});

test("the customer details have the customer's name", async () => {
  const details = { customerid: '1048262', name: 'Anna', surname: 'Esposito' };
  expect((await get(CUSTOMER)).json.data).toEqual(details);
});

describe('the balance', () => {
  test('only the balance of a card has an available credit', async () => {
    const account = (await get(`${CURRENT}/balance/retrieve`)).json;
    expect(Object.keys(account.data ?? {})).toEqual([
      ...['accountBalance', 'availableBalance', 'accountAvailability', 'date', 'hour', 'isPocketAccount'],
    ]);
    expect(account.data).toMatchObject({ date: '20/11/2026', hour: '12:00', isPocketAccount: false });
    expect(account._links?.self).toEqual({ href: 'retrieve', method: 'GET' });
    const card = (await get(`${CARD}/balance/retrieve`)).json.data;
    expect(cents(card?.accountAvailableCredit)).toBe(2_500_00 + cents(card?.availableBalance));
    expect(cents(card?.accountBalance)).toBeLessThan(0);
  });

  test.each([
    ['current account', CURRENT, 0],
    ['savings account', SAVINGS, 0],
    ['card', CARD, 2_500_00],
  ])('the customer of the %s can spend what is available, and the credit', async (_name, product, credit) => {
    const { data } = (await get(`${product}/balance/retrieve`)).json;
    expect(cents(data?.accountAvailability)).toBe(cents(data?.availableBalance) + credit);
  });

  test.each([
    ['current account', CURRENT, 4_250_00],
    ['savings account', SAVINGS, 9_800_00],
    ['card', CARD, 0],
  ])('the balance of the %s is the sum of its transactions', async (_name, product, opening) => {
    const balance = (await get(`${product}/balance/retrieve`)).json.data;
    const { booked, pending } = await readAll(product);
    const total = (rows: Json[]): number => rows.reduce((sum, row) => sum + cents(row.amountTransaction), 0);
    expect(cents(balance?.accountBalance)).toBe(opening + total(booked));
    expect(cents(balance?.availableBalance)).toBe(opening + total(booked) + total(pending));
  });
});

describe('transactions', () => {
  test('a page has ten booked rows of 14 months up to yesterday, each once, and the cursors are 11, 21, ... with none on the last page', async () => {
    const { booked, pages } = await readAll(CURRENT);
    const count = Number(pages[0]?.numberTransactionsAccounting);
    expect(booked).toHaveLength(count);
    expect(count).toBeGreaterThan(200);
    expect(pages).toHaveLength(Math.ceil(count / 10));
    pages.forEach((page, index) => {
      const last = index === pages.length - 1;
      expect(list(page.transactionsAccounting)).toHaveLength(last ? count - 10 * index : 10);
      expect(page.nextAccounting).toBe(last ? undefined : 10 * (index + 1) + 1);
      expect(Object.hasOwn(page, 'nextAccounting')).toBe(!last);
    });
    const dates = booked.map((one) => String(one.dateAccountingCurrency));
    expect(dates).toEqual(dates.toSorted().toReversed());
    expect((dates[0] ?? '') <= '20261119T00:00:00').toBe(true);
    expect(dates.at(-1)).toMatch(/^202509(?:2\d|30)T00:00:00$/);
    // A few rows may look the same, but not more than that.
    const distinct = new Set(booked.map(({ index: _index, ...rest }) => JSON.stringify(rest)));
    expect(distinct.size).toBeGreaterThan(count - 5);
  });

  test('every page has the pending list again, and the index numbers its rows from 1, so it is not an id', async () => {
    const { pages } = await readAll(CURRENT);
    const pending = pages[0]?.transactionsNotAccounting;
    expect(list(pending).map(({ index }) => index)).toEqual(['N1', 'N2', 'N3']);
    for (const page of pages) {
      expect(page.transactionsNotAccounting).toEqual(pending);
      expect(list(page.transactionsAccounting)[0]?.index).toBe('A1');
    }
  });

  test.each([0, 1])(
    'the bank gives exactly as many pages as the rows need, with %d rows over full pages',
    async (over) => {
      const { booked: all } = await readAll(CURRENT);
      const days = all.map(({ dateAccountingCurrency: date }) => String(date).slice(0, 8));
      // Finds the latest day since which there are 10, 20, ... rows (or one more).
      const count =
        days.findIndex((day, index) => (index + 1) % 10 === over && index > 9 && day !== days[index + 1]) + 1;
      const [, year, month, day] = /^(....)(..)(..)$/.exec(days[count - 1] ?? '') ?? [];
      const { booked, pages } = await readAll(CURRENT, `dateFrom=${day}%2F${month}%2F${year}`);
      expect(count).toBeGreaterThan(0);
      expect(booked).toHaveLength(count);
      expect(pages).toHaveLength(Math.ceil(count / 10));
    },
  );

  test('a booked row and a pending row have all their fields', async () => {
    const { data } = (await get(`${CURRENT}/transactions/retrieve?dateFrom=01%2F11%2F2026`)).json;
    const rent = list(data?.transactionsAccounting).find((row) =>
      String(row.extendedDescription).startsWith('AFFITTO'),
    );
    expect(rent).toEqual({
      index: expect.stringMatching(/^A\d+$/),
      shortDescription: 'VOSTRA DISPOSIZIONE',
      extendedDescription: 'AFFITTO 11/2026',
      amountTransaction: { amount: '-780.000', currency: 'EUR' },
      dateAccountingCurrency: '20261101T00:00:00',
      dateLiquidationValue: '20261101T00:00:00',
      codeDescription: '26',
      idMoneyTransfer: expect.stringMatching(/^\d{11}$/),
      isFeeCharge: false,
    });
    expect(list(data?.transactionsNotAccounting)[0]).toEqual({
      index: 'N1',
      shortDescription: '',
      extendedDescription: '',
      amountTransaction: { amount: expect.stringMatching(/^-\d+\.\d\d0$/), currency: 'EUR' },
      dateLiquidationValue: expect.stringMatching(/^20261120T0[56]:\d\d:\d\d$/),
      codeDescription: '43',
      idMoneyTransfer: '',
      preAuthorized: true,
    });
    expect(data?.showNotAccounting).toBe(true);
    expect(list(data?.transactionDescriptions)).toContainEqual({
      value: '26',
      label: 'VOSTRA DISPOSIZIONE',
    });
  });

  test('a range has the rows of its days, first and last included, with the totals of the range', async () => {
    const all = await readAll(CURRENT);
    const wanted = all.booked.filter(({ dateAccountingCurrency: date }) => String(date).startsWith('202610'));
    const { booked, pages } = await readAll(CURRENT, 'dateFrom=01%2F10%2F2026&dateTo=31%2F10%2F2026');
    const plain = (rows: Json[]): object[] => rows.map(({ index: _, ...row }) => row);
    expect(plain(booked)).toEqual(plain(wanted));
    const amounts = wanted.map(({ amountTransaction }) => cents(amountTransaction));
    const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
    expect(cents(pages[0]?.totalOutput)).toBe(sum(amounts.filter((amount) => amount < 0)));
    expect(cents(pages[0]?.totalEnter)).toBe(sum(amounts.filter((amount) => amount > 0)));
    expect(pages[0]?.numberTransactionsAccounting).toBe(wanted.length);
    expect(pages[0]?.numberTransactionsNotAccounting).toBe(0);
  });

  test('an empty range answers 200 with counts of zero', async () => {
    const { status, json } = await get(
      `${CURRENT}/transactions/retrieve?dateFrom=01%2F01%2F2030&dateTo=31%2F01%2F2030`,
    );
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      totalOutput: { amount: '0.000', currency: 'EUR' },
      totalEnter: { amount: '0.000', currency: 'EUR' },
      transactionsAccounting: [],
      transactionsNotAccounting: [],
      numberTransactionsAccounting: 0,
      numberTransactionsNotAccounting: 0,
    });
  });

  test('a page past the last one is empty', async () => {
    const { json } = await get(`${CURRENT}/transactions/retrieve?nextAccounting=100001`);
    expect(json.data?.transactionsAccounting).toEqual([]);
    expect(json.data?.nextAccounting).toBeUndefined();
  });

  test('each page links to the exports of the same range', async () => {
    const { json } = await get(`${CURRENT}/transactions/retrieve?dateTo=29%2F04%2F2026`);
    const link = (type: string) => ({
      href: `${bank.sandbox.baseUrl}${CURRENT}/transactions/retrieve?text=&dateFrom=&dateTo=29%2F04%2F2026&exportType=${type}`,
      method: 'GET',
    });
    expect(json._embedded).toMatchObject({
      ...{ 'transactions:generatePdf': link('pdf'), 'transactions:generateXls': link('xls') },
    });
  });

  const PARAMETERS = 'Expected: dateFrom, dateTo, nextAccounting, nextNotAccounting, exportType.';
  test.each([
    ['dateFrom=2026-10-01', 'Expected: DD/MM/YYYY. Received: "2026-10-01".'],
    ['dateTo=31%2F02%2F2026', 'Expected: DD/MM/YYYY. Received: "31/02/2026".'],
    ['dateFrom=02%2F10%2F2026&dateTo=01%2F10%2F2026', 'Expected: at most 01/10/2026. Received: 02/10/2026.'],
    ['nextAccounting=0', 'Expected: a whole number from 1. Received: "0".'],
    ['nextNotAccounting=A1', 'Expected: a whole number from 1. Received: "A1".'],
    ['page=2', `${PARAMETERS} Received: page.`],
    ['text=rent', `${PARAMETERS} Received: text.`],
  ])('the bank refuses transactions with ?%s', async (query, detail) => {
    const reply = await get(`${CURRENT}/transactions/retrieve?${query}`);
    expect([reply.status, codeOf(reply), detailOf(reply)]).toEqual([417, 'FIELD_INVALID', detail]);
  });
});

describe('the customer and product in the path', () => {
  test.each([
    ['a customer of another token', '2073915/accounts', '403 NOT_ALLOWED'],
    ['a customer id of another form', '12345/accounts', '417 FIELD_INVALID'],
    ['a product of another customer', '1048262/products/0020739150', '412 PRODUCT_UNKNOWN'],
    ['a product id without its leading zeros', '1048262/products/10482620', '417 FIELD_INVALID'],
    ['an unknown product', '1048262/products/0010482621/balance/retrieve', '412 PRODUCT_UNKNOWN'],
  ])('the bank refuses %s', async (_name, path, refusal) => {
    expect(refusalOf(await get(`/private/customers/${path}`))).toBe(refusal);
  });

  test('the bank refuses an unknown customer to a token without a customer', async () => {
    const credentials = await bank.tpp.clientCredentials();
    const reply = await bank.tpp.send({ path: '/private/customers/7777777/accounts', ...credentials });
    expect(refusalOf(reply)).toBe('412 CUSTOMER_UNKNOWN');
  });
});

test('another sandbox started on the same day has the same history', async () => {
  const other = await newTestBank();
  const { accessToken } = await other.tpp.login();
  const path = `${CURRENT}/transactions/retrieve`;
  const theirs = await other.tpp.send({ path, token: accessToken });
  expect(theirs.json.data).toEqual((await get(path)).json.data);
});

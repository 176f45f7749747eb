import { describe, expect, it } from 'vitest';
import type { CbCaller } from '../../../../src/bank/interfaces/cb/answer.ts';
import { bankOver } from '../../../../src/bank/interfaces/cb/interface.ts';
import type { Transaction, TransactionQuery } from '../../../../src/bank/ports/bank.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { streamTransactions } from '../../../../src/flows/reading/transaction-reading.ts';
import { success } from '../../answers.ts';
import { ALL_TRANSACTIONS, useClients } from '../../client.ts';
import { useRecordedBank, type WrittenAnswer } from '../../recorded-bank.ts';
import { answered } from './answered.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const BASE = '/private/customers/1234567/products/0000012345/transactions/retrieve';

/** Returns a booked row. The index restarts with every page, so the amount identifies the row. */
const booked = (amount: number) =>
  `{"index":"A${amount % 10}","shortDescription":"POS","extendedDescription":"Shop","amountTransaction":{"amount":"-${amount}.000","currency":"EUR"},"dateAccountingCurrency":"20260630T00:00:00","dateLiquidationValue":"20260629T00:00:00","codeDescription":"43","idMoneyTransfer":"","isFeeCharge":false}`;
const pending = (amount: number) =>
  `{"index":"N${amount % 10}","shortDescription":"","extendedDescription":"","amountTransaction":{"amount":"-${amount}.000","currency":"EUR"},"dateLiquidationValue":"20260701T10:15:42","preAuthorized":true}`;

type Cursors = { nextAccounting?: unknown; nextNotAccounting?: unknown };

/** Returns a page of both lists, as `b1 p2`: its booked and its pending rows. An undefined cursor is left out, as on the last page. */
function page(rows: string, cursors: Cursors = {}, next?: string): WrittenAnswer {
  const list = (kind: string, write: (amount: number) => string) =>
    [...rows.matchAll(/([bp])(\d+)/g)].filter((row) => row[1] === kind).map((row) => write(Number(row[2])));
  const rest = JSON.stringify(cursors).slice(1, -1);
  return success(
    `{"totalOutput":"-1.000","numberTransactionsAccounting":30,"transactionsAccounting":[${list('b', booked)}],` +
      `"transactionsNotAccounting":[${list('p', pending)}]${rest ? `,${rest}` : ''}}`,
    next === undefined ? {} : { next: { method: 'GET', href: next } },
  );
}

/** The bank is asked with these queries, in this order, and answers with these pages. */
function answers(...pages: [query: string, answer: WrittenAnswer][]): void {
  for (const [query, answer] of pages) recorded.expect('GET', `${BASE}${query}`, answer);
}

const stream = (query: TransactionQuery) =>
  streamTransactions(openClient().bank.accounts, query, { tell: () => {}, mayAskAgain: true });

async function fetched(query: Partial<TransactionQuery> = {}): Promise<Transaction[]> {
  const rows: Transaction[] = [];
  for await (const part of stream({ ...ALL_TRANSACTIONS, ...query })) rows.push(...part);
  return rows;
}

/** The rows as `b1 p2`. */
async function rowsOf(query: Partial<TransactionQuery> = {}): Promise<string> {
  return (await fetched(query)).map(({ status, amount }) => `${status[0]}${Number(amount) * -1}`).join(' ');
}

it('a row has its dates in ISO form, its exact amount, and null for missing fields', async () => {
  answers(['', page('b1 p2')]);
  expect(await fetched()).toMatchInlineSnapshot(`
    [{ amount: "-1.000", bookingDate: "2026-06-30", code: "43", currency: "EUR", description: "POS",
       details: "Shop", feeCharge: false, index: "A1", status: "booked", transferReference: null,
       valueDate: "2026-06-29" },
     { amount: "-2.000", bookingDate: null, code: null, currency: "EUR", description: "", details: "",
       feeCharge: null, index: "N2", status: "pending", transferReference: null,
       valueDate: "2026-07-01" }]
  `);
});

it("psd2 sends a range with every page, percent-encoded and in the bank's date format", async () => {
  const range = '?dateFrom=01%2F06%2F2026&dateTo=30%2F06%2F2026';
  answers([range, page('b1', { nextAccounting: 11 })], [`${range}&nextAccounting=11`, page('b2')]);
  const dates = { from: parseDate('--from', '2026-06-01'), to: parseDate('--to', '2026-06-30') };
  expect(await rowsOf(dates)).toBe('b1 b2');
});

it('an empty range gives no rows and no error', async () => {
  answers(['', success('{"numberTransactionsAccounting":0,"numberTransactionsNotAccounting":0}')]);
  expect(await rowsOf()).toBe('');
});

describe('two cursors', () => {
  const [BOOKED_11, PENDING_11] = ['?nextAccounting=11', '?nextNotAccounting=11'];
  const BOTH_11 = `${BOOKED_11}&nextNotAccounting=11`;
  const BOTH = page('b1 p2', { nextAccounting: 11, nextNotAccounting: '11' });
  const MORE_BOOKED = page('b1 p2', { nextAccounting: 11 });

  const MORE_PENDING = page('b1 p2', { nextNotAccounting: 11 });
  const EMPTY = page('', { nextAccounting: 11 });
  // psd2 leaves out the cursor of the finished list, so the bank starts that list again and sends a cursor.
  const REPEATS = page('b3 p2', { nextAccounting: 21, nextNotAccounting: 11 });
  const PENDING_AGAIN = { '': MORE_BOOKED, [BOOKED_11]: REPEATS, '?nextAccounting=21': page('b4 p2') };
  const BOOKED_AGAIN = { '': MORE_PENDING, [PENDING_11]: page('b1 p3') };

  it.each<[string, Record<string, WrittenAnswer>, string, TransactionQuery['status']?]>([
    ['both cursors, while both lists have pages', { '': BOTH, [BOTH_11]: page('b3 p4') }, 'b1 p2 b3 p4'],
    ['no finished pending list that the bank repeats', PENDING_AGAIN, 'b1 p2 b3 b4'],
    ['no finished booked list that the bank repeats', BOOKED_AGAIN, 'b1 p2 p3'],
    ['only the cursor that it needs', { '': BOTH, [BOOKED_11]: page('b3 p2') }, 'b1 b3', 'booked'],
    ['no cursor of a list that it does not need', { '': MORE_BOOKED }, 'p2', 'pending'],
    ['the cursor of an empty page in the middle', { '': EMPTY, [BOOKED_11]: page('b1') }, 'b1'],
  ])('psd2 follows %s, gives no row twice and loses none', async (_, pages, rows, status) => {
    answers(...Object.entries(pages));
    expect(await rowsOf({ status })).toBe(rows);
  });

  it.each([0, '0', null, ''])('a cursor of %j ends a list like a missing one', async (end) => {
    answers(['', page('b1', { nextAccounting: end, nextNotAccounting: end })]);
    expect(await rowsOf()).toBe('b1');
  });
});

it('psd2 loses no row silently if the first page is empty and two rows at the end of a page are equal', async () => {
  const rows = (amounts: number[], next?: number) =>
    success(
      `{"transactionsAccounting":[${amounts.map(booked)}]${next === undefined ? '' : `,"nextAccounting":${next}`}}`,
    );
  // psd2 reads the beginning again, which has nothing to compare with.
  for (const _time of ['first', 'again'])
    answers(
      ['', rows([], 11)],
      ['?nextAccounting=11', rows([1, 2], 21)],
      ['?nextAccounting=21', rows([2, 3])],
    );
  await expect(fetched()).rejects.toMatchObject({ code: 'list_changed' });
});

describe('a list that the bank counts but does not send', () => {
  it.each([
    ['"numberTransactionsAccounting":1,"transactionsNotAccounting":[]', 'transactionsAccounting', {}],
    ['"numberTransactionsNotAccounting":1,"transactionsAccounting":[]', 'transactionsNotAccounting', {}],
    ['"numberTransactionsAccounting":1', 'transactionsAccounting', { status: 'booked' as const }],
    ['"numberTransactionsNotAccounting":1', 'transactionsNotAccounting', { status: 'pending' as const }],
  ])('psd2 does not take the answer %s for an empty list', async (data, name, only) => {
    answers(['', success(`{${data}}`)]);
    await expect(fetched(only)).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank's answer to the transactions of 0000012345 counts rows of data.${name} but has none`,
      transactionId: ALL_TRANSACTIONS.transactionId,
    });
  });

  it.each([
    ['booked', `"transactionsAccounting":[${booked(1)}]`, 'b1'],
    ['pending', `"transactionsNotAccounting":[${pending(2)}]`, 'p2'],
  ] as const)('may be one that nobody asked for: only %s rows are read', async (status, list, rows) => {
    const counts = '"numberTransactionsAccounting":1,"numberTransactionsNotAccounting":1';
    answers(['', success(`{${counts},${list}}`)]);
    expect(await rowsOf({ status })).toBe(rows);
  });
});

const stuck = expect.objectContaining({
  code: 'bank_answer',
  message: "The bank's transaction pages of 0000012345 do not advance",
  hint: 'Narrow the range with --from and --to.',
  transactionId: ALL_TRANSACTIONS.transactionId,
});

it('psd2 reads on after 100 empty pages in a row, and not after more', async () => {
  const full = { transactionsAccounting: [JSON.parse(booked(1))] };
  /** A bank that sends this many pages and one more, each `every`th with a row. Each page names the next one. */
  const afterEmptyPages = async (count: number, every: number) => {
    let call = 0;
    const caller: CbCaller = {
      async ask(asked, read) {
        call += 1;
        const rows = call % every !== 0 && call <= count ? {} : full;
        const data = { transactionsAccounting: [], ...rows, nextAccounting: call > count ? null : call + 1 };
        return read(
          await answered(asked, { body: JSON.stringify({ result: { outcome: 'SUCCESS' }, data }) }),
        );
      },
      send: () => Promise.reject(new TypeError('This test bank has no exchange')),
    };
    let rows = 0;
    for await (const { booked: list } of bankOver(caller).accounts.pages(ALL_TRANSACTIONS))
      rows += list?.rows.length ?? 0;
    return rows;
  };
  expect(await afterEmptyPages(100, 1000)).toBe(1);
  await expect(afterEmptyPages(101, 1000)).rejects.toThrow(stuck);
  expect(await afterEmptyPages(300, 100)).toBe(4);
});

describe('a cursor that does not advance', () => {
  const byLink = (row: string) => page(row, {}, 'retrieve?page=2');
  const byCursor = (row: string, nextAccounting: number) => page(row, { nextAccounting });
  const ONE = ['-1.000'];
  const TWO = ['-1.000', '-2.000'];
  it.each<[string, rows: string[], Record<string, WrittenAnswer>]>([
    ...[11, 10, 1].map((second): [string, string[], Record<string, WrittenAnswer>] => [
      `is 11 and then ${second}`,
      TWO,
      { '': byCursor('b1', 11), '?nextAccounting=11': byCursor('b2', second) },
    ]),
    ['is 1 on the first page, where it began', ONE, { '': byCursor('b1', 1) }],
    ['is a link to a page that psd2 has read', TWO, { '': byLink('b1'), '?page=2': byLink('b2') }],
  ])('psd2 ends with an error, and repeats no row, if it %s', async (_, given, pages) => {
    answers(...Object.entries(pages));
    const rows: Transaction[] = [];
    const reading = (async () => {
      for await (const part of stream(ALL_TRANSACTIONS)) rows.push(...part);
    })();
    await expect(reading).rejects.toThrow(stuck);
    expect(rows.map(({ amount }) => amount)).toEqual(given);
  });
});

describe('_links.next', () => {
  it.each([
    ['retrieve?page=2', '?page=2'],
    ['?page=2', '?page=2'],
    [`${BASE}?page=2`, '?page=2'],
    ['retrieve?dateTo=29%2F04%2F2026&page=2', '?dateTo=29%2F04%2F2026&page=2'],
    // These are relative to a base in curies.
    ['transactions/retrieve?page=2', '?page=2'],
    ['/products/0000012345/transactions/retrieve?page=2', '?page=2'],
  ])('psd2 resolves the link %s against the path that it called', async (href, query) => {
    answers(['', page('b1', {}, href)], [query, page('b2 p3')]);
    expect(await rowsOf()).toBe('b1 b2 p3');
  });

  it.each([
    `https://thief.example${BASE}?page=2`,
    `//thief.example${BASE}?page=2`,
    `https://user:pass@thief.example:444${BASE}?page=2`,
    `\\\\thief.example${BASE}?page=2`,
    `https://thief.example/a/prefix${BASE}?page=2`,
  ])('psd2 follows %s to the profile’s own host', async (href) => {
    answers(['', page('b1', {}, href)], ['?page=2', page('b2')]);
    expect(await rowsOf()).toBe('b1 b2');
    expect(recorded.last.headers.host).toBe(new URL(recorded.baseUrl).host);
  });

  it.each(['https://[', 'mailto:bank@bank.example', 'data:,x'])(
    'the error for the link %s says that it is not a valid address',
    async (href) => {
      answers(['', page('b1', {}, href)]);
      await expect(fetched()).rejects.toMatchObject({
        code: 'bank_answer',
        message: "The bank's link to the next page of the transactions of 0000012345 is not a valid address",
        transactionId: ALL_TRANSACTIONS.transactionId,
      });
    },
  );

  it('psd2 ends a circle of two links', async () => {
    answers(
      ['', page('b1', {}, 'retrieve?page=2')],
      ['?page=2', page('b2', {}, 'retrieve?page=3')],
      ['?page=3', page('b3', {}, 'retrieve?page=2')],
    );
    await expect(fetched()).rejects.toMatchObject({ code: 'bank_answer' });
  });

  it('psd2 prefers a cursor to a link, and ignores a blank link or one with another method', async () => {
    answers(
      ['', page('b1', { nextAccounting: 11 }, 'retrieve?page=2')],
      ['?nextAccounting=11', page('b2', {}, ' ')],
    );
    expect(await rowsOf()).toBe('b1 b2');
    const posted = { next: { method: 'POST', href: 'retrieve?page=2' } };
    answers(['', success('{"transactionsAccounting":[]}', posted)]);
    expect(await rowsOf()).toBe('');
  });
});

it('psd2 gives a page to the caller before it asks for the next one', async () => {
  answers(['', page('b1', { nextAccounting: 11 })]);
  const pages = stream(ALL_TRANSACTIONS);
  expect((await pages.next()).value).toHaveLength(1);
  expect(recorded.received).toHaveLength(1);
  await pages.return(undefined);
});

/** The list with one row that is odd in these fields. */
const odd = (fields: object, data: object = {}) =>
  success(JSON.stringify({ transactionsAccounting: [{ ...JSON.parse(booked(1)), ...fields }], ...data }));

describe('what is odd in a row is read as what it can only mean', () => {
  const lost = { valueDate: null };
  const NO_DAY = { dateAccountingCurrency: 'x' };
  const VALUE = { dateLiquidationValue: '20/11/2026' };
  const VALUE_ALONE = { bookingDate: null, valueDate: '2026-11-20' };
  const BLANKS = { amountTransaction: { amount: ' -12,30 ', currency: ' eur ' } };
  it.each<[string, object, object, string[]]>([
    ['a value day of 30 February', { dateLiquidationValue: '30/02/2026' }, { valueDate: '2026-02-28' }, []],
    ['the same otherwise', { dateLiquidationValue: '20240230T00:00:00' }, { valueDate: '2024-02-29' }, []],
    ['a value day that is none', { dateLiquidationValue: 'soon' }, lost, ['dateLiquidationValue']],
    ['an object for a day', { dateLiquidationValue: {} }, lost, ['dateLiquidationValue']],
    ['a day as a number', { dateAccountingCurrency: 20_261_120 }, { bookingDate: '2026-11-20' }, []],
    [
      'year 1 as booking day',
      { dateAccountingCurrency: '01/01/0001', ...VALUE },
      VALUE_ALONE,
      ['dateAccountingCurrency'],
    ],
    [
      'year 1 in ISO',
      { dateAccountingCurrency: '0001-01-01', ...VALUE },
      VALUE_ALONE,
      ['dateAccountingCurrency'],
    ],
    ['no booking day beside a value day', { ...NO_DAY, ...VALUE }, VALUE_ALONE, ['dateAccountingCurrency']],
    ['a number for a text', { shortDescription: 7 }, { description: '7' }, []],
    ['a list for a text', { extendedDescription: ['a'] }, { details: '' }, ['extendedDescription']],
    ['a word for a flag', { isFeeCharge: 'TRUE' }, { feeCharge: true }, []],
    ['no flag', { isFeeCharge: 'perhaps' }, { feeCharge: null }, ['isFeeCharge']],
    ['an amount with blanks and a comma', BLANKS, { amount: '-12.30', currency: 'EUR' }, []],
    ['a bare amount as a number', { amountTransaction: -12.5 }, { amount: '-12.5', currency: null }, []],
  ])('%s', async (_, fields, expected, unread) => {
    answers(['', odd(fields)]);
    const { bank } = openClient();
    const rows: Transaction[] = [];
    for await (const { booked: list } of bank.accounts.pages(ALL_TRANSACTIONS))
      rows.push(...(list?.rows ?? []));
    expect(rows).toMatchObject([expected]);
    expect([...(bank.oddities?.unread.keys() ?? [])]).toEqual(unread);
  });

  it.each([
    ['no amount', { amountTransaction: { amount: 'x' } }, 'amountTransaction'],
    ['no day at all', { ...NO_DAY, dateLiquidationValue: 'y' }, 'dateAccountingCurrency'],
  ])('but a row with %s is refused', async (_, fields, field) => {
    const row = 'data.transactionsAccounting.0';
    answers(['', odd(fields)]);
    await expect(fetched()).rejects.toMatchObject({
      ...{ code: 'bank_answer', message: expect.stringContaining(`no usable ${row}.${field}`) },
    });
  });

  it('null for a list is an empty one, and a row without the list is a list of one', async () => {
    const alone = { transactionsAccounting: JSON.parse(booked(1)), transactionsNotAccounting: null };
    answers(['', success(JSON.stringify(alone))]);
    expect(await rowsOf()).toBe('b1');
  });
});

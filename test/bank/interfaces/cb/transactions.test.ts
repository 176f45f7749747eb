import { beforeEach, describe, expect, it } from 'vitest';
import type { CbCaller } from '../../../../src/bank/interfaces/cb/answer.ts';
import { bankOver } from '../../../../src/bank/interfaces/cb/interface.ts';
import type { Transaction, TransactionQuery } from '../../../../src/bank/ports/bank.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { streamTransactions } from '../../../../src/flows/reading/transaction-reading.ts';
import { success } from '../../answers.ts';
import { ALL_TRANSACTIONS, useClients } from '../../client.ts';
import type { WrittenAnswer } from '../../recorded-bank.ts';
import { useRecordedBank } from '../../recorded-bank.ts';
import { answered } from './answered.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const BASE = '/private/customers/1234567/products/0000012345/transactions/retrieve';

/** Returns a booked row. The index restarts with every page, so the amount identifies the row. */
const booked = (amount: number) =>
  `{"index":"A${amount % 10}","shortDescription":"POS","extendedDescription":"Shop","amountTransaction":{"amount":"-${amount}.000","currency":"EUR"},"dateAccountingCurrency":"20260630T00:00:00","dateLiquidationValue":"20260629T00:00:00","codeDescription":"43","idMoneyTransfer":"","isFeeCharge":false}`;
const pending = (amount: number) =>
  `{"index":"N${amount % 10}","shortDescription":"","extendedDescription":"","amountTransaction":{"amount":"-${amount}.000","currency":"EUR"},"dateLiquidationValue":"20260701T10:15:42","preAuthorized":true}`;

/** Returns a page of both lists. An undefined cursor is left out, as on the last page. */
function page(
  lists: { booked?: number[]; pending?: number[] },
  cursors: { nextAccounting?: unknown; nextNotAccounting?: unknown } = {},
  next?: string,
): WrittenAnswer {
  const rows = (values: number[] | undefined, write: (amount: number) => string) =>
    (values ?? []).map(write).join(',');
  const rest = JSON.stringify(cursors).slice(1, -1);
  return success(
    `{"totalOutput":"-1.000","numberTransactionsAccounting":30,"transactionsAccounting":[${rows(lists.booked, booked)}],` +
      `"transactionsNotAccounting":[${rows(lists.pending, pending)}]${rest ? `,${rest}` : ''}}`,
    next === undefined ? {} : { next: { method: 'GET', href: next } },
  );
}

/** The messages to the operator. */
let told: string[];
beforeEach(() => {
  told = [];
});

const stream = (query: TransactionQuery) =>
  streamTransactions(openClient().bank.accounts, query, {
    tell: (text) => told.push(text),
    mayAskAgain: true,
  });

async function fetched(query: Partial<TransactionQuery> = {}): Promise<Transaction[]> {
  const rows: Transaction[] = [];
  for await (const part of stream({ ...ALL_TRANSACTIONS, ...query })) rows.push(...part);
  return rows;
}

async function amounts(query: Partial<TransactionQuery> = {}): Promise<string[]> {
  return (await fetched(query)).map(({ status, amount }) => `${status} ${amount}`);
}

it('a row has its dates in ISO form, its exact amount, and null for missing fields', async () => {
  recorded.expect('GET', BASE, page({ booked: [1], pending: [2] }));
  expect(await fetched()).toEqual([
    {
      index: 'A1',
      status: 'booked',
      bookingDate: '2026-06-30',
      valueDate: '2026-06-29',
      amount: '-1.000',
      currency: 'EUR',
      description: 'POS',
      details: 'Shop',
      code: '43',
      transferReference: null,
      feeCharge: false,
    },
    {
      index: 'N2',
      status: 'pending',
      bookingDate: null,
      valueDate: '2026-07-01',
      amount: '-2.000',
      currency: 'EUR',
      description: '',
      details: '',
      code: null,
      transferReference: null,
      feeCharge: null,
    },
  ]);
});

it("psd2 sends a range with every page, percent-encoded and in the bank's date format", async () => {
  const range = 'dateFrom=01%2F06%2F2026&dateTo=30%2F06%2F2026';
  recorded.expect('GET', `${BASE}?${range}`, page({ booked: [1] }, { nextAccounting: 11 }));
  recorded.expect('GET', `${BASE}?${range}&nextAccounting=11`, page({ booked: [2] }));
  const dates = { from: parseDate('--from', '2026-06-01'), to: parseDate('--to', '2026-06-30') };
  expect(await amounts(dates)).toEqual(['booked -1.000', 'booked -2.000']);
});

it('an empty range gives no rows and no error', async () => {
  recorded.expect(
    'GET',
    BASE,
    success('{"numberTransactionsAccounting":0,"numberTransactionsNotAccounting":0}'),
  );
  expect(await amounts()).toEqual([]);
});

describe('two cursors', () => {
  it('psd2 follows both cursors while both lists have pages', async () => {
    recorded.expect(
      'GET',
      BASE,
      page({ booked: [1], pending: [2] }, { nextAccounting: 11, nextNotAccounting: '11' }),
    );
    recorded.expect(
      'GET',
      `${BASE}?nextAccounting=11&nextNotAccounting=11`,
      page({ booked: [3], pending: [4] }),
    );
    expect(await amounts()).toEqual(['booked -1.000', 'pending -2.000', 'booked -3.000', 'pending -4.000']);
  });

  it('psd2 ignores a finished pending list that the bank repeats, and gives no row twice and loses none', async () => {
    recorded.expect('GET', BASE, page({ booked: [1], pending: [2] }, { nextAccounting: 11 }));
    // psd2 leaves out the cursor of the finished list, so the bank starts that list again and sends a cursor.
    recorded.expect(
      'GET',
      `${BASE}?nextAccounting=11`,
      page({ booked: [3], pending: [2] }, { nextAccounting: 21, nextNotAccounting: 11 }),
    );
    recorded.expect('GET', `${BASE}?nextAccounting=21`, page({ booked: [4], pending: [2] }));
    expect(await amounts()).toEqual(['booked -1.000', 'pending -2.000', 'booked -3.000', 'booked -4.000']);
  });

  it('psd2 ignores a finished booked list that the bank repeats', async () => {
    recorded.expect('GET', BASE, page({ booked: [1], pending: [2] }, { nextNotAccounting: 11 }));
    recorded.expect('GET', `${BASE}?nextNotAccounting=11`, page({ booked: [1], pending: [3] }));
    expect(await amounts()).toEqual(['booked -1.000', 'pending -2.000', 'pending -3.000']);
  });

  it.each([0, '0', null, ''])('a cursor of %j ends a list like a missing one', async (end) => {
    recorded.expect('GET', BASE, page({ booked: [1] }, { nextAccounting: end, nextNotAccounting: end }));
    expect(await amounts()).toEqual(['booked -1.000']);
  });

  it('psd2 follows only the cursor of the list that it needs', async () => {
    recorded.expect(
      'GET',
      BASE,
      page({ booked: [1], pending: [2] }, { nextAccounting: 11, nextNotAccounting: 11 }),
    );
    recorded.expect('GET', `${BASE}?nextAccounting=11`, page({ booked: [3], pending: [2] }));
    expect(await amounts({ status: 'booked' })).toEqual(['booked -1.000', 'booked -3.000']);

    recorded.expect('GET', BASE, page({ booked: [1], pending: [2] }, { nextAccounting: 11 }));
    expect(await amounts({ status: 'pending' })).toEqual(['pending -2.000']);
  });

  it('psd2 reads on after an empty page in the middle', async () => {
    recorded.expect('GET', BASE, page({}, { nextAccounting: 11 }));
    recorded.expect('GET', `${BASE}?nextAccounting=11`, page({ booked: [1] }));
    expect(await amounts()).toEqual(['booked -1.000']);
  });
});

it('psd2 loses no row silently if the first page is empty and two rows at the end of a page are equal', async () => {
  const rows = (amounts: number[], next?: number) =>
    success(
      `{"transactionsAccounting":[${amounts.map(booked)}]${next === undefined ? '' : `,"nextAccounting":${next}`}}`,
    );
  recorded.expect('GET', BASE, rows([], 11));
  recorded.expect('GET', `${BASE}?nextAccounting=11`, rows([1, 2], 21));
  recorded.expect('GET', `${BASE}?nextAccounting=21`, rows([2, 3]));
  // psd2 reads the beginning again, which has nothing to compare with.
  recorded.expect('GET', BASE, rows([], 11));
  recorded.expect('GET', `${BASE}?nextAccounting=11`, rows([1, 2], 21));
  recorded.expect('GET', `${BASE}?nextAccounting=21`, rows([2, 3]));
  await expect(fetched()).rejects.toMatchObject({ code: 'list_changed' });
});

describe('a list that the bank counts but does not send', () => {
  it.each([
    ['"numberTransactionsAccounting":1,"transactionsNotAccounting":[]', 'transactionsAccounting', {}],
    ['"numberTransactionsNotAccounting":1,"transactionsAccounting":[]', 'transactionsNotAccounting', {}],
    ['"numberTransactionsAccounting":1', 'transactionsAccounting', { status: 'booked' as const }],
    ['"numberTransactionsNotAccounting":1', 'transactionsNotAccounting', { status: 'pending' as const }],
  ])('psd2 does not take the answer %s for an empty list', async (data, name, only) => {
    recorded.expect('GET', BASE, success(`{${data}}`));
    await expect(fetched(only)).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank's answer to the transactions of 0000012345 counts rows of data.${name} but has none`,
      transactionId: ALL_TRANSACTIONS.transactionId,
    });
  });

  it('a list that nobody asked for may be counted without being sent', async () => {
    const counts = '"numberTransactionsAccounting":1,"numberTransactionsNotAccounting":1';
    recorded.expect('GET', BASE, success(`{${counts},"transactionsAccounting":[${booked(1)}]}`));
    expect(await amounts({ status: 'booked' })).toEqual(['booked -1.000']);
    recorded.expect('GET', BASE, success(`{${counts},"transactionsNotAccounting":[${pending(2)}]}`));
    expect(await amounts({ status: 'pending' })).toEqual(['pending -2.000']);
  });
});

describe('empty pages', () => {
  /** A bank that sends empty pages, and then a row. Each page names the next one. */
  const afterEmptyPages = async (count: number, full: object, every: number) => {
    let call = 0;
    const caller: CbCaller = {
      async ask(asked, read) {
        call += 1;
        const isEmpty = call % every !== 0 && call <= count;
        const rows = isEmpty ? {} : full;
        const data = { transactionsAccounting: [], ...rows, nextAccounting: call > count ? null : call + 1 };
        return read(
          await answered(asked, { body: JSON.stringify({ result: { outcome: 'SUCCESS' }, data }) }),
        );
      },
      send: () => Promise.reject(new TypeError('This test bank has no exchange')),
    };
    let rows = 0;
    for await (const { booked, pending } of bankOver(caller).accounts.pages(ALL_TRANSACTIONS))
      rows += (booked?.rows.length ?? 0) + (pending?.rows.length ?? 0);
    return rows;
  };
  const full = { transactionsAccounting: [JSON.parse(booked(1))] };
  const stuck = expect.objectContaining({
    code: 'bank_answer',
    message: "The bank's transaction pages of 0000012345 do not advance",
    hint: 'Narrow the range with --from and --to.',
    transactionId: ALL_TRANSACTIONS.transactionId,
  });

  it('psd2 reads on after 100 empty pages, and not after more', async () => {
    expect(await afterEmptyPages(100, full, 1000)).toBe(1);
    await expect(afterEmptyPages(101, full, 1000)).rejects.toThrow(stuck);
  });

  it('only empty pages in a row count', async () => {
    expect(await afterEmptyPages(300, full, 100)).toBe(4);
  });
});

describe('a cursor that does not advance', () => {
  const stuck = expect.objectContaining({
    code: 'bank_answer',
    message: "The bank's transaction pages of 0000012345 do not advance",
    hint: 'Narrow the range with --from and --to.',
    transactionId: ALL_TRANSACTIONS.transactionId,
  });

  it.each([11, 10, 1])(
    'psd2 ends with an error, and repeats no row, if the cursor is 11 and then %i',
    async (second) => {
      recorded.expect('GET', BASE, page({ booked: [1] }, { nextAccounting: 11 }));
      recorded.expect('GET', `${BASE}?nextAccounting=11`, page({ booked: [2] }, { nextAccounting: second }));
      const rows: Transaction[] = [];
      const reading = (async () => {
        for await (const part of stream(ALL_TRANSACTIONS)) rows.push(...part);
      })();
      await expect(reading).rejects.toThrow(stuck);
      expect(rows.map(({ amount }) => amount)).toEqual(['-1.000', '-2.000']);
    },
  );

  it("psd2 ends with an error if the first page's cursor is 1, where it began", async () => {
    recorded.expect('GET', BASE, page({ booked: [1] }, { nextAccounting: 1 }));
    await expect(fetched()).rejects.toThrow(stuck);
  });

  it('psd2 ends with an error if a link leads to a page that it has read', async () => {
    recorded.expect('GET', BASE, page({ booked: [1] }, {}, 'retrieve?page=2'));
    recorded.expect('GET', `${BASE}?page=2`, page({ booked: [2] }, {}, 'retrieve?page=2'));
    await expect(fetched()).rejects.toThrow(stuck);
  });
});

describe('_links.next', () => {
  it.each([
    ['retrieve?page=2', `${BASE}?page=2`],
    ['?page=2', `${BASE}?page=2`],
    [`${BASE}?page=2`, `${BASE}?page=2`],
    ['retrieve?dateTo=29%2F04%2F2026&page=2', `${BASE}?dateTo=29%2F04%2F2026&page=2`],
    // These are relative to a base in curies.
    ['transactions/retrieve?page=2', `${BASE}?page=2`],
    ['/products/0000012345/transactions/retrieve?page=2', `${BASE}?page=2`],
  ])('psd2 resolves the link %s against the path that it called', async (href, path) => {
    recorded.expect('GET', BASE, page({ booked: [1] }, {}, href));
    recorded.expect('GET', path, page({ booked: [2], pending: [3] }));
    expect(await amounts()).toEqual(['booked -1.000', 'booked -2.000', 'pending -3.000']);
  });

  it.each([
    `https://thief.example${BASE}?page=2`,
    `//thief.example${BASE}?page=2`,
    `https://user:pass@thief.example:444${BASE}?page=2`,
    `\\\\thief.example${BASE}?page=2`,
    `https://thief.example/a/prefix${BASE}?page=2`,
  ])('psd2 follows %s to the profile’s own host', async (href) => {
    recorded.expect('GET', BASE, page({ booked: [1] }, {}, href));
    recorded.expect('GET', `${BASE}?page=2`, page({ booked: [2] }));
    expect(await amounts()).toEqual(['booked -1.000', 'booked -2.000']);
    expect(recorded.last.headers.host).toBe(new URL(recorded.baseUrl).host);
  });

  it.each(['https://[', 'mailto:bank@bank.example', 'data:,x'])(
    'the error for the link %s says that it is not a valid address',
    async (href) => {
      recorded.expect('GET', BASE, page({ booked: [1] }, {}, href));
      await expect(fetched()).rejects.toMatchObject({
        code: 'bank_answer',
        message: "The bank's link to the next page of the transactions of 0000012345 is not a valid address",
        transactionId: ALL_TRANSACTIONS.transactionId,
      });
    },
  );

  it('psd2 prefers a cursor to a link, and ignores a blank link or one with another method', async () => {
    recorded.expect('GET', BASE, page({ booked: [1] }, { nextAccounting: 11 }, 'retrieve?page=2'));
    recorded.expect('GET', `${BASE}?nextAccounting=11`, page({ booked: [2] }, {}, ' '));
    expect(await amounts()).toEqual(['booked -1.000', 'booked -2.000']);

    recorded.expect(
      'GET',
      BASE,
      success('{"transactionsAccounting":[]}', { next: { method: 'POST', href: 'retrieve?page=2' } }),
    );
    expect(await amounts()).toEqual([]);
  });
});

it('psd2 gives a page to the caller before it asks for the next one', async () => {
  recorded.expect('GET', BASE, page({ booked: [1] }, { nextAccounting: 11 }));
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
  it.each<[string, object, object, string[]]>([
    ['a value day of 30 February', { dateLiquidationValue: '30/02/2026' }, { valueDate: '2026-02-28' }, []],
    ['the same otherwise', { dateLiquidationValue: '20240230T00:00:00' }, { valueDate: '2024-02-29' }, []],
    ['a value day that is none', { dateLiquidationValue: 'soon' }, lost, ['dateLiquidationValue']],
    ['an object for a day', { dateLiquidationValue: {} }, lost, ['dateLiquidationValue']],
    ['a zone', { dateAccountingCurrency: '2026-11-20+01:00' }, { bookingDate: '2026-11-20' }, []],
    [
      'midnight in another zone',
      { dateAccountingCurrency: '2026-11-19T23:00:00Z' },
      { bookingDate: '2026-11-20' },
      [],
    ],
    ['a day as a number', { dateAccountingCurrency: 20_261_120 }, { bookingDate: '2026-11-20' }, []],
    [
      'no booking day beside a value day',
      { dateAccountingCurrency: 'x', dateLiquidationValue: '20/11/2026' },
      { bookingDate: null, valueDate: '2026-11-20' },
      ['dateAccountingCurrency'],
    ],
    ['a number for a text', { shortDescription: 7 }, { description: '7' }, []],
    ['a list for a text', { extendedDescription: ['a'] }, { details: '' }, ['extendedDescription']],
    ['a word for a flag', { isFeeCharge: 'TRUE' }, { feeCharge: true }, []],
    ['no flag', { isFeeCharge: 'perhaps' }, { feeCharge: null }, ['isFeeCharge']],
    [
      'an amount with blanks, a comma and a small currency',
      { amountTransaction: { amount: ' -12,30 ', currency: ' eur ' } },
      { amount: '-12.30', currency: 'EUR' },
      [],
    ],
    ['a bare amount as a number', { amountTransaction: -12.5 }, { amount: '-12.5', currency: null }, []],
  ])('%s', async (_, fields, expected, unread) => {
    recorded.expect('GET', BASE, odd(fields));
    const { bank } = openClient();
    const rows: Transaction[] = [];
    for await (const { booked: list } of bank.accounts.pages(ALL_TRANSACTIONS))
      rows.push(...(list?.rows ?? []));
    expect(rows).toMatchObject([expected]);
    expect([...(bank.oddities?.unread.keys() ?? [])]).toEqual(unread);
  });

  it.each([
    ['no amount', { amountTransaction: { amount: 'x' } }, 'transactionsAccounting.0.amountTransaction'],
    [
      'no day at all',
      { dateAccountingCurrency: 'x', dateLiquidationValue: 'y' },
      'transactionsAccounting.0.dateAccountingCurrency',
    ],
  ])('but a row with %s is refused', async (_, fields, field) => {
    recorded.expect('GET', BASE, odd(fields));
    await expect(fetched()).rejects.toMatchObject({
      ...{ code: 'bank_answer', message: expect.stringContaining(`no usable data.${field}`) },
    });
  });

  it('null for a list is an empty one, and a row without the list is a list of one', async () => {
    const alone = { transactionsAccounting: JSON.parse(booked(1)), transactionsNotAccounting: null };
    recorded.expect('GET', BASE, success(JSON.stringify(alone)));
    expect(await amounts()).toEqual(['booked -1.000']);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { pagingHeaders } from '../../../../src/sandbox/nextgenpsd2/readings/paging.ts';
import type { Json } from '../../tpp.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA, CARD, CURRENT, consentBody } from '../door-client.ts';

const LIST = `/v1/accounts/${CURRENT}/transactions`;
const DAYS = 'bookingStatus=booked&dateFrom=2026-09-01';
const IP = { 'psu-ip-address': '192.0.2.1' };

/** A bank with a consent that anna gave. */
async function reader(
  accounts: BankFile['accounts'] = {},
  variations: Parameters<typeof bankHere>[1] = [],
  rules: Parameters<typeof bankHere>[2] = {},
) {
  const here = await bankHere({ accounts }, variations, rules);
  const reply = here.serve('POST /v1/consents', { body: consentBody() });
  here.approve(reply, ANNA);
  const headers = { ...IP, 'consent-id': String(reply.json.consentId) };
  return {
    ...here,
    read: (path: string) => here.serve(`GET ${path}`, { headers }),
    ask: (query: string, path = LIST) => here.answer(`GET ${path}?${query}`, { headers }),
  };
}

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

const said = (path: string, text: string, code = 'FORMAT_ERROR') => `400 ${code} ${path}: ${text}.`;
const wrong = (path: string, text: string, expected: string, received: string, code?: string) =>
  said(path, `${text}. Expected: ${expected}. Received: ${received}`, code);

describe('bookingStatus', () => {
  const TEXT = 'The bank does not take this bookingStatus';
  const ALL = ['booked', 'pending', 'both'] as const;
  test.each<[status: string | undefined, offered: ('booked' | 'pending' | 'both')[], answer: string]>([
    ...ALL.map((status): [string, (typeof ALL)[number][], string] => [status, [...ALL], 'taken']),
    [
      'pending',
      ['booked', 'both'],
      wrong('bookingStatus', TEXT, 'booked, both', 'pending', 'PARAMETER_NOT_SUPPORTED'),
    ],
    ...['information', 'all'].map((status): [string, (typeof ALL)[number][], string] => [
      status,
      [...ALL],
      wrong('bookingStatus', TEXT, 'booked, pending, both', status, 'PARAMETER_NOT_SUPPORTED'),
    ]),
    ['Booked', [...ALL], wrong('bookingStatus', TEXT, 'booked, pending, both', 'Booked')],
    [undefined, [...ALL], wrong('bookingStatus', TEXT, 'booked, pending, both', 'nothing')],
  ])('%s where the bank has %j: %s', async (status, bookingStatuses, answer) => {
    const { ask } = await reader({ bookingStatuses });
    const query = status === undefined ? '' : `bookingStatus=${status}&`;
    expect(ask(`${query}dateFrom=2026-11-01`)).toBe(answer);
  });
});

describe('the days', () => {
  const OLD = 'The bank does not show such old transactions';
  const old = (oldest: string, received: string) =>
    wrong('dateFrom', OLD, `${oldest} or later`, received, 'PERIOD_INVALID');
  const late = (most: string, received: string) =>
    wrong('dateFrom', 'dateFrom is after dateTo', `at most ${most}`, received, 'PERIOD_INVALID');
  const form = (name: string, received: string) =>
    wrong(name, `${name} is not a date`, 'YYYY-MM-DD', received);

  test.each([
    ['dateFrom=2026-10-21', 'taken'],
    ['dateFrom=2026-10-20', old('2026-10-21', '2026-10-20')],
    ['dateFrom=2026-11-20', 'taken'],
    ['dateFrom=2026-11-21', late('2026-11-20', '2026-11-21')],
    ['dateFrom=2026-11-21&dateTo=2026-11-21', 'taken'],
    ['dateFrom=2026-11-02&dateTo=2026-11-02', 'taken'],
    ['dateFrom=2026-11-02&dateTo=2026-11-01', late('2026-11-01', '2026-11-02')],
    ['dateTo=2026-11-01', said('dateFrom', 'dateFrom is missing')],
    ...['2026-02-30', '2026-13-01', '2026-1-01', '20.11.2026', '2026-11-01x', 'x2026-11-01', ''].flatMap(
      (day) => [
        [`dateFrom=${day}`, form('dateFrom', day)],
        [`dateFrom=2026-11-01&dateTo=${day}`, form('dateTo', day)],
      ],
    ),
  ])('%s where the bank has 30 days: %s', async (query = '', answer) => {
    const { ask } = await reader({ historyDays: 30 });
    expect(ask(`bookingStatus=booked&${query}`)).toBe(answer);
  });

  // Just after SCA, the bank may look further back.
  test.each<[minutes: number, milliseconds: number, days: number, oldest: string]>([
    [10, 0, 60, '2026-09-21'],
    [10, 10 * 60_000 - 1, 60, '2026-09-21'],
    [10, 10 * 60_000, 60, '2026-10-21'],
    // It never looks less far than usual.
    [10, 0, 20, '2026-10-21'],
  ])('where it is %i minutes, after %i ms, %i days: from %s', async (minutes, milliseconds, days, oldest) => {
    const { ask, clock } = await reader({ historyDays: 30, history: { afterSca: { minutes, days } } });
    clock.advance(milliseconds);
    expect(ask(`bookingStatus=booked&dateFrom=${oldest}`)).toBe('taken');
    const before = new Date(Date.parse(oldest) - 86_400_000).toISOString().slice(0, 10);
    expect(ask(`bookingStatus=booked&dateFrom=${before}`)).toBe(old(oldest, before));
  });
});

test.each<[query: string, accounts: BankFile['accounts'], answer: string]>([
  ['withBalance=true', {}, 'taken'],
  ['withBalance=false', {}, 'taken'],
  [
    'withBalance=true',
    { withBalance: false },
    expect.stringContaining('400 PARAMETER_NOT_SUPPORTED withBalance'),
  ],
  ['withBalance=yes', {}, expect.stringContaining('400 FORMAT_ERROR withBalance')],
  ['deltaList=true', {}, expect.stringContaining('400 PARAMETER_NOT_SUPPORTED deltaList')],
  [
    'entryReferenceFrom=000000001',
    {},
    expect.stringContaining('400 PARAMETER_NOT_SUPPORTED entryReferenceFrom'),
  ],
  [
    'entryReferenceFrom=x',
    { delta: 'entryReferenceFrom' },
    said('entryReferenceFrom', 'The bank has no such entry'),
  ],
  ['entryReferenceFrom=000000001', { delta: 'entryReferenceFrom' }, 'taken'],
  ['pageIndex=0', {}, expect.stringContaining('400 PARAMETER_NOT_SUPPORTED pageIndex')],
  [
    'continuation=x',
    { paging: 'page-index' },
    expect.stringContaining('400 PARAMETER_NOT_SUPPORTED continuation'),
  ],
  ['more=1', {}, expect.stringContaining('400 PARAMETER_NOT_SUPPORTED more')],
])('%s at a bank with %j: %s', async (query, accounts, answer) => {
  const { ask } = await reader(accounts);
  expect(ask(`${DAYS}&${query}`)).toEqual(answer);
});

test.each([
  [true, expect.stringContaining('400 PARAMETER_NOT_SUPPORTED withBalance')],
  [false, 'taken'],
])('the rows of a card have withBalance where the door is not strict (%s): %s', async (strict, answer) => {
  const { ask } = await reader({}, [], { strict });
  expect(ask(`${DAYS}&withBalance=true`, `/v1/card-accounts/${CARD}/transactions`)).toEqual(answer);
});

describe('the page', () => {
  const WHOLE = { totalPagesHeader: 'X-Pages', pageParameter: 'offset' };
  const number = (name: string, range: string, received: string) =>
    wrong(name, `${name} is not a number of the bank`, range, received);
  const rows = (count: number) => Buffer.from(`rows ${count}`).toString('base64url');
  const NO_PAGE = said('continuation', 'This is no address of a page that the bank gave');
  test.each<[paging: NonNullable<BankFile['accounts']>['paging'], query: string, answer: string]>([
    ['page-index', 'pageIndex=0', 'taken'],
    ['page-index', 'pageIndex=10000000', 'taken'],
    ['page-index', 'pageIndex=10000001', number('pageIndex', '0 to 10000000', '10000001')],
    ['page-index', 'pageIndex=-1', number('pageIndex', '0 to 10000000', '-1')],
    ['page-index', 'pageIndex=x', number('pageIndex', '0 to 10000000', 'x')],
    ['page-index', 'pageIndex=1.0', number('pageIndex', '0 to 10000000', '1.0')],
    ['page-index', 'itemsPerPage=1', 'taken'],
    ['page-index', 'itemsPerPage=10000', 'taken'],
    ['page-index', 'itemsPerPage=10001', number('itemsPerPage', '1 to 10000', '10001')],
    ['page-index', 'itemsPerPage=0', number('itemsPerPage', '1 to 10000', '0')],
    [WHOLE, 'offset=1', 'taken'],
    [WHOLE, 'offset=0', number('offset', '1 to 10000000', '0')],
    ['link', `continuation=${rows(0)}`, 'taken'],
    ['link', `continuation=${rows(20)}`, 'taken'],
    ['link', `continuation=${Buffer.from('rows x').toString('base64url')}`, NO_PAGE],
    ['link', `continuation=${Buffer.from('rows 1234567890').toString('base64url')}`, NO_PAGE],
    ['link', `continuation=${Buffer.from('xrows 1').toString('base64url')}`, NO_PAGE],
    ['link', 'continuation=', NO_PAGE],
  ])('at a bank with paging %j, %s: %s', async (paging, query, answer) => {
    const { ask } = await reader({ paging });
    expect(ask(`${DAYS}&${query}`)).toBe(answer);
  });
});

describe('a list', () => {
  let at: Awaited<ReturnType<typeof reader>>;
  beforeEach(async () => {
    at = await reader({ paging: 'page-index' });
  });
  const idsOf = (query: string, here = at) =>
    list(here.read(`${LIST}?${query}`).json.transactions?.booked).map(({ transactionId }) =>
      String(transactionId),
    );

  test('has its rows in pages, each row once', () => {
    const all = idsOf(`${DAYS}&itemsPerPage=1000`);
    expect(all.length).toBeGreaterThan(20);
    const pages = [0, 1, 2].map((index) => idsOf(`${DAYS}&itemsPerPage=10&pageIndex=${index}`));
    expect(pages).toEqual([all.slice(0, 10), all.slice(10, 20), all.slice(20, 30)]);
    expect(idsOf(DAYS)).toEqual(all.slice(0, 10));
  });

  test('has the number of each row from the first of the account, whatever days it shows', () => {
    const all = idsOf(`${DAYS}&itemsPerPage=1000`);
    const numbers = all.map((id) => Number(id.slice(1)));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) - index));
    const some = idsOf('bookingStatus=booked&dateFrom=2026-10-01&dateTo=2026-10-31&itemsPerPage=1000');
    expect(some.length).toBeGreaterThan(2);
    expect(all.slice(all.indexOf(some[0] ?? ''), all.indexOf(some[0] ?? '') + some.length)).toEqual(some);
  });

  test('of one row has the details of that row, and of no other', () => {
    const [newest = '', second = ''] = idsOf(DAYS);
    const row = (id: string) => at.read(`${LIST}/${id}`).json.transactionsDetails?.transactionId;
    expect([row(newest), row(second), row('T000000001')]).toEqual([newest, second, 'T000000001']);
    const unknown = '404 RESOURCE_UNKNOWN: The account has no such transaction.';
    const next = `T${String(Number(newest.slice(1)) + 1).padStart(9, '0')}`;
    for (const id of [next, 'T000000000', newest.slice(1), 'x', 'download'])
      expect(at.ask('', `${LIST}/${id}`)).toBe(unknown);
    expect(at.ask('a=1', `${LIST}/${newest}`)).toContain('400 PARAMETER_NOT_SUPPORTED a');
  });

  test('after an entry has what was booked since', async () => {
    const here = await reader({ paging: 'page-index', delta: 'entryReferenceFrom' });
    const all = idsOf(`${DAYS}&itemsPerPage=1000`, here);
    const since = (id = '') =>
      idsOf(`bookingStatus=booked&itemsPerPage=1000&entryReferenceFrom=${id.slice(1)}`, here);
    expect([since(all[0]), since(all[1]), since(all[3])]).toEqual([[], all.slice(0, 1), all.slice(0, 3)]);
    expect(since('T999999999')).toEqual([]);
  });

  test.each([
    ['booked', ['_links', 'booked']],
    ['pending', ['_links', 'pending']],
    ['both', ['_links', 'booked', 'pending']],
  ])('of %s has %j', (status, parts) => {
    const { json } = at.read(`${LIST}?bookingStatus=${status}&dateFrom=2026-11-01`);
    expect(Object.keys(json.transactions ?? {}).toSorted()).toEqual(parts);
    expect(json.transactions?._links?.account?.href).toBe(`/nextgenpsd2/v1/accounts/${CURRENT}`);
  });

  test('has balances if it is asked for them', () => {
    const { json } = at.read(`${LIST}?${DAYS}&withBalance=true`);
    expect(list(json.balances).map(({ balanceType }) => balanceType)).toHaveLength(2);
    expect(at.read(`${LIST}?${DAYS}&withBalance=false`).json).not.toHaveProperty('balances');
    expect(at.read(`${LIST}?${DAYS}`).json).not.toHaveProperty('balances');
  });
});

test('a link leads to the next page as long as there is one, with the words of the bank', async () => {
  const here = await reader({ parameters: { bookingStatus: 'status' } });
  const seen: unknown[] = [];
  let next: string | undefined = `${LIST}?status=booked&dateFrom=2026-09-01`;
  while (next !== undefined) {
    expect(next).toContain('status=booked&dateFrom=2026-09-01');
    const { transactions }: Json = here.read(next).json;
    const booked: Json[] = Array.isArray(transactions?.booked) ? transactions.booked : [];
    expect(booked.length).toBeGreaterThan(0);
    seen.push(...booked.map(({ transactionId }) => transactionId));
    next =
      transactions?._links?.next?.href === undefined
        ? undefined
        : String(transactions._links.next.href).replace('/nextgenpsd2', '');
  }
  expect(new Set(seen).size).toBe(seen.length);
  const all = await reader({ paging: 'page-index' });
  const { transactions } = all.read(`${LIST}?${DAYS}&itemsPerPage=1000`).json;
  expect(seen).toHaveLength(Object(transactions?.booked).length);
});

// Anna has three pending rows, and since 19 November fewer booked ones.
test.each<[size: number, pages: number]>([
  [1, 3],
  [2, 2],
  [3, 1],
  [4, 1],
])('%i rows a page: the pending rows have %i pages, with booked ones and alone', async (size, pages) => {
  for (const paging of ['link', { totalPagesHeader: 'X-Pages', pageParameter: 'page' }] as const) {
    const here = await reader({ paging });
    here.bank.rules.rowsAPage = size;
    for (const status of ['pending', 'both']) {
      const first = `${LIST}?bookingStatus=${status}&dateFrom=2026-11-19`;
      const seen: string[][] = [];
      let next: string | undefined = first;
      while (next !== undefined) {
        const { json, headers }: ReturnType<typeof here.read> = here.read(next);
        const { pending, booked, _links: links }: Json = json.transactions ?? {};
        expect(Object(booked ?? []).length).toBeLessThanOrEqual(size);
        seen.push(list(pending).map((row) => JSON.stringify(row)));
        const link = links?.next?.href;
        const isLast = seen.length >= Number(headers?.['X-Pages'] ?? pages);
        if (paging === 'link') next = link && String(link).replace('/nextgenpsd2', '');
        else next = isLast ? undefined : `${first}&page=${seen.length + 1}`;
      }
      expect([status, seen.length]).toEqual([status, pages]);
      expect(seen.slice(0, -1).map((rows) => rows.length)).toEqual(Array(pages - 1).fill(size));
      expect(new Set(seen.flat()).size).toBe(3);
    }
  }
});

test.each([
  [10, 1],
  [11, 2],
  [20, 2],
  [21, 3],
])('of %i rows, ten a page, the bank says that there are %i pages', (count, pages) => {
  const paging = { totalPagesHeader: 'X-Pages', pageParameter: 'offset' };
  expect(pagingHeaders(paging, { offset: 0, size: 10 }, count)).toEqual({ 'X-Pages': String(pages) });
  expect(pagingHeaders(paging, { offset: 0, size: 10 }, 0)).toEqual({ 'X-Pages': '1' });
  expect(pagingHeaders('link', { offset: 0, size: 10 }, count)).toEqual({});
});

describe('the readings of a day', () => {
  /** A bank with a consent for two readings a day. */
  async function counted() {
    const here = await bankHere();
    const reply = here.serve('POST /v1/consents', { body: consentBody({ frequencyPerDay: 2 }) });
    here.approve(reply, ANNA);
    const headers = { 'consent-id': String(reply.json.consentId) };
    return { ...here, ask: (path: string) => here.answer(`GET ${path}`, { headers }) };
  }
  const USED =
    "429 ACCESS_EXCEEDED Consent-ID: The day's readings without the customer are used up. Allowed: 2 a day for each account. They start again tomorrow.";
  const times = (count: number, ask: () => string) => Array.from({ length: count }, ask);

  test('are counted for each account and kind of reading', async () => {
    const { ask } = await counted();
    const paths = [
      '/v1/accounts',
      `/v1/accounts/${CURRENT}`,
      `/v1/accounts/${CURRENT}/balances`,
      '/v1/card-accounts',
      `/v1/card-accounts/${CARD}/balances`,
      `${LIST}?${DAYS}`,
      '/v1/accounts/0010482638/balances',
    ];
    for (const path of paths)
      expect([path, times(3, () => ask(path))]).toEqual([path, ['taken', 'taken', USED]]);
  });

  test('start again on the next day in Rome', async () => {
    const { ask, clock } = await counted();
    expect(times(3, () => ask('/v1/accounts'))).toEqual(['taken', 'taken', USED]);
    clock.advance(12 * 60 * 60_000 - 1);
    expect(ask('/v1/accounts')).toBe(USED);
    clock.advance(1);
    expect(times(3, () => ask('/v1/accounts'))).toEqual(['taken', 'taken', USED]);
  });

  test('belong to their consent', async () => {
    const { bank, ask, serve, approve, answer } = await counted();
    times(3, () => ask('/v1/accounts'));
    const reply = serve('POST /v1/consents', { body: consentBody({ frequencyPerDay: 2 }) });
    approve(reply, ANNA);
    const headers = { 'consent-id': String(reply.json.consentId) };
    expect(times(3, () => answer('GET /v1/accounts', { headers }))).toEqual(['taken', 'taken', USED]);
    doorOf(bank).readings.forgetCustomer();
    expect(answer('GET /v1/accounts', { headers })).toBe(USED);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import { addDays, type IsoDate } from '../../src/domain/calendar.ts';
import { syncCustomer } from '../../src/flows/sync.ts';
import { syncIntoFolder } from '../../src/store/files/sync/folder.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { isoDate, money, PRODUCT, TODAY } from './sync-bank.ts';

const PAGE = 500;

/** A bank with `rowsOn(day)` booked rows for each day and one pending row of four days ago. It keeps the requests. */
function bankWith(
  rowsOn: (day: IsoDate) => number,
  bankToday: IsoDate = TODAY,
  date?: Date,
): { bank: Bank; asked: URL[]; dataOf: (url: URL) => object } {
  const asked: URL[] = [];
  const transactions = ({ searchParams }: URL) => {
    const dayIn = (name: string, otherwise: IsoDate) => {
      const text = searchParams.get(name);
      return text === null ? otherwise : isoDate(text.split('/').reverse().join('-'));
    };
    const [from, to] = [dayIn('dateFrom', bankToday), dayIn('dateTo', bankToday)];
    const booked: object[] = [];
    for (let at = to < bankToday ? to : bankToday; at >= from; at = addDays(at, -1)) {
      for (let row = rowsOn(at); row > 0; row -= 1) {
        const extendedDescription = `${at} ${row}`;
        booked.push({ extendedDescription, amountTransaction: money, dateAccountingCurrency: at });
      }
    }
    const begin = Number(searchParams.get('nextAccounting') ?? 1) - 1;
    const entered = addDays(bankToday, -4);
    return {
      transactionsAccounting: booked.slice(begin, begin + PAGE),
      transactionsNotAccounting:
        from <= entered && entered <= to ? [{ amountTransaction: money, dateLiquidationValue: entered }] : [],
      ...(begin + PAGE < booked.length && { nextAccounting: begin + PAGE + 1 }),
    };
  };
  const dataOf = (url: URL) => {
    if (url.pathname.endsWith('/accounts')) return { accounts: [{ accountId: PRODUCT }] };
    return url.pathname.endsWith('/transactions/retrieve')
      ? transactions(url)
      : { accountAvailability: money };
  };
  const bank = answeringBank((url) => {
    asked.push(url);
    return { data: dataOf(url), date };
  });
  return { bank, asked, dataOf };
}

describe('the transactions of a product', () => {
  let out: string;
  beforeEach(() => {
    out = join(temporary, String(Math.random()));
  });
  const sync = (bank: Bank, since: IsoDate | undefined, today = TODAY) =>
    syncIntoFolder(out).run(new AbortController().signal, (run) =>
      run.customer('1048262', (to) =>
        syncCustomer(bank, to, { customerId: '1048262', since, today, transactionId: 't' }),
      ),
    );
  const linesOf = (...names: string[]): { kind?: string; details: string }[] =>
    readFileSync(join(out, '1048262', ...names), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const details = (kind: 'transactions' | 'pending') =>
    (kind === 'transactions'
      ? linesOf('transactions', `${PRODUCT}.ndjson`)
      : linesOf('current.ndjson').filter((line) => line.kind === 'pending')
    ).map((line) => line.details);

  const since = addDays(TODAY, -88);
  it.each<[string, (at: IsoDate) => number]>([
    ['few rows', () => 3],
    ['many rows', () => 300],
    ['days with more rows than psd2 holds in memory', (at) => (at.endsWith('-15') ? 5_000 : 1)],
    ['many rows in the last days', (at) => (at > '2026-11-18' ? 1_500 : 2)],
  ])('sync with %s writes each row once, oldest first, and all pending rows', async (_what, rowsOn) => {
    const { bank, asked } = bankWith(rowsOn);
    const expected: string[] = [];
    for (let at = since; at <= TODAY; at = addDays(at, 1))
      for (let row = rowsOn(at); row > 0; row -= 1) expected.push(`${at} ${row}`);

    const { newTransactions, pending } = await sync(bank, since);
    expect(newTransactions).toBe(expected.length);
    expect(pending).toBe(1);
    expect(details('pending')).toEqual(['']);
    const rows = details('transactions');
    expect(rows.map((text) => text.slice(0, 10))).toEqual(expected.map((text) => text.slice(0, 10)));
    expect([...rows].sort()).toEqual([...expected].sort());
    // Some pages are requested needlessly if there are too many rows, but not many times as many as there are.
    expect(asked.length).toBeLessThan(20 + (expected.length / PAGE) * 4);

    expect(await sync(bank, since)).toMatchObject({ newTransactions: 0, pending: 1 });
    expect(details('transactions')).toEqual(rows);
  });

  it('a product that is not due keeps its balance, and psd2 makes no call for it', async () => {
    const { bank, asked } = bankWith(() => 1);
    await sync(bank, since);
    const before = linesOf('current.ndjson');
    asked.length = 0;
    const skipping = await syncIntoFolder(out).run(new AbortController().signal, (run) =>
      run.customer('1048262', (to) =>
        syncCustomer(bank, to, {
          ...{ customerId: '1048262', since, today: TODAY, transactionId: 't' },
          mayRead: async (productId) => productId !== PRODUCT,
        }),
      ),
    );
    expect(skipping).toMatchObject({ skipped: [PRODUCT], newTransactions: 0, failures: [] });
    expect(asked.map(({ pathname }) => pathname)).toEqual(['/private/customers/1048262/accounts']);
    expect(linesOf('current.ndjson')).toEqual(before);
  });

  const folder = () => join(out, '1048262');
  /** The folder has one such file, because the runs work in it one after the other. */
  const progressFile = () =>
    join(folder(), readdirSync(folder()).find((name) => /^sync-\d+\.ndjson$/.test(name)) ?? '');
  const progress = () => JSON.parse(linesOfFile(progressFile()).at(-1) ?? '').products[PRODUCT];
  const linesOfFile = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
  const through = (): string => progress().through;
  const noon = (at: IsoDate) => new Date(`${at}T12:00:00Z`);
  const everyDay = (from: IsoDate, to: IsoDate) => {
    const days: string[] = [];
    for (let at = from; at <= to; at = addDays(at, 1)) days.push(`${at} 1`);
    return days;
  };
  const synced = () => details('transactions').toSorted();

  it.each([1, 20, 60, 120])(
    'sync has all rows after several runs with a clock that is %i days ahead',
    async (ahead) => {
      for (const days of [0, 1, 2]) {
        const now = addDays(TODAY, days);
        await sync(bankWith(() => 1, now, noon(now)).bank, undefined, addDays(now, ahead));
        expect(through()).toBe(now);
      }
      const later = addDays(TODAY, ahead + 10);
      await sync(
        bankWith(() => 1, later, noon(later)).bank,
        ahead > 80 ? addDays(TODAY, -5) : undefined,
        later,
      );
      const first = addDays(TODAY, -89);
      expect(synced()).toEqual(everyDay(first, later));
      expect(through()).toBe(later);
    },
  );

  it('without --since, sync asks again only for the days of the overlap', async () => {
    const { bank, asked } = bankWith(() => 1, TODAY, noon(TODAY));
    await sync(bank, undefined);
    asked.length = 0;
    await sync(bank, undefined);
    const days = asked.flatMap(({ searchParams }) => searchParams.getAll('dateFrom'));
    expect(days).toEqual(['11/11/2026']);
  });

  it('with --since, sync reads known days again, and adds what is missing', async () => {
    const booked = new Map<string, number>();
    const rowsOn = (at: IsoDate) => booked.get(at) ?? 1;
    await sync(bankWith(rowsOn).bank, undefined);
    booked.set('2026-09-30', 3);
    booked.set('2026-09-15', 2);

    expect(await sync(bankWith(rowsOn).bank, undefined)).toMatchObject({ newTransactions: 0 });
    expect(await sync(bankWith(rowsOn).bank, isoDate('2026-09-20'))).toMatchObject({ newTransactions: 2 });
    expect(await sync(bankWith(rowsOn).bank, isoDate('2026-09-20'))).toMatchObject({ newTransactions: 0 });
    expect(await sync(bankWith(rowsOn).bank, isoDate('2026-09-01'))).toMatchObject({ newTransactions: 1 });
    expect(new Set(synced()).size).toBe(synced().length);
    expect(synced()).toHaveLength(everyDay(addDays(TODAY, -89), TODAY).length + 3);
    expect(through()).toBe(TODAY);
  });

  it('sync does not write rows that change while it reads them, and syncs the other products', async () => {
    const { bank, dataOf } = bankWith(() => 30);
    let call = 0;
    const moving = answeringBank((url) => {
      if (!url.pathname.includes('/transactions/')) return { data: dataOf(url) };
      call += 1;
      return { data: { ...dataOf(url), numberTransactionsAccounting: 3_000 + call } };
    });
    const { failures, newTransactions } = await sync(moving, addDays(TODAY, -40));
    expect(failures).toEqual([
      { productId: PRODUCT, error: expect.objectContaining({ code: 'list_changed' }) },
    ]);
    expect(newTransactions).toBe(0);
    expect(existsSync(join(out, '1048262', 'transactions', `${PRODUCT}.ndjson`))).toBe(false);
    expect(await sync(bank, addDays(TODAY, -40))).toMatchObject({ failures: [], newTransactions: 41 * 30 });
  });
});

const temporary = temporaryFolder();

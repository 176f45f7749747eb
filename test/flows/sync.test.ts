import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/bank.ts';
import { addDays, type IsoDate, isIsoDate } from '../../src/domain/calendar.ts';
import { syncCustomer } from '../../src/flows/sync.ts';
import { SyncFolder } from '../../src/store/sync-folder.ts';
import { readEnvelope } from '../../src/wire/envelope.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const PRODUCT = '0010482620';
const PAGE = 500;
const day = (text: string): IsoDate => {
  if (!isIsoDate(text)) throw new TypeError(text);
  return text;
};
const TODAY = day('2026-11-21');
const money = { amount: '-1.00', currency: 'EUR' };

/** Of each day so many booked rows, and one pending row of four days ago; what was asked for is kept. */
function bankWith(rowsOn: (day: IsoDate) => number): { bank: Bank; asked: URL[] } {
  const asked: URL[] = [];
  const transactions = ({ searchParams }: URL) => {
    const date = (name: string, otherwise: IsoDate) => {
      const text = searchParams.get(name);
      return text === null ? otherwise : day(text.split('/').reverse().join('-'));
    };
    const [from, to] = [date('dateFrom', TODAY), date('dateTo', TODAY)];
    const booked: object[] = [];
    for (let at = to; at >= from; at = addDays(at, -1)) {
      for (let row = rowsOn(at); row > 0; row -= 1) {
        const extendedDescription = `${at} ${row}`;
        booked.push({ extendedDescription, amountTransaction: money, dateAccountingCurrency: at });
      }
    }
    const begin = Number(searchParams.get('nextAccounting') ?? 1) - 1;
    const entered = addDays(TODAY, -4);
    return {
      transactionsAccounting: booked.slice(begin, begin + PAGE),
      transactionsNotAccounting:
        from <= entered && entered <= to ? [{ amountTransaction: money, dateLiquidationValue: entered }] : [],
      ...(begin + PAGE < booked.length && { nextAccounting: begin + PAGE + 1 }),
    };
  };
  const dataOf = (url: URL) => {
    if (url.pathname.endsWith('/accounts')) return { accounts: [{ accountId: PRODUCT }] };
    return url.pathname.endsWith('/transactions/retrieve') ? transactions(url) : {};
  };
  const bank: Bank = {
    async call({ path }, schema) {
      const url = new URL(path, 'https://bank.invalid');
      asked.push(url);
      const envelope = readEnvelope({ result: { outcome: 'SUCCESS' }, data: dataOf(url) });
      if (!envelope) throw new TypeError('no envelope');
      return { data: schema.parse(envelope.data), envelope, notices: [] };
    },
    exchange: () => Promise.reject(new TypeError('not called')),
  };
  return { bank, asked };
}

describe('the transactions of a product', () => {
  let out: string;
  beforeEach(() => {
    out = join(temporary, String(Math.random()));
  });
  const sync = (bank: Bank, since: IsoDate) =>
    SyncFolder.within(
      out,
      '1048262',
      (folder) =>
        syncCustomer(bank, folder, { customerId: '1048262', since, today: TODAY, transactionId: 't' }),
      new AbortController().signal,
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
    ['days that have more than are held at once', (at) => (at.endsWith('-15') ? 5_000 : 1)],
    ['many rows at last', (at) => (at > '2026-11-18' ? 1_500 : 2)],
  ])('%s: each once, oldest first, and all pending ones', async (_what, rowsOn) => {
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
    // Pages are asked for in vain where there is too much, but not many times as many as there are.
    expect(asked.length).toBeLessThan(20 + (expected.length / PAGE) * 4);

    expect(await sync(bank, since)).toMatchObject({ newTransactions: 0, pending: 1 });
    expect(details('transactions')).toEqual(rows);
  });
});

const temporary = temporaryFolder();

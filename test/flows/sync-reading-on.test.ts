import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Accounts, Bank, Transaction, TransactionQuery } from '../../src/bank/ports/bank.ts';
import { type ErrorCode, Psd2Error } from '../../src/errors.ts';
import { type SyncedCustomer, syncCustomer } from '../../src/flows/sync.ts';
import { syncIntoFolder } from '../../src/store/files/sync/folder.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { transactionOf } from '../bank/transaction.ts';
import { amountOf } from '../domain/bookings.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { ago, PRODUCT, TODAY } from './sync-bank.ts';

// A bank that gives only what it has booked after a row (`accounts.delta`).

const PAGE = 1_500;
const temporary = temporaryFolder();
let out: string;
let booked: Transaction[];
let pending: Transaction[];
let asked: TransactionQuery[];
/** How the bank answers a query that reads on. */
let readOn: (newest: string) => Transaction[];
let count = 0;
const amount = amountOf('-1.00');

function row(reference: string | null, day: Transaction['bookingDate'], more: Partial<Transaction> = {}) {
  count += 1;
  return transactionOf({
    ...{ index: String(count), bookingDate: day, valueDate: day, amount, description: `row ${reference}` },
    ...{ transactionId: null, entryReference: reference, ...more },
  });
}

const IDS = { accountId: PRODUCT, productId: PRODUCT };
const CODES = { productCode: null, productDescription: null };
const accounts: Accounts = {
  isId: () => true,
  identifiesRows: true,
  readsOn: true,
  list: async () => [{ ...IDS, ...{ iban: null, currency: 'EUR', name: null }, ...CODES }],
  balance: async () => ({
    ...{ ...IDS, accountBalance: null, availableBalance: null, accountAvailability: null },
    ...{ accountAvailableCredit: null, asOf: null },
  }),
  async *pages(query) {
    asked.push(query);
    const { from, to, after, status } = query;
    const isIn = ({ bookingDate }: Transaction) =>
      (from === undefined || (bookingDate ?? '') >= from) && (to === undefined || (bookingDate ?? '') <= to);
    const rows = after === undefined ? booked.filter(isIn) : readOn(after);
    for (let begin = 0; begin === 0 || begin < rows.length; begin += PAGE) {
      const hasMore = begin + PAGE < rows.length;
      const open = hasMore ? [] : pending;
      yield {
        ...(status !== 'pending' && {
          booked: { rows: rows.slice(begin, begin + PAGE), total: null, hasMore },
        }),
        ...(status !== 'booked' && { pending: { rows: open, total: null, hasMore } }),
      };
    }
  },
  document: () => Promise.reject(new TypeError('not called')),
  details: () => Promise.reject(new TypeError('not called')),
};
const bank: Bank = { ...answeringBank(() => ({ data: {} })), accounts, earliestAnswer: () => undefined };
const sync = (since?: typeof TODAY): Promise<SyncedCustomer> =>
  syncIntoFolder(out).run(new AbortController().signal, (run) =>
    run.customer('anna', (to) =>
      syncCustomer(bank, to, { customerId: 'anna', since, today: TODAY, transactionId: 't' }),
    ),
  );
const stored = () =>
  readFileSync(join(out, 'anna', 'transactions', `${PRODUCT}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line).entryReference);
/** `after E2`, or `from 2026-11-11`. */
const howAsked = () =>
  asked.map(({ after, from }) => (after === undefined ? `from ${from}` : `after ${after}`));

beforeEach(async () => {
  out = join(temporary, String(Math.random()));
  [booked, pending, asked] = [[row('E2', ago(1)), row('E1', ago(3))], [], []];
  readOn = (newest) =>
    booked.slice(
      0,
      booked.findIndex(({ entryReference }) => entryReference === newest),
    );
  await sync();
  asked = [];
});

describe('a sync at a bank that gives what comes after a row', () => {
  it('asks for what comes after the newest row it has, and for nothing else', async () => {
    booked.unshift(row('E4', TODAY), row('E3', ago(20)));
    pending = [row(null, null, { status: 'pending' })];
    expect(await sync()).toMatchObject({ newTransactions: 2, pending: 1, failures: [] });
    expect(howAsked()).toEqual(['after E2']);
    expect(stored()).toEqual(['E1', 'E2', 'E3', 'E4']);
    expect(await sync()).toMatchObject({ newTransactions: 0, pending: 1 });
    expect(howAsked()).toEqual(['after E2', 'after E4']);
    expect(stored()).toHaveLength(4);
  });

  it('asks from the same row again if nothing was booked', async () => {
    await sync();
    await sync();
    expect(howAsked()).toEqual(['after E2', 'after E2']);
  });

  it('that repeats the row itself adds it once', async () => {
    readOn = (newest) =>
      booked.slice(0, booked.findIndex(({ entryReference }) => entryReference === newest) + 1);
    booked.unshift(row('E3', TODAY));
    expect(await sync()).toMatchObject({ newTransactions: 1 });
    expect(howAsked()).toEqual(['after E2']);
    expect(stored()).toEqual(['E1', 'E2', 'E3']);
  });

  const tooMany = () => Array.from({ length: 2_001 }, (_, index) => row(`F${index}`, TODAY));
  it.each<[string, () => void]>([
    ['does not know the row any more', () => (readOn = () => fail('bank_refused'))],
    ['gives rows that are there already', () => (readOn = () => [...booked])],
    ['gives rows without an id', () => (readOn = () => [row(null, TODAY), row(null, TODAY)])],
    ['gives rows of long ago', () => (readOn = () => [row('E0', ago(80))])],
    ['gives too many rows', () => (readOn = tooMany)],
  ])('that %s reads the days', async (_, change) => {
    booked.unshift(row('E3', TODAY), row(null, TODAY, { description: 'equal' }));
    booked.unshift(row(null, TODAY, { description: 'equal' }));
    change();
    await sync();
    expect(howAsked()).toEqual(['after E2', `from ${ago(10)}`]);
    expect(stored().filter((reference) => reference === 'E3')).toHaveLength(1);
    expect(stored().filter((reference) => reference === null)).toHaveLength(2);
    expect(new Set(stored()).size).toBe(4);
    asked = [];
    await sync();
    expect(howAsked()[0]).toBe('after E3');
  });

  it.each<ErrorCode>(['not_logged_in', 'too_many_calls', 'bank_failing'])(
    'asks for no days if the bank refuses for another reason: %s',
    async (code) => {
      readOn = () => fail(code);
      await sync().catch(() => {});
      expect(howAsked()).toEqual(['after E2']);
    },
  );

  it('that was stopped before it had read all days reads on with the days', async () => {
    out = join(temporary, String(Math.random()));
    const dated = Array.from({ length: 2_400 }, (_, index) => row(`D${index}`, ago(1 + (index % 60))));
    booked = dated.toSorted((one, other) => ((one.bookingDate ?? '') < (other.bookingDate ?? '') ? 1 : -1));
    readOn = () => [];
    const pages = accounts.pages;
    let ranges = 0;
    accounts.pages = (query) => {
      if (query.to !== undefined) ranges += 1;
      if (ranges > 0 && query.from !== undefined && query.from > ago(60)) fail('bank_unreachable');
      return pages(query);
    };
    await expect(sync()).rejects.toThrow('does not');
    accounts.pages = pages;
    await sync();
    expect(new Set(stored()).size).toBe(2_400);
  });

  it('with --since reads the days', async () => {
    await sync(ago(5));
    expect(howAsked()).toEqual([`from ${ago(10)}`]);
  });
});

function fail(code: ErrorCode): never {
  throw new Psd2Error(code, 'The bank does not');
}

import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/bank/ports/bank.ts';
import { addDays, type IsoDate } from '../../src/domain/calendar.ts';
import { MOVED_DAYS } from '../../src/domain/same-rows.ts';
import { type ErrorCode, Psd2Error } from '../../src/errors.ts';
import { DAYS_WITHOUT_SCA } from '../../src/flows/sync.ts';
import type { Progress } from '../../src/store/ports/sync.ts';
import { amountOf } from '../domain/bookings.ts';
import { syncHistory } from './any-history.ts';
import {
  ago,
  type BankRow,
  money,
  PRODUCT,
  rowsOnEach,
  syncBank,
  synced,
  syncTarget,
  TODAY,
} from './sync-bank.ts';

/** The days from one to another, as psd2 asked for them. An open end means up to now. */
const range = (from: IsoDate, to?: IsoDate) => `${from}..${to ?? ''}`;

describe('the days that sync reads', () => {
  it.each<[string, { since?: IsoDate; before?: Progress }, IsoDate]>([
    ['at first', {}, ago(30)],
    ['with --since', { since: ago(60) }, ago(30)],
    ['with --since after it', { since: ago(5) }, ago(5)],
    ['with --since again', { since: ago(60), before: { from: ago(31), through: ago(1) } }, ago(30)],
  ])('%s, they begin where the history of the bank begins', async (_, { since, before }, first) => {
    const { bank, ranges } = syncBank({});
    const short = { ...bank, accounts: { ...bank.accounts, earliestDay: () => ago(30) } };
    const { target, stored } = syncTarget(before);
    await synced(short, target, since === undefined ? {} : { since });
    expect(ranges).toEqual([range(first)]);
    expect(stored.remembered.map(({ from }) => from)).toEqual([before?.from ?? first]);
  });

  const MORE = 'also days before the first known one that the bank shows without SCA';
  /** So many days ago: the first and the last that an earlier sync knows, `--since`, and the last stored row. */
  type Known = { before?: [from: number, through: number]; since?: number; lastDay?: number };
  // Days are so many days ago. `readsAll` is whether rows may come again.
  it.each<[string, Known, first: number, readsAll: boolean, from: number]>([
    ['at first, the 90 days that the bank shows without SCA', {}, 89, false, 89],
    ['at first with --since, the days since then', { since: 5 }, 5, false, 5],
    ['with --since today, today', { since: 0 }, 0, false, 0],
    ['with --since in the future, today', { since: -5 }, 0, false, 0],
    ['later, the last ten days that it knows and what is new', { before: [89, 3] }, 13, false, 89],
    ['on the same day again, the last ten days', { before: [89, 0], lastDay: 85 }, 10, false, 89],
    [`later without --since, ${MORE}`, { before: [5, 3] }, 89, true, 89],
    ['with --since, no days before that and the first known one', { before: [5, 3], since: 4 }, 5, false, 5],
    ['with --since before the first known day, all since then', { before: [50, 3], since: 51 }, 51, true, 51],
    ['with --since the first known day, all days again', { before: [50, 3], since: 50 }, 50, true, 50],
    ['with --since 11 days before the last known, these again', { before: [50, 3], since: 14 }, 14, true, 50],
    [
      'with --since within ten days, what it reads in any case',
      { before: [50, 3], since: 13 },
      13,
      false,
      50,
    ],
    [
      'with --since of the last days, what it reads in any case',
      { before: [50, 3], since: 1 },
      13,
      false,
      50,
    ],
    ['after a clock ahead, the days since the last row', { before: [200, -1], lastDay: 85 }, 95, true, 200],
    ['after a clock ahead, at least 90 days', { before: [200, -1], lastDay: 3 }, 89, true, 200],
    ['after a clock ahead, all days if there is no row', { before: [120, -1] }, 120, true, 120],
  ])('sync reads %s', async (_, { before, since, lastDay }, first, readsAll, from) => {
    const known = before && { from: ago(before[0]), through: ago(before[1]) };
    const { bank, ranges } = syncBank({});
    const { target, stored } = syncTarget(known, lastDay === undefined ? undefined : ago(lastDay));
    await synced(bank, target, since === undefined ? {} : { since: ago(since) });
    expect(ranges[0]?.slice(0, 10)).toBe(ago(first));
    expect(ranges.at(-1)).toMatch(/\.\.$/);
    expect(stored.readsAll).toBe(readsAll);
    expect(stored.remembered.at(-1)).toEqual({ from: ago(from), through: TODAY, settled: ago(40) });
  });

  it('sync reads more than 90 days in parts of 90 days, and commits each part', async () => {
    const { bank, ranges } = syncBank({});
    const { target, stored } = syncTarget();
    await synced(bank, target, { since: ago(180) });
    const parts = [range(ago(180), ago(91)), range(ago(90), ago(1)), range(TODAY)];
    // The pending rows are read once more, for all days.
    expect(ranges).toEqual([...parts, range(ago(180))]);
    expect(stored.remembered).toEqual([
      { from: ago(180), through: ago(91), settled: ago(131) },
      { from: ago(180), through: ago(1), settled: ago(41) },
      { from: ago(180), through: TODAY, settled: ago(40) },
    ]);
    expect(stored.commits).toBe(2);
  });

  it.each([
    ['further back', { from: ago(100), through: ago(3) }, ago(120)],
    ['again', { from: ago(200), through: ago(3) }, ago(120)],
  ])(
    'while sync reads known days %s, it does not count them before it has read the last one',
    async (_, before, from) => {
      const { bank } = syncBank({});
      const { target, stored } = syncTarget(before);
      await synced(bank, target, { since: ago(120) });
      const first = before.from < from ? before.from : from;
      expect(stored.remembered).toEqual([{ from: first, through: TODAY, settled: ago(40) }]);
      expect(stored.commits).toBe(1);
    },
  );

  it('sync reads the pages of pending rows only for all days at once', async () => {
    const pending = rowsOnEach(ago(120), TODAY, () => 1);
    const { bank, calls } = syncBank({ pending, pageSize: 20 });
    const { target, stored } = syncTarget();
    expect(await synced(bank, target, { since: ago(120) })).toMatchObject({ pending: 121 });
    expect(stored.replaced['pending/0010482620']).toHaveLength(121);
    const furtherPages = calls.filter(({ searchParams }) => searchParams.has('nextNotAccounting'));
    expect(furtherPages.filter(({ searchParams }) => searchParams.has('dateTo'))).toEqual([]);
  });
});

describe('the day of the bank and the day of this machine', () => {
  it.each<[string, IsoDate[], IsoDate, IsoDate, IsoDate]>([
    ['the same', [TODAY], TODAY, TODAY, ago(89)],
    ['the bank’s, if this machine is ahead', [TODAY], addDays(TODAY, 3), TODAY, ago(89)],
    ['this machine’s, if it is behind', [TODAY], ago(3), ago(3), ago(89)],
    ['this machine’s, if the bank does not give one', [], ago(3), ago(3), ago(92)],
    ['the bank’s first, if midnight passes meanwhile', [ago(1), TODAY], TODAY, ago(1), ago(90)],
    ['the bank’s earliest, if its servers differ', [TODAY, TODAY, ago(2)], TODAY, ago(2), ago(89)],
    ['the bank’s earliest of all', [TODAY, ago(2), ago(1)], TODAY, ago(2), ago(91)],
  ])('sync counts days up to the day that both have reached: %s', async (_, days, today, through, first) => {
    const { bank, ranges } = syncBank({ days });
    const { target, stored } = syncTarget();
    await synced(bank, target, { today });
    expect(ranges[0]?.slice(0, 10)).toBe(first);
    expect(stored.remembered.at(-1)?.through).toBe(through);
  });
});

describe('rows that are too many for the memory', () => {
  const since = ago(89);
  const rangesOf = async (rowsOn: (day: IsoDate) => number, pageSize?: number) => {
    const booked = rowsOnEach(since, TODAY, rowsOn);
    const { bank, ranges } = syncBank({ booked, ...(pageSize && { pageSize }) });
    const { target, stored } = syncTarget();
    await synced(bank, target, { since });
    const texts = stored.appended.flat();
    expect(texts).toHaveLength(booked.length);
    expect(texts.toSorted()).toEqual(booked.map(({ text }) => text).toSorted());
    return ranges;
  };
  const windows = (...ends: number[]) => {
    let from: IsoDate = since;
    const parts = ends.map((end) => {
      const part = range(from, ago(end));
      from = ago(end - 1);
      return part;
    });
    return [...parts, range(from)];
  };

  it('2000 rows are read at once', async () => {
    // 50 days with 40 rows.
    expect(await rangesOf((at) => (at > ago(50) ? 40 : 0))).toEqual([range(since)]);
  });

  it('with more than 2000 rows, psd2 reads half of the days that the rows so far belong to', async () => {
    // 2500 rows belong to 50 days. The pending rows are read once more, for all days.
    expect(await rangesOf(() => 50)).toEqual([range(since), ...windows(65, 40, 15), range(since)]);
  });

  it.each([
    ['one page of 4500 rows', 50, 5000],
    ['two pages of 2250 rows', 50, 2250],
    ['two pages of 2000 rows', 80, 2000],
  ])('%s are in the memory already, and psd2 reads them at once', async (_, perDay, pageSize) => {
    const rowsOn = (at: IsoDate) => (perDay === 50 || at > ago(50) ? perDay : 0);
    expect(await rangesOf(rowsOn, pageSize)).toEqual([range(since)]);
  });

  it('with pages of 1999 rows, psd2 reads fewer days', async () => {
    // 3998 rows belong to 80 days.
    expect(await rangesOf(() => 50, 1999)).toEqual([range(since), ...windows(50, 10), range(since)]);
  });

  it.each([
    ['499 rows, psd2 then reads twice the days', 499, [65, 15]],
    ['500 rows, psd2 reads no more days than before', 500, [65, 40, 15]],
  ])('after a part with %s', async (_, rows, ends) => {
    // The last 50 days have 2500 rows, the first 25 days have `rows` together.
    const rowsOn = (at: IsoDate) => (at > ago(50) ? 50 : at === since ? rows : 0);
    const ranges = await rangesOf(rowsOn);
    expect(ranges.slice(1, 1 + ends.length)).toEqual(windows(...ends).slice(0, -1));
  });

  it('too many rows are not read a second time if some may be repeated', async () => {
    const booked = rowsOnEach(since, TODAY, () => 50);
    // The second page begins as the first one ends.
    booked.splice(509, 2, ...[1, 2].map(() => ({ day: ago(10), text: 'equal' })));
    const { bank, ranges } = syncBank({ booked, pageSize: 510 });
    await synced(bank, syncTarget().target, { since });
    expect(ranges.filter((each) => each === range(since))).toHaveLength(2);
    expect(ranges.slice(0, 2)).toEqual([range(since), range(since, ago(70))]);
  });

  it('a single day is read whole', async () => {
    const rowsOn = (at: IsoDate) => (at === TODAY ? 3000 : 0);
    const ranges = await rangesOf(rowsOn);
    expect(ranges.at(-2)).toBe(range(TODAY));
  });
});

const OTHER = 'CARD000001';

/** A bank that answers each call about the first product with an error. */
const bankThatFails = (error: Psd2Error) =>
  syncBank({
    products: [PRODUCT, OTHER],
    onCall: (path) => {
      if (path.includes(PRODUCT)) throw error;
    },
  });

describe('the products of a customer', () => {
  it('sync stores the accounts, the balances and the pending rows of each product', async () => {
    const pending = [{ day: ago(1), text: 'pending' }];
    const { bank } = syncBank({ products: [PRODUCT, OTHER], pending });
    const { target, stored } = syncTarget();
    const none = { late: 0, coming: 0, cancelled: 0, replaced: 0, vanished: 0, changed: 0, takenFor: null };
    const check = {
      balanced: null,
      difference: null,
      complete: true,
      certainFrom: null,
      certainThrough: null,
      ...none,
    };
    expect(await synced(bank, target)).toEqual({
      ...{ accounts: 2, newTransactions: 0, pending: 2, skipped: [], failures: [] },
      checks: [PRODUCT, OTHER].map((productId) => ({ productId, ...check })),
    });
    expect(stored.replaced).toMatchObject({
      accounts: [{ productId: PRODUCT }, { productId: OTHER }],
      balances: [PRODUCT, OTHER].map((productId) => ({ productId, accountBalance: money })),
      [`pending/${PRODUCT}`]: [{ details: 'pending' }],
      [`pending/${OTHER}`]: [{ details: 'pending' }],
    });
  });

  it.each([
    ['of today', undefined, money],
    ['of the days that were read again', ago(3), money],
    ['of an earlier day', ago(20), undefined],
    ['of no day', null, undefined],
  ])('a balance %s is the one that the rows lead to, or not', async (_, bookedDay, balance) => {
    const { bank } = syncBank({});
    const { accounts } = bank;
    const read: typeof accounts.balance = async (...of) => ({
      ...(await accounts.balance(...of)),
      ...(bookedDay !== undefined && { bookedDay }),
    });
    const { target, stored } = syncTarget();
    await synced({ ...bank, accounts: { ...accounts, balance: read } }, target);
    expect(stored.balance).toEqual(balance);
  });

  const usedUp = new Psd2Error('too_many_calls', 'used up', { lasts: true });
  it.each([
    ['at first', undefined, { from: ago(89), through: ago(31) }],
    ['again', { from: ago(89), through: ago(31) }, { from: ago(89), through: ago(31) }],
    ['after more was read', { from: ago(89), through: ago(20) }, { from: ago(89), through: ago(20) }],
  ])(
    'of a list with the oldest first, whose next page is refused, the rows in hand are stored: %s',
    async (_, before, after) => {
      const { bank } = syncBank({
        booked: [40, 35, 30].map((days) => ({ day: ago(days), text: `${days}` })),
        ignoresRange: true,
      });
      const { accounts } = bank;
      const pages: typeof accounts.pages = async function* (query) {
        for await (const { booked } of accounts.pages(query))
          yield { booked: { rows: booked?.rows ?? [], total: null, hasMore: true } };
        throw usedUp;
      };
      const five = { amount: amountOf('5.00'), currency: 'EUR' };
      const { target, stored } = syncTarget(before && { ...before, balance: five });
      const { failures, checks } = await synced({ ...bank, accounts: { ...accounts, pages } }, target);
      // A bank that ignores the range gives the same rows for the newer days.
      expect(new Set(stored.appended.flat())).toEqual(new Set(['40', '35', '30']));
      expect(stored.balance).toBeUndefined();
      expect(checks).toMatchObject([
        { balanced: null, complete: false, certainFrom: null, certainThrough: ago(31) },
      ]);
      expect(failures).toMatchObject([
        { error: { code: 'needs_attention', message: expect.stringContaining('(used up)') } },
      ]);
      expect(stored.remembered.at(-1)).toMatchObject(after);
    },
  );

  it.each<[what: string, newer: number, through: IsoDate, isWhole: boolean]>([
    ['a day', 2, ago(21), false],
    ['all days', 1, TODAY, true],
  ])(
    'a bank whose one page ends before the days that are known is asked for the newer days alone: %s',
    async (_, pageOfNewer, through, isWhole) => {
      const { bank, ranges } = syncBank({
        booked: [33, 32, 25, 20].map((days) => ({ day: ago(days), text: `${days}` })),
      });
      const { accounts } = bank;
      const pages: typeof accounts.pages = async function* (query) {
        let rows: Transaction[] = [];
        for await (const { booked } of accounts.pages(query)) rows = [...rows, ...(booked?.rows ?? [])];
        const isCut = query.from !== ago(25) || pageOfNewer === 2;
        yield { booked: { rows: isCut ? rows.slice(0, 2) : rows, total: null, hasMore: isCut } };
        if (isCut) throw usedUp;
      };
      const { target, stored } = syncTarget({ from: ago(89), through: ago(25) });
      const { failures } = await synced({ ...bank, accounts: { ...accounts, pages } }, target);
      expect(ranges).toContain(range(ago(25)));
      expect(stored.appended.flat()).toEqual(['33', '32', '25', '20']);
      expect(stored.remembered.at(-1)).toMatchObject({ through });
      expect(failures.map(({ error }) => error.code)).toEqual(isWhole ? [] : ['needs_attention']);
    },
  );

  it('what statements contradict stays with their days until these are read again', async () => {
    const { bank } = syncBank({});
    const { accounts } = bank;
    const pages: typeof accounts.pages = async function* (query) {
      for await (const page of accounts.pages(query)) yield { ...page, contradictions: ['new', 'wide'] };
    };
    const about = (says: string, from: number, through: number) => ({
      says,
      from: ago(from),
      through: ago(through),
    });
    const { target, stored } = syncTarget({
      ...{ from: ago(89), through: ago(1) },
      contradictions: [
        about('old', 80, 60),
        about('before', 80, 12),
        about('again', 5, 3),
        about('first', 11, 3),
        about('last', 5, 0),
        about('all', 11, 0),
        about('wide', 40, 3),
      ],
    });
    const { failures } = await synced({ ...bank, accounts: { ...accounts, pages } }, target);
    expect(failures).toMatchObject([
      { error: { code: 'needs_attention', message: expect.stringContaining('new') } },
    ]);
    expect(stored.contradictions).toEqual([
      about('old', 80, 60),
      about('before', 80, 12),
      about('wide', 40, 0),
      about('new', 11, 0),
    ]);
  });

  it.each([0, 19, 20, 21, 30])('of %i contradictions and a new one the last 20 stay', async (before) => {
    const { bank } = syncBank({});
    const { accounts } = bank;
    const pages: typeof accounts.pages = async function* (query) {
      for await (const page of accounts.pages(query)) yield { ...page, contradictions: ['new'] };
    };
    const earlier = Array.from({ length: before }, (_, at) => `old ${at}`);
    const { target, stored } = syncTarget({
      ...{ from: ago(89), through: ago(1) },
      contradictions: earlier.map((says) => ({ says, from: ago(80), through: ago(60) })),
    });
    await synced({ ...bank, accounts: { ...accounts, pages } }, target);
    const said = stored.contradictions?.map(({ says }) => says);
    expect(said).toEqual([...earlier, 'new'].slice(Math.max(0, before - 19)));
  });

  it('if a product is not due, sync replaces only the balances of the others', async () => {
    const { bank, calls } = syncBank({ products: [PRODUCT, OTHER] });
    const { target, stored } = syncTarget();
    const mayRead = async (productId: string) => productId !== PRODUCT;
    expect(await synced(bank, target, { mayRead })).toMatchObject({ accounts: 2, skipped: [PRODUCT] });
    expect(Object.keys(stored.replaced)).toEqual(['accounts', `pending/${OTHER}`, `balances/${OTHER}`]);
    const [balance] = stored.replaced[`balances/${OTHER}`] ?? [];
    expect(balance).toMatchObject({ accountBalance: money });
    expect(balance).not.toHaveProperty('productId');
    expect(calls.filter(({ pathname }) => pathname.includes(PRODUCT))).toEqual([]);
  });

  it('a product whose reads the bank says are used up is skipped, and keeps what was stored of it', async () => {
    const error = new Psd2Error('too_many_calls', 'The bank allows no more', { lasts: true });
    const { bank } = bankThatFails(error);
    const { target, stored } = syncTarget();
    expect(await synced(bank, target)).toMatchObject({ accounts: 2, skipped: [PRODUCT], failures: [] });
    expect(Object.keys(stored.replaced)).toEqual(['accounts', `pending/${OTHER}`, `balances/${OTHER}`]);
  });

  it('a product that the bank fails on is named, and the others are read', async () => {
    const { bank } = bankThatFails(new Psd2Error('bank_failing', 'The bank failed'));
    const { target, stored } = syncTarget();
    const { failures } = await synced(bank, target);
    expect(failures).toMatchObject([{ productId: PRODUCT, error: { code: 'bank_failing' } }]);
    expect(Object.keys(stored.replaced)).toContain(`pending/${OTHER}`);
  });

  it('a product that the consent does not cover fails alone, and a refused login ends the sync', async () => {
    const failing = (refusal: 'other' | 'unread') =>
      synced(bankThatFails(new Psd2Error('not_logged_in', 'No', { refusal })).bank, syncTarget().target);
    expect(await failing('other')).toMatchObject({ skipped: [], failures: [{ productId: PRODUCT }] });
    await expect(failing('unread')).rejects.toMatchObject({ code: 'not_logged_in' });
  });

  it('if an error ends the sync of the customer, sync names the products that it skipped or that failed before', async () => {
    const [forbidden, skipped, stops, after] = ['FORBIDDEN', 'SKIPPED', 'STOPS', 'AFTER'] as const;
    const onCall = (path: string) => {
      if (path.includes(forbidden)) throw new Psd2Error('forbidden', 'No');
      if (path.includes(stops)) throw new Psd2Error('not_logged_in', 'No');
    };
    const { bank } = syncBank({ products: [forbidden, skipped, stops, after], onCall });
    const stopped: unknown[] = [];
    const sync = synced(bank, syncTarget().target, {
      mayRead: async (productId) => productId !== skipped,
      onStopped: (at) => stopped.push(at),
    });
    await expect(sync).rejects.toMatchObject({ code: 'not_logged_in' });
    const failures = [{ productId: forbidden, error: { code: 'forbidden' } }];
    expect(stopped).toMatchObject([{ unread: [stops, after], skipped: [skipped], failures }]);
  });

  it.each(['1', 'A'.repeat(35), ' 1', '1\n'])(
    'the product id %j is stored, without blanks around it',
    async (productId) => {
      const { bank } = syncBank({ products: [productId] });
      const { target, stored } = syncTarget();
      await synced(bank, target);
      expect(Object.keys(stored.replaced)).toContain(`pending/${productId.trim()}`);
    },
  );

  it.each(['../1', '1/..', '1.', 'A'.repeat(36)])(
    'the product id %j is refused before anything is stored, because files get its name',
    async (productId) => {
      const { bank, calls } = syncBank({ products: [PRODUCT, productId] });
      const { target, stored } = syncTarget();
      await expect(synced(bank, target)).rejects.toMatchObject({
        code: 'bank_answer',
        message: `The bank sent an account with the invalid id ${JSON.stringify(productId)}`,
        transactionId: 't',
      });
      expect(stored.replaced).toEqual({});
      expect(calls).toHaveLength(1);
    },
  );
});

describe('an error with one product', () => {
  const syncWith = async (error: unknown, where: string) => {
    const { bank, calls } = syncBank({
      products: [PRODUCT, OTHER],
      onCall: (path) => {
        if (path.includes(PRODUCT) && path.includes(where)) throw error;
      },
    });
    const { target, stored } = syncTarget();
    return { stored, calls, run: () => synced(bank, target) };
  };

  it.each(['forbidden', 'sca_required', 'bank_refused', 'bank_answer', 'list_changed'] as const)(
    'sync reports %s with the product, and syncs the others',
    async (code) => {
      const error = new Psd2Error(code, 'Not this product');
      const { stored, run } = await syncWith(error, '/transactions/');
      expect(await run()).toMatchObject({ failures: [{ productId: PRODUCT, error }], skipped: [] });
      expect(stored.remembered).toHaveLength(1);
    },
  );

  it.each(['forbidden', 'bank_failing', 'bank_answer'] as const)(
    'a balance that cannot be read (%s) is told, and the transactions are read all the same',
    async (code) => {
      const { stored, run } = await syncWith(new Psd2Error(code, 'No balance'), '/balance/');
      const message = 'The balance could not be read: No balance';
      expect(await run()).toMatchObject({ failures: [{ productId: PRODUCT, error: { code, message } }] });
      expect(stored.remembered).toHaveLength(2);
      expect(stored.replaced.balances).toMatchObject([
        { productId: PRODUCT, accountBalance: null, reason: 'No balance' },
        { productId: OTHER, accountBalance: money },
      ]);
    },
  );

  it.each<[string, balances: ErrorCode[], rows: ErrorCode[], told: [string, ErrorCode][]]>([
    [
      'the rows of both, alike',
      [],
      ['forbidden', 'forbidden'],
      [
        [PRODUCT, 'forbidden'],
        [OTHER, 'forbidden'],
      ],
    ],
    [
      'the rows of both',
      [],
      ['forbidden', 'bank_answer'],
      [
        [PRODUCT, 'forbidden'],
        [OTHER, 'bank_answer'],
      ],
    ],
    [
      'both balances, alike',
      ['bank_failing', 'bank_failing'],
      [],
      [
        [PRODUCT, 'bank_failing'],
        [OTHER, 'bank_failing'],
      ],
    ],
    ['one balance', ['forbidden'], [], [[PRODUCT, 'forbidden']]],
    // What is said of the rows says more.
    ['balance and rows of one', ['bank_failing'], ['forbidden'], [[PRODUCT, 'forbidden']]],
    [
      'balance and rows of both, alike',
      ['forbidden', 'forbidden'],
      ['forbidden', 'forbidden'],
      [
        [PRODUCT, 'forbidden'],
        [OTHER, 'forbidden'],
      ],
    ],
  ])('of two products each that fails is named once: %s', async (_, balances, rows, told) => {
    const fails = (path: string, codes: ErrorCode[]) => {
      const code = codes[path.includes(PRODUCT) ? 0 : 1];
      if (code !== undefined) throw new Psd2Error(code, 'No');
    };
    const { bank } = syncBank({
      products: [PRODUCT, OTHER],
      onCall: (path) => {
        if (path.includes('/balance/')) fails(path, balances);
        if (path.includes('/transactions/')) fails(path, rows);
      },
    });
    const { failures, skipped } = await synced(bank, syncTarget().target);
    expect(failures.map(({ productId, error }) => [productId, error.code])).toEqual(told);
    expect(skipped).toEqual([]);
  });

  it.each([
    new Psd2Error('bank_unreachable', 'The bank could not be reached'),
    new Psd2Error('not_logged_in', 'The login has ended'),
    new Psd2Error('interrupted', 'Interrupted'),
    new TypeError('a mistake in psd2'),
  ])('%s ends the sync, because it does not concern only one product', async (error) => {
    const { stored, calls, run } = await syncWith(error, '/balance/');
    await expect(run()).rejects.toBe(error);
    expect(Object.keys(stored.replaced)).toEqual(['accounts']);
    expect(calls.filter(({ pathname }) => pathname.includes(OTHER))).toEqual([]);
  });

  it('if the rows change during each of three readings, psd2 does not read them a fourth time', async () => {
    // Each page begins as the one before it ended, as if a row had been booked meanwhile, and no reading is like another.
    let readings = 0;
    const rows: BankRow[] = [];
    const { bank, ranges } = syncBank({
      booked: rows,
      pageSize: 2,
      onCall: (path) => {
        if (!path.includes('/transactions/') || path.includes('next')) return;
        readings += 1;
        const text = `row of reading ${readings}`;
        rows.splice(0, rows.length, ...[1, 2, 3].map(() => ({ day: TODAY, text })));
      },
    });
    const { target, stored } = syncTarget();
    expect(await synced(bank, target)).toMatchObject({
      failures: [{ productId: PRODUCT, error: expect.objectContaining({ code: 'list_changed' }) }],
    });
    expect(ranges).toHaveLength(3);
    expect(stored.appended).toEqual([]);
  });
});

describe('the rows of a product', () => {
  const appendedFrom = async (booked: BankRow[], since = ago(89)) => {
    const { bank } = syncBank({ booked, ignoresRange: true });
    const { target, stored } = syncTarget();
    await synced(bank, target, { since });
    return stored.appended.flat();
  };

  it('sync stores rows by their booking day, those without one first, and rows of one day oldest first', async () => {
    const days = { a: null, b: null, c: ago(2), d: ago(2), e: ago(2), f: ago(1), g: ago(1) };
    const booked = (['e', 'g', 'b', 'd', 'f', 'a', 'c'] as const).map((text) => ({ day: days[text], text }));
    expect((await appendedFrom(booked)).join('')).toBe('abcdefg');
  });

  it('sync stores rows that are older than what it asked for, too', async () => {
    const booked = [0, 10, 39, 40, 41, 100].map((days) => ({ day: ago(days), text: `${days} days ago` }));
    const texts = ['100', '41', '40', '39', '10', '0'].map((days) => `${days} days ago`);
    const all = [...booked, { day: null, text: 'no day' }];
    expect(await appendedFrom(all, ago(10))).toEqual(['no day', ...texts]);
  });
});

describe('a row that comes late', () => {
  /** Each sync reads as many known days again. */
  const OVERLAP_DAYS = 10;
  const row = {
    ...{ cents: -500, text: 'Card', isMidRead: false, moves: null, vanishes: null, replaced: null },
    ...{ isReleased: false, shownFrom: 1 },
  };
  const history: Omit<Parameters<typeof syncHistory>[0], 'bookings'> = {
    ...({ cut: null, ignores: 'none', ids: 'stable', order: 'down', pageSize: 1000 } as const),
    ...{ gaps: [0], hasBalance: false, hasValueDayAlone: false, showsComing: false },
  };

  it.each([
    [0, 0],
    [MOVED_DAYS, 0],
    [MOVED_DAYS + 1, 1],
    [OVERLAP_DAYS, 1],
  ])('of %i days ago counts as late: %i', async (days, late) => {
    const { checks, stored } = await syncHistory({
      ...history,
      bookings: [{ ...row, day: -days }],
    });
    expect(stored).toHaveLength(1);
    expect(checks.map((check) => check.late)).toEqual([0, late]);
  });

  it('of before the days that are read again is missed, without a balance', async () => {
    const { stored } = await syncHistory({
      ...history,
      bookings: [{ ...row, day: -OVERLAP_DAYS - 1 }],
    });
    expect(stored).toEqual([]);
  });

  it('is found by the balance, also of the oldest day', async () => {
    const found = async (days: number) => {
      const { stored, checks } = await syncHistory({
        ...{ ...history, hasBalance: true },
        bookings: [{ ...row, day: -days }],
      });
      return [stored.length, checks.at(-1)?.late, checks.at(-1)?.balanced];
    };
    expect(await found(OVERLAP_DAYS + 1)).toEqual([1, 1, true]);
    expect(await found(DAYS_WITHOUT_SCA)).toEqual([1, 1, true]);
    expect(await found(DAYS_WITHOUT_SCA + 1)).toEqual([0, 0, false]);
  });
});

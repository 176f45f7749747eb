import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transaction, TransactionPage, TransactionQuery } from '../../../src/bank/ports/bank.ts';
import { Psd2Error } from '../../../src/errors.ts';
import {
  collectTransactions,
  streamTransactions,
  WholeReadings,
} from '../../../src/flows/reading/transaction-reading.ts';
import { ALL_TRANSACTIONS as query } from '../../bank/client.ts';
import { scriptedBank } from '../../bank/scripted-bank.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { dayOf } from '../../domain/bookings.ts';
import { type MovingBankRules, type MovingLists, type MovingRow, movingBank } from './moving-bank.ts';

const RUNS = 300;
const PLAIN: MovingBankRules = { rowsAPage: 10, totals: 'told', paging: 'cursors' };
const LINKED: MovingBankRules = { ...PLAIN, paging: 'links' };

let lastId = 0;
const row = (text: string): MovingRow => {
  lastId += 1;
  return { id: lastId, text };
};
/** Makes a row that differs from every other. */
const rowOfItsOwn = (text: string): MovingRow => row(`${text} ${lastId}`);
const rows = (count: number, name = 'row') =>
  Array.from({ length: count }, (_, place) => row(`${name} ${place}`));
const textsOf = (some: readonly MovingRow[]) => some.map(({ text }) => text);
const of = (status: string, some: readonly Transaction[]) =>
  some.filter((each) => each.status === status).map(({ details }) => details);

/** Books `count` rows at the beginning of the list before each of the given calls. */
const booking =
  (count: number, ...calls: number[]) =>
  (lists: MovingLists, call: number): MovingLists =>
    calls.includes(call) ? { ...lists, booked: [...rows(count, `new ${call}`), ...lists.booked] } : lists;

async function stream(bank: ReturnType<typeof movingBank>, only: Partial<TransactionQuery> = {}) {
  const told: string[] = [];
  const given: Transaction[] = [];
  const ports = { tell: (text: string) => told.push(text), mayAskAgain: true };
  for await (const page of streamTransactions(bank.bank.accounts, { ...query, ...only }, ports))
    given.push(...page);
  return { given, told };
}

const changed = expect.objectContaining({ code: 'list_changed' });

describe('collecting a list', () => {
  it.each([1, 3, 10, 25])(
    'psd2 reads the list again if %i transactions are booked between two of its pages',
    async (count) => {
      const moving = movingBank({ booked: rows(35), pending: [] }, PLAIN, booking(count, 2));
      const collected = await collectTransactions(moving.bank.accounts, query);
      expect(of('booked', collected)).toEqual(textsOf(moving.moments.at(-1)?.booked ?? []));
      expect(collected).toHaveLength(35 + count);
    },
  );

  it('psd2 reads the list again if something is booked before its last page', async () => {
    const moving = movingBank({ booked: rows(15), pending: [] }, PLAIN, booking(1, 1));
    expect(await collectTransactions(moving.bank.accounts, query)).toHaveLength(16);
  });

  it('psd2 starts again right after the page that shows the change', async () => {
    const moving = movingBank({ booked: rows(95), pending: [] }, PLAIN, booking(1, 1));
    await collectTransactions(moving.bank.accounts, query);
    expect(moving.moments).toHaveLength(2 + 10);
  });

  it('psd2 ends with exit code 11 if something is booked during each of three readings', async () => {
    const always = Array.from({ length: 100 }, (_, call) => call);
    const moving = movingBank({ booked: rows(35), pending: [] }, PLAIN, booking(1, ...always));
    await expect(collectTransactions(moving.bank.accounts, query)).rejects.toThrow(changed);
    expect(moving.moments).toHaveLength(3 * 2);
  });

  it('psd2 reads the list again if a pending transaction is booked in the meantime', async () => {
    const settle = (lists: MovingLists, call: number): MovingLists =>
      call === 1 ? { booked: [row('settled'), ...lists.booked], pending: lists.pending.slice(0, -1) } : lists;
    const moving = movingBank({ booked: rows(5), pending: rows(12, 'pending') }, PLAIN, settle);
    const collected = await collectTransactions(moving.bank.accounts, query);
    expect(of('booked', collected)).toHaveLength(6);
    expect(of('pending', collected)).toHaveLength(11);
  });

  it('psd2 reads both lists again if a pending transaction is booked after the booked list has ended', async () => {
    // All rows of the first page go, and as many come: the total stays, and no row repeats.
    const replace = (lists: MovingLists, call: number): MovingLists =>
      call === 1 ? { booked: [row('settled')], pending: rows(12, 'new') } : lists;
    const moving = movingBank({ booked: [], pending: rows(12, 'pending') }, PLAIN, replace);
    const collected = await collectTransactions(moving.bank.accounts, query);
    expect(of('booked', collected)).toEqual(['settled']);
    expect(of('pending', collected)).toEqual(textsOf(moving.moments.at(-1)?.pending ?? []));
  });

  it('psd2 keeps two identical transactions, even if a page ends between them', async () => {
    const alike = [...rows(9), row('fee'), row('fee'), ...rows(8), row('fee'), row('fee'), row('fee')];
    const moving = movingBank({ booked: alike, pending: [] }, PLAIN, (lists) => lists);
    expect(of('booked', await collectTransactions(moving.bank.accounts, query))).toEqual(textsOf(alike));
  });

  it.each(['untold', 'constant', 'of the page'] as const)(
    'psd2 does not check the list against totals that are %s',
    async (totals) => {
      const moving = movingBank(
        { booked: rows(35), pending: rows(3) },
        { ...PLAIN, totals },
        (lists) => lists,
      );
      expect(await collectTransactions(moving.bank.accounts, query)).toHaveLength(38);
    },
  );

  it('psd2 reads only as many rows as it needs', async () => {
    const moving = movingBank({ booked: rows(35), pending: [] }, PLAIN, booking(1, 1));
    const enough = await collectTransactions(moving.bank.accounts, query, (some) => some.length >= 12);
    expect(of('booked', enough)).toEqual(textsOf(moving.moments.at(-1)?.booked ?? []).slice(0, 20));
    expect(moving.moments).toHaveLength(2 + 2);
  });
});

describe('what is known of a list is what its last reading has seen', () => {
  const usedUp = new Psd2Error('too_many_calls', 'Used up', { lasts: true });
  const page = (day: string, more: object = {}): TransactionPage => ({
    booked: { rows: [transactionOf({ bookingDate: dayOf(day) })], total: null, hasMore: true },
    ...more,
  });
  const PLAIN_LIST = [{ booked: { rows: [], total: null, hasMore: false } }];
  const ALL = { hasPages: false, cut: undefined, contradictions: [], unreadDays: 0 };
  const KINDS: Record<string, [(TransactionPage | Error)[], seen: object]> = {
    'one page with nothing odd': [PLAIN_LIST, ALL],
    'several pages': [[page('2026-01-03'), page('2026-01-02')], { ...ALL, hasPages: true }],
    'a page that the bank refuses': [
      [page('2026-01-03'), page('2026-01-02'), usedUp],
      { ...ALL, hasPages: true, cut: { refusal: usedUp, certainThrough: undefined } },
    ],
    'statements that contradict their rows': [
      [{ ...page('2026-01-03'), contradictions: ['One', 'Two'] }, { contradictions: ['Two'] }],
      { ...ALL, hasPages: true, contradictions: ['One', 'Two'] },
    ],
    'days that cannot be read': [
      [page('2026-01-03', { unreadDays: 2 }), page('2026-01-02'), page('2026-01-01', { unreadDays: 1 })],
      { ...ALL, hasPages: true, unreadDays: 3 },
    ],
  };
  const names = Object.keys(KINDS);
  it.each(names.flatMap((first) => names.map((second) => [first, second] as const)))(
    '%s, then %s',
    async (...order) => {
      const lists = order.map((name) => KINDS[name] ?? expect.unreachable());
      const pages = lists.map(([list]) => list).values();
      const accounts = {
        ...scriptedBank({ booked: '' }).bank.accounts,
        async *pages() {
          for (const each of pages.next().value ?? expect.unreachable()) {
            if (each instanceof Error) throw each;
            yield each;
          }
        },
      };
      const readings = new WholeReadings(accounts, query);
      for (const [, seen] of lists) {
        await readings.next();
        const { hasPages, cut, contradictions, unreadDays } = readings;
        expect({ hasPages, cut, contradictions: [...contradictions], unreadDays }).toEqual(seen);
      }
    },
  );
});

describe('streaming a list', () => {
  it.each([1, 3, 10, 25, 36, 60])(
    'psd2 leaves out repeated rows if %i transactions are booked',
    async (count) => {
      const start = rows(35);
      const moving = movingBank({ booked: start, pending: rows(2, 'pending') }, PLAIN, booking(count, 2));
      const { given, told } = await stream(moving);
      expect(of('booked', given)).toEqual(textsOf(start));
      expect(of('pending', given)).toHaveLength(2);
      expect(told).toEqual([
        `${count} transaction${count === 1 ? '' : 's'} booked while psd2 read the list: not included.`,
      ]);
    },
  );

  it.each([0, 3])(
    'psd2 says what is booked after the booked list has ended with %i rows, and the pending one goes on',
    async (count) => {
      const start = { booked: rows(count), pending: rows(25, 'pending') };
      // As many pending rows come as go, so only the booked list shows that a row is in neither list.
      const moving = movingBank(start, PLAIN, (lists, call) =>
        call === 1
          ? { booked: [row('settled'), ...lists.booked], pending: rows(25, 'new') }
          : call === 2
            ? { ...lists, booked: [row('new'), ...lists.booked] }
            : lists,
      );
      const { given, told } = await stream(moving);
      expect(of('booked', given)).toEqual(textsOf(start.booked));
      expect(told).toEqual(['2 transactions booked while psd2 read the list: not included.']);
    },
  );

  it('psd2 says nothing of booked transactions that were not asked for', async () => {
    const start = rows(25, 'pending');
    const moving = movingBank({ booked: rows(3), pending: start }, PLAIN, booking(1, 1));
    const { given, told } = await stream(moving, { status: 'pending' });
    expect(textsOf(start)).toEqual(of('pending', given));
    expect(told).toEqual([]);
  });

  it('psd2 leaves out repeated rows before each page', async () => {
    const start = rows(35);
    // The calls in between read the beginning of the list.
    const moving = movingBank({ booked: start, pending: [] }, PLAIN, booking(1, 1, 3, 5));
    const { given, told } = await stream(moving);
    expect(of('booked', given)).toEqual(textsOf(start));
    expect(told).toEqual(['3 transactions booked while psd2 read the list: not included.']);
  });

  it('psd2 leaves out repeated rows of a long list, whatever is booked before each page and each check', async () => {
    const start = rows(95);
    const calls = Array.from({ length: 100 }, (_, call) => call + 1);
    const moving = movingBank({ booked: start, pending: [] }, PLAIN, booking(1, ...calls));
    expect(of('booked', (await stream(moving)).given)).toEqual(textsOf(start));
  });

  it('psd2 leaves out repeated rows if something is booked during the check for them', async () => {
    const start = rows(35);
    const moving = movingBank({ booked: start, pending: [] }, PLAIN, booking(1, 1, 2, 3));
    expect(of('booked', (await stream(moving)).given)).toEqual(textsOf(start));
  });

  it('psd2 keeps two identical transactions, and makes an extra call only if a page ends between them', async () => {
    const alike = [...rows(9), row('fee'), row('fee'), ...rows(8), row('other')];
    const moving = movingBank({ booked: alike, pending: [] }, PLAIN, (lists) => lists);
    const { given, told } = await stream(moving);
    expect(of('booked', given)).toEqual(textsOf(alike));
    expect(told).toEqual([]);
    expect(moving.moments).toHaveLength(2 + 1);
  });

  it('psd2 ends with an error if a transaction disappears', async () => {
    const moving = movingBank({ booked: [], pending: rows(25, 'pending') }, PLAIN, (lists, call) =>
      call === 1 ? { ...lists, pending: lists.pending.slice(1) } : lists,
    );
    await expect(stream(moving)).rejects.toThrow(changed);
  });

  it('psd2 ends with an error if something is booked among older rows', async () => {
    const moving = movingBank({ booked: rows(25), pending: [] }, PLAIN, (lists, call) =>
      call === 1 ? { ...lists, booked: lists.booked.toSpliced(5, 0, row('late')) } : lists,
    );
    await expect(stream(moving)).rejects.toThrow(changed);
  });

  it.each(['constant', 'of the page'] as const)(
    'psd2 does not check the stream against totals that are %s',
    async (totals) => {
      const start = rows(35);
      const moving = movingBank({ booked: start, pending: [] }, { ...PLAIN, totals }, (lists) => lists);
      expect(of('booked', (await stream(moving)).given)).toEqual(textsOf(start));
    },
  );

  it.each(['booked', 'pending'] as const)(
    'psd2 leaves out repeated rows of the %s list if it ended on its first page and links go on for the other one',
    async (status) => {
      const other = status === 'booked' ? 'pending' : 'booked';
      const start: MovingLists = { booked: [], pending: [], [status]: [row('c')], [other]: rows(3) };
      // Both new first rows look like the row that the list began with.
      const moving = movingBank(start, { ...LINKED, rowsAPage: 1 }, (lists, call) =>
        call === 1 ? { ...lists, [status]: [row('c'), row('a'), ...lists[status]] } : lists,
      );
      const { given, told } = await stream(moving);
      expect(of(status, given)).toEqual(['c']);
      expect(of(other, given)).toEqual(textsOf(start[other]));
      expect(told).toEqual([expect.stringMatching(/^2 .*transactions .* while psd2 read the list/)]);
    },
  );

  it.each([
    ['shrinks', ({ pending }: MovingLists) => pending.slice(1)],
    ['grows', ({ pending }: MovingLists) => [row('new'), ...pending]],
  ])('psd2 has all rows of a list that ended on its first page and then %s', async (_, changed) => {
    const start = { booked: rows(35), pending: rows(3, 'pending') };
    const moving = movingBank(start, LINKED, (lists, call) =>
      call === 1 ? { ...lists, pending: changed(lists) } : lists,
    );
    const { given, told } = await stream(moving);
    expect(of('booked', given)).toEqual(textsOf(start.booked));
    expect(of('pending', given)).toEqual(textsOf(start.pending));
    expect(told).toEqual([]);
    expect(moving.moments).toHaveLength(4);
  });

  it('psd2 keeps all rows of linked pages whose totals are those of the pages', async () => {
    const start = { booked: rows(35), pending: rows(23, 'pending') };
    const moving = movingBank(start, { ...LINKED, totals: 'of the page' }, (lists) => lists);
    const { given, told } = await stream(moving);
    expect(of('booked', given)).toEqual(textsOf(start.booked));
    expect(of('pending', given)).toEqual(textsOf(start.pending));
    expect(told).toEqual([]);
  });

  it('psd2 says if the bank announces more transactions than it sends', async () => {
    const moving = movingBank(
      { booked: rows(3), pending: [] },
      { ...PLAIN, totals: 'constant' },
      (lists) => lists,
    );
    expect((await stream(moving, { status: 'booked' })).told).toEqual([
      'The bank announced 7 booked transactions but sent 3.',
    ]);
  });

  it('if psd2 may make no extra call, it gives the list as it comes, with a warning', async () => {
    const moving = movingBank({ booked: rows(25), pending: [] }, PLAIN, booking(1, 1));
    const told: string[] = [];
    const pages = streamTransactions(moving.bank.accounts, query, {
      tell: (text) => told.push(text),
      mayAskAgain: false,
    });
    let given = 0;
    for await (const page of pages) given += page.length;
    expect(given).toBe(26);
    expect(moving.moments).toHaveLength(3);
    expect(told).toEqual([expect.stringContaining('the bank announced 25 transactions, then 26')]);
  });
});

/** A change before a call: rows are booked, or pending rows come, go or are booked. */
interface Change {
  booked: string[];
  entered: string[];
  /** Positions, as fractions of the list. */
  gone: number[];
  settled: number[];
}

const text = fc.constantFrom('a', 'b', 'c');
const someTexts = fc.oneof(
  fc.array(text, { maxLength: 12 }),
  // All different from each other.
  fc.nat(40).map((length) => Array.from({ length }, (_, place) => `row ${place}`)),
);
const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const change = fc.record({
  booked: fc.array(text, { maxLength: 5 }),
  entered: fc.array(text, { maxLength: 2 }),
  gone: fc.array(share, { maxLength: 1 }),
  settled: fc.array(share, { maxLength: 1 }),
});
const newOnes = change.map(({ booked, entered }): Change => ({ booked, entered, gone: [], settled: [] }));
const changes = (one: fc.Arbitrary<Change>) => fc.array(fc.option(one, { freq: 3 }), { maxLength: 20 });

function apply(
  lists: MovingLists,
  { booked, entered, gone, settled }: Change,
  make: (text: string) => MovingRow,
): MovingLists {
  let { pending } = lists;
  const take = (place: number): MovingRow[] => {
    const at = Math.floor(place * pending.length);
    const taken = pending.slice(at, at + 1);
    pending = pending.toSpliced(at, 1);
    return taken;
  };
  for (const place of gone) take(place);
  const newlyBooked = settled.flatMap(take);
  return {
    booked: [...booked.map(make), ...newlyBooked, ...lists.booked],
    pending: [...entered.map(make), ...pending],
  };
}

const countOf = (texts: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const each of texts) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
};

describe('a list that changes between the pages', () => {
  const rules = fc.record({
    rowsAPage: fc.integer({ min: 1, max: 12 }),
    paging: fc.constantFrom('cursors', 'links'),
  });
  const scenario = fc.oneof(
    fc.tuple(rules, fc.constant('told' as const), changes(change)),
    // Without totals, psd2 cannot see that a row goes, or that one of several identical rows is booked. With links, it
    // cannot see whether an empty list had an empty page.
    fc.tuple(
      rules.map((each) => ({ ...each, paging: 'cursors' as const })),
      fc.constant('untold' as const),
      changes(newOnes),
    ),
  );
  const start = fc.record({ booked: someTexts, pending: someTexts });
  const open = (
    { booked, pending }: { booked: string[]; pending: string[] },
    [paged, totals, moves]: [Omit<MovingBankRules, 'totals'>, MovingBankRules['totals'], (Change | null)[]],
  ) => {
    const make = totals === 'told' ? row : rowOfItsOwn;
    return movingBank(
      { booked: booked.map(make), pending: pending.map(make) },
      { ...paged, totals },
      (lists, call) => {
        const move = call === 0 ? null : moves[call - 1];
        return move ? apply(lists, move, make) : lists;
      },
    );
  };
  const orChanged = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Psd2Error && error.code === 'list_changed') return undefined;
      throw error;
    }
  };

  it('a collected list is the list at one moment, or an error', async () => {
    let good = 0;
    await fc.assert(
      fc.asyncProperty(start, scenario, async (lists, moves) => {
        const moving = open(lists, moves);
        const collected = await orChanged(collectTransactions(moving.bank.accounts, query));
        if (!collected) return;
        good += 1;
        const [booked, pending] = [of('booked', collected), of('pending', collected)];
        expect(
          moving.moments.map((moment) => [textsOf(moment.booked), textsOf(moment.pending)]),
        ).toContainEqual([booked, pending]);
      }),
      { numRuns: RUNS },
    );
    expect(good).toBeGreaterThan(RUNS / 10);
  });

  it('a streamed list has each row that stayed, and none twice, or ends with an error', async () => {
    let good = 0;
    await fc.assert(
      fc.asyncProperty(start, scenario, async (lists, moves) => {
        const moving = open(lists, moves);
        const ended = await orChanged(stream(moving));
        if (!ended) return;
        good += 1;
        for (const status of ['booked', 'pending'] as const) {
          const given = countOf(of(status, ended.given));
          const ever = new Map(
            moving.moments.flatMap((moment) => moment[status].map((each) => [each.id, each])),
          );
          const stayed = [...ever.values()].filter(({ id }) =>
            moving.moments.every((moment) => moment[status].some((each) => each.id === id)),
          );
          for (const [each, count] of countOf(textsOf(stayed)))
            expect(given.get(each) ?? 0).toBeGreaterThanOrEqual(count);
          const most = countOf(textsOf([...ever.values()]));
          for (const [each, count] of given) expect(count).toBeLessThanOrEqual(most.get(each) ?? 0);
        }
      }),
      { numRuns: RUNS },
    );
    expect(good).toBeGreaterThan(RUNS / 10);
  });
});

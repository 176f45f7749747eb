import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { IsoDate } from '../../src/domain/calendar.ts';
import { Psd2Error } from '../../src/errors.ts';
import type { Progress } from '../../src/store/ports/sync.ts';
import { amountOf } from '../domain/bookings.ts';
import { ago, type BankRow, PRODUCT, rowsOnEach, syncBank, synced, syncTarget, TODAY } from './sync-bank.ts';

// What a sync does with rows of days before those that it reads, and when it reads these days.

const range = (from: IsoDate, to?: IsoDate) => `${from}..${to ?? ''}`;
const BEFORE: Progress = { from: ago(89), through: ago(3) };
/** The first day that a sync reads then, and how long before it rows are recognised. */
const [FIRST, KNOWN] = [13, 43];
const at = (...days: (number | null)[]): BankRow[] =>
  days.map((day) => ({ day: day === null ? null : ago(day), text: `${day}` }));

describe('a bank that gives rows of days that psd2 did not ask for', () => {
  it.each<[string, BankRow[], { before?: Progress; since?: IsoDate }, recalls: number]>([
    ['the last ones that are recognised', at(0, KNOWN), { before: BEFORE }, 0],
    ['one that is too old for that, last', at(0, KNOWN + 1), { before: BEFORE }, 1],
    ['one that is too old for that, first', at(KNOWN + 1, 0), { before: BEFORE }, 1],
    ['two of them', at(KNOWN + 1, KNOWN + 2), { before: BEFORE }, 1],
    ['one without a day', at(null, 0), { before: BEFORE }, 0],
    ['one that is too old, of a first sync', at(100), {}, 0],
    ['one that is too old, while known days are read again', at(100), { before: BEFORE, since: ago(80) }, 0],
  ])(
    'makes rows of any day known only for what may be there: %s',
    async (_, booked, { before, since }, recalls) => {
      const { bank } = syncBank({ booked, ignoresRange: true });
      const { target, stored } = syncTarget(before);
      await synced(bank, target, since === undefined ? {} : { since });
      expect([stored.recalls, stored.appended.flat()]).toHaveLength(2);
      expect(stored.recalls).toBe(recalls);
    },
  );
});

describe('a balance that differs', () => {
  const five = { amount: amountOf('5.00'), currency: 'EUR' };
  const OFF: Progress = { ...BEFORE, balance: five };
  const none = { availableBalance: null, accountAvailability: null, accountAvailableCredit: null };
  const withoutBalance = {
    ...{ accountId: PRODUCT, productId: PRODUCT, accountBalance: null, asOf: null },
    ...none,
  };
  const AWAY = new Psd2Error('bank_failing', 'Away');
  const OLDER = range(ago(89), ago(FIRST + 1));

  const rangesOf = async (
    before: Progress,
    booked: BankRow[] = [],
    refusesFrom?: number,
    error: Error = AWAY,
  ) => {
    const { bank, ranges, calls } = syncBank({
      booked,
      onCall: (path) => {
        const isRefused =
          refusesFrom !== undefined &&
          decodeURIComponent(path).includes(ago(refusesFrom).split('-').reverse().join('/'));
        if (isRefused) throw error;
      },
    });
    const { target, stored } = syncTarget(before);
    const { checks, failures } = await synced(bank, target);
    const balances = calls.filter(({ pathname }) => pathname.includes('/balance/')).length;
    return { ranges, balances, stored, check: checks[0], failures };
  };

  it.each<[string, Progress, ranges: string[], balances: number, recalls: number]>([
    ['is read once more, then the days before are', OFF, [range(ago(FIRST)), OLDER], 2, 1],
    ['as it did before is no news', { ...OFF, difference: amountOf('1.00') }, [range(ago(FIRST))], 1, 0],
    ['is unknown without an earlier one', BEFORE, [range(ago(FIRST))], 1, 0],
    ['not at all', { ...OFF, balance: { ...five, amount: amountOf('-1.00') } }, [range(ago(FIRST))], 1, 0],
    [
      'is read once more, and no day is before',
      { ...OFF, from: ago(89), through: ago(80) },
      [range(ago(89))],
      2,
      0,
    ],
  ])('%s', async (_, before, ranges, balances, recalls) => {
    const found = await rangesOf(before);
    expect([found.ranges, found.balances, found.stored.recalls]).toEqual([ranges, balances, recalls]);
  });

  it.each<[string, Bank['accounts']['balance']]>([
    ['the bank gave none', async () => withoutBalance],
    [
      'of an earlier day alone',
      async () => ({ ...withoutBalance, accountBalance: five, bookedDay: ago(60) }),
    ],
    ['it could not be read', () => Promise.reject(AWAY)],
  ])('differs as it did before after a sync that could not compare it: %s', async (_, balance) => {
    const before: Progress = { ...OFF, difference: amountOf('1.00') };
    const { bank } = syncBank({ booked: at(0) });
    const { accounts } = bank;
    const between = syncTarget(before);
    const [unknown] = (await synced({ ...bank, accounts: { ...accounts, balance } }, between.target)).checks;
    const { balance: kept, difference } = between.stored;
    expect([unknown?.balanced, kept?.amount, difference]).toEqual([null, '4.00', '1.00']);
    const now = { ...five, amount: amountOf('4.00') };
    const read = async () => ({ ...withoutBalance, accountBalance: now });
    const { target } = syncTarget({ ...BEFORE, balance: kept, difference });
    const quiet = syncBank({}).bank;
    const { checks } = await synced({ ...quiet, accounts: { ...quiet.accounts, balance: read } }, target);
    expect(checks).toMatchObject([{ balanced: false, difference: '1.00' }]);
  });

  it('reads the days before in parts if they have many rows, and each row once', async () => {
    const booked = rowsOnEach(ago(89), ago(FIRST + 1), () => 50);
    const { ranges, stored } = await rangesOf(OFF, booked);
    expect(ranges.slice(0, 2)).toEqual([range(ago(FIRST)), OLDER]);
    const parts = ranges.slice(2);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.at(-1)).toMatch(new RegExp(`\\.\\.${ago(FIRST + 1)}$`));
    expect(stored.appended.flat()).toHaveLength(booked.length);
    expect(new Set(stored.appended.flat()).size).toBe(booked.length);
  });

  it('ends nothing if the bank refuses the days before', async () => {
    const { ranges, check, failures, stored } = await rangesOf(OFF, at(0), 89);
    expect([ranges, failures]).toEqual([[range(ago(FIRST))], []]);
    expect(check).toMatchObject({ balanced: false, complete: true });
    expect(stored.remembered.at(-1)).toMatchObject({ through: TODAY });
  });

  it.each([
    new Psd2Error('interrupted', 'Ctrl-C'),
    new Psd2Error('overtaken', 'Another sync'),
    new TypeError('a mistake in psd2'),
  ])('ends the sync if this comes meanwhile: %s', async (error) => {
    await expect(rangesOf(OFF, at(0), 89, error)).rejects.toBe(error);
  });

  it('reads no more of a list that the bank cuts twice: the later day counts', async () => {
    const { bank } = syncBank({ booked: at(0, 5, 20, 30) });
    const { accounts } = bank;
    // The second page is refused.
    const pages: Bank['accounts']['pages'] = async function* (query) {
      for await (const { booked } of accounts.pages(query))
        yield { booked: { rows: booked?.rows ?? [], total: null, hasMore: true } };
      throw new Psd2Error('forbidden', 'No further page');
    };
    const { checks } = await synced({ ...bank, accounts: { ...accounts, pages } }, syncTarget(OFF).target);
    expect(checks).toMatchObject([{ complete: false, certainFrom: ago(4), certainThrough: null }]);
  });
});

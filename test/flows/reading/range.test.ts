import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../../src/bank/ports/bank.ts';
import { Psd2Error } from '../../../src/errors.ts';
import {
  assertComplete,
  type Certain,
  contradicts,
  isWhole,
  isWithin,
  lacksDays,
  notComplete,
  RangeWatch,
  type WatchedList,
  withOlder,
} from '../../../src/flows/reading/range.ts';
import { WholeReadings } from '../../../src/flows/reading/transaction-reading.ts';
import { scriptedBank } from '../../bank/scripted-bank.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { dayOf } from '../../domain/bookings.ts';
import { ago, TODAY } from '../sync-bank.ts';

const row = (days: number, status: Transaction['status'] = 'booked') =>
  transactionOf({ status, bookingDate: dayOf(ago(days)), description: 'a' });
/** As many rows, the last ones of these days. */
const rows = (count: number, oldest: number) =>
  Array.from({ length: count }, (_, at) => row(at === 0 ? oldest : 0));

describe('a list of the last 30 days', () => {
  it.each<[string, Transaction[], boolean, number | undefined, number | undefined]>([
    ['is whole with rows of these days', rows(7, 20), false, undefined, undefined],
    ['is whole with rows that the bank selected by another date', [row(33)], false, undefined, undefined],
    ['may be cut at a round number', rows(50, 20), false, undefined, 20],
    ['may be cut within its first day', rows(100, 30), false, undefined, 30],
    ['is whole if links lead to all', rows(50, 20), true, undefined, undefined],
    ['is whole if a row lies before its first day', rows(50, 31), false, undefined, undefined],
    ['counts booked rows alone', [...rows(49, 20), row(1, 'pending')], false, undefined, undefined],
  ])('%s', (_, list, hasPages, certain, cut) => {
    const watch = new RangeWatch({ from: ago(30), to: undefined, today: TODAY }).add(list, { hasPages });
    expect([watch.certainFrom, watch.cutAt]).toEqual(
      [certain, cut].map((days) => (days === undefined ? undefined : ago(days))),
    );
  });
});

it.each<[string, number[], number | undefined]>([
  ['it does not reach back to the first one', [2, 15], 14],
  ['it reaches back', [2, 40], undefined],
])('a bank gives rows of other days than asked, so it ignores them: %s', (_, days, certain) => {
  const watch = new RangeWatch({ from: ago(30), to: ago(10), today: TODAY });
  watch.add(
    days.map((each) => row(each)),
    { hasPages: false },
  );
  expect(watch.certainFrom).toBe(certain && ago(certain));
});

it('counts the rows whose booking day cannot be read, on all pages, in each reading anew', async () => {
  const list = {
    ...scriptedBank({ booked: '' }).bank.accounts,
    async *pages() {
      for (const unreadDays of [1, undefined, 2])
        yield {
          booked: { rows: [row(unreadDays ?? 0)], total: null, hasMore: unreadDays !== 2 },
          ...(unreadDays !== undefined && { unreadDays }),
        };
    },
  };
  const range = { from: ago(30), to: undefined };
  const query = { customerId: 'c', productId: 'p', transactionId: 't', ...range, status: undefined };
  const whole = new WholeReadings(list, query);
  const watch = new RangeWatch({ ...range, today: TODAY });
  for (const _ of ['once', 'again']) {
    await whole.next();
    for await (const page of watch.over(list).pages(query)) expect(page.booked).toBeDefined();
    expect([whole.unreadDays, watch.unreadDays]).toEqual([3, 3]);
  }
  expect(new RangeWatch({ ...range, today: TODAY }).add([], whole).add([], whole).unreadDays).toBe(6);
});

it('a row of a day to come does not mean that the bank ignores the range', () => {
  const watch = new RangeWatch({ from: ago(30), to: ago(10), today: TODAY }).add([row(-20), row(12)], {
    hasPages: false,
  });
  expect(watch.certainFrom).toBeUndefined();
});

describe('a bank refuses a page for good, for example because the readings of the day are used up', () => {
  const usedUp = new Psd2Error('too_many_calls', 'used up', { lasts: true });
  it.each<[string, number[][], boolean, Psd2Error, number | undefined, ('from' | 'through')?]>([
    [
      'what came newest first is certain',
      [
        [2, 9],
        [12, 20],
      ],
      true,
      usedUp,
      19,
    ],
    [
      'with the oldest first, newer rows are missing',
      [
        [20, 9],
        [9, 3],
      ],
      true,
      usedUp,
      4,
      'through',
    ],
    ['rows in no order', [[20, 9, 15]], true, usedUp, undefined],
    ['rows of one day do not show the order', [[9, 9]], true, usedUp, undefined],
    ['no page has come', [], true, usedUp, undefined],
    ['the list had ended', [[2, 9]], false, usedUp, undefined],
    ['refused for another reason', [[2, 9]], true, new Psd2Error('bank_refused', 'no'), 8],
    ['forbidden', [[2, 9]], true, new Psd2Error('forbidden', 'no'), 8],
    ['it only failed', [[2, 9]], true, new Psd2Error('bank_failing', 'failed'), undefined],
  ])('%s', async (_, pages, hasMore, error, certain, side = 'from') => {
    const list = {
      ...scriptedBank({ booked: '' }).bank.accounts,
      async *pages() {
        for (const days of pages)
          yield { booked: { rows: days.map((each) => row(each)), total: null, hasMore } };
        throw error;
      },
    };
    const range = { from: ago(30), to: undefined };
    const query = { customerId: 'c', productId: 'p', transactionId: 't', ...range, status: undefined };
    const whole = new WholeReadings(list, query);
    const watch = new RangeWatch({ ...range, today: TODAY });
    const streamed = (async () => {
      for await (const page of watch.over(list).pages(query)) expect(page.booked).toBeDefined();
    })();
    if (certain === undefined) {
      await expect(streamed).rejects.toBe(error);
      await expect(whole.next()).rejects.toBe(error);
      return;
    }
    await streamed;
    const rows = await whole.next();
    const read = new RangeWatch({ ...range, today: TODAY }).add(rows ?? [], whole);
    const known = {
      certainFrom: side === 'from' ? ago(certain) : undefined,
      certainThrough: side === 'through' ? ago(certain) : undefined,
      refusal: error,
    };
    expect([watch.certain, read.certain]).toEqual([known, known]);
    const { message } = notComplete('A1', watch.certain);
    expect(message).toContain(`refused its next page (${error.message})`);
    expect(message).toContain(
      `only days ${side === 'from' ? `from ${ago(certain)} on` : `up to ${ago(certain)}`} are`,
    );
  });
});

describe('a list that may be cut', () => {
  const list: WatchedList = { rows: [row(1), row(5)], certainFrom: undefined, cutAt: ago(5) };
  const whole = { certainFrom: undefined, cutAt: undefined };
  it.each<[string, WatchedList | undefined, number, number | undefined]>([
    ['is whole with the older rows', { rows: [row(5), row(5), row(9)], ...whole }, 4, undefined],
    ['is certain after its oldest day if no reading is left', undefined, 2, 4],
    ['is so if the older rows lack its own', { rows: [row(9)], ...whole }, 2, 4],
    ['is certain after the oldest day of both', { rows: [row(5), row(9)], ...whole, cutAt: ago(9) }, 3, 8],
  ])('%s', async (_, older, count, certain) => {
    const asked: string[] = [];
    const found = await withOlder(list, async (to) => {
      asked.push(to);
      return older;
    });
    expect([asked, found.rows.length, found.certainFrom]).toEqual([
      [ago(5)],
      count,
      certain === undefined ? undefined : ago(certain),
    ]);
  });

  it('nothing is asked for a list that is not', async () => {
    const asNever = () => Promise.reject(new TypeError('not called'));
    expect(await withOlder({ ...list, cutAt: undefined }, asNever)).toEqual({ ...list, cutAt: undefined });
  });
});

describe('the days that are asked for', () => {
  const range = { from: ago(30), to: ago(10), today: TODAY };
  it.each<[number, within: boolean, isIgnored: boolean]>([
    [36, false, true],
    [35, false, false],
    [31, false, false],
    [30, true, false],
    [10, true, false],
    [9, false, false],
    [5, false, false],
    [4, false, true],
    [0, false, true],
    [-1, false, false],
  ])(
    'have the row of %i days ago: %s, and a bank that gives it ignores them: %s',
    (days, within, isIgnored) => {
      expect(isWithin(row(days), range)).toBe(within);
      // Only booked rows have a day.
      expect(isWithin(row(days, 'pending'), range)).toBe(true);
      expect(isWithin(row(days), { from: undefined, to: undefined })).toBe(true);
      expect(isWithin(row(days), { from: ago(30), to: undefined })).toBe(days <= 30);
      expect(isWithin(row(days), { from: undefined, to: ago(10) })).toBe(days >= 10);
      const watch = (...shown: Transaction[]) => new RangeWatch(range).add(shown, { hasPages: false });
      // Without rows before the first day, what is older than the oldest row is not certain.
      const oldest = Math.max(days, 20);
      expect(watch(row(20), row(days)).certainFrom).toBe(
        isIgnored && oldest <= 30 ? ago(oldest - 1) : undefined,
      );
      expect(watch(row(20), row(days, 'pending')).certainFrom).toBeUndefined();
    },
  );
});

describe('what a list lacks', () => {
  const refusal = { message: 'used up' };
  const LIST = "The bank's list of the transactions of A1 is not complete: ";
  const OLDER =
    'The bank ignores the range of days, has cut the list, or gives no further page. Older transactions may be missing.';
  const NEWER =
    'Newer transactions may be missing. Read them with a later --from, or once the bank gives more pages.';
  const [from, through] = [ago(9), ago(4)];

  it.each<[string, Certain, string, string]>([
    ['nobody knows', {}, 'it does not reach back to the first day', OLDER],
    [
      'older rows',
      { certainFrom: from },
      `it does not reach back to the first day, and only days from ${from} on are certain`,
      OLDER,
    ],
    [
      'newer rows, of a page that the bank refused',
      { certainThrough: through, refusal },
      `the bank refused its next page (used up), and only days up to ${through} are certain`,
      NEWER,
    ],
    ['all of a page that the bank refused', { refusal }, 'the bank refused its next page (used up)', OLDER],
    [
      'both',
      { certainFrom: from, certainThrough: through },
      `it does not reach back to the first day, and only days from ${from} on and up to ${through} are certain`,
      NEWER,
    ],
  ])('is told: %s', (_, certain, why, hint) => {
    expect(notComplete('A1', certain)).toMatchObject({
      code: 'needs_attention',
      message: `${LIST}${why}`,
      hint,
    });
    const isCertain = certain.certainFrom === undefined && certain.certainThrough === undefined;
    expect(isWhole(certain)).toBe(isCertain);
    const asserted = () => assertComplete('A1', certain);
    if (isCertain) expect(asserted).not.toThrow();
    else expect(asserted).toThrow(`${LIST}${why}`);
  });

  it.each([
    [['One is wrong.'], 'One is wrong.'],
    [['One is wrong.', 'Two is wrong.'], 'One is wrong. (and 1 more)'],
    [new Set(['One is wrong.', 'Two is wrong.', 'Three is wrong.']), 'One is wrong. (and 2 more)'],
  ])('is told of statements that contradict themselves: %s', (contradictions, says) => {
    expect(contradicts('A1', contradictions)).toMatchObject({
      code: 'needs_attention',
      message: `The bank's statements of A1 contradict their own transactions. ${says}`,
      hint: 'psd2 gives the transactions as the bank does. Some may be missing, or have another sign.',
    });
  });

  it.each([
    [1, '1 transaction has'],
    [2, '2 transactions have'],
  ])('is told of booking days that cannot be read: %i', (count, what) => {
    expect(lacksDays('A1', count)).toMatchObject({
      code: 'needs_attention',
      message: `The booking day (bookingDate) cannot be read: ${what} none of A1`,
    });
  });
});

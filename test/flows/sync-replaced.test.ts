import { describe, expect, it } from 'vitest';
import { syncHistory } from './any-history.ts';

type History = Parameters<typeof syncHistory>[0];
const row = {
  ...{ cents: -1200, text: 'Card', shownFrom: 0, isMidRead: false, moves: null, vanishes: null },
  isReleased: false,
};
const OTHER = { ...row, day: -1, cents: -500, replaced: null };
const HELD = { ...row, day: -4, replaced: 1 };
const PLAIN = {
  ...{ cut: null, ignores: 'none', gaps: [2], ids: 'stable', order: 'down', pageSize: 1000 },
  ...{ hasBalance: true, hasValueDayAlone: false, showsComing: false },
} satisfies Partial<History>;

const found = async (history: Pick<History, 'bookings'> & Partial<History>) => {
  const { stored, checks } = await syncHistory({ ...PLAIN, ...history });
  const { replaced, vanished, changed, balanced, complete } = checks.at(-1) ?? {};
  return {
    counted: stored
      .filter((each) => !each.replaced)
      .map(({ amount }) => amount)
      .toSorted(),
    check: { replaced, vanished, changed, balanced, complete },
  };
};
const SURE = { replaced: 0, vanished: 0, changed: 0, balanced: true, complete: true };

describe('a row that the bank hides, and that its balance does not count', () => {
  it.each<[string, Partial<History>, string[]]>([
    ['is marked', { bookings: [HELD, OTHER] }, ['-12.00', '-5.00']],
    [
      'is marked if the bank ignores the first day',
      { bookings: [HELD, OTHER, { ...OTHER, day: -20 }], ignores: 'first' },
      ['-12.00', '-5.00', '-5.00'],
    ],
    [
      'is marked if it is older than the days that a sync reads again',
      { bookings: [{ ...HELD, day: -20 }, OTHER] },
      ['-12.00', '-5.00'],
    ],
    [
      'is marked if its day was the last that was read',
      { bookings: [{ ...HELD, day: 0 }, OTHER] },
      ['-12.00', '-5.00'],
    ],
    ['is marked if no other one comes', { bookings: [{ ...HELD, isReleased: true }, OTHER] }, ['-5.00']],
    [
      'is marked if the bank gives only value days',
      { bookings: [HELD, OTHER], hasValueDayAlone: true },
      ['-12.00', '-5.00'],
    ],
    [
      'is marked if the bank gives only booking days',
      { bookings: [{ ...HELD, valued: null }, OTHER] },
      ['-12.00', '-5.00'],
    ],
    [
      'is marked beside an equal one that was to come, and that the bank has cancelled',
      {
        bookings: [{ ...HELD, isReleased: true }, { ...HELD, day: 5, replaced: null, vanishes: 1 }, OTHER],
        showsComing: true,
      },
      ['-12.00', '-5.00'],
    ],
    [
      'is marked among others',
      { bookings: [HELD, { ...HELD, cents: -700 }, OTHER] },
      ['-12.00', '-5.00', '-7.00'],
    ],
  ])('%s, and the account is certain again', async (_, history, counted) => {
    const { bookings = [] } = history;
    const replaced = bookings.filter((each) => each.replaced !== null).length;
    expect(await found({ ...history, bookings })).toEqual({ counted, check: { ...SURE, replaced } });
  });

  it('stays as it is in the next sync', async () => {
    const { counted, check } = await found({ bookings: [HELD, OTHER], gaps: [2, 1, 1] });
    expect({ counted, check }).toEqual({ counted: ['-12.00', '-5.00'], check: SURE });
  });

  it('is not marked without a balance, and the sync says that it vanished', async () => {
    const { counted, check } = await found({ bookings: [HELD, OTHER], hasBalance: false });
    expect({ counted, check }).toMatchObject({
      counted: ['-12.00', '-12.00', '-5.00'],
      check: { replaced: 0, vanished: 1 },
    });
  });

  it('is no row that stays beside an equal one', async () => {
    const { counted, check } = await found({
      bookings: [{ ...HELD, replaced: null }, OTHER, { ...HELD, day: 1, replaced: null, shownFrom: 1 }],
    });
    expect({ counted, check }).toEqual({ counted: ['-12.00', '-12.00', '-5.00'], check: SURE });
  });

  it.each<[string, number, number | null, isMarked: boolean]>([
    ['the oldest days that are read', -80, 0, true],
    ['before them by its value day, so that the bank may select it by that', -80, -12, false],
    ['the oldest days, and has no value day', -80, null, true],
    ['so near to their first one that its value day may be before it', -85, null, false],
    ['so near to their first one, and has its value day', -85, 0, true],
  ])('of %s is marked only if the bank would show it', async (_, day, valued, isMarked) => {
    const { counted, check } = await found({ bookings: [{ ...HELD, day, valued, isReleased: true }, OTHER] });
    expect([counted, check.replaced]).toEqual(isMarked ? [['-5.00'], 1] : [['-12.00', '-5.00'], 0]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { named } from '../../named.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { HOMES, type Place } from './homes.ts';

const temporary = temporaryFolder();
const TODAY = parseDate('--date', '2026-11-21');
const ACCOUNT = '0010482620';
const login = {
  accessTokenExpiresAt: '2026-11-21T11:00:00.000Z',
  refreshTokenExpiresAt: null,
  scope: null,
};
const refusal = { at: '2026-11-21T10:00:00.000Z', message: 'The bank said no' };

describe.each(named(HOMES))('the notes on access in %s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  /** The same data, as another worker sees it. */
  let others: ProfileData;
  beforeEach(async () => {
    place = await open(newConfigFolder(temporary).root);
    data = (await place.worker()).open('bank');
    others = (await place.worker()).open('bank');
  });
  const take = (of: ProfileData, budget?: number, productId: string | null = ACCOUNT, day: IsoDate = TODAY) =>
    of.reads.take({ day, customerId: '1048262', productId }, budget);

  it('all workers see a refused renewal, but only for the login that it was made with', async () => {
    await data.notes.refreshRefused('42', login, refusal);
    expect((await others.notes.read('42', login)).refresh).toEqual(refusal);
    expect((await others.notes.read(null, login)).refresh).toBeUndefined();
    const next = { ...login, accessTokenExpiresAt: '2026-11-21T12:00:00.000Z' };
    expect((await others.notes.read('42', next)).refresh).toBeUndefined();
  });

  it('a login without an end has no notes, then a refused call, then a refused renewal', async () => {
    const endless = { ...login, accessTokenExpiresAt: null };
    const noted = () => others.notes.read('42', endless);
    expect(await noted()).toEqual({ refresh: undefined, call: undefined });
    await data.notes.callRefused('42', refusal);
    expect(await noted()).toEqual({ refresh: undefined, call: refusal });
    await data.notes.refreshRefused('42', endless, refusal);
    expect(await noted()).toEqual({ refresh: refusal, call: refusal });
  });

  it('a refused call is noted until a call is allowed, separately from a refused renewal', async () => {
    await data.notes.refreshRefused(null, login, refusal);
    await data.notes.callRefused(null, refusal);
    expect(await others.notes.hasRefusedCall(null)).toBe(true);
    expect(await others.notes.read(null, login)).toEqual({ refresh: refusal, call: refusal });
    await others.notes.callRefused(null, undefined);
    expect(await data.notes.hasRefusedCall(null)).toBe(false);
    expect(await data.notes.read(null, login)).toEqual({ refresh: refusal, call: undefined });
  });

  it('a new login clears the refused calls of its holder only', async () => {
    await data.notes.callRefused('42', refusal);
    await data.notes.callRefused('43', refusal);
    await others.notes.forget('42');
    expect([await data.notes.hasRefusedCall('42'), await data.notes.hasRefusedCall('43')]).toEqual([
      false,
      true,
    ]);
  });

  it('all workers together read an account at most as often a day as the budget allows', async () => {
    expect([await take(data, 2), await take(others, 2)]).toEqual([true, true]);
    data.reads.begin();
    expect(await take(data, 2)).toBe(false);
    expect([await take(data, 2, null), await take(data, 2, '0010482638')]).toEqual([true, true]);
    expect(await take(data, 2, ACCOUNT, parseDate('--date', '2026-11-22'))).toBe(true);
  });

  it('the calls of one run are one read, and a read without a budget is counted and always allowed', async () => {
    expect([await take(data, 1), await take(data, 1)]).toEqual([true, true]);
    expect(await take(others)).toBe(true);
    others.reads.begin();
    expect(await take(others, 2)).toBe(false);
  });

  it('a run counts each account, list of accounts and day on its own', async () => {
    const [list, other, tomorrow] = [null, '0010482638', parseDate('--date', '2026-11-22')];
    expect(await take(data, 0)).toBe(false);
    for (const worker of [data, others]) {
      const isFirst = worker === data;
      expect(await take(worker, 1)).toBe(isFirst);
      expect(await take(worker, 1, list)).toBe(isFirst);
      expect(await take(worker, 1, other)).toBe(isFirst);
    }
    expect(await take(data, 1, ACCOUNT, tomorrow)).toBe(true);
    expect(await take(others, 1, ACCOUNT, tomorrow)).toBe(false);
  });

  it('workers that read at the same moment stay within the budget together', async () => {
    const workers = await Promise.all([1, 2, 3, 4, 5].map(() => place.worker()));
    const taken = await Promise.all(workers.map((worker) => take(worker.open('bank'), 3)));
    expect(taken.filter(Boolean)).toHaveLength(3);
  });
});

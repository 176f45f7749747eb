import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import type { ReadLimit } from '../../../src/store/ports/access.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { named } from '../../support/named.ts';
import { type Place, useBackends } from './backends.ts';

const TODAY = parseDate('--date', '2026-11-21');
const ACCOUNT = '0010482620';
const login = {
  accessTokenExpiresAt: '2026-11-21T11:00:00.000Z',
  refreshTokenExpiresAt: null,
  scope: null,
};
const refusal = { at: '2026-11-21T10:00:00.000Z', message: 'The bank said no' };

describe.each(named(useBackends()))('the notes on access in %s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  /** The same data, as another worker sees it. */
  let others: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank');
    others = (await place.worker()).open('bank');
  });
  const read = (productId: string | null = ACCOUNT, day: IsoDate = TODAY) => ({
    ...{ day, customerId: '1048262', productId },
  });
  const outcome = (of: ProfileData, limit?: ReadLimit, ...which: Parameters<typeof read>) =>
    of.reads.take(read(...which), limit);
  /** Whether a read could be taken. */
  const take = async (of: ProfileData, budget?: number, ...which: Parameters<typeof read>) =>
    (await outcome(of, budget === undefined ? undefined : { budget }, ...which)) === 'taken';

  it('all workers see a refused renewal, but only for the login that it was made with', async () => {
    await data.notes.refreshRefused('42', login, refusal);
    expect((await others.notes.read('42', login)).refresh).toEqual(refusal);
    expect((await others.notes.read(null, login)).refresh).toBeUndefined();
    const next = { ...login, accessTokenExpiresAt: '2026-11-21T12:00:00.000Z' };
    expect((await others.notes.read('42', next)).refresh).toBeUndefined();
  });

  it('all workers see who has notes, and who logs in, in one look', async () => {
    await data.notes.refreshRefused('42', login, refusal);
    await data.notes.callRefused(null, refusal);
    expect(new Set(await others.notes.holders())).toEqual(new Set(['42', null]));
    const bank = new URL('https://bank.example');
    const { tokens } = (await place.worker()).open('bank', bank);
    const stored = { ...login, accessToken: 'a', refreshToken: null };
    for (const customerId of ['43', '42']) await tokens.change(customerId, (slot) => slot.write(stored));
    await tokens.change(null, (slot) => slot.write(stored));
    await tokens.change('44', (slot) => slot.write(stored));
    await tokens.forget('44');
    const logins = await (await place.worker()).open('bank', bank).tokens.logins();
    expect(logins).toMatchObject(['42', '43'].map((customerId) => ({ customerId, login })));
    const elsewhere = (await place.worker()).open('bank', new URL('https://other.example')).tokens;
    expect(await elsewhere.logins()).toEqual([]);
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
    expect(await data.notes.hasRefusedCall('42')).toBe(false);
    expect(await data.notes.hasRefusedCall('43')).toBe(true);
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

  it('a run counts each profile, customer, account, list of accounts and day on its own', async () => {
    const [list, other, tomorrow] = [null, '0010482638', parseDate('--date', '2026-11-22')];
    expect(await outcome(data, { budget: 0 })).toBe('used-up');
    for (const worker of [data, others]) {
      const isFirst = worker === data;
      expect(await take(worker, 1)).toBe(isFirst);
      expect(await take(worker, 1, list)).toBe(isFirst);
      expect(await take(worker, 1, other)).toBe(isFirst);
    }
    const neighbour = { ...read(), customerId: '1048263' };
    expect(await others.reads.take(neighbour, { budget: 1 })).toBe('taken');
    expect(await take((await place.worker()).open('other'), 1)).toBe(true);
    expect(await take(data, 1, ACCOUNT, tomorrow)).toBe(true);
    expect(await take(others, 1, ACCOUNT, tomorrow)).toBe(false);
  });

  it('the counts of reads are kept for a day, and those of earlier days are removed', async () => {
    for (const account of [ACCOUNT, '0010482638']) await take(data, undefined, account);
    expect(place.everything()).toContain(TODAY);
    await take(others, undefined, ACCOUNT, parseDate('--date', '2026-11-22'));
    expect(place.everything()).not.toContain(TODAY);
  });

  it('workers that read at the same moment stay within the budget together', async () => {
    const workers = await Promise.all([1, 2, 3, 4, 5].map(() => place.worker()));
    const taken = await Promise.all(workers.map((worker) => take(worker.open('bank'), 3)));
    expect(taken.filter(Boolean)).toHaveLength(3);
  });

  it('a read that is given back is free for all workers, and the run may take it again', async () => {
    expect(await take(data, 1)).toBe(true);
    await data.reads.giveBack(read());
    expect(await take(others, 1)).toBe(true);
    expect(await take(data, 1)).toBe(false);
    await others.reads.giveBack(read());
    await others.reads.giveBack(read());
    expect(await take(data, 1)).toBe(true);
    expect(await take(others, 1)).toBe(false);
  });

  it('a read that brought data is never given back, and neither is one that another worker has taken', async () => {
    expect(await take(data, 1)).toBe(true);
    await data.reads.succeeded(read());
    await data.reads.giveBack(read());
    await others.reads.giveBack(read());
    others.reads.begin();
    expect(await take(others, 1)).toBe(false);
  });

  it('after failed reads in a row all workers pause, longer each time, and data ends the pauses', async () => {
    const at = (minute: number) => ({ budget: 9, minute });
    const fail = async (of: ProfileData, minute: number) => {
      expect(await outcome(of, at(minute))).toBe('taken');
      await of.reads.giveBack(read(), minute);
    };
    await fail(data, 600);
    expect(await outcome(others, at(604))).toBe('paused');
    await fail(others, 605);
    expect(await outcome(data, at(614))).toBe('paused');
    // Another account does not pause, and without a minute nothing does.
    expect(await outcome(data, at(614), '0010482638')).toBe('taken');
    expect(await outcome(data, { budget: 1 })).toBe('taken');
    await data.reads.giveBack(read());
    expect(await outcome(others, at(614))).toBe('paused');
    expect(await outcome(data, at(615))).toBe('taken');
    await data.reads.succeeded(read());
    data.reads.begin();
    await fail(others, 616);
    expect(await outcome(data, at(620))).toBe('paused');
    await fail(data, 621);
    expect(await outcome(data, at(630))).toBe('paused');
  });

  it('while psd2 pauses, a budget that is used up is used up', async () => {
    expect(await outcome(data, { budget: 2, minute: 600 })).toBe('taken');
    expect(await outcome(others, { budget: 2, minute: 600 })).toBe('taken');
    await data.reads.giveBack(read(), 600);
    data.reads.begin();
    expect(await outcome(data, { budget: 2, minute: 601 })).toBe('paused');
    expect(await outcome(data, { budget: 1, minute: 601 })).toBe('used-up');
    expect(await outcome(data, { budget: 1 })).toBe('used-up');
  });

  it('a used-up budget is not a pause, and the pauses end with the day', async () => {
    expect(await outcome(data, { budget: 1, minute: 1439 })).toBe('taken');
    await data.reads.giveBack(read(), 1439);
    const tomorrow = parseDate('--date', '2026-11-22');
    expect(await outcome(others, { budget: 1, minute: 0 }, ACCOUNT, tomorrow)).toBe('taken');
    await others.reads.succeeded(read(ACCOUNT, tomorrow));
    expect(await outcome(data, { budget: 1, minute: 1 }, ACCOUNT, tomorrow)).toBe('used-up');
  });

  it('workers that fail at the same moment leave the whole budget to the next one', async () => {
    const workers = await Promise.all([1, 2, 3, 4].map(() => place.worker()));
    const reads = workers.map((worker) => worker.open('bank').reads);
    for (const each of reads) expect(await each.take(read(), { budget: 4 })).toBe('taken');
    await Promise.all(reads.map((each) => each.giveBack(read(), 600)));
    for (const _read of [1, 2, 3, 4]) {
      expect(await take(data, 4)).toBe(true);
      data.reads.begin();
    }
    expect(await take(data, 4)).toBe(false);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { SyncTarget } from '../../../src/store/ports/sync.ts';
import { named } from '../../support/named.ts';
import { append, rowOf } from '../row-of.ts';
import { BANK, login, refusal } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';
import { orderOf } from './overlap.ts';

const [first, second] = [parseDate('--date', '2026-11-20'), parseDate('--date', '2026-11-21')];
/** Ids in the order of the store, with pairs that differ by case, dots, dashes and escapes. */
const CUSTOMERS = [
  ...'-rf .anna 1 A.B-c_d ANNA a anna anna.json anna.json.lock con index sync-1'.split(' '),
  ...[`x${'Y'.repeat(63)}`, 'yA', 'y_41'],
];
const ACCOUNTS = [
  ...`0000012345 A1 a-1 A-1 * . .. ../../x a:b failed:a ';-- $1 " \\ %s _41`.split(' '),
  ...['3dc3d5b3-7023-4848-9853-f5400a64e80f', '~'.repeat(70), 'A'.repeat(70), 'a'.repeat(70)],
];
/** One customer has all accounts, and the others a few. */
const accountsOf = (customerId: string) => (customerId === 'A.B-c_d' ? ACCOUNTS : ACCOUNTS.slice(2, 5));

describe.each(named(useBackends()))('%s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  /** The same data, as another worker sees it. */
  let others: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank', BANK);
    others = (await place.worker()).open('bank', BANK);
  });
  const sync = <T>(of: ProfileData, work: (to: SyncTarget) => Promise<T>, customerId = '7') =>
    of.sync(place.out).run(new AbortController().signal, (run) => run.customer(customerId, work));

  it('the calls of all workers are counted together, each day separately', async () => {
    await data.calls.count(first);
    await others.calls.count(first);
    expect([await data.calls.on(first), await others.calls.on(second)]).toEqual([2, 0]);
  });

  it('a call that began before midnight does not take away those of the next day', async () => {
    await data.calls.count(second);
    await others.calls.count(first);
    await data.calls.count(second);
    expect(await data.calls.on(second)).toBe(2);
  });

  it('a sync stores each row once, even if another worker fetches it again', async () => {
    const added = (of: ProfileData, ids: string[]) =>
      sync(of, async (to) => {
        const rows = await to.booked('A1', true);
        const count = await append(
          rows,
          ids.map((id) => rowOf(id, first)),
        );
        to.remember('A1', { from: first, through: first }, first);
        return count;
      });
    expect(await added(data, ['one', 'two'])).toBe(2);
    expect(await added(others, ['two', 'three'])).toBe(1);
    await sync(data, async (to) => {
      expect(await to.progress('A1')).toMatchObject({ from: first, through: first });
      expect(await (await to.booked('A1', true)).lastDay(second)).toBe(first);
    });
  });

  it('a sync keeps the reference of the newest row, at a bank that gives what comes after it', async () => {
    const progress = { from: first, through: first } as const;
    for (const newest of ['E1', undefined, 'E2']) {
      await sync(data, async (to) => {
        to.remember('A1', { ...progress, ...(newest !== undefined && { newest }) }, first);
      });
      await sync(others, async (to) => expect((await to.progress('A1'))?.newest).toBe(newest));
    }
  });

  it('a sync that fails keeps what it stored for the customer before', async () => {
    const failure = new Error('The bank cannot be reached');
    const failing = sync(data, async (to) => {
      await append(await to.booked('A1', false), [rowOf('one', first)]);
      to.remember('A1', { from: first, through: first }, first);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    await sync(others, async (to) => {
      expect(await to.progress('A1')).toMatchObject({ through: first });
      expect(await append(await to.booked('A1', true), [rowOf('one', first)])).toBe(0);
    });
  });

  it('new balances of one product do not change those of the others', async () => {
    const balance = (amount: string) => ({ accountBalance: { amount, currency: 'EUR' }, asOf: '2026-11-21' });
    await sync(data, async (to) => {
      to.replace('balances', [
        { productId: 'A1', ...balance('1.00') },
        { productId: 'A2', ...balance('2.00') },
      ]);
    });
    await sync(others, async (to) => to.replace('balances/A1', [balance('3.00')]));
    const kept = place.everything();
    expect(['1.00', '2.00', '3.00'].map((amount) => kept.includes(amount))).toEqual([false, true, true]);
  });

  it('one worker at a time syncs a customer', async () => {
    const work = (of: ProfileData) => (atWork: () => Promise<void>) => sync(of, atWork);
    const steps = await orderOf([work(data), work(others)], () => others.calls.on(first));
    expect(steps).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it('each customer has tokens of their own, whatever letters their id has', async () => {
    for (const customerId of CUSTOMERS)
      await data.tokens.change(customerId, (slot) =>
        slot.write({ ...login, accessToken: `of ${customerId}` }),
      );
    expect(await others.tokens.customers()).toEqual(CUSTOMERS);
    for (const customerId of CUSTOMERS)
      expect((await others.tokens.read(customerId))?.accessToken).toBe(`of ${customerId}`);
    await others.tokens.forget('ANNA');
    expect(await data.tokens.customers()).toEqual(CUSTOMERS.filter((customerId) => customerId !== 'ANNA'));
    await data.tokens.forgetAll();
    expect(await others.tokens.customers()).toEqual([]);
  });

  it('the last login and the notes are of the customer with exactly this id', async () => {
    await data.tokens.remember('A.B-c_d');
    expect(await others.tokens.last()).toBe('A.B-c_d');
    await data.notes.callRefused('ANNA', refusal);
    expect(await others.notes.hasRefusedCall('ANNA')).toBe(true);
    expect(await others.notes.hasRefusedCall('anna')).toBe(false);
  });

  it('reads are counted for each account, whatever characters its id has', async () => {
    for (const productId of [null, ...ACCOUNTS]) {
      const read = { day: first, customerId: 'A.B-c_d', productId };
      expect(await data.reads.take(read, { budget: 1, minute: 0 })).toBe('taken');
      await data.reads.giveBack(read, 10);
      expect(await others.reads.take(read, { budget: 1, minute: 0 })).toBe('paused');
      expect(await others.reads.take(read, { budget: 1, minute: 1439 })).toBe('taken');
    }
    data.reads.begin();
    expect(await data.reads.take({ day: first, customerId: 'a.b-c_d', productId: '*' }, { budget: 1 })).toBe(
      'taken',
    );
  });

  it('a sync keeps the rows of each customer and account, whatever characters their ids have', async () => {
    const syncAll = (of: ProfileData, customerId: string) =>
      sync(
        of,
        async (to) => {
          const counts: number[] = [];
          for (const productId of accountsOf(customerId)) {
            expect((await to.progress(productId))?.through).toBe(of === data ? undefined : first);
            counts.push(await append(await to.booked(productId, true), [rowOf('one', first)]));
            to.remember(productId, { from: first, through: first }, first);
            to.replace(`pending/${productId}`, [{ amount: '2718281.00', currency: 'EUR' }]);
            to.replace(`balances/${productId}`, [{ accountBalance: { amount: '3.00', currency: 'EUR' } }]);
          }
          to.replace(
            'accounts',
            accountsOf(customerId).map((productId) => ({ productId, currency: 'EUR' })),
          );
          return counts;
        },
        customerId,
      );
    for (const customerId of CUSTOMERS)
      expect(await syncAll(data, customerId)).toEqual(accountsOf(customerId).map(() => 1));
    for (const customerId of CUSTOMERS)
      expect(await syncAll(others, customerId)).toEqual(accountsOf(customerId).map(() => 0));
    const kept = place.everything();
    // No time of day has it.
    expect(kept.split('2718281.00').length - 1).toBe(CUSTOMERS.flatMap(accountsOf).length);
  });
});

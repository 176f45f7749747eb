import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { SyncTarget } from '../../../src/store/ports/sync.ts';
import { named } from '../../support/named.ts';
import { append, rowOf } from '../row-of.ts';
import { type Place, useBackends } from './backends.ts';
import { orderOf } from './overlap.ts';

const [first, second] = [parseDate('--date', '2026-11-20'), parseDate('--date', '2026-11-21')];

describe.each(named(useBackends()))('%s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  /** The same data, as another worker sees it. */
  let others: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank');
    others = (await place.worker()).open('bank');
  });
  const sync = <T>(of: ProfileData, work: (to: SyncTarget) => Promise<T>) =>
    of.sync(place.out).run(new AbortController().signal, (run) => run.customer('7', work));

  it('the calls of all workers are counted together, each day separately', async () => {
    await data.calls.count(first);
    await others.calls.count(first);
    expect([await data.calls.on(first), await others.calls.on(second)]).toEqual([2, 0]);
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
});

import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { named } from '../../support/named.ts';
import { append, rowOf } from '../row-of.ts';
import { BANK, login, refusal } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const day = parseDate('--date', '2026-11-20');
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
      const read = { day, customerId: 'A.B-c_d', productId };
      expect(await data.reads.take(read, { budget: 1, minute: 0 })).toBe('taken');
      await data.reads.giveBack(read, 10);
      expect(await others.reads.take(read, { budget: 1, minute: 0 })).toBe('paused');
      expect(await others.reads.take(read, { budget: 1, minute: 1439 })).toBe('taken');
    }
    data.reads.begin();
    expect(await data.reads.take({ day, customerId: 'a.b-c_d', productId: '*' }, { budget: 1 })).toBe(
      'taken',
    );
  });

  it('a sync keeps the rows of each customer and account, whatever characters their ids have', async () => {
    const sync = (of: ProfileData, customerId: string) =>
      of.sync(place.out).run(new AbortController().signal, (run) =>
        run.customer(customerId, async (to) => {
          const counts: number[] = [];
          for (const productId of accountsOf(customerId)) {
            expect((await to.progress(productId))?.through).toBe(of === data ? undefined : day);
            counts.push(await append(await to.booked(productId, true), [rowOf('one', day)]));
            to.remember(productId, { from: day, through: day }, day);
            to.replace(`pending/${productId}`, [{ amount: '2.00', currency: 'EUR' }]);
            to.replace(`balances/${productId}`, [{ accountBalance: { amount: '3.00', currency: 'EUR' } }]);
          }
          to.replace(
            'accounts',
            accountsOf(customerId).map((productId) => ({ productId, currency: 'EUR' })),
          );
          return counts;
        }),
      );
    for (const customerId of CUSTOMERS)
      expect(await sync(data, customerId)).toEqual(accountsOf(customerId).map(() => 1));
    for (const customerId of CUSTOMERS)
      expect(await sync(others, customerId)).toEqual(accountsOf(customerId).map(() => 0));
    const kept = place.everything();
    expect(kept.split('2.00').length - 1).toBe(CUSTOMERS.flatMap(accountsOf).length);
  });
});

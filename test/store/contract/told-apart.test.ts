import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, isIsoDate } from '../../../src/domain/calendar.ts';
import type { Begin, Flows } from '../../../src/store/ports/flows.ts';
import type { ProfileData, Store } from '../../../src/store/ports/store.ts';
import type { SyncedRow, SyncTarget } from '../../../src/store/ports/sync.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { allOf, begunTransfer, TRANSFER_BEGIN } from '../flows.ts';
import { rowOf } from '../row-of.ts';
import { batchLine, granted, login } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

// What is stored of one is never read, changed or removed as that of another one, in whatever they differ. A filter that a statement
// lacks shows only where two of them have other values.

const day = (text: string): IsoDate => (isIsoDate(text) ? text : expect.unreachable());
const [FIRST, LAST] = [day('2026-10-01'), day('2026-11-01')];
const AT = '2026-11-01T10:00:00.000Z';
const PERSON = { by: 'ada', user: 'ada', machine: 'm' };

/** Whose data it is. */
interface Address {
  profile: string;
  bank: string;
  customer: string;
  account: string;
}
const HERE: Address = { profile: 'bank', bank: 'https://bank.example', customer: '1', account: 'A1' };
/** One step away from there in each direction. */
const ELSEWHERE: Address = {
  profile: 'other',
  bank: 'https://other.example',
  customer: '12',
  account: 'A12',
};

interface Row {
  /** What tells two apart. */
  by: readonly (keyof Address)[];
  write(data: ProfileData, at: Address, value: string, out: string | undefined): Promise<unknown>;
  /** The values that are stored there. */
  read(data: ProfileData, at: Address, out: string | undefined): Promise<unknown[]>;
  /** Absent: psd2 does not remove it. */
  remove?(data: ProfileData, at: Address, out: string | undefined): Promise<unknown>;
}

const inSync = <T>(
  data: ProfileData,
  { customer }: Address,
  out: string | undefined,
  work: (to: SyncTarget) => Promise<T>,
) => data.sync(out).run(new AbortController().signal, (run) => run.customer(customer, work));

/** Both have a row with the same id, on the same day. */
const bookedRow = (value: string) => ({
  ...rowOf('same', '2026-10-30', '-4.00'),
  description: value,
  feeCharge: false,
});

/** The bank shows these rows of all days. The others that are stored do not count any more. */
async function show(to: SyncTarget, { account }: Address, rows: SyncedRow[]): Promise<void> {
  const booked = await to.booked(account, true);
  const of = { productId: account, currency: 'EUR' };
  await booked.append(rows, { of, covered: { from: FIRST, to: undefined }, today: LAST });
  await booked.replace(await booked.gone());
  to.remember(account, { from: FIRST, through: LAST }, FIRST);
}

const written = (value: string) => ({ ...login, accessToken: value, scope: value });
const nothing = <T>(value: T | null | undefined): T[] =>
  value === null || value === undefined ? [] : [value];

const ROWS: Record<string, Row> = {
  tokens: {
    by: ['profile', 'customer'],
    write: ({ tokens }, { customer }, value) => tokens.change(customer, (slot) => slot.write(written(value))),
    read: async ({ tokens }, { customer }) => nothing((await tokens.read(customer))?.accessToken),
    remove: ({ tokens }, { customer }) => tokens.forget(customer),
  },
  'tokens that are erased': {
    by: ['profile', 'customer'],
    write: ({ tokens }, { customer }, value) => tokens.change(customer, (slot) => slot.write(written(value))),
    read: async ({ tokens }, { customer }) => nothing((await tokens.login(customer))?.scope),
    remove: ({ tokens }, { customer }) => tokens.erase(customer),
  },
  'the logins': {
    by: ['profile'],
    write: ({ tokens }, { customer }, value) => tokens.change(customer, (slot) => slot.write(written(value))),
    read: async ({ tokens }) => (await tokens.logins()).map((each) => each.login.scope),
    remove: ({ tokens }) => tokens.forgetAll(),
  },
  'the last login': {
    by: ['profile'],
    write: ({ tokens }, _, value) => tokens.remember(value),
    read: async ({ tokens }) => nothing(await tokens.last()),
    remove: ({ tokens }) => tokens.forgetAll(),
  },
  'the record of a customer': {
    by: ['profile', 'bank', 'customer'],
    write: ({ customers }, { customer }, value) =>
      customers.change(customer, (before) => ({ ...before, psu: { ...before.psu, id: value } })),
    read: async ({ customers }, { customer }) => nothing((await customers.read(customer))?.psu.id),
    remove: ({ customers }, { customer }) => customers.forget(customer),
  },
  'the records of customers': {
    by: ['profile', 'bank'],
    write: ({ customers }, { customer }, value) =>
      customers.change(customer, () => ({
        psu: { id: value, idType: null, corporateId: null, corporateIdType: null },
        consents: [granted(value)],
      })),
    read: async ({ customers }) => {
      const [all, lasting] = [await customers.all(), await customers.lasting()];
      expect(lasting.map(({ flow }) => flow)).toEqual(all.map(({ kept }) => kept.psu.id));
      expect(await customers.list()).toEqual(all.map(({ customer }) => customer));
      return all.map(({ kept }) => kept.psu.id);
    },
    remove: ({ customers }, { customer }) => customers.forget(customer),
  },
  'a refused call': {
    by: ['profile', 'customer'],
    write: ({ notes }, { customer }, value) => notes.callRefused(customer, { at: AT, message: value }),
    read: async ({ notes }, { customer }) => {
      const { call } = await notes.read(customer, login);
      expect(await notes.hasRefusedCall(customer)).toBe(call !== undefined);
      expect((await notes.holders()).includes(customer)).toBe(call !== undefined);
      return nothing(call?.message);
    },
    remove: ({ notes }, { customer }) => notes.forget(customer),
  },
  'a refused renewal': {
    by: ['profile', 'customer'],
    write: ({ notes }, { customer }, value) =>
      notes.refreshRefused(customer, login, { at: AT, message: value }),
    read: async ({ notes }, { customer }) => nothing((await notes.read(customer, login)).refresh?.message),
    remove: ({ notes }, { customer }) => notes.forget(customer),
  },
  'what a sync could not know': {
    by: ['profile', 'customer'],
    write: ({ results }, { customer }, value) =>
      results.add([
        {
          ...{ customerId: customer, at: AT, skipped: [] },
          failures: [{ productId: null, code: 'timeout', message: value }],
          doubts: [
            {
              ...{ productId: value, balanced: null, difference: null, complete: true, certainFrom: null },
              message: value,
            },
          ],
        },
      ]),
    read: async ({ results }, { customer }) => {
      const of = <T extends { customerId: string }>(all: T[]) =>
        all.filter(({ customerId }) => customerId === customer);
      const doubts = of(await results.doubts()).map(({ message }) => message);
      expect(of(await results.failed(new Date(0))).map(({ message }) => message)).toEqual(doubts);
      expect(of(await results.outdated(new Date('2099-01-01')))).toHaveLength(doubts.length);
      return doubts;
    },
    remove: ({ results }, { customer }) => results.forget(customer),
  },
  'the progress of a sync': {
    by: ['profile', 'customer', 'account'],
    write: (data, at, value, out) =>
      inSync(data, at, out, async (to) =>
        to.remember(at.account, { from: FIRST, through: LAST, newest: value }, FIRST),
      ),
    read: (data, at, out) =>
      inSync(data, at, out, async (to) => nothing((await to.progress(at.account))?.newest)),
  },
  'a booked row': {
    by: ['profile', 'customer', 'account'],
    write: (data, at, value, out) => inSync(data, at, out, (to) => show(to, at, [bookedRow(value)])),
    read: async (data, { customer, account }, out) => {
      const stored = await data.synced(out);
      const booked = await stored.booked(customer, account, FIRST);
      expect((await stored.days(customer, account))?.through).toBe(booked && LAST);
      return booked?.rows.map(({ description }) => description) ?? [];
    },
    // The bank hides it: it is marked.
    remove: (data, at, out) => inSync(data, at, out, (to) => show(to, at, [])),
  },
  'the accounts of a customer': {
    by: ['profile', 'customer'],
    write: (data, at, value, out) =>
      inSync(data, at, out, async (to) =>
        to.replace('accounts', [
          {
            ...{ accountId: at.account, productId: at.account, iban: null, currency: 'EUR', name: value },
            ...{ productCode: null, productDescription: null },
          },
        ]),
      ),
    read: async (data, { customer }, out) => {
      const stored = await data.synced(out);
      const accounts = await stored.accounts(customer);
      expect((await stored.customers()).includes(customer)).toBe(accounts.length > 0);
      return accounts.map(({ name }) => name);
    },
    remove: (data, at, out) => inSync(data, at, out, async (to) => to.replace('accounts', [])),
  },
  'the balance of an account': {
    by: ['profile', 'customer', 'account'],
    write: (data, at, value, out) =>
      inSync(data, at, out, async (to) =>
        to.replace(`balances/${at.account}`, [{ productId: at.account, reason: value }]),
      ),
    read: async (data, { customer, account }, out) =>
      nothing((await (await data.synced(out)).balance(customer, account))?.reason),
    remove: (data, at, out) => inSync(data, at, out, async (to) => to.replace(`balances/${at.account}`, [])),
  },
  'the balances of a customer': {
    by: ['profile', 'customer'],
    write: (data, at, value, out) =>
      inSync(data, at, out, async (to) => to.replace('balances', [{ productId: at.account, reason: value }])),
    read: async (data, { customer, account }, out) =>
      nothing((await (await data.synced(out)).balance(customer, account))?.reason),
    remove: (data, at, out) => inSync(data, at, out, async (to) => to.replace('balances', [])),
  },
  'the pseudonym of a word': {
    by: ['profile', 'customer'],
    write: ({ personal }, { customer }, value) => personal.pseudonymOf(customer, value),
    read: async ({ personal }, { customer }) =>
      (await personal.pseudonyms()).flatMap((each) => (each.customerId === customer ? [each.word] : [])),
    remove: ({ personal }, { customer }) => personal.forgetPseudonyms(customer),
  },
  transfers: {
    by: ['profile'],
    write: ({ flows }, _, value) => begunTransfer(flows, { reference: value }),
    read: async ({ flows }) => {
      const all = await allOf(flows, 'transfer');
      for (const { flow, order } of all)
        expect((await flows.find('transfer', order.reference ?? '')).flow).toBe(flow);
      return all.map(({ order }) => order.reference);
    },
  },
  'transfers with one reference': {
    by: ['profile'],
    write: ({ flows }, _, value) => begunTransfer(flows, { reference: 'R-1', description: value }),
    read: async ({ flows }) => {
      const all = await allOf(flows, 'transfer');
      for (const { order } of all)
        expect((await flows.find('transfer', 'R-1')).order.description).toBe(order.description);
      return all.map(({ order }) => order.description);
    },
  },
  // They have the same id.
  'batches of one content': {
    by: ['profile'],
    write: async ({ batches }, _, value) => {
      const added = batchAdded({ note: value, ...PERSON });
      const { batch, sha256 } = await batches.add({ added, lines: [batchLine()], again: false });
      await batches.change(batch, () => ({ type: 'rejected', ...PERSON, by: value, sha256, note: value }));
    },
    read: async ({ batches }) => {
      const notes = [];
      for await (const { batch, note, rejection } of batches.list()) {
        expect((await batches.find(batch)).rejection?.by).toBe(note);
        expect([rejection?.by, rejection?.note]).toEqual([note, note]);
        notes.push(note);
      }
      return notes;
    },
  },
  batches: {
    by: ['profile'],
    write: ({ batches }, _, value) =>
      batches.add({
        added: batchAdded({ note: value, ...PERSON }),
        lines: [batchLine(), { ...batchLine(2), description: value }],
        again: false,
      }),
    read: async ({ batches }) => {
      const notes = [];
      for await (const batch of batches.list()) {
        expect((await batches.lines(batch)).at(-1)?.description).toBe(batch.note);
        expect((await batches.find(batch.batch)).note).toBe(batch.note);
        notes.push(batch.note);
      }
      return notes;
    },
  },
  'lines of the audit log': {
    by: ['profile'],
    write: ({ audit }, _, value) => audit.append({ action: 'exported', about: value }),
    read: async ({ audit }) => {
      const abouts = [];
      for await (const { text } of audit.lines()) abouts.push(JSON.parse(text).about);
      expect((await audit.head())?.n ?? 0).toBe(abouts.length);
      return abouts;
    },
  },
};

const CASES = Object.entries(ROWS).flatMap(([name, row]) => row.by.map((by) => ({ name, by, row })));

describe.each(useBackends())('$name', ({ open }) => {
  let place: Place;
  let store: Store;
  beforeEach(async () => {
    place = await open();
    store = await place.worker();
  });
  const dataOf = ({ profile, bank }: Address) => store.open(profile, new URL(bank));

  it.each(CASES)('$name of another $by is another one', async ({ by, row }) => {
    const there = { ...HERE, [by]: ELSEWHERE[by] };
    // In files, the operator chooses a folder for the syncs of each profile.
    const outOf = ({ profile }: Address) => place.out && join(place.out, profile);
    const write = (at: Address, value: string) => row.write(dataOf(at), at, value, outOf(at));
    const remove = (at: Address) => row.remove?.(dataOf(at), at, outOf(at));
    const stored = async () => [
      await row.read(dataOf(HERE), HERE, outOf(HERE)),
      await row.read(dataOf(there), there, outOf(there)),
    ];
    expect(await stored()).toEqual([[], []]);
    await write(HERE, 'co-1');
    expect(await stored()).toEqual([['co-1'], []]);
    await write(there, 'co-2');
    expect(await stored()).toEqual([['co-1'], ['co-2']]);
    if (row.remove === undefined) return;
    await remove(HERE);
    expect(await stored()).toEqual([[], ['co-2']]);
    await write(HERE, 'co-3');
    await remove(there);
    expect(await stored()).toEqual([['co-3'], []]);
  });

  it.each(['profile', 'customer', 'account'] as const)(
    'the reads of another %s count apart: taken, given back, paused, and brought data',
    async (by) => {
      const there = { ...HERE, [by]: ELSEWHERE[by] };
      const readOf = ({ customer, account }: Address) => ({
        ...{ day: FIRST, customerId: customer, productId: account },
      });
      /** The reads of the next run. */
      const run = async () => {
        const worker = await place.worker();
        const reads = (at: Address) => worker.open(at.profile).reads;
        const [own, other] = by === 'profile' ? [reads(HERE), reads(there)] : [reads(HERE), reads(HERE)];
        const of = (at: Address) => (at === HERE ? own : other);
        return {
          take: async (at: Address, budget: number, minute?: number) =>
            of(at).take(readOf(at), { budget, ...(minute !== undefined && { minute }) }),
          giveBack: async (at: Address, failedAt?: number) => of(at).giveBack(readOf(at), failedAt),
          succeeded: async (at: Address) => of(at).succeeded(readOf(at)),
        };
      };
      for (const [one, other] of [
        [HERE, there],
        [there, HERE],
      ] as const) {
        const before = await run();
        expect([await before.take(one, 1), await before.take(other, 1)]).toEqual(['taken', 'taken']);
        await before.giveBack(one);
        const after = await run();
        expect([await after.take(one, 1), await after.take(other, 1)]).toEqual(['taken', 'used-up']);
        await after.giveBack(one);
        await before.giveBack(other);
      }
      const failing = await run();
      await failing.take(HERE, 9);
      await failing.giveBack(HERE, 600);
      const paused = await run();
      expect([await paused.take(HERE, 9, 601), await paused.take(there, 9, 601)]).toEqual([
        'paused',
        'taken',
      ]);
      await paused.giveBack(there, 600);
      const reading = await run();
      expect(await reading.take(HERE, 9, 1200)).toBe('taken');
      await reading.succeeded(HERE);
      const last = await run();
      expect([await last.take(HERE, 9, 601), await last.take(there, 9, 601)]).toEqual(['taken', 'paused']);
    },
  );

  it('the calls of another profile count apart', async () => {
    const there = { ...HERE, profile: ELSEWHERE.profile };
    await dataOf(HERE).calls.count(FIRST);
    await dataOf(HERE).calls.count(FIRST);
    await dataOf(there).calls.count(FIRST);
    expect([await dataOf(HERE).calls.on(FIRST), await dataOf(there).calls.on(FIRST)]).toEqual([2, 1]);
  });

  it('who works on one flow does not hold another one, and ends with that one alone', async () => {
    const there = { ...HERE, profile: ELSEWHERE.profile };
    const atWork = async () =>
      Promise.all(
        [HERE, there].map(async (at) => {
          const { flows } = (await place.worker()).open(at.profile);
          return (await flows.atWork()).map(({ flow }) => flow).toSorted();
        }),
      );
    const begin = { transactionId: 't1', commits: 'on execute' as const, order: transferOrder() };
    const [a, b, c] = [
      await held(dataOf(HERE).flows, begin),
      await held(dataOf(HERE).flows, begin),
      await held(dataOf(there).flows, begin),
    ];
    expect(await atWork()).toEqual([[a.flow, b.flow].toSorted(), [c.flow]]);
    await a.end();
    expect(await atWork()).toEqual([[b.flow], [c.flow]]);
    await c.end();
    expect(await atWork()).toEqual([[b.flow], []]);
    await b.end();
    expect(await atWork()).toEqual([[], []]);
  });

  it('a flow is found as one of its kind and profile, although another one has the same resource and reference', async () => {
    const there = { ...HERE, profile: ELSEWHERE.profile };
    const made = async (at: Address) => {
      const { flows } = dataOf(at);
      const transfer = await begunTransfer(flows, { reference: 'Rent' });
      await transfer.record({ type: 'verify-sent', requestId: 'q', digest: null });
      await transfer.record({ ...VERIFIED, resourceId: 'r1' });
      return transfer.current.flow;
    };
    const [own, other] = [await made(HERE), await made(there)];
    for (const [at, flow, others] of [
      [HERE, own, other],
      [there, other, own],
    ] as const) {
      const { flows } = dataOf(at);
      for (const reference of [flow, 'r1', 'Rent'])
        expect((await flows.find('transfer', reference)).flow).toBe(flow);
      for (const reference of [flow, 'r1', 'Rent'])
        await expect(flows.find('operation', reference)).rejects.toMatchObject({ code: 'flow_not_found' });
      expect((await flows.history(flow))?.map(({ type }) => type)).toEqual([
        ...['created', 'verify-sent', 'verified'],
      ]);
      if (others !== flow) {
        expect(await flows.history(others)).toBeNull();
        await expect(flows.find('transfer', others)).rejects.toMatchObject({ code: 'flow_not_found' });
      }
    }
  });

  it('who holds a login, a customer or a line of a batch is not at work on a flow', async () => {
    const { tokens, batches, flows, sync } = dataOf(HERE);
    const order = { added: batchAdded({ note: 'x', ...PERSON }), lines: [batchLine()], again: false };
    const { batch } = await batches.add(order);
    const atWork = async () => (await place.worker()).open(HERE.profile).flows.atWork();
    expect(await tokens.change('1', atWork)).toEqual([]);
    expect(await batches.onLine(batch, 1, false, atWork)).toEqual([]);
    expect(
      await sync(place.out).run(new AbortController().signal, (run) => run.customer('1', atWork)),
    ).toEqual([]);
    expect(await flows.begin('transfer', TRANSFER_BEGIN('R'), atWork)).toHaveLength(1);
  });

  it('the round of another profile deals out its own customers, also one of the same name', async () => {
    const there = { ...HERE, profile: ELSEWHERE.profile };
    for (const [at, customers] of [
      [HERE, ['1', '2']],
      [there, ['1', '3', '4']],
    ] as const)
      for (const customer of customers)
        await dataOf(at).tokens.change(customer, (slot) => slot.write(written('x')));
    const joined = async (at: Address) => {
      const round = await (await dataOf(at).rounds()).join();
      return 'dueIn' in round ? expect.unreachable() : round;
    };
    const [here, elsewhere] = [await joined(HERE), await joined(there)];
    expect([here.size, elsewhere.size]).toEqual([2, 3]);
    const rest = async (round: typeof here) => {
      const customers: string[] = [];
      for (let next = await round.next(1); typeof next !== 'string'; next = await round.next(1)) {
        customers.push(next.customerId);
        await next.finish({ status: 'synced', code: null, message: null });
      }
      return customers.toSorted();
    };
    expect(await rest(here)).toEqual(['1', '2']);
    expect([await here.counts(), await elsewhere.counts()]).toEqual([
      { due: 0, atWork: 0 },
      { due: 3, atWork: 0 },
    ]);
    await here.leave();
    expect(await rest(elsewhere)).toEqual(['1', '3', '4']);
    await elsewhere.leave();
  });
});

/** Begins a flow, and works on it until `end`. */
async function held(flows: Flows, begin: Begin<'transfer'>): Promise<{ flow: string; end(): Promise<void> }> {
  let end = () => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  let work: Promise<void> | undefined;
  const flow = await new Promise<string>((resolve, reject) => {
    work = flows.begin('transfer', begin, async ({ current }) => {
      resolve(current.flow);
      await ending;
    });
    work.catch(reject);
  });
  return {
    flow,
    end: async () => {
      end();
      await work;
    },
  };
}

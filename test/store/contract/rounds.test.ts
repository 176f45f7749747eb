import { beforeEach, describe, expect, it } from 'vitest';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { CustomerEnd, Dealt, Round, Rounds } from '../../../src/store/ports/sync.ts';
import { BANK, granted, login } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const SYNCED = { status: 'synced' as const, code: null, message: null };

describe.each(useBackends())('$name', ({ open }) => {
  let place: Place;
  let data: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = await worker();
    for (const customerId of ['1', '2', '3'])
      await data.tokens.change(customerId, (slot) => slot.write(login));
  });
  const worker = async () => (await place.worker()).open('bank', BANK);
  const joined = async (rounds: Rounds): Promise<Round> => {
    const round = await rounds.join();
    return 'dueIn' in round ? expect.unreachable() : round;
  };
  const dealt = async (round: Round): Promise<Dealt> => {
    const next = await round.next(1);
    return typeof next === 'string' ? expect.unreachable(next) : next;
  };
  const rest = async (round: Round): Promise<string[]> => {
    const customers: string[] = [];
    for (let next = await round.next(2); typeof next !== 'string'; next = await round.next(2)) {
      customers.push(next.customerId);
      await next.finish(SYNCED);
    }
    return customers;
  };

  it('a round gives out each customer once, also to threads that share it, and the next round all of them again', async () => {
    const rounds = await data.rounds();
    const round = await joined(rounds);
    const shared = rounds.rejoin(structuredClone(round.share));
    const mine = await dealt(round);
    const its = await dealt(shared);
    await mine.finish(SYNCED);
    await its.finish(SYNCED);
    expect([mine.customerId, its.customerId, ...(await rest(round))].sort()).toEqual(['1', '2', '3']);
    expect(await shared.next(1)).toBe('over');
    expect(await round.counts()).toEqual({ due: 0, atWork: 0 });
    expect((await rest(await joined(rounds))).sort()).toEqual(['1', '2', '3']);
  });

  it('the next round has those who have logged in since, and not those who have logged out', async () => {
    const rounds = await data.rounds();
    expect((await rest(await joined(rounds))).sort()).toEqual(['1', '2', '3']);
    await data.tokens.forget('2');
    await data.tokens.change('4', (slot) => slot.write(login));
    const round = await joined(rounds);
    expect(round.size).toBe(3);
    expect((await rest(round)).sort()).toEqual(['1', '3', '4']);
  });

  it('a customer with a consent has a turn without tokens, at the bank of the consent', async () => {
    const record = async (customer: string, count: number, bank = BANK) => {
      const { customers } = (await place.worker()).open('bank', bank);
      const consents = Array.from({ length: count }, (_, index) => ({
        ...granted('co-1'),
        consentId: `c${index}`,
      }));
      await customers.change(customer, (before) => ({ ...before, consents }));
    };
    await record('anna', 1);
    await record('3', 2);
    await record('bert', 0);
    await record('carla', 1, new URL('https://other.example'));
    const rounds = await data.rounds();
    expect((await rest(await joined(rounds))).sort()).toEqual(['1', '2', '3', 'anna']);
    await record('anna', 0);
    expect((await rest(await joined(rounds))).sort()).toEqual(['1', '2', '3']);
  });

  it('the status of a round has nothing of the round before', async () => {
    const rounds = await data.rounds();
    const first = await joined(rounds);
    for (let next = await first.next(1); typeof next !== 'string'; next = await first.next(1)) {
      const end = { status: 'failed' as const, code: 'sca_required', message: 'The bank wants SCA' };
      await next.finish(end);
      await first.note({ calls: 1, ends: [{ customerId: next.customerId, ...end }], isOver: false });
    }
    expect(await rounds.status()).toMatchObject({ done: { failed: 3 }, needSca: ['1', '2', '3'] });
    await (await joined(rounds)).note({ calls: 0, ends: [], isOver: false });
    expect(await rounds.status()).toMatchObject({
      ...{ endedAt: null, due: 3, atWork: 0, failures: [], needSca: [] },
      done: { synced: 0, partly: 0, waiting: 0, failed: 0 },
    });
  });

  it('a round gives out a customer again who is to be synced later', async () => {
    const round = await joined(await data.rounds());
    (await dealt(round)).again();
    expect((await rest(round)).sort()).toEqual(['1', '2', '3']);
  });

  it('the next round begins only when it is due, and join says when that is', async () => {
    const rounds = await data.rounds();
    await rest(await joined(rounds));
    const next = await rounds.join(3_600_000);
    expect('dueIn' in next && next.dueIn > 3_500_000 && next.dueIn <= 3_600_000).toBe(true);
  });

  it('a round over named customers gives out only those', async () => {
    expect(await rest((await data.rounds()).over(['2']))).toEqual(['2']);
  });

  it('a round over named customers can be shared, and stays over', async () => {
    const rounds = await data.rounds();
    const round = rounds.over(['2', 'x']);
    const shared = rounds.rejoin(structuredClone(round.share));
    expect([(await dealt(shared)).customerId, (await dealt(round)).customerId]).toEqual(['2', 'x']);
    for (const each of [round, shared, round]) expect(await each.next(1)).toBe('over');
    const all = await joined(rounds);
    await rest(all);
    for (const each of [all, all, rounds.rejoin(all.share)]) expect(await each.next(1)).toBe('over');
  });

  it('a failure of several customers names one of them, with what the bank has said of that one', async () => {
    const round = await joined(await data.rounds());
    const all = [await dealt(round), await dealt(round), await dealt(round)];
    // The last one ends first.
    for (const { customerId, finish } of all.toReversed()) {
      // The order of the messages is not that of the customers.
      const message = `${9 - Number(customerId)} times no: customer ${customerId}`;
      const end = { status: 'failed' as const, code: 'forbidden', message };
      await finish(end);
      await round.note({ calls: 1, ends: [{ customerId, ...end }], isOver: false });
    }
    const [failure] = (await (await (await worker()).rounds()).status())?.failures ?? [];
    expect(failure).toMatchObject({
      customers: 3,
      message: expect.stringMatching(`: customer ${failure?.customerId}$`),
    });
  });

  it('the status counts each result as what it is, and each failure by its code, the most frequent first', async () => {
    for (const customer of ['4', '5', '6', '7', '8'])
      await data.tokens.change(customer, (slot) => slot.write(login));
    const round = await joined(await data.rounds());
    const end = (status: CustomerEnd['status'], code: string | null = null) => ({
      ...{ status, code },
      message: code && `The bank said ${code}`,
    });
    const ends: Record<string, CustomerEnd> = {
      ...{
        1: end('synced'),
        2: end('partly', 'network'),
        3: end('partly'),
        4: end('waiting', 'sca_required'),
      },
      ...{ 5: end('waiting', 'forbidden'), 6: end('waiting', 'sca_required') },
      ...{ 7: end('failed', 'sca_required') },
    };
    let last: Dealt | undefined;
    for (const _ of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const one = await dealt(round);
      const its = ends[one.customerId];
      if (!its) last = one;
      else {
        await one.finish(its);
        await round.note({ calls: 1, ends: [{ customerId: one.customerId, ...its }], isOver: false });
      }
    }
    expect(await round.counts()).toEqual({ due: 0, atWork: 1 });
    const status = await (await (await worker()).rounds()).status();
    expect(status?.done).toEqual({ synced: 1, partly: 2, waiting: 3, failed: 1 });
    const [first, ...others] = status?.failures ?? [];
    expect(first).toEqual({
      ...{ code: 'sca_required', customers: 3, customerId: '4' },
      message: 'The bank said sca_required',
    });
    expect(others.map(({ code, customers, customerId }) => [code, customers, customerId])).toEqual([
      ['forbidden', 1, '5'],
      ['network', 1, '2'],
    ]);
    expect(status?.needSca).toEqual(['4', '6', '7']);
    expect((status?.due ?? 0) + (status?.atWork ?? 0)).toBe(1);
    await last?.finish(SYNCED);
    expect(await round.counts()).toEqual({ due: 0, atWork: 0 });
  });

  it.each([
    ['one more of the first', ['forbidden', 'forbidden', 'bank_answer'], ['forbidden', 'bank_answer']],
    ['one more of the second', ['forbidden', 'bank_answer', 'bank_answer'], ['bank_answer', 'forbidden']],
    ['one of each', ['tls', 'bank_answer', 'forbidden'], ['bank_answer', 'forbidden', 'tls']],
    ['one of each, otherwise', ['bank_answer', 'tls', 'forbidden'], ['bank_answer', 'forbidden', 'tls']],
    ['one of each, with an underscore', ['bankrupt', 'bank_zone', 'x'], ['bank_zone', 'bankrupt', 'x']],
  ])(
    'the status of %s has the most frequent first, and equal ones by their codes',
    async (_, codes, order) => {
      const round = await joined(await data.rounds());
      for (const code of codes) {
        const { customerId, finish } = await dealt(round);
        const end = { status: 'failed' as const, code, message: 'No' };
        await finish(end);
        await round.note({ calls: 1, ends: [{ customerId, ...end }], isOver: false });
      }
      const status = await (await (await worker()).rounds()).status();
      expect(status?.failures.map(({ code }) => code)).toEqual(order);
    },
  );

  it('a customer whose sync has come to its end after a failure has none any more, in whatever round', async () => {
    const rounds = await data.rounds();
    const end = { status: 'failed' as const, code: 'network', message: 'No answer' };
    const first = await joined(rounds);
    for (let next = await first.next(1); typeof next !== 'string'; next = await first.next(1)) {
      await next.finish(end);
      await first.note({ calls: 1, ends: [{ customerId: next.customerId, ...end }], isOver: false });
    }
    const second = await joined(rounds);
    const { customerId, finish } = await dealt(second);
    await finish(SYNCED);
    await second.note({ calls: 1, ends: [{ customerId, ...SYNCED }], isOver: false });
    expect(await rounds.status()).toMatchObject({
      ...{ failures: [], needSca: [] },
      done: { synced: 1, partly: 0, waiting: 0, failed: 0 },
    });
  });

  it('who needs an SCA is in order, whoever ended first', async () => {
    const ids = ['10', '9', 'B', 'a', 'Ab'];
    for (const id of ids) await data.tokens.change(id, (slot) => slot.write(login));
    const round = await joined(await data.rounds());
    const all = new Map<string, Dealt>();
    for (let next = await round.next(9); typeof next !== 'string' && all.size < 8; next = await round.next(9))
      all.set(next.customerId, next);
    for (const customerId of ids) {
      const end = { status: 'waiting' as const, code: 'sca_required', message: 'SCA' };
      await all.get(customerId)?.finish(end);
      await round.note({ calls: 1, ends: [{ customerId, ...end }], isOver: false });
    }
    const status = await (await (await worker()).rounds()).status();
    expect(status?.needSca).toEqual(['10', '9', 'Ab', 'B', 'a']);
  });

  it('the status says how far the last round is, and why customers were not synced', async () => {
    const rounds = await data.rounds();
    expect(await (await (await worker()).rounds()).status()).toBeUndefined();
    const round = await joined(rounds);
    const end = { status: 'failed' as const, code: 'sca_required', message: 'The bank wants SCA' };
    const { customerId, finish } = await dealt(round);
    await finish(end);
    await round.note({ calls: 7, ends: [{ customerId, ...end }], isOver: false });
    const told = await (await (await worker()).rounds()).status();
    expect(told).toMatchObject({
      endedAt: null,
      done: { synced: 0, partly: 0, waiting: 0, failed: 1 },
      failures: [{ code: 'sca_required', customers: 1, customerId, message: 'The bank wants SCA' }],
      needSca: [customerId],
      workers: [{ worker: expect.stringContaining(`process ${process.pid}`) }],
    });
    expect((told?.due ?? 0) + (told?.atWork ?? 0)).toBe(2);
    await rest(round);
    await round.note({ calls: 1, ends: [], isOver: true });
    await round.leave();
    expect(await rounds.status()).toMatchObject({ endedAt: expect.any(String), workers: [] });
  });
});

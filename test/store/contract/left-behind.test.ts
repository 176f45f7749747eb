import { beforeEach, describe, expect, it } from 'vitest';
import type { Flows, Open } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { begunTransfer } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';

const SENT = { type: 'verify-sent', requestId: 'q1', digest: null } as const;
const TRANSFER = { transactionId: 't1', commits: 'on execute' as const, order: transferOrder() };

describe.each(named(useBackends()))('the interrupted flows in %s', (_name, { open }) => {
  let place: Place;
  beforeEach(async () => {
    place = await open();
  });
  /** The flows, as another worker opens them. */
  const flows = async (): Promise<Flows> => (await place.worker()).open('bank').flows;
  const left = async (most = 5, except?: string) => {
    const found = await (await flows()).leftBehind(most, except);
    return [...found.flows.map(({ flow }) => flow), found.more];
  };
  /** A transfer whose work failed after these events. */
  async function interrupted(...events: Parameters<Open<'transfer'>['record']>[0][]): Promise<string> {
    let flow = '';
    const working = (await flows()).begin('transfer', TRANSFER, async (transfer) => {
      flow = transfer.current.flow;
      for (const event of events) await transfer.record(event);
      throw new RangeError('gone');
    });
    await fails(working);
    return flow;
  }
  async function fails(working: Promise<unknown>): Promise<void> {
    await expect(working).rejects.toThrow('gone');
    place.killWorkers('bank');
  }

  it('are named with their kind, state and resource, the newest first', async () => {
    const transfer = await interrupted(SENT, { ...VERIFIED, resourceId: 'r1' });
    const begin = { transactionId: 't2', customerId: '1234567', categories: consentCategories() };
    const working = (await flows()).begin('consent', begin, async ({ record }) => {
      await record({ type: 'request-sent', requestId: 'q2', digest: null });
      throw new RangeError('gone');
    });
    await fails(working);
    expect(await (await flows()).leftBehind(5)).toEqual({
      flows: [
        { kind: 'consent', flow: expect.stringMatching(/^co-/), state: 'created', resourceId: null },
        { kind: 'transfer', flow: transfer, state: 'verified', resourceId: 'r1' },
      ],
      more: 0,
    });
  });

  it('are as many as wanted, and the others are counted', async () => {
    const [first, second, third] = [
      await interrupted(SENT),
      await interrupted(SENT),
      await interrupted(SENT),
    ];
    expect(await left(2)).toEqual([third, second, 1]);
    for (const most of [3, 4]) expect(await left(most)).toEqual([third, second, first, 0]);
  });

  it('leave out the one that the command is about, by its own id or its resource', async () => {
    const one = await interrupted(SENT);
    const other = await interrupted(SENT, { ...VERIFIED, resourceId: 'at-the-bank' });
    for (const about of [one, one.slice(0, -1)]) expect(await left(1, about)).toEqual([other, 0]);
    for (const about of ['at-the-bank', 'at-the']) expect(await left(1, about)).toEqual([one, 0]);
    expect(await left(5, 'bank')).toEqual([other, one, 0]);
  });

  it('do not have one that a worker works on, has done, or has ended', async () => {
    const { flow } = (await begunTransfer(await flows())).current;
    const ended = await interrupted(SENT, { type: 'cancelled' });
    expect(await left()).toEqual([0]);
    expect((await (await flows()).find('transfer', ended)).state).toBe('cancelled');
    const working = (await flows()).resume('transfer', flow, async ({ record }) => {
      await record(SENT);
      expect(await left()).toEqual([0]);
      const holder = expect.stringMatching(`^process ${process.pid} on `);
      expect(await (await flows()).atWork()).toEqual([{ flow, holder }]);
      throw new RangeError('gone');
    });
    await fails(working);
    expect([await left(), await (await flows()).atWork()]).toEqual([[flow, 0], []]);
    await (await flows()).resume('transfer', flow, async () => {});
    expect(await left()).toEqual([0]);
  });

  it('are cancelled if nothing of them reached the bank, and not if something may have', async () => {
    const [unsent, sent] = [await interrupted(), await interrupted(SENT)];
    expect(await left()).toEqual([sent, 0]);
    const found = await flows();
    expect((await found.find('transfer', unsent)).state).toBe('cancelled');
    expect((await found.history(unsent))?.map(({ type }) => type)).toEqual(['created', 'cancelled']);
    expect((await found.find('transfer', sent)).state).toBe('created');
  });

  it('are not hidden by a damaged one', async () => {
    const [whole, damaged] = [await interrupted(SENT), await interrupted(SENT)];
    place.damage('bank', damaged);
    expect(await left()).toEqual([whole, 0]);
  });

  it('are none before the first flow, and what is no flow has no history', async () => {
    expect([await left(), await (await flows()).atWork()]).toEqual([[0], []]);
    const flow = await interrupted(SENT);
    for (const none of ['x', 'tr-', 'tr-0mi7x7x8x00001', `../bank/${flow}`])
      expect(await (await flows()).history(none)).toBeNull();
  });
});

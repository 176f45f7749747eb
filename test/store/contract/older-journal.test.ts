import { beforeEach, describe, expect, it } from 'vitest';
import { isOpen } from '../../../src/domain/flow-states.ts';
import type { Begin, EventOf, Flows, Kind, Open } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { allOf, begun, opened } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';

const SENT = { requestId: 'q1', digest: 'SHA-256=x' };
const AUTHORIZED = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' } as const;
const order = (reference: string | null = null) => ({
  transactionId: 't1',
  commits: 'on execute' as const,
  order: { ...transferOrder(), reference },
});
const REQUEST = { transactionId: 't2', customerId: '1234567', categories: consentCategories() };
/** A payment that was verified twice, and whose first execute never left. */
const PAID: EventOf<'transfer'>[] = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'r1', nextStep: 'verify2' },
  { type: 'further-verify-sent', ...SENT },
  { type: 'verify-again' },
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'r2' },
  { type: 'accepted' },
  { type: 'approach-sent', ...SENT },
  { type: 'sca-started' },
  AUTHORIZED,
  { type: 'execute-sent', ...SENT },
  { type: 'execute-not-begun' },
  { type: 'execute-sent', ...SENT },
  { type: 'executed', cro: '1' },
  { type: 'settlement', status: 'OK', description: null },
];
const CONFIRMED: EventOf<'consent'>[] = [
  { type: 'request-sent', ...SENT },
  { type: 'requested', resourceId: 'c1', outcomes: [] },
  { type: 'approach-sent', ...SENT },
  { type: 'sca-started' },
  { type: 'sca-returned' },
  { type: 'confirm-sent', ...SENT },
  { type: 'confirmed' },
];

describe.each(named(useBackends()))('a journal from an old backup in %s', (_name, { open }) => {
  let place: Place;
  let flows: Flows;
  beforeEach(async () => {
    place = await open();
    flows = await flowsOfAnother();
  });
  const flowsOfAnother = async () => (await place.worker()).open('bank').flows;
  async function recordAll<K extends Kind>(flow: Open<K>, events: EventOf<K>[]): Promise<string> {
    for (const event of events) await flow.record(event);
    return flow.current.flow;
  }
  const paid = async (reference: string | null = null) =>
    recordAll(await begun(flows, 'transfer', order(reference)), PAID);
  const isOlder = (flow: string) => ({
    code: 'config',
    message: expect.stringMatching(`^The journal .*${flow}.* is older than what psd2 knows about ${flow}$`),
    hint: expect.stringContaining('Restore the newest journal from a backup'),
    next: [['transfer', 'show', flow]],
    flow,
  });

  it.each(PAID.map((_, index) => index + 1))(
    'a payment whose journal has its first %i events is never executed again, and keeps its reference',
    async (events) => {
      const flow = await paid('INV-1');
      place.restore('bank', flow, events);
      const others = await flowsOfAnother();
      await others.leftBehind(5);
      let wasWorkedOn = false;
      const resumed = others.resume('transfer', flow, async ({ current }) => {
        wasWorkedOn = true;
        return isOpen(current);
      });
      // Before r2 was in the journal, psd2 cannot even ask the bank.
      if (events < 7) await expect(resumed).rejects.toMatchObject(isOlder(flow));
      else expect(await resumed).toBe(false);
      expect(wasWorkedOn).toBe(events >= 7);
      await expect(others.begin('transfer', order('INV-1'), async () => {})).rejects.toMatchObject({
        code: 'duplicate_reference',
        flow,
      });
      expect((await allOf(others, 'transfer')).map((transfer) => transfer.flow)).toEqual([flow]);
      expect((await others.find('transfer', flow)).flow).toBe(flow);
    },
  );

  it('psd2 asks the bank for the outcome, and a newer word of the bank counts', async () => {
    const flow = await paid();
    place.restore('bank', flow, 11);
    expect((await flows.find('transfer', flow)).state).toBe('authorized');
    const again = await opened(await flowsOfAnother(), 'transfer', flow);
    expect(again.current).toMatchObject({ state: 'unknown', verification: { resourceId: 'r2' } });
    await again.record({ type: 'executed', cro: null });
    const once = await opened(await flowsOfAnother(), 'transfer', flow);
    expect(once.current.state).toBe('executed');
  });

  it.each<[string, EventOf<'transfer'>[]]>([
    ['not known', [{ type: 'execute-unanswered' }]],
    ['an execution', [{ type: 'executed', cro: null }]],
    [
      'an end, with a link that may still work',
      [{ type: 'execute-unanswered' }, { type: 'cancelled', linkUntil: '2099-11-24T10:10:00.000Z' }],
    ],
  ])('of a payment whose outcome was %s, psd2 asks the bank', async (_, outcome) => {
    const flow = await recordAll(await begun(flows, 'transfer', order()), [...PAID.slice(0, 11), ...outcome]);
    place.restore('bank', flow, 11);
    expect((await flows.find('transfer', flow)).state).toBe('authorized');
    const again = await opened(await flowsOfAnother(), 'transfer', flow);
    expect(again.current).toMatchObject({ state: 'unknown', verification: { resourceId: 'r2' } });
  });

  it('a consent whose confirm was sent is not confirmed again', async () => {
    const flow = await recordAll(await begun(flows, 'consent', REQUEST), CONFIRMED);
    for (const events of [6, 5, 4, 3]) {
      place.restore('bank', flow, events);
      expect((await opened(await flowsOfAnother(), 'consent', flow)).current.state).toBe('unknown');
    }
    place.restore('bank', flow, 2);
    await expect(opened(await flowsOfAnother(), 'consent', flow)).rejects.toMatchObject({ code: 'config' });
  });

  it('a payment whose execute never left can be continued', async () => {
    const flow = await recordAll(await begun(flows, 'transfer', order()), PAID.slice(0, 12));
    const again = await opened(await flowsOfAnother(), 'transfer', flow);
    expect(again.current.state).toBe('authorized');
    expect((await again.record({ type: 'execute-sent', ...SENT })).state).toBe('executing');
  });

  it('a payment that psd2 is about to initiate again, because nobody has the link, can be continued', async () => {
    const initiation: Begin<'transfer'>['initiation'] = {
      ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'INV-1', body: '{}' },
      ...{ returnAddress: 'http://127.0.0.1:8910/callback?state=s1', returnState: 's1', repeatMinutes: null },
      ...{ needsLink: true, executesWithoutSca: 'never' },
    };
    const begin = { ...order('INV-1'), commits: 'by the customer', initiation } as const;
    const flow = await recordAll(await begun(flows, 'transfer', begin), [
      { type: 'verify-sent', ...SENT },
      { type: 'initiate-again' },
    ]);
    const again = await opened(await flowsOfAnother(), 'transfer', flow);
    expect(again.current).toMatchObject({ state: 'created', isBegunAgain: true });
    expect((await again.record({ type: 'verify-sent', ...SENT, requestId: 'q2' })).state).toBe('executing');
  });

  it('an operation is not executed again either', async () => {
    const begin = { ...order(), order: { ...transferOrder(), operation: 'standingOrder', data: '{}' } };
    const flow = await recordAll(await begun(flows, 'operation', begin), [
      { type: 'verify-sent', ...SENT },
      { ...VERIFIED, resourceId: 'r1' },
      AUTHORIZED,
      { type: 'execute-sent', ...SENT },
      { type: 'executed', cro: null },
    ]);
    place.restore('bank', flow, 3);
    expect((await opened(await flowsOfAnother(), 'operation', flow)).current.state).toBe('unknown');
  });

  it('a reference whose journal is missing stays taken', async () => {
    const flow = await paid('INV-1');
    place.restore('bank', flow, 0);
    const again = (await flowsOfAnother()).begin('transfer', order('inv-1'), async () => {});
    const missing = `^The journal .*${flow}.* is missing, and its transfer has the reference "inv-1"$`;
    const message = expect.stringMatching(missing);
    await expect(again).rejects.toMatchObject({ code: 'config', message, flow });
  });

  it('a reference says what is different in the second order', async () => {
    const { flow } = (await begun(flows, 'transfer', order('INV-1'))).current;
    const differing = transferOrder({ reference: 'INV-1', name: 'Bob', instant: false });
    const other = { ...order('INV-1'), order: differing };
    await expect(flows.begin('transfer', other, async () => {})).rejects.toMatchObject({
      code: 'duplicate_reference',
      message: `The reference "INV-1" was used by transfer ${flow}, which is created. These are different: the payee's name, instant or not`,
      differs: ['name', 'instant'],
      flow,
    });
    await expect(flows.begin('transfer', order('INV-1'), async () => {})).rejects.toMatchObject({
      differs: [],
    });
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { hasOrder } from '../../../src/store/flow/order-filter.ts';
import type { Filter, Flows, Open } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { allOf, begun, begunTransfer, opened } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';
import { orderOf } from './overlap.ts';

const SENT = { requestId: 'q1', digest: 'SHA-256=x' };
const order = (reference: string | null = null) => ({
  transactionId: 't1',
  commits: 'on execute' as const,
  order: { ...transferOrder(), reference },
});
const overtaken = (flow: string) =>
  expect.objectContaining({
    code: 'overtaken',
    message: `Another psd2 has continued ${flow} in the meantime`,
    hint: 'This one stops working on it. See its current state:',
    next: [['transfer', 'show', flow]],
  });

describe.each(named(useBackends()))('the flows in %s', (_name, { open }) => {
  let place: Place;
  let flows: Flows;
  /** The same flows, as another worker sees them. */
  let others: Flows;
  beforeEach(async () => {
    place = await open();
    flows = (await place.worker()).open('bank').flows;
    others = (await place.worker()).open('bank').flows;
  });

  it('the place of the records is known after the first one', async () => {
    expect(await others.recordedIn()).toBeUndefined();
    await others.exclusively(async () => {});
    expect(await others.recordedIn()).toBeUndefined();
    await begun(flows, 'transfer', order());
    expect(await others.recordedIn()).toBe(place.records('bank'));
  });

  it('a flow is the result of its events, in order, for every worker', async () => {
    const transfer = await begun(flows, 'transfer', order());
    await transfer.record({ type: 'verify-sent', ...SENT });
    expect(await transfer.record({ ...VERIFIED, resourceId: 'r1' })).toBe(transfer.current);
    const { flow } = transfer.current;
    for (const reference of [flow, flow.slice(0, -1), 'r1', 'r'])
      expect(await others.find('transfer', reference)).toEqual(transfer.current);
    const moments = await others.history(flow);
    expect(moments?.map(({ type }) => type)).toEqual(['created', 'verify-sent', 'verified']);
    expect((await (await place.worker()).open('other').flows.history(flow)) ?? 'none').toBe('none');
  });

  it('flows are listed newest first, each kind separately', async () => {
    const first = await begun(flows, 'transfer', order());
    const second = await begun(others, 'transfer', order());
    const consent = await begun(flows, 'consent', {
      transactionId: 't2',
      customerId: '1234567',
      categories: consentCategories(),
    });
    await consent.record({ type: 'requested', resourceId: 'r2', outcomes: [] });
    expect(consent.current.flow).toMatch(/^co-/);
    expect(await allOf(flows, 'transfer')).toEqual([second.current, first.current]);
    expect(await allOf(others, 'consent')).toEqual([consent.current]);
    expect(await others.find('consent', 'r2')).toEqual(consent.current);
    const profile = (await place.worker()).open('other').flows;
    expect([await allOf(profile, 'transfer'), await allOf(profile, 'consent')]).toEqual([[], []]);
    await expect(flows.find('transfer', consent.current.flow)).rejects.toMatchObject({
      code: 'flow_not_found',
      message: `No flow of this profile matches "${consent.current.flow}"`,
    });
    await expect(flows.find('transfer', 'tr-')).rejects.toMatchObject({
      code: 'flow_not_found',
      message: '"tr-" matches 2 flows',
      hint: `Give more characters of the id: ${second.current.flow}, ${first.current.flow}.`,
    });
  });

  it('a list has the flows of a customer, payee, amount, reference and time, and a transfer is found by its reference', async () => {
    const make = async (fields: Partial<ReturnType<typeof transferOrder>>) => {
      const made = await begunTransfer(flows, fields);
      return made.current.flow;
    };
    const amount = parsePaymentAmount('250.00');
    const ada = await make({ customerId: '1000001', name: 'Ada  Lovelace', reference: 'INV 7', amount });
    const bob = await make({ customerId: '1000002', name: 'Bob "B" Èmile', reference: 'inv-8' });
    const all = async (filter: Filter) => {
      const listed = (await allOf(others, 'transfer', filter)).filter(
        ({ order: of }) =>
          (filter.customer ?? of.customerId) === of.customerId && hasOrder(of, filter.order ?? {}),
      );
      return listed.map(({ flow }) => flow);
    };
    expect(await all({ customer: '1000001' })).toEqual([ada]);
    expect(await all({ order: { payee: 'ada love' } })).toEqual([ada]);
    expect(await all({ order: { payee: 'b" èM' } })).toEqual([bob]);
    expect(await all({ order: { payee: transferOrder().to.slice(0, 4).toLowerCase() } })).toEqual([bob, ada]);
    expect(await all({ order: { amount: parsePaymentAmount('250') } })).toEqual([ada]);
    expect(await all({ order: { reference: ' inv  7 ' } })).toEqual([ada]);
    expect(await all({ customer: '1000002', order: { payee: 'ada' } })).toEqual([]);
    expect(await all({ until: new Date(0) })).toEqual([]);
    expect(await all({ until: new Date(Date.now() + 86_400_000) })).toEqual([bob, ada]);
    expect((await others.find('transfer', 'inv 7')).flow).toBe(ada);
    expect((await others.find('transfer', 'INV-8')).flow).toBe(bob);
    await expect(others.find('transfer', 'inv')).rejects.toMatchObject({ code: 'flow_not_found' });
    await expect(others.find('consent', 'inv-8')).rejects.toMatchObject({ code: 'flow_not_found' });
  });

  it.each([
    ['a millisecond before it', -1, 1, 0],
    ['its own time', 0, 1, 0],
    ['a millisecond after it', 1, 0, 1],
  ])('of the moment of a flow, a list since or until %s has it or not', async (_, later, since, until) => {
    const { flow } = (await begun(flows, 'transfer', order())).current;
    const [created] = (await others.history(flow)) ?? [];
    const time = new Date(Date.parse(created?.at ?? '') + later);
    const counts = async (filter: Filter) => (await allOf(others, 'transfer', filter)).length;
    expect([await counts({ since: time }), await counts({ until: time })]).toEqual([since, until]);
    expect(await counts({ since: time, until: new Date(time.getTime() + 1) })).toBe(later === 0 ? 1 : 0);
  });

  it('a list of what needs a person has all of it, and nothing that has ended', async () => {
    const sent = { type: 'execute-sent', ...SENT } as const;
    const executed = { type: 'executed', cro: null } as const;
    const made = async (events: TransferEvent[], instant: boolean) => {
      const transfer = await begun(flows, 'transfer', { ...order(), order: transferOrder({ instant }) });
      for (const event of events) await transfer.record(event);
      return transfer.current.flow;
    };
    const authorised = await made([{ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'A' }], false);
    const unknown = await made([sent, { type: 'execute-unanswered' }], false);
    const refused = await made([sent, { type: 'execute-refused', description: 'no' }], false);
    const pending = await made([sent, executed], true);
    const ordered = await made([sent, { type: 'ordered' }], true);
    // What has plainly ended needs nobody.
    await made([sent, executed], false);
    await made([sent, executed, { type: 'settlement', status: 'OK', description: null }], true);
    const ended = await made([{ type: 'cancelled' }], false);
    const listed = await allOf(others, 'transfer', { attention: true });
    expect(listed.map(({ flow }) => flow)).toEqual([ordered, pending, refused, unknown, authorised]);
    const open = await allOf(others, 'transfer', { states: ['unknown', 'cancelled'] });
    const known = open.filter(({ state }) => ['unknown', 'cancelled'].includes(state));
    expect(known.map(({ flow, state }) => [flow, state])).toEqual([
      [ended, 'cancelled'],
      [unknown, 'unknown'],
    ]);
  });

  it('a flow is found by a whole id even if another id begins with it, and never by an empty id', async () => {
    const short = await begun(flows, 'transfer', order());
    await expect(others.find('transfer', '')).rejects.toMatchObject({
      code: 'flow_not_found',
      message: 'The id of the flow is empty',
    });
    await short.record({ ...VERIFIED, resourceId: 'abc' });
    const long = await begun(flows, 'transfer', order());
    await long.record({ ...VERIFIED, resourceId: 'abcdef' });
    expect(await others.find('transfer', 'abc')).toEqual(short.current);
    for (let n = 0; n < 50; n += 1) {
      const newer = await begun(flows, 'transfer', order());
      await newer.record({ ...VERIFIED, resourceId: `abc${n}` });
    }
    expect(await others.find('transfer', 'abc')).toEqual(short.current);
    await expect(others.find('transfer', 'abc1')).resolves.toMatchObject({
      verification: { resourceId: 'abc1' },
    });
  });

  it('one worker at a time works on a flow', async () => {
    const { flow } = (await begun(flows, 'transfer', order())).current;
    const work = (store: Flows) => (atWork: () => Promise<void>) => store.resume('transfer', flow, atWork);
    const steps = await orderOf([work(flows), work(others)], () => others.find('transfer', flow));
    expect(steps).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it('a worker that stalled cannot write to a flow after another has continued it', async () => {
    const stopped = await begun(flows, 'transfer', order());
    const { flow } = stopped.current;
    await stopped.assertOurs();
    const other = await opened(others, 'transfer', flow);
    await other.record({ type: 'verify-sent', ...SENT });
    await expect(stopped.assertOurs()).rejects.toThrow(overtaken(flow));
    await expect(stopped.record({ type: 'cancelled' })).rejects.toThrow(overtaken(flow));
    expect(stopped.current.state).toBe('created');
    expect((await others.history(flow))?.map(({ type }) => type)).toEqual(['created', 'verify-sent']);
    await other.assertOurs();
    expect(await stopped.reread()).toEqual(other.current);
    expect((await stopped.record({ type: 'cancelled' })).state).toBe('cancelled');
    await expect(other.record({ ...VERIFIED, resourceId: 'r1' })).rejects.toThrow(overtaken(flow));
  });

  it('if two workers announce execute for a flow, one of them may do it', async () => {
    const transfer = await begun(flows, 'transfer', order());
    await transfer.record({ ...VERIFIED, resourceId: 'r1' });
    await transfer.record({ type: 'accepted' });
    await transfer.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
    const other = await opened(others, 'transfer', transfer.current.flow);
    const announced = await Promise.allSettled(
      [transfer, other].map((each) => each.record({ type: 'execute-sent', ...SENT })),
    );
    expect(announced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const moments = await flows.history(transfer.current.flow);
    expect(moments?.filter(({ type }) => type === 'execute-sent')).toHaveLength(1);
  });

  it('a reference belongs to one flow until that flow has definitely failed', async () => {
    const first = await begun(flows, 'transfer', order('INV-1'));
    const { flow } = first.current;
    let isSent = false;
    const again = () =>
      others.begin('transfer', order('inv-1'), async () => {
        isSent = true;
      });
    await expect(again()).rejects.toMatchObject({
      code: 'duplicate_reference',
      message: `The reference "inv-1" was used by transfer ${flow}, which is created`,
    });
    expect(isSent).toBe(false);
    await first.record({ type: 'cancelled' });
    await again();
    expect(isSent).toBe(true);
  });

  it('a reference stays reserved while a customer has the link of a cancelled payment, and after a standing order has ended', async () => {
    const linkUntil = '2026-11-24T10:10:00.000Z';
    const kept = await begun(flows, 'transfer', order('INV-1'));
    await kept.record({ type: 'cancelled', linkUntil });
    const says = `which may work until 2026-11-24 10:10 UTC, although the bank has cancelled it. The reference "INV-1" stays reserved until 2026-11-24 10:11 UTC`;
    await expect(begun(others, 'transfer', order('inv-1'))).rejects.toMatchObject({
      ...{ code: 'duplicate_reference', flow: kept.current.flow, message: expect.stringContaining(says) },
    });
    await kept.record({ type: 'link-over' });
    const next = await begun(others, 'transfer', order('INV-1'));
    // What the bank says of the first one afterwards takes no reference from another one.
    await kept.record({ type: 'execute-unanswered', isPaidByLink: true });
    expect((await flows.find('transfer', next.current.flow)).state).toBe('created');
    const standing = { frequency: 'Monthly' as const, end: null, day: null };
    const ordered = { ...order('RENT'), commits: 'by the customer' as const };
    const ended = await begun(flows, 'transfer', { ...ordered, order: { ...ordered.order, standing } });
    await ended.record({ type: 'ordered' });
    expect((await ended.record({ type: 'cancelled' })).state).toBe('ended');
    await expect(begun(others, 'transfer', order('RENT'))).rejects.toMatchObject({
      ...{ code: 'duplicate_reference', flow: ended.current.flow },
    });
    await ended.record({ type: 'resolved', outcome: 'not-executed', by: 'ada', note: null });
    await begun(others, 'transfer', order('RENT'));
  });

  it.each([
    ['no other one took it', null, 'the first'],
    ['another one has it', 'open', 'the other'],
    ['another one had it, and failed', 'cancelled', 'the first'],
  ])(
    'of a transfer that is paid after all, the reference is found and stays taken if %s',
    async (_, took, holds) => {
      const first = await begun(flows, 'transfer', order('INV-1'));
      await first.record({ type: 'cancelled' });
      const other = took === null ? undefined : await begun(others, 'transfer', order('inv-1'));
      if (took === 'cancelled') await other?.record({ type: 'cancelled' });
      await first.record({ type: 'executed', cro: null });
      const holder = (holds === 'the first' ? first : other)?.current.flow;
      expect((await others.find('transfer', 'inv-1')).flow).toBe(holder);
      await expect(begun(others, 'transfer', order('INV-1'))).rejects.toMatchObject({
        ...{ code: 'duplicate_reference', flow: holder },
      });
    },
  );

  it('of transfers that have all failed, a reference finds the newest', async () => {
    for (const _each of [1, 2, 3])
      await (await begun(flows, 'transfer', order('INV-1'))).record({ type: 'cancelled' });
    const [newest] = await allOf(others, 'transfer');
    expect((await others.find('transfer', 'INV-1')).flow).toBe(newest?.flow);
  });

  it('a reference belongs to one flow even if several workers begin at the same time', async () => {
    const tries = [flows, others, flows, others].map((store) =>
      store.begin('transfer', order('INV-1'), async (open) => open.current.flow),
    );
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a damaged flow is reported, keeps its reference, and does not stop others from being read', async () => {
    const whole = await begun(flows, 'transfer', order());
    const { flow } = (await begun(flows, 'transfer', order('INV-1'))).current;
    place.damage('bank', flow);
    const told: string[] = [];
    const onDamaged = (_: Error, damaged: string) => void told.push(damaged);
    expect(await allOf(others, 'transfer', { onDamaged })).toEqual([whole.current]);
    expect(told).toEqual([flow]);
    await expect(allOf(others, 'transfer')).rejects.toMatchObject({ code: 'config' });
    await expect(others.find('transfer', flow)).rejects.toMatchObject({ code: 'config' });
    await expect(begun(others, 'transfer', order('INV-1'))).rejects.toMatchObject({
      code: 'duplicate_reference',
    });
  });
});

const TRANSFER = { transactionId: 't1', commits: 'on execute' as const, order: transferOrder() };
const OPERATION = {
  transactionId: 't2',
  commits: 'on execute' as const,
  order: { ...transferOrder(), operation: 'standingOrder', data: '{}' },
};
const CONSENT = { transactionId: 't3', customerId: '1234567', categories: consentCategories() };
const R1 = '3f2b8c1e-0000-4000-8000-00000000000a';

describe.each(named(useBackends()))('the resources of the bank in %s', (_name, { open }) => {
  let place: Place;
  let flows: Flows;
  let first: Open<'transfer'>;
  beforeEach(async () => {
    place = await open();
    flows = await flowsOfAnother();
    first = await begun(flows, 'transfer', TRANSFER);
    await first.record({ type: 'verify-sent', ...SENT });
    await first.record({ ...VERIFIED, resourceId: R1, nextStep: 'verify2' });
  });
  const flowsOfAnother = async (profile = 'bank') => (await place.worker()).open(profile).flows;
  const isUsed = (kind: string, flow: string, resourceId = R1) => ({
    code: 'bank_answer',
    message: `The bank gave ${flow} the resource ${resourceId}, which belongs to ${first.current.flow}`,
    hint: expect.stringContaining('nothing of this flow was authorised or executed'),
    next: [
      [kind, 'resume', flow],
      ['transfer', 'show', first.current.flow],
    ],
    flow,
  });

  it('a resource of another flow is refused, and the flow can be verified again', async () => {
    const second = await begun(await flowsOfAnother(), 'transfer', TRANSFER);
    await second.record({ type: 'verify-sent', ...SENT });
    const before = second.current;
    for (const resourceId of [R1, R1.toUpperCase()])
      await expect(second.record({ ...VERIFIED, resourceId })).rejects.toMatchObject(
        isUsed('transfer', before.flow, resourceId),
      );
    expect(second.current).toEqual(before);
    const again = await opened(await flowsOfAnother(), 'transfer', before.flow);
    expect(again.current).toEqual(before);
    await again.record({ type: 'verify-sent', ...SENT });
    await expect(again.record({ ...VERIFIED, resourceId: R1 })).rejects.toMatchObject(
      isUsed('transfer', before.flow),
    );
    expect((await again.record({ ...VERIFIED, resourceId: 'r2' })).verification?.resourceId).toBe('r2');
  });

  it('it is refused to every kind of flow, and in a further step', async () => {
    const operation = await begun(flows, 'operation', OPERATION);
    await expect(operation.record({ ...VERIFIED, resourceId: R1 })).rejects.toMatchObject(
      isUsed('operation', operation.current.flow),
    );
    await operation.record({ ...VERIFIED, resourceId: 'r2', nextStep: 'verify2' });
    await operation.record({ type: 'further-verify-sent', ...SENT });
    const further = { ...VERIFIED, type: 'further-verified' } as const;
    await expect(operation.record({ ...further, resourceId: R1 })).rejects.toMatchObject(
      isUsed('operation', operation.current.flow),
    );
    expect(operation.current).toMatchObject({ furtherStepOpen: true, verification: { resourceId: 'r2' } });
    const consent = await begun(flows, 'consent', CONSENT);
    const requested = { type: 'requested' as const, outcomes: [] };
    await expect(consent.record({ ...requested, resourceId: R1 })).rejects.toMatchObject(
      isUsed('consent', consent.current.flow),
    );
    expect((await consent.record({ ...requested, resourceId: 'r3' })).resourceId).toBe('r3');
  });

  it('it is refused after the other flow has ended, or has another resource since', async () => {
    await first.record({ type: 'verify-again' });
    await first.record({ ...VERIFIED, resourceId: 'r9' });
    await first.record({ type: 'cancelled' });
    const second = await begun(flows, 'transfer', TRANSFER);
    for (const resourceId of [R1, 'R9'])
      await expect(second.record({ ...VERIFIED, resourceId })).rejects.toMatchObject({ code: 'bank_answer' });
  });

  it('a flow may see its own resource again, and another profile may see it too', async () => {
    await first.record({ ...VERIFIED, type: 'further-verified', resourceId: R1.toUpperCase() });
    await first.record({ type: 'verify-again' });
    await first.record({ ...VERIFIED, resourceId: R1 });
    expect(first.current.verification?.resourceId).toBe(R1);
    const other = await begun(await flowsOfAnother('other'), 'transfer', TRANSFER);
    expect((await other.record({ ...VERIFIED, resourceId: R1 })).state).toBe('verified');
  });

  it('of several workers that get one resource at the same time, one has it', async () => {
    const racing = await Promise.all(
      [1, 2, 3, 4].map(async () => begun(await flowsOfAnother(), 'transfer', TRANSFER)),
    );
    const verified = await Promise.allSettled(
      racing.map((each) => each.record({ ...VERIFIED, resourceId: 'r2' })),
    );
    const outcomes = verified.map(({ status }) => status).sort();
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    const states = racing.map(({ current }) => current.state).sort();
    expect(states).toEqual(['created', 'created', 'created', 'verified']);
  });
});

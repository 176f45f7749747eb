import { beforeEach, describe, expect, it } from 'vitest';
import type { Flows, Open } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { begun, opened } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';

const SENT = { requestId: 'q1', digest: 'SHA-256=x' };
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
    expect(verified.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      ...['rejected', 'rejected', 'rejected'],
    ]);
    expect(racing.map(({ current }) => current.state).sort()).toEqual([
      ...['created', 'created', 'created'],
      'verified',
    ]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { EventOf, Flows } from '../../../src/store/ports/flows.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { begun, opened } from '../flows.ts';
import { type Place, useBackends } from './backends.ts';

// What a bank says for the customer's next step (embedded SCA) is held until the authorisation is over. No journal has it.

const SENT = { requestId: 'q1', digest: null };
const STEP = {
  ...{ next: 'code' as const, link: '/a1?marked-query' },
  methods: [{ id: 'm1', type: 'SMS_OTP', name: 'marked-method' }],
  challenge: { information: 'marked-words', image: 'bWFya2VkLXBpY3R1cmU=' },
};
const LINKS = { approach: 'embedded' as const, id: 'a1', step: STEP };
const MARKS = /marked|bWFya2Vk/;
/** A payment whose TAN is next. */
const ASKED: EventOf<'transfer'>[] = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'r1' },
  { type: 'accepted' },
  { type: 'sca-started', links: { approach: 'embedded', step: { next: 'password' } } },
  { type: 'credential-sent', what: 'password', ...SENT },
  { type: 'credential-answered', scaStatus: 'started', links: LINKS },
];
const EXECUTED: EventOf<'transfer'> = { type: 'executed', cro: null };

describe.each(named(useBackends()))('what a bank says for the next step, in %s', (_name, { open }) => {
  let place: Place;
  const flowsOf = async (at: Place): Promise<Flows> => (await at.worker()).open('bank').flows;
  const asked = async (): Promise<string> => {
    const flow = await begun(await flowsOf(place), 'transfer', {
      ...{ transactionId: 't1', commits: 'by the customer', order: transferOrder() },
      initiation: {
        ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'e1', body: '{}' },
        ...{ returnAddress: 'http://127.0.0.1:8910/callback?state=s1', returnState: 's1' },
        ...{ repeatMinutes: null, needsLink: true, executesWithoutSca: 'never' },
      },
    });
    for (const event of ASKED) await flow.record(event);
    return flow.current.flow;
  };
  const stepOf = async (at: Place, flow: string) =>
    (await opened(await flowsOf(at), 'transfer', flow)).current.links?.step;
  beforeEach(async () => {
    place = await open();
  });

  it('is held for another worker, and gone with the authorisation: no journal ever had it', async () => {
    const flow = await asked();
    expect(await stepOf(place, flow)).toEqual(STEP);
    expect((await (await flowsOf(place)).find('transfer', flow)).links?.step).toEqual({ next: 'code' });
    expect(place.everything()).toMatch(MARKS);
    const open = await opened(await flowsOf(place), 'transfer', flow);
    await open.record({ type: 'credential-sent', what: 'code', ...SENT });
    await open.record(EXECUTED);
    expect(place.everything()).not.toMatch(MARKS);
  });

  it('is held for a cancellation as well', async () => {
    const flow = await asked();
    const open = await opened(await flowsOf(place), 'transfer', flow);
    await open.record(EXECUTED);
    await open.record({ type: 'cancel-sca-started', id: 'a1', links: LINKS });
    const again = await opened(await flowsOf(place), 'transfer', flow);
    expect(again.current.cancellationLinks?.step).toEqual(STEP);
    await again.record({ type: 'cancelled' });
    expect(place.everything()).not.toMatch(MARKS);
  });

  it('goes with a copy', async () => {
    const flow = await asked();
    const other = await open();
    const [from, to] = [place.side().open('bank'), other.side().open('bank')];
    for await (const record of from.records()) if (record.kind === 'flow') await to.put(record);
    expect(await stepOf(other, flow)).toEqual(STEP);
  });

  it('is forgotten with the customer', async () => {
    const flow = await asked();
    const { personal } = (await place.worker()).open('bank');
    await personal.rewriteFlow(flow, (event) => event);
    expect(place.everything()).not.toMatch(MARKS);
    expect(await stepOf(place, flow)).toEqual({ next: 'code' });
  });
});

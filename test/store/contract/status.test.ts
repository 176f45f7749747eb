import { expect, it } from 'vitest';
import { batchAdded } from '../../domain/batch/lines.ts';
import { consentCategories, transferOrder } from '../../domain/orders.ts';
import { begun, begunTransfer } from '../flows.ts';
import { BANK, batchLine, granting, login } from '../whole-store.ts';
import { useBackends } from './backends.ts';

// What `psd2 store status` shows, for any backend.

const ADA = { by: 'ada', user: 'ada', machine: 'pisp-1' };

it.each(useBackends())(
  'the status of $name has each profile with data, whatever its data is',
  async ({ open }) => {
    const store = await (await open()).worker();
    const of = (profile: string) => store.open(profile, BANK);
    expect((await store.status()).profiles).toEqual([]);
    await of('app').tokens.change(null, (slot) => slot.write(login));
    await of('batches').batches.add({ added: batchAdded(ADA), lines: [batchLine()], again: false });
    await begunTransfer(of('flows').flows);
    await of('left').tokens.change('42', (slot) => slot.write(login));
    await of('left').tokens.forget('42');
    for (const holder of ['a', 'b']) await of('Two').tokens.change(holder, (slot) => slot.write(login));
    await of('Two').customers.change('a', granting('co-1'));
    const none = { customers: 0, flows: [], batches: 0 };
    expect((await store.status()).profiles).toEqual([
      { ...none, profile: 'Two', customers: 2 },
      { ...none, profile: 'app' },
      { ...none, profile: 'batches', batches: 1 },
      { ...none, profile: 'flows', flows: [{ kind: 'transfer', state: 'created', count: 1 }] },
      { ...none, profile: 'left' },
    ]);
  },
);

it.each(useBackends())(
  'the status of $name counts the flows by kind and state, of each profile its own',
  async ({ open }) => {
    const store = await (await open()).worker();
    const flows = (profile: string) => store.open(profile, BANK).flows;
    for (const profile of ['one', 'one', 'two']) {
      await begun(flows(profile), 'consent', {
        ...{ transactionId: 't1', customerId: '42', categories: consentCategories() },
      });
      await begun(flows(profile), 'operation', {
        ...{ transactionId: 't1', commits: 'on execute' },
        order: { ...transferOrder(), operation: 'standingOrder', data: '{}' },
      });
      await begunTransfer(flows(profile));
      await (await begunTransfer(flows(profile))).record({ type: 'cancelled' });
    }
    const counts = (count: number) => [
      { kind: 'transfer', state: 'cancelled', count },
      { kind: 'transfer', state: 'created', count },
      { kind: 'operation', state: 'created', count },
      { kind: 'consent', state: 'created', count },
    ];
    expect((await store.status()).profiles).toEqual([
      { profile: 'one', customers: 0, flows: counts(2), batches: 0 },
      { profile: 'two', customers: 0, flows: counts(1), batches: 0 },
    ]);
  },
);

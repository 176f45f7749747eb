import { expect, it } from 'vitest';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { allOf, begun } from '../flows.ts';
import { BANK } from '../whole-store.ts';
import { TRANSFER_BEGIN } from './orders.ts';
import { useStores } from './stores.ts';

const stores = useStores();

it('a list of what needs a person reads no transfer that has plainly ended', async () => {
  await stores.init();
  const { flows } = stores.worker().open('p', BANK);
  const made = async (reference: string, instant: boolean, events: TransferEvent[]) => {
    const begin = TRANSFER_BEGIN(reference);
    const open = await begun(flows, 'transfer', { ...begin, order: { ...begin.order, instant } });
    for (const event of events) await open.record(event);
    return open.current.flow;
  };
  const executed: TransferEvent = { type: 'executed', cro: null };
  const settled: TransferEvent = { type: 'settlement', status: 'OK', description: null };
  const refused: TransferEvent = { type: 'execute-refused', description: 'no' };
  await made('a', false, [executed]);
  await made('b', true, [executed, settled]);
  await made('c', true, [{ type: 'cancelled' }]);
  const pending = await made('d', true, [executed]);
  const failed = await made('e', false, [refused]);
  const listed = await allOf(flows, 'transfer', { attention: true });
  expect(listed.map(({ flow }) => flow)).toEqual([failed, pending]);
});

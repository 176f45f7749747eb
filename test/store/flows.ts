import type { TransferOrder } from '../../src/domain/transfer.ts';
import type { Begin, FlowOf, Flows, Kind, Open } from '../../src/store/ports/flows.ts';
import { transferOrder } from '../domain/orders.ts';

// Lets tests handle flows a step at a time. Nobody holds a claim meanwhile, so only the store keeps two workers apart.

/** Begins a flow, and returns it to continue with. */
export function begun<K extends Kind>(flows: Flows, kind: K, begin: Begin<K>): Promise<Open<K>> {
  return flows.begin(kind, begin, async (open) => open);
}

/** Begins a transfer that a call executes. @param order what is not as usual */
export function begunTransfer(flows: Flows, order: Partial<TransferOrder> = {}): Promise<Open<'transfer'>> {
  return begun(flows, 'transfer', {
    ...{ transactionId: 't1', commits: 'on execute', order: transferOrder(order) },
  });
}

/** The beginning of a transfer of customer 42 with a reference. */
export const TRANSFER_BEGIN = (reference: string): Begin<'transfer'> => ({
  ...{ transactionId: crypto.randomUUID(), commits: 'on execute' },
  order: transferOrder({ customerId: '42', instant: false, type: null, reference }),
});

/** Opens a flow as another process does on resume. */
export function opened<K extends Kind>(flows: Flows, kind: K, flow: string): Promise<Open<K>> {
  return flows.resume(kind, flow, async (open) => open);
}

/** All flows of a kind, newest first. */
export async function allOf<K extends Kind>(
  flows: Flows,
  kind: K,
  ...filter: Parameters<Flows['list']>[1][]
): Promise<FlowOf<K>[]> {
  const all: FlowOf<K>[] = [];
  for await (const flow of flows.list(kind, ...filter)) all.push(flow);
  return all;
}

import { Psd2Error } from '../../errors.ts';
import { BULK_PAYMENT } from '../../flows/bulk.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';

/**
 * The command that continues a flow. Only the batch goes on with a bulk payment and its transfers: they are one payment.
 *
 * @returns words after `psd2`
 */
export function commandThatContinues(flow: FlowOf<Kind>): string[] {
  const batch = batchOfBulk(flow);
  return batch === null ? [flow.kind, 'resume', flow.flow] : ['batch', 'run', batch];
}

/** @throws Psd2Error `usage` for a transfer that is one of a bulk payment: nothing is done about it alone */
export function refuseInBulk(flow: FlowOf<'transfer'>): void {
  const batch = batchOfBulk(flow);
  if (batch === null) return;
  throw new Psd2Error('usage', `The transfer ${flow.flow} is one of the bulk payment ${flow.bulk}`, {
    hint: 'The bank has one payment for all of them. psd2 goes on with all, and asks what became of each, with:',
    next: [['batch', 'run', batch]],
    flow: flow.flow,
  });
}

/** The batch of a bulk payment, or of a transfer of one. Null for any other flow. */
function batchOfBulk(flow: FlowOf<Kind>): string | null {
  if (!('order' in flow)) return null;
  if (!('operation' in flow.order))
    return 'bulk' in flow && flow.bulk ? (flow.order.batch?.batch ?? null) : null;
  if (flow.order.operation !== BULK_PAYMENT || !flow.initiation) return null;
  const data: unknown = JSON.parse(flow.order.data);
  const batch: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'batch') : undefined;
  return typeof batch === 'string' ? batch : null;
}

import { Psd2Error } from '../../errors.ts';
import { SIGNING_BASKET } from '../../flows/batch/follow-basket.ts';
import { BULK_PAYMENT } from '../../flows/batch/follow-bulk.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';

/**
 * The command that continues a flow. Only the batch goes on with a bulk payment or a signing basket, and with its transfers: the
 * customer authorises them together.
 *
 * @returns words after `psd2`
 */
export function commandThatContinues(flow: FlowOf<Kind>): string[] {
  const batch = batchOfJoint(flow);
  return batch === null ? [flow.kind, 'resume', flow.flow] : ['batch', 'run', batch];
}

/**
 * An error about a bulk payment or a signing basket, or a transfer of one, whose next commands are those of the batch: it is not continued
 * alone, and an operation of it has no status of its own.
 *
 * @param cancelled `with the batch`: the operator cancels the whole batch, so its verb goes on with that, too
 */
export function withWaysOfBatch(
  error: unknown,
  flow: FlowOf<Kind>,
  cancelled: 'alone' | 'with the batch' = 'alone',
): unknown {
  const batch = batchOfJoint(flow);
  if (!(error instanceof Psd2Error) || batch === null || error.next === undefined) return error;
  const next = error.next.map((words) => {
    const [noun, verb, about, ...more] = words;
    if (about !== flow.flow) return words;
    if (verb === 'resume') return ['batch', 'run', batch, ...more];
    if (verb === 'cancel' && cancelled === 'with the batch') return ['batch', 'cancel', batch, ...more];
    return noun === 'operation' && verb === 'status' ? ['batch', 'status', batch] : words;
  });
  return error.with({ next });
}

/** @throws Psd2Error `usage` for a transfer of a bulk payment or a signing basket: it is not continued alone */
export function refuseInJoint(flow: FlowOf<'transfer'>): void {
  const batch = batchOfJoint(flow);
  if (batch === null) return;
  // What is in a basket has a payment of its own.
  const what = flow.initiation ? 'signing basket' : 'bulk payment';
  throw new Psd2Error('usage', `The transfer ${flow.flow} is one of the ${what} ${flow.bulk}`, {
    hint: 'The customer authorises all of them together. psd2 goes on with all, and asks what became of each, with:',
    next: [['batch', 'run', batch]],
    flow: flow.flow,
  });
}

/** The batch of a bulk payment or signing basket, or of a transfer of one. Null for any other flow. */
export function batchOfJoint(flow: FlowOf<Kind>): string | null {
  if (!('order' in flow)) return null;
  if (!('operation' in flow.order))
    return 'bulk' in flow && flow.bulk ? (flow.order.batch?.batch ?? null) : null;
  if (![BULK_PAYMENT, SIGNING_BASKET].includes(flow.order.operation) || !flow.initiation) return null;
  const data: unknown = JSON.parse(flow.order.data);
  const batch: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'batch') : undefined;
  return typeof batch === 'string' ? batch : null;
}

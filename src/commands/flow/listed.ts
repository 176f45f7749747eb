import { needsAttention } from '../../domain/flow-states.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import type { FlowOf, Flows, Kind } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { chosenCustomer, customerIdOf } from './customer.ts';
import { warnOfDamaged } from './rules.ts';

/** Which flows a list shows. */
export interface ListOptions {
  /** Only flows that a person must look at. */
  attention: boolean;
  /** Only flows that were created at this time or later. */
  since?: Date | undefined;
}

/**
 * The flows of one kind for a list, newest first: those of the chosen customer, or of all. It warns about damaged journals.
 *
 * @throws Psd2Error `usage` if the customer's id is not a number
 */
export async function* listedFlows<K extends Kind>(
  context: Context,
  kind: K,
  { attention, since }: ListOptions,
): AsyncGenerator<FlowOf<K>> {
  const customer = chosenCustomer(context);
  const { flows } = await context.store();
  const found = flows.list(kind, { since, attention, onDamaged: warnOfDamaged(context) });
  const own = ofCustomer(found, customer);
  yield* attention ? onlyForAttention(flows, kind, own) : own;
}

/** Whether a list leaves out flows, so that an empty list does not mean that there are none. */
export function isChosen({ globals }: Pick<Context, 'globals'>, { attention, since }: ListOptions): boolean {
  return attention || since !== undefined || globals.customer !== undefined;
}

async function* ofCustomer<K extends Kind>(
  flows: AsyncIterable<FlowOf<K>>,
  customer: string | undefined,
): AsyncGenerator<FlowOf<K>> {
  for await (const flow of flows) if (customer === undefined || customerIdOf(flow) === customer) yield flow;
}

/**
 * The flows that a person must look at. While psd2 reads them, other processes may end their work, so it asks afterwards who
 * works on them, and then reads them again.
 */
async function* onlyForAttention<K extends Kind>(
  store: Flows,
  kind: K,
  flows: AsyncIterable<FlowOf<K>>,
): AsyncGenerator<FlowOf<K>> {
  const candidates: string[] = [];
  for await (const flow of flows) if (isForAttention(flow)) candidates.push(flow.flow);
  if (candidates.length === 0) return;
  const atWork = new Set((await store.atWork()).map(({ flow }) => flow));
  for (const candidate of candidates) {
    if (atWork.has(candidate)) continue;
    const flow = await store.find(kind, candidate);
    if (isForAttention(flow)) yield flow;
  }
}

function isForAttention(flow: FlowOf<Kind>): boolean {
  const settles = 'order' in flow && 'instant' in flow.order && needsSettlement(flow.order);
  return needsAttention(flow, settles);
}

import { written } from '../../domain/account-history.ts';
import { describePersons, isUnderWay, type Persons, personsIn } from '../../domain/authorisations.ts';
import { sumsOf } from '../../domain/batch/totals.ts';
import { standingOf } from '../../domain/flow-states.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import { customerIdOf } from '../flow/customer.ts';
import { batchOfJoint, commandThatContinues } from '../flow/next-command.ts';

type AnyFlow = FlowOf<Kind>;

/** What one flow needs of a person, or several payments of a batch alike. */
export interface Need extends Waiting {
  /** The oldest first. */
  flows: readonly [AnyFlow, ...AnyFlow[]];
  /** The batch of several payments. Null: it is one flow. */
  batch: string | null;
  /** Words after `psd2`. */
  next: string[];
}

/** Whom a flow waits for. */
interface Waiting {
  /** Null: psd2 knows of nobody, or it waits for nobody. */
  persons: Persons | null;
  /** They must authorise its cancellation. */
  isCancellation: boolean;
}

/**
 * What flows need of a person. Payments of a batch that need the same are one need: the same is to be done for all of them, and what
 * they wait for is one decision.
 *
 * @param flows the oldest of each kind first
 */
export function needsOf(flows: readonly AnyFlow[]): Need[] {
  const together = new Map(flows.flatMap((flow) => (flow.kind === 'operation' ? [[flow.flow, flow]] : [])));
  const withPayments = new Set(flows.map(bulkOfFlow));
  const alike = new Map<string, [AnyFlow, ...AnyFlow[]]>();
  for (const flow of flows) {
    // Its payments stand for it.
    if (withPayments.has(flow.flow)) continue;
    const key = needKey(flow, waitingOf(flow, together));
    const others = alike.get(key);
    if (others) others.push(flow);
    else alike.set(key, [flow]);
  }
  return [...alike.values()].map((needing) => {
    const [first, ...others] = needing;
    const waiting = waitingOf(first, together);
    const batch = others.length === 0 ? null : batchOf(first);
    const next = [...commandFor(first, batch, waiting), ...nextPerson(waiting)];
    return { ...waiting, flows: needing, batch, next };
  });
}

/** The sum of payments. Null: they are in several currencies, or nothing is paid. */
export function sumOfFlows(flows: readonly AnyFlow[]): { amount: string; currency: string } | null {
  const orders = flows.flatMap((flow) => ('order' in flow && 'amount' in flow.order ? [flow.order] : []));
  const [sum, ...others] = sumsOf(orders);
  if (!sum || others.length > 0) return null;
  const [currency, amount] = sum;
  return { amount: written(amount), currency };
}

function bulkOfFlow(flow: AnyFlow): string | null {
  return 'bulk' in flow ? flow.bulk : null;
}

function batchOf(flow: AnyFlow): string | null {
  const own = 'order' in flow && 'batch' in flow.order ? flow.order.batch?.batch : undefined;
  return own ?? batchOfJoint(flow);
}

/** What is the same of flows that need the same. */
function needKey(flow: AnyFlow, waiting: Waiting): string {
  const batch = batchOf(flow);
  // Of what the bank has accepted, each has an end of its own.
  if (batch === null || (standingOf(flow) === 'done' && !waiting.isCancellation)) return flow.flow;
  const why = 'executionStatusDescription' in flow ? flow.executionStatusDescription : null;
  return JSON.stringify([batch, customerIdOf(flow), flow.state, why, waiting]);
}

/** Whom a flow waits for. The payments of a bulk payment or a signing basket wait for those who authorise that. */
function waitingOf(flow: AnyFlow, together: ReadonlyMap<string, AnyFlow>): Waiting {
  const awaited = together.get(bulkOfFlow(flow) ?? '') ?? flow;
  const cancellation = 'cancellation' in awaited ? awaited.cancellation : null;
  const isCancellation = isUnderWay(cancellation);
  const authorisations = isCancellation ? cancellation : awaited.authorisations;
  const persons = awaited.state === 'authorizing' || isCancellation ? personsIn(authorisations ?? []) : null;
  return { persons: persons && describePersons(persons) !== '' ? persons : null, isCancellation };
}

/** The command that goes on with a flow, or with all of a batch. */
function commandFor(flow: AnyFlow, batch: string | null, { isCancellation }: Waiting): string[] {
  const continues = batch === null ? commandThatContinues(flow) : ['batch', 'run', batch];
  if (!isCancellation) return continues;
  const joint = batch ?? batchOfJoint(flow);
  return joint === null ? [flow.kind, 'cancel', flow.flow] : ['batch', 'cancel', joint];
}

/** The option for who must authorise it after others: whoever has begun, else somebody whom psd2 does not know. */
function nextPerson({ persons }: Waiting): string[] {
  if (persons === null || persons.authorisedBy.length === 0) return [];
  const [person = 'ID', ...others] = persons.waitsFor;
  return ['--psu-id', others.length === 0 ? person : 'ID'];
}

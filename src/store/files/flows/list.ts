import { statSync } from 'node:fs';
import { Psd2Error } from '../../../errors.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { createdAt } from '../../flow/ids.ts';
import { KINDS, type KnownKind } from '../../flow/kinds.ts';
import type { Filter, FlowOf, Kind } from '../../ports/flows.ts';
import { type FlowsAtRest, isLeftOut, lineAtRest, mayMatch } from './at-rest.ts';
import type { ReadFlow } from './file.ts';
import type { FlowFolder } from './lookup.ts';

/** As many lines are written at once. */
const LINES_AT_ONCE = 1_000;

/**
 * Lists flows, newest first. It reads the journals of those that it gives, and of those that are not known to be at rest.
 *
 * @throws Psd2Error `config` for a damaged flow, without `onDamaged`
 */
export function* listFlows<K extends Kind>(
  flows: FlowFolder,
  atRest: FlowsAtRest,
  name: K,
  filter: Filter,
): Generator<FlowOf<K>> {
  const { since, until, onDamaged } = filter;
  const kind: KnownKind<K> = KINDS[name];
  const resting = isNarrow(filter) ? atRest.read() : undefined;
  const learnt: string[] = [];
  try {
    for (const flow of flows.newestFirst(kind)) {
      if (since && (createdAt(flow) ?? Number.POSITIVE_INFINITY) < since.getTime()) return;
      if (until && (createdAt(flow) ?? 0) >= until.getTime()) continue;
      const restingFlow = resting?.get(flow);
      if (
        restingFlow &&
        isLeftOut(restingFlow, filter) &&
        restingFlow.size === journalSize(flows.pathOf(flow))
      )
        continue;
      let read: ReadFlow<FlowOf<K>> | undefined;
      try {
        if (!restingFlow && hasText(filter) && !mayMatch(flows.textOf(flow) ?? '', filter)) continue;
        read = flows.read(kind, flow);
      } catch (damage) {
        if (!onDamaged || !(damage instanceof Psd2Error) || damage instanceof UnsafeFile) throw damage;
        onDamaged(damage, flow);
      }
      if (!read) continue;
      const line =
        resting && restingFlow?.size !== read.size ? lineAtRest(kind, read.current, read.size) : undefined;
      if (line !== undefined && learnt.push(line) === LINES_AT_ONCE) atRest.add(learnt.splice(0));
      yield read.current;
    }
  } finally {
    atRest.add(learnt);
  }
}

/**
 * Counts the flows of a kind by their state, and the damaged ones as `damaged`. It reads the journals of those that are not known to
 * be at rest.
 */
export function countStates(flows: FlowFolder, atRest: FlowsAtRest, name: Kind): Map<string, number> {
  const states = new Map<string, number>();
  const add = (state: string) => states.set(state, (states.get(state) ?? 0) + 1);
  const resting = atRest.read();
  for (const flow of flows.newestFirst(KINDS[name])) {
    const restingFlow = resting.get(flow);
    if (restingFlow && restingFlow.size === journalSize(flows.pathOf(flow))) add(restingFlow.state);
  }
  // No state at all leaves out each flow at rest.
  for (const { state } of listFlows(flows, atRest, name, { states: [], onDamaged: () => add('damaged') }))
    add(state);
  return states;
}

function isNarrow(filter: Filter): boolean {
  return filter.attention === true || filter.states !== undefined || hasText(filter);
}

function hasText({ customer, order }: Filter): boolean {
  return customer !== undefined || order !== undefined;
}

function journalSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

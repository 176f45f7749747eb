import * as z from 'zod/mini';
import { isOpen, type Progress } from '../../../domain/flow-states.ts';
import type { FlowKind } from '../../flow/kinds.ts';
import { readFlowFile } from './file.ts';
import type { IndexEntry } from './flow-index.ts';
import type { FlowFolder } from './folder.ts';

const anyEvent = z.looseObject({ resourceId: z.optional(z.string()) });

/**
 * What the index should know about the resources of a flow that it does not know, read from the journal: all that the flow
 * ever had. Nothing yet for a flow that has none and may still get one.
 */
export function entriesOf<Flow extends Progress & { flow: string }, Event>(
  flows: FlowFolder,
  kind: FlowKind<Flow, Event>,
  current: Flow,
): IndexEntry[] {
  const { flow } = current;
  const last = kind.resourceIdOf(current);
  const sent = isOpen(current) ? null : last;
  const ids = new Set(resourceIdsIn(flows.pathOf(flow)));
  // The last one comes last, with what became of it.
  if (last !== null) ids.delete(last);
  const earlier = [...ids].map((resourceId) => ({ flow, resourceId }));
  if (last === null && earlier.length === 0 && !kind.isEnded(current)) return [];
  return [...earlier, { flow, resourceId: last, sent }];
}

/** The resource ids in the events of a journal, in their order. @throws Psd2Error `config` as {@link readFlowFile} */
export function resourceIdsIn(path: string): string[] {
  const read = readFlowFile<string[], z.infer<typeof anyEvent>>(path, anyEvent, (ids = [], { resourceId }) =>
    resourceId === undefined ? ids : [...ids, resourceId],
  );
  return read?.current ?? [];
}

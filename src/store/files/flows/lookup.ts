import { constants } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { isOpen, isPlainlyFailed, type Progress } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { endSentence, Psd2Error } from '../../../errors.ts';
import { appendDurably, cannotWrite, listFolder, readOwnFile } from '../../disk/files.ts';
import { GrowingLines } from '../../disk/growing-lines.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { findFlow } from '../../flow/ids.ts';
import { type FlowKind, KINDS } from '../../flow/kinds.ts';
import { journalIsMissing, type ReferencedTransfer } from '../../flow/refusals.ts';
import { checkedContent, checkedLine, textOfChecked } from './checked-lines.ts';
import { damagedAt, type ReadFlow, readFirstEvent, readFlowFile } from './file.ts';

type FoundFlow = Progress & { flow: string };

/**
 * Finds flows without reading every journal. It uses the index. If a flow is missing there, it reads the journal and adds
 * the flow to the index.
 */
export class FlowLookup {
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;

  constructor(flows: FlowFolder, index: FlowIndex) {
    this.#flows = flows;
    this.#index = index;
  }

  /**
   * The local id of a flow.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`, which says whether a journal could not be read
   */
  find<Flow extends FoundFlow, Event>(kind: FlowKind<Flow, Event>, reference: string): string {
    const damaged: Psd2Error[] = [];
    const all = this.#flows.newestFirst(kind);
    try {
      return findFlow(reference, {
        prefix: kind.prefix,
        flows: () => all,
        resources: () => this.#resources(kind, all, reference, damaged),
        referenced: () => (kind.orderOf ? this.#holderOf(reference, all) : undefined),
      });
    } catch (error) {
      const [first] = damaged;
      if (!first || !(error instanceof Psd2Error) || error.code !== 'flow_not_found') throw error;
      throw error.with({
        hint: `${error.hint} Not all flows could be searched: ${endSentence(first.message)}`,
      });
    }
  }

  /**
   * The transfers with this reference of the operator, compared by {@link comparableReference}. If a journal is damaged
   * after its first line, the result contains the damage instead of the transfer.
   *
   * @param all the ids of all transfers, newest first
   * @throws Psd2Error `config` if a journal is too damaged to show its reference, or is missing although the index shows
   *   that its transfer reached the bank
   */
  withReference(reference: string, all = this.#flows.newestFirst(KINDS.transfer)): ReferencedTransfer[] {
    const index = this.#index.read();
    const compared = this.#index.compared();
    const learnt: IndexEntry[] = [];
    const comparedOf = (flow: string) => {
      const indexed = compared.get(flow);
      if (indexed !== undefined) return indexed;
      const read = this.#readReference(flow);
      learnt.push({ flow, reference: read });
      return read === null ? null : comparableReference(read);
    };
    const wanted = comparableReference(reference);
    const flows = all.filter((flow) => comparedOf(flow) === wanted);
    this.#note(learnt);
    // An entry with the reference alone is left by a process that was killed before it had created the journal.
    const [missing] = [...index].filter(
      ([flow, { resourceIds }]) => compared.get(flow) === wanted && resourceIds?.size && !all.includes(flow),
    );
    if (missing) throw journalIsMissing(reference, missing[0], this.#flows.pathOf(missing[0]));
    return flows.flatMap((flow): ReferencedTransfer[] => {
      const damaged: Psd2Error[] = [];
      const transfer = this.#ifWhole(KINDS.transfer, flow, damaged);
      if (transfer) return [{ flow, transfer }];
      return damaged.map((damage) => ({ flow, damage }));
    });
  }

  /** Of the transfers with this reference, the one that holds it, else the newest. */
  #holderOf(reference: string, all: string[]): string | undefined {
    const transfers = this.withReference(reference, all);
    const holder = transfers.find((each) => !('transfer' in each) || !isPlainlyFailed(each.transfer));
    return (holder ?? transfers[0])?.flow;
  }

  /**
   * The flows whose resource id begins with `reference`, including those that are not in the index yet.
   *
   * @param damaged collects the errors of journals that cannot be read
   */
  #resources<Flow extends FoundFlow, Event>(
    kind: FlowKind<Flow, Event>,
    all: readonly string[],
    reference: string,
    damaged: Psd2Error[],
  ): { flow: string; resourceId: string }[] {
    const index = this.#index.read();
    const learnt: IndexEntry[] = [];
    const resources = all.flatMap((flow) => {
      const indexed = index.get(flow)?.resourceIds;
      const fitting = indexed && [...indexed].find((resourceId) => resourceId.startsWith(reference));
      if (indexed && fitting === undefined) return [];
      // The journal decides. If it is damaged, the index does.
      const current = this.#ifWhole(kind, flow, damaged);
      const resourceId = current ? kind.resourceIdOf(current) : (fitting ?? null);
      if (!indexed && current) learnt.push(...entriesOf(this.#flows, kind, current));
      return resourceId?.startsWith(reference) ? [{ flow, resourceId }] : [];
    });
    this.#note(learnt);
    return resources;
  }

  /** The flow; undefined if it does not exist or cannot be read. @param damaged collects the error */
  #ifWhole<Flow, Event>(kind: FlowKind<Flow, Event>, flow: string, damaged: Psd2Error[]): Flow | undefined {
    try {
      return this.#flows.read(kind, flow)?.current;
    } catch (damage) {
      if (!(damage instanceof Psd2Error) || damage instanceof UnsafeFile) throw damage;
      damaged.push(damage);
      return undefined;
    }
  }

  /** Adds entries to the index. If it cannot be written, the next search is only slower. */
  #note(learnt: IndexEntry[]): void {
    try {
      if (learnt.length > 0) this.#index.add(...learnt);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
    }
  }

  /** @throws Psd2Error `config` if the journal's first line is damaged */
  #readReference(flow: string): string | null {
    const path = this.#flows.pathOf(flow);
    try {
      const event = readFirstEvent(path, KINDS.transfer.schema);
      if (event === undefined) return null;
      if (event.type !== 'created') throw damagedAt(path, 1);
      return event.order.reference;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      throw new Psd2Error('config', `${error.message}, so psd2 cannot tell which reference ${flow} has`, {
        hint: `${error.hint} Or leave out --reference.`,
        cause: error,
      });
    }
  }
}

/** The folder of a profile's flows, with a file `<flow>.ndjson` for each. */
export class FlowFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path of a flow's journal. The file need not exist. */
  pathOf(flow: string): string {
    return join(this.#folder, `${flow}.ndjson`);
  }

  /** The ids of all flows of a kind, newest first. @throws Psd2Error `config` */
  newestFirst({ prefix }: { prefix: string }): string[] {
    return listFolder(this.#folder)
      .filter((file) => file.startsWith(prefix) && file.endsWith('.ndjson'))
      .sort()
      .reverse()
      .map((file) => basename(file, '.ndjson'));
  }

  /** The text of a journal; undefined if it does not exist. @throws Psd2Error `config` */
  textOf(flow: string): string | undefined {
    return readOwnFile(this.pathOf(flow))?.toString('utf8');
  }

  /** As {@link readFlowFile}. */
  read<Flow, Event>({ schema, apply }: FlowKind<Flow, Event>, flow: string): ReadFlow<Flow> | undefined {
    return readFlowFile(this.pathOf(flow), schema, apply);
  }
}

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
function resourceIdsIn(path: string): string[] {
  const read = readFlowFile<string[], z.infer<typeof anyEvent>>(path, anyEvent, (ids = [], { resourceId }) =>
    resourceId === undefined ? ids : [...ids, resourceId],
  );
  return read?.current ?? [];
}

const entry = z.object({
  flow: z.string(),
  /** The operator's own reference; null if the flow has none. */
  reference: z.optional(z.nullable(z.string())),
  /** The bank's id; null if the flow has ended without one. */
  resourceId: z.optional(z.nullable(z.string())),
  /**
   * The resource for which `execute` (for a consent, `confirm`) was announced; null if it was not. Alone in its entry, null
   * revokes the announcement: the request never left.
   */
  sent: z.optional(z.nullable(z.string())),
});
export type IndexEntry = z.infer<typeof entry>;

/** What the index knows about a flow. If a field is undefined, only the journal has it. */
export interface IndexedFlow {
  reference?: string | null;
  resourceIds?: Set<string>;
  sent?: string | null;
}

/**
 * The references and resource ids of flows, so that psd2 need not read every journal to find a flow. It is the append-only
 * file `index` beside the journals. Each line has a checksum. An entry is durable before the journal has the event, so the
 * journal never knows more than the index. If the index does not know a flow (the index is damaged or was removed, or the
 * flow is older), psd2 reads the journal and adds an entry.
 *
 * The index also says for which resource `execute` was announced, so that a journal that was restored from an old backup
 * cannot make psd2 send it again.
 */
export class FlowIndex {
  readonly #path: string;
  /** A long run reads it for each payment: only what was added since is read again. */
  readonly #lines: GrowingLines<IndexEntry>;
  #flows = new Map<string, IndexedFlow>();
  #compared = new Map<string, string | null>();
  /** The flow whose entry with a resource came first, by the id in lower case. */
  #owners = new Map<string, string>();

  /** @param folder of the flows' journals */
  constructor(folder: string) {
    this.#path = join(folder, 'index');
    this.#lines = new GrowingLines(this.#path, {
      read: () => checkedContent(this.#path),
      parse: (line) => {
        const json = textOfChecked(line);
        return json === undefined ? undefined : entry.parse(JSON.parse(json));
      },
    });
  }

  read(): ReadonlyMap<string, Readonly<IndexedFlow>> {
    this.#readOn();
    return this.#flows;
  }

  /** The references of the flows, as {@link comparableReference} compares them. */
  compared(): ReadonlyMap<string, string | null> {
    this.#readOn();
    return this.#compared;
  }

  /** The flow whose entry with this resource came first; compared without case. Undefined if no flow has it. */
  firstWith(resourceId: string): string | undefined {
    this.#readOn();
    return this.#owners.get(resourceId.toLowerCase());
  }

  /** Skips damaged lines. @throws Psd2Error `config` if another user may have written them */
  #readOn(): void {
    const { lines, isAnew } = this.#lines.next();
    if (isAnew) {
      this.#flows = new Map();
      this.#compared = new Map();
      this.#owners = new Map();
    }
    for (const line of lines) this.#learn(line);
  }

  #learn({ flow, reference, resourceId, sent }: IndexEntry): void {
    const indexed = this.#flows.get(flow) ?? {};
    if (reference !== undefined) {
      indexed.reference = reference;
      this.#compared.set(flow, reference === null ? null : comparableReference(reference));
    }
    if (resourceId !== undefined) indexed.resourceIds ??= new Set();
    if (resourceId) {
      indexed.resourceIds?.add(resourceId);
      const id = resourceId.toLowerCase();
      if (!this.#owners.has(id)) this.#owners.set(id, flow);
    }
    // The entry of a resource may come late, from a process that was stopped while another one continued the flow.
    const isLate = resourceId !== undefined && sent === null && indexed.sent !== undefined;
    if (sent !== undefined && !isLate) indexed.sent = sent;
    this.#flows.set(flow, indexed);
  }

  /** Adds entries, durably (fsync). @throws Psd2Error `config` if they cannot be written */
  add(...added: IndexEntry[]): void {
    const lines = added.map((each) => checkedLine(JSON.stringify(each)));
    try {
      const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
      appendDurably(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, lines.join(''));
    } catch (cause) {
      throw cannotWrite(
        `The index ${this.#path}`,
        cause,
        'If it is not a file, remove it. psd2 creates it again.',
      );
    }
  }
}

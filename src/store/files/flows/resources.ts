import { isOpen, type Progress } from '../../../domain/flow-states.ts';
import { Psd2Error } from '../../../errors.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { type FlowKind, KINDS, type KnownKind } from '../../flow/kinds.ts';
import { journalIsOlder } from '../../flow/lost-journal.ts';
import { resourceIsUsed } from '../../flow/resource-used.ts';
import type { Kind } from '../../ports/flows.ts';
import type { FlowIndex } from './flow-index.ts';
import type { FlowFolder } from './folder.ts';
import { entriesOf, resourceIdsIn } from './learnt.ts';

/** Which flow has a resource of the bank, and for which one `execute` (for a consent, `confirm`) was announced. */
export class FlowResources {
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;

  constructor(flows: FlowFolder, index: FlowIndex) {
    this.#flows = flows;
    this.#index = index;
  }

  /**
   * Takes a resource for a flow, durably, before the journal has it. The first entry in the index counts. So of two
   * processes that take the same resource for two flows, one is refused.
   *
   * @throws Psd2Error `bank_answer` if another flow has the resource or ever had it; `config`
   */
  take(flow: string, resourceId: string): void {
    this.#learn();
    this.#index.add({ flow, resourceId, sent: null });
    const owner = this.#index.firstWith(resourceId);
    if (owner === flow) return;
    if (owner !== undefined) throw resourceIsUsed(flow, resourceId, owner);
    throw new Psd2Error('config', 'The index of flows was removed while psd2 wrote it', {
      hint: 'Run this again.',
    });
  }

  /** Records that the flow has lost its resource, before the journal does. @throws Psd2Error `config` */
  drop(flow: string): void {
    this.#index.add({ flow, resourceId: null });
  }

  /**
   * Records that the last call is about to be sent, durably. The journal already has that: a process that is killed in between
   * has sent nothing, and asks the bank when it is resumed.
   *
   * @throws Psd2Error `config`
   */
  announce(flow: string, resourceId: string | null): void {
    this.#index.add({ flow, sent: resourceId });
  }

  /** Records that the last call never left, before the journal has it. @throws Psd2Error `config` */
  revoke(flow: string): void {
    this.#index.add({ flow, sent: null });
  }

  /**
   * Whether the last call of a flow was announced, and its journal does not say so, because it was restored from an old
   * backup. psd2 must then ask the bank for the outcome.
   *
   * @throws Psd2Error `config` if the journal does not have the resource to ask for, either
   */
  isSentUnnoticed<Flow extends Progress & { flow: string }, Event>(
    kind: FlowKind<Flow, Event>,
    current: Flow,
  ): boolean {
    const known = isOpen(current) ? this.#index.read().get(current.flow) : undefined;
    if (!known || known.sent === null) return false;
    const path = this.#flows.pathOf(current.flow);
    if (known.sent !== undefined) {
      if (known.sent === kind.resourceIdOf(current)) return true;
      throw journalIsOlder(current.flow, path);
    }
    // An earlier psd2 wrote these entries, which do not say whether it sent execute.
    const recorded = known.resourceIds?.size ? resourceIdsIn(path) : [];
    if ([...(known.resourceIds ?? [])].some((id) => !recorded.includes(id)))
      throw journalIsOlder(current.flow, path);
    return false;
  }

  /** Adds the flows to the index that it does not know: it was removed or restored, or they are older. The oldest first. */
  #learn(): void {
    const index = this.#index.read();
    for (const kind of ['transfer', 'operation', 'consent'] as const) this.#learnKind(kind, index);
  }

  #learnKind<K extends Kind>(name: K, index: ReturnType<FlowIndex['read']>): void {
    const kind: KnownKind<K> = KINDS[name];
    const unknown = this.#flows.newestFirst(kind).filter((flow) => !index.get(flow)?.resourceIds);
    for (const flow of unknown.reverse()) {
      try {
        const current = this.#flows.read(kind, flow)?.current;
        const entries = current ? entriesOf(this.#flows, kind, current) : [];
        if (entries.length > 0) this.#index.add(...entries);
      } catch (damage) {
        // Nobody can say which resources a damaged journal has. Commands on its flow report it.
        if (!(damage instanceof Psd2Error) || damage instanceof UnsafeFile) throw damage;
      }
    }
  }
}

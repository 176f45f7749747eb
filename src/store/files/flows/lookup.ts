import type { Progress } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { findFlow } from '../../flow/find.ts';
import { type FlowKind, KINDS } from '../../flow/kinds.ts';
import { journalIsMissing } from '../../flow/lost-journal.ts';
import type { ReferencedTransfer } from '../../flow/reference-used.ts';
import { damagedAt, readFirstEvent } from './file.ts';
import type { FlowIndex, IndexEntry } from './flow-index.ts';
import type { FlowFolder } from './folder.ts';
import { entriesOf } from './learnt.ts';

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
    try {
      return findFlow(reference, {
        prefix: kind.prefix,
        flows: () => this.#flows.newestFirst(kind),
        resources: () => this.#resources(kind, reference, damaged),
      });
    } catch (error) {
      const [first] = damaged;
      if (!first || !(error instanceof Psd2Error) || error.code !== 'flow_not_found') throw error;
      throw error.with({ hint: `${error.hint} Not all flows could be searched: ${first.message}.` });
    }
  }

  /**
   * The transfers with this reference of the operator, compared by {@link comparableReference}. If a journal is damaged
   * after its first line, the result contains the damage instead of the transfer.
   *
   * @throws Psd2Error `config` if a journal is too damaged to show its reference, or is missing although the index shows
   *   that its transfer reached the bank
   */
  withReference(reference: string): ReferencedTransfer[] {
    const index = this.#index.read();
    const learnt: IndexEntry[] = [];
    const referenceOf = (flow: string) => {
      const known = index.get(flow)?.reference;
      if (known !== undefined) return known;
      const read = this.#readReference(flow);
      learnt.push({ flow, reference: read });
      return read;
    };
    const wanted = comparableReference(reference);
    const isWanted = (known: string | null | undefined) =>
      typeof known === 'string' && comparableReference(known) === wanted;
    const all = this.#flows.newestFirst(KINDS.transfer);
    const flows = all.filter((flow) => isWanted(referenceOf(flow)));
    this.#note(learnt);
    // An entry with the reference alone is left by a process that was killed before it had created the journal.
    const [missing] = [...index].filter(
      ([flow, known]) => isWanted(known.reference) && known.resourceIds?.size && !all.includes(flow),
    );
    if (missing) throw journalIsMissing(reference, missing[0], this.#flows.pathOf(missing[0]));
    return flows.flatMap((flow): ReferencedTransfer[] => {
      const damaged: Psd2Error[] = [];
      const transfer = this.#ifWhole(KINDS.transfer, flow, damaged);
      if (transfer) return [{ flow, transfer }];
      return damaged.map((damage) => ({ flow, damage }));
    });
  }

  /**
   * The flows whose resource id begins with `reference`, including those that are not in the index yet.
   *
   * @param damaged collects the errors of journals that cannot be read
   */
  #resources<Flow extends FoundFlow, Event>(
    kind: FlowKind<Flow, Event>,
    reference: string,
    damaged: Psd2Error[],
  ): { flow: string; resourceId: string }[] {
    const index = this.#index.read();
    const learnt: IndexEntry[] = [];
    const found = this.#flows.newestFirst(kind).flatMap((flow) => {
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
    return found;
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

import { existsSync } from 'node:fs';
import { isPlainlyFailed } from '../../../domain/flow-states.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import { type FlowKind, KINDS } from '../../flow/kinds.ts';
import { journalIsMissing } from '../../flow/lost-journal.ts';
import { referenceIsUsed } from '../../flow/reference-used.ts';
import type { OpenFlow } from '../../ports/flows.ts';
import type { FlowFolder } from './folder.ts';
import type { FlowLookup } from './lookup.ts';
import type { ReferenceClaims } from './reference-claims.ts';

/** Whether a transfer may have the operator's reference, which belongs to one transfer that has not definitely failed. */
export class FlowReferences {
  readonly #flows: FlowFolder;
  readonly #lookup: FlowLookup;
  readonly #claims: ReferenceClaims;

  constructor(flows: FlowFolder, lookup: FlowLookup, claims: ReferenceClaims) {
    this.#flows = flows;
    this.#lookup = lookup;
    this.#claims = claims;
  }

  /**
   * Refuses the reference of an order if another transfer with it was paid or may have been. If that transfer's journal is
   * damaged or missing, it may have been.
   *
   * @throws Psd2Error `duplicate_reference` that names the other flow, `config` if a journal is missing, or too damaged to
   *   show its reference
   */
  refuseUsed(order: TransferOrder): void {
    const { reference } = order;
    if (!reference) return;
    for (const earlier of this.#lookup.withReference(reference)) {
      if ('transfer' in earlier && isPlainlyFailed(earlier.transfer)) continue;
      throw referenceIsUsed(order, earlier);
    }
    // A journal is durable before its flow takes the reference. So no crash leaves a claim without a journal.
    for (const holder of this.#claims.holders(reference)) this.#refuseMissing(reference, holder);
  }

  /**
   * Takes the reference of a flow. If several processes try, the disk lets only one succeed. A process that was stopped
   * after it had checked the reference learns here that another was faster, and cancels its own flow.
   *
   * @throws Psd2Error `duplicate_reference` that names the flow with the reference, `config`
   */
  async take<Flow extends { flow: string }, Event>(
    { orderOf, cancelled }: FlowKind<Flow, Event>,
    open: OpenFlow<Flow, Event>,
  ): Promise<void> {
    const order = orderOf?.(open.current);
    if (!order?.reference) return;
    const { reference } = order;
    const { flow } = open.current;
    const holder = this.#claims.take(reference, flow, (other) => {
      this.#refuseMissing(reference, other);
      return this.#hasPlainlyFailed(other);
    });
    if (holder === flow) return;
    await open.record(cancelled);
    const found = this.#lookup.withReference(reference).find((each) => each.flow === holder);
    throw referenceIsUsed(order, found ?? { flow: holder });
  }

  #refuseMissing(reference: string, holder: string): void {
    const path = this.#flows.pathOf(holder);
    if (!existsSync(path)) throw journalIsMissing(reference, holder, path);
  }

  #hasPlainlyFailed(flow: string): boolean {
    try {
      const found = this.#flows.read(KINDS.transfer, flow);
      return found !== undefined && isPlainlyFailed(found.current);
    } catch (error) {
      // The journal is damaged, so the transfer may have been paid.
      if (error instanceof Psd2Error) return false;
      throw error;
    }
  }
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isOpen, isPlainlyFailed, type Progress } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  appendDurably,
  listFolder,
  makePrivateFolder,
  readOwnFile,
  reasonOf,
  removeStored,
  syncFolder,
  systemCode,
  takeName,
} from '../../disk/files.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { type FlowKind, KINDS, type KnownKind } from '../../flow/kinds.ts';
import { journalIsMissing, journalIsOlder, referenceIsUsed, resourceIsUsed } from '../../flow/refusals.ts';
import type { Kind, OpenFlow } from '../../ports/flows.ts';
import { entriesOf, type FlowFolder, type FlowIndex, type FlowLookup } from './lookup.ts';

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
    const usedBy = this.#lookup.withReference(reference).find((each) => each.flow === holder);
    throw referenceIsUsed(order, usedBy ?? { flow: holder });
  }

  #refuseMissing(reference: string, holder: string): void {
    const path = this.#flows.pathOf(holder);
    if (!existsSync(path)) throw journalIsMissing(reference, holder, path);
  }

  #hasPlainlyFailed(flow: string): boolean {
    try {
      const transfer = this.#flows.read(KINDS.transfer, flow);
      return transfer !== undefined && isPlainlyFailed(transfer.current);
    } catch (error) {
      // The journal is damaged, so the transfer may have been paid.
      if (error instanceof Psd2Error) return false;
      throw error;
    }
  }
}

/** A use of a reference: the number, and the flow that took it. */
interface Use {
  n: number;
  flow: string;
}

/**
 * Which transfer holds a reference of the operator. The n-th use of a reference is a file with that number in its name,
 * which only one process can create. The file contains the id of the flow. A reference is free for its next use once the
 * flow of the last use has definitely failed.
 */
export class ReferenceClaims {
  readonly #folder: string;

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#folder = join(flows, 'references');
  }

  /**
   * Takes a reference for a flow, durably (fsync). The flow's journal must exist, so that a process that finds the claim can
   * read the flow's outcome. Repeat this whenever the flow is resumed before anything is paid.
   *
   * @param isFree whether the flow that holds the reference has definitely failed
   * @returns the flow that holds the reference now: `flow`, or the one that was first
   * @throws Psd2Error `config` if it cannot be written
   */
  take(reference: string, flow: string, isFree: (holder: string) => boolean): string {
    const name = claimName(reference);
    for (let isMade = false; ; isMade = true) {
      const uses = this.#uses(name);
      const last = uses.at(-1);
      if (!isMade && last?.flow === flow) return flow;
      const others = uses.filter((use) => use.flow !== flow);
      // After this flow's use came another one, so this flow had failed by then, even if its journal, restored from an old
      // backup, does not say so.
      if (last && last.flow !== flow && others.length < uses.length) return last.flow;
      const holder = others.find((use) => use.flow !== '' && !isFree(use.flow));
      if (holder) return holder.flow;
      if (last?.flow === flow) return flow;
      this.#make(join(this.#folder, `${name}.${(last?.n ?? 0) + 1}`), flow);
    }
  }

  /** The flows that took a reference, in the order of its uses. */
  holders(reference: string): string[] {
    return this.#uses(claimName(reference)).flatMap(({ flow }) => flow || []);
  }

  /** All claims: each with its file, and the flow in it. */
  all(): { path: string; flow: string }[] {
    return listFolder(this.#folder)
      .filter((file) => /^[0-9a-f]{32}\.\d+$/.test(file))
      .map((file) => join(this.#folder, file))
      .map((path) => ({ path, flow: this.#flowIn(path) }))
      .filter(({ flow }) => flow !== '');
  }

  /** The uses whose files are there. A file may be missing, so the numbers may have gaps. */
  #uses(name: string): Use[] {
    return listFolder(this.#folder)
      .filter((file) => file.startsWith(`${name}.`) && /^\d+$/.test(file.slice(name.length + 1)))
      .map((file) => ({
        n: Number(file.slice(name.length + 1)),
        flow: this.#flowIn(join(this.#folder, file)),
      }))
      .sort((a, b) => a.n - b.n);
  }

  /** Empty if a process was killed while it wrote the file, before it did anything with the reference. */
  #flowIn(path: string): string {
    return readOwnFile(path)?.toString('utf8') ?? '';
  }

  /** Another process may be faster. */
  #make(path: string, flow: string): void {
    makePrivateFolder(this.#folder);
    const beside = `${path}.${flow}`;
    try {
      // An earlier process that worked on this flow may have been killed and left the file.
      removeStored(beside);
      appendDurably(beside, 'wx', flow);
      takeName(beside, path);
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST')
        throw new Psd2Error(
          'config',
          `psd2 cannot record the reference in ${this.#folder}: ${reasonOf(cause)}`,
          {
            hint: 'Check the free space, and who owns the folder. Nothing was paid.',
            cause,
          },
        );
    } finally {
      removeStored(beside);
    }
    syncFolder(this.#folder);
  }
}

function claimName(reference: string): string {
  return createHash('sha256').update(comparableReference(reference)).digest('hex').slice(0, 32);
}

/** Stands for the resource that an announced call asks for. No journal has it, so an older journal is noticed. */
const NO_RESOURCE_YET = '';

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
   * @param resourceId null if the call itself asks for the resource
   * @throws Psd2Error `config`
   */
  announce(flow: string, resourceId: string | null): void {
    this.#index.add({ flow, sent: resourceId ?? NO_RESOURCE_YET });
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
    const sent = isOpen(current) ? this.#index.read().get(current.flow)?.sent : undefined;
    if (sent === undefined || sent === null) return false;
    if (sent === kind.resourceIdOf(current)) return true;
    throw journalIsOlder(current.flow, this.#flows.pathOf(current.flow));
  }

  /** Adds the flows to the index that it does not know: it was removed or restored, or they are older. The oldest first. */
  #learn(): void {
    const index = this.#index.read();
    const unknown = this.#flows.newestFirst({ prefix: '' }).filter((flow) => !index.get(flow)?.resourceIds);
    for (const kind of ['transfer', 'operation', 'consent'] as const) this.#learnKind(kind, unknown);
  }

  #learnKind<K extends Kind>(name: K, unknown: readonly string[]): void {
    const kind: KnownKind<K> = KINDS[name];
    for (const flow of unknown.filter((id) => id.startsWith(kind.prefix)).reverse()) {
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

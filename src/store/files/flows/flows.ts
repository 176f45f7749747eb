import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isOpen, isPlainlyFailed, isUntouched } from '../../../domain/flow-states.ts';
import { Psd2Error } from '../../../errors.ts';
import { listFolder } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { holderOf, withLock } from '../../disk/lock.ts';
import { UnsafeFile } from '../../disk/permissions.ts';
import { reserveSpace } from '../../disk/reserve-space.ts';
import { collectMoments, momentEvent } from '../../flow/history.ts';
import { createdAt, isFlowId, newFlowId } from '../../flow/ids.ts';
import { type FlowKind, KINDS, type KnownKind, kindOf } from '../../flow/kinds.ts';
import { referenceIsUsed } from '../../flow/reference-used.ts';
import type {
  Begin,
  EventOf,
  Filter,
  FlowMoment,
  FlowOf,
  Flows,
  Kind,
  LeftBehind,
  Open,
  OpenFlow,
} from '../../ports/flows.ts';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  type KnownFile,
  type ReadFlow,
  readFlowFile,
} from './file.ts';
import { FlowIndex } from './flow-index.ts';
import { FlowFolder } from './folder.ts';
import { FlowLookup } from './lookup.ts';
import { ReferenceClaims } from './reference-claims.ts';
import { FlowsUnderWay } from './under-way.ts';

/** How long it takes to see that the process that worked on a flow is dead, and some more. */
const CLAIM_PATIENCE_MS = 8_000;
/** Beginning a flow takes no longer. */
const BEGIN_PATIENCE_MS = 10_000;
/** More than the outcome of an execution takes, with some for the folder. */
const OUTCOME_BYTES = 8_192;

/** What the flows of a profile need of the world. */
export interface FlowsSetting {
  now: () => Date;
  /** From 0 to 1. */
  random: () => number;
  /** The operator's Ctrl-C, which ends waiting for other processes. */
  interrupted?: AbortSignal | undefined;
  /** Refuses workers where the store was copied to another home; asked by who has a lock. @throws Psd2Error `config` */
  assertHere?: (() => void) | undefined;
  /** Is told of the flow of each transaction that is begun or looked at. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** Every flow is one transaction to the bank. */
type Begun = { flow: string; transactionId: string };

/**
 * The flows of one profile on the disk: an append-only file for each, `<flow>.ndjson`, one event a line. A flow is the
 * fold of its events. The ids begin with the time of creation, so that their order is that of the files.
 */
export class FileFlows implements Flows {
  readonly #folder: string;
  readonly #setting: FlowsSetting;
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;
  readonly #lookup: FlowLookup;
  readonly #references: ReferenceClaims;
  readonly #underWay: FlowsUnderWay;

  /** @param folder of the profile's journals */
  constructor(folder: string, setting: FlowsSetting) {
    this.#folder = folder;
    this.#setting = setting;
    this.#flows = new FlowFolder(folder);
    this.#index = new FlowIndex(folder);
    this.#lookup = new FlowLookup(this.#flows, this.#index);
    this.#references = new ReferenceClaims(folder);
    this.#underWay = new FlowsUnderWay(folder);
  }

  async begin<K extends Kind, T>(name: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T> {
    const kind: KnownKind<K> = KINDS[name];
    const open = await this.exclusively(async () => {
      const begun = this.#create(kind, begin, (reference) => this.#refuseUsed(reference));
      await this.#takeReference(kind, begun);
      return begun;
    });
    return this.#claimed(open.current.flow, () => work(open));
  }

  async resume<K extends Kind, T>(
    name: K,
    reference: string,
    work: (open: Open<K>) => Promise<T>,
  ): Promise<T> {
    const kind: KnownKind<K> = KINDS[name];
    const { flow } = await this.find(name, reference);
    return this.#claimed(flow, async () => {
      const open = this.#writable<FlowOf<K>, EventOf<K>>(kind, flow, this.#read(kind, flow));
      // It may have been stopped before it had the reference, and another transfer have it since.
      if (isOpen(open.current)) await this.#takeReference(kind, open);
      return work(open);
    });
  }

  async find<K extends Kind>(name: K, reference: string): Promise<FlowOf<K>> {
    const kind: KnownKind<K> = KINDS[name];
    const isId = isFlowId(reference) && reference.startsWith(kind.prefix);
    const exact = isId ? this.#flows.read(kind, reference) : undefined;
    const { current } = exact ?? this.#read(kind, this.#lookup.find(kind, reference));
    this.#setting.onFlow?.(current.transactionId, current.flow);
    return current;
  }

  async *list<K extends Kind>(name: K, { since, onDamaged }: Filter = {}): AsyncGenerator<FlowOf<K>> {
    const kind: KnownKind<K> = KINDS[name];
    for (const flow of this.#flows.newestFirst(kind)) {
      if (since && (createdAt(flow) ?? Number.POSITIVE_INFINITY) < since.getTime()) return;
      let read: ReadFlow<FlowOf<K>> | undefined;
      try {
        read = this.#flows.read(kind, flow);
      } catch (damage) {
        if (!onDamaged || !(damage instanceof Psd2Error) || damage instanceof UnsafeFile) throw damage;
        onDamaged(damage, flow);
      }
      if (read) yield read.current;
    }
  }

  async history(flow: string): Promise<FlowMoment[] | null> {
    if (!isFlowId(flow)) return null;
    return readFlowFile(this.#flows.pathOf(flow), momentEvent, collectMoments)?.current ?? null;
  }

  async leftBehind(most: number, except?: string): Promise<LeftBehind> {
    const unread = this.#underWay.leftBehind();
    const flows: LeftBehind['flows'] = [];
    // Only what is told of is read: there may be thousands.
    for (let id = unread.shift(); id !== undefined; id = unread.shift()) {
      const kind = kindOf(id);
      const left = kind && this.#readLeft(kind, id);
      if (left?.isAtEnd) this.#underWay.end(id);
      else if (
        left &&
        !isNamed(left, except) &&
        !(left.isUntouched && (await this.#endUntouched(left.kind, id)))
      )
        flows.push(left);
      if (flows.length === most) break;
    }
    const more = unread.filter((flow) => !isNamed({ flow, resourceId: null }, except)).length;
    return {
      flows: flows.map(({ kind, flow, state, resourceId }) => ({ kind, flow, state, resourceId })),
      more,
    };
  }

  async atWork(): Promise<{ flow: string; holder: string }[]> {
    const locked = listFolder(this.#folder).filter((file) => file.endsWith('.ndjson.lock'));
    const flows = locked.map((file) => basename(file, '.ndjson.lock'));
    const found = await Promise.all(
      flows.map(async (flow) => ({ flow, holder: await holderOf(this.#flows.pathOf(flow)) })),
    );
    return found.flatMap(({ flow, holder }) => (holder === undefined ? [] : [{ flow, holder }]));
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const path = join(this.#folder, 'journal');
    const { interrupted } = this.#setting;
    const workHere = () => {
      this.#setting.assertHere?.();
      return work();
    };
    return withLock(path, 'The journal of the profile', workHere, BEGIN_PATIENCE_MS, interrupted);
  }

  async recordedIn(): Promise<string | undefined> {
    return existsSync(this.#folder) ? this.#folder : undefined;
  }

  /** One process at a time works on a flow. @throws Psd2Error `config` when another process is at it */
  #claimed<T>(flow: string, work: () => Promise<T>): Promise<T> {
    const claimedWork = async () => {
      this.#setting.assertHere?.();
      this.#underWay.begin(flow);
      const result = await work();
      this.#underWay.end(flow);
      return result;
    };
    const { interrupted } = this.#setting;
    return withLock(this.#flows.pathOf(flow), flow, claimedWork, CLAIM_PATIENCE_MS, interrupted);
  }

  /** @param judge is told the reference of the flow before anything is written; what it throws keeps it from that */
  #create<Flow extends Begun, Event, Beginning>(
    kind: FlowKind<Flow, Event, Beginning>,
    begin: Beginning,
    judge: (reference: string) => void,
  ): OpenFlow<Flow, Event> {
    makePrivateFolder(this.#folder);
    const now = this.#setting.now();
    const flow = newFlowId(kind, now, this.#flows.newestFirst(kind)[0], this.#setting.random);
    const event = kind.created(flow, begin);
    const at = now.toISOString();
    const current = kind.apply(undefined, event, at);
    const reference = kind.referenceOf?.(current);
    if (reference) judge(reference);
    this.#underWay.begin(flow);
    const by = newWriter();
    let known: KnownFile;
    try {
      if (reference !== undefined) this.#index.add({ flow, reference });
      known = createFlowFile(this.#flows.pathOf(flow), { at, by, event });
    } catch (error) {
      this.#underWay.end(flow);
      throw error;
    }
    return this.#writable(kind, flow, { ...known, current }, by);
  }

  /**
   * Refuses a reference that another transfer has which was paid, or may be. One whose journal is damaged may be.
   *
   * @throws Psd2Error `duplicate_reference` naming the flow that has it, `config` when a journal can't tell its reference
   */
  #refuseUsed(reference: string): void {
    for (const earlier of this.#lookup.withReference(reference)) {
      if ('transfer' in earlier && isPlainlyFailed(earlier.transfer)) continue;
      throw referenceIsUsed(reference, earlier);
    }
  }

  /**
   * Takes the reference of a flow that was begun, for good: where several take it, the disk decides once. A process that was
   * stopped since it looked for the reference finds here that another was quicker, and ends its own flow.
   *
   * @throws Psd2Error `duplicate_reference` naming the flow that has it
   */
  async #takeReference<Flow extends Begun, Event>(
    { referenceOf, cancelled }: FlowKind<Flow, Event>,
    open: OpenFlow<Flow, Event>,
  ): Promise<void> {
    const reference = referenceOf?.(open.current);
    if (!reference) return;
    const { flow } = open.current;
    const holder = this.#references.take(reference, flow, (other) => this.#hasPlainlyFailed(other));
    if (holder === flow) return;
    await open.record(cancelled);
    const found = this.#lookup.withReference(reference).find((each) => each.flow === holder);
    throw referenceIsUsed(reference, found ?? { flow: holder });
  }

  #hasPlainlyFailed(flow: string): boolean {
    try {
      const found = this.#flows.read(KINDS.transfer, flow);
      return found === undefined || isPlainlyFailed(found.current);
    } catch (error) {
      // Its journal is damaged: it may have been paid.
      if (error instanceof Psd2Error) return false;
      throw error;
    }
  }

  #read<Flow, Event>(kind: FlowKind<Flow, Event>, flow: string): ReadFlow<Flow> {
    const read = this.#flows.read(kind, flow);
    if (!read) throw new TypeError(`The file of ${flow} is gone`);
    return read;
  }

  /** @returns undefined when there is no such journal, or it can't be read: another command tells more of it */
  #readLeft<K extends Kind>(name: K, id: string) {
    const kind: KnownKind<K> = KINDS[name];
    try {
      const current = this.#flows.read(kind, id)?.current;
      if (!current) return undefined;
      const { flow, state } = current;
      return {
        kind: name,
        flow,
        state,
        resourceId: kind.resourceIdOf(current),
        isAtEnd: kind.isAtEnd(current),
        isUntouched: isUntouched(current),
      };
    } catch (error) {
      if (error instanceof Psd2Error) return undefined;
      throw error;
    }
  }

  /** Ends a flow of which nothing ever reached the bank. @returns whether it has ended */
  async #endUntouched<K extends Kind>(name: K, flow: string): Promise<boolean> {
    const kind: KnownKind<K> = KINDS[name];
    try {
      return await this.#claimed(flow, async () => {
        const open = this.#writable<FlowOf<K>, EventOf<K>>(kind, flow, this.#read(kind, flow));
        if (!isUntouched(open.current)) return false;
        await open.record(kind.cancelled);
        return true;
      });
    } catch (error) {
      // Another psd2 has gone on with it, or it can't be written.
      if (error instanceof Psd2Error) return false;
      throw error;
    }
  }

  #writable<Flow extends Begun, Event>(
    kind: FlowKind<Flow, Event>,
    flow: string,
    read: ReadFlow<Flow>,
    by = newWriter(),
  ): OpenFlow<Flow, Event> {
    const path = this.#flows.pathOf(flow);
    let known: KnownFile = read;
    let { current } = read;
    this.#setting.onFlow?.(current.transactionId, flow);
    let giveBack = () => {};
    return {
      get current() {
        return current;
      },
      record: async (event) => {
        giveBack();
        const at = this.#setting.now().toISOString();
        const next = kind.apply(current, event, at);
        const resourceId = kind.resourceIdOf(next);
        if (resourceId !== kind.resourceIdOf(current)) this.#index.add({ flow, resourceId });
        // What became of the money must find its place too.
        if (kind.isExecution(event)) giveBack = reserveSpace(this.#folder, OUTCOME_BYTES);
        known = appendToFlowFile(path, known, { at, by, event });
        current = next;
        return current;
      },
      assertOurs: async () => assertNotOvertaken(path, known),
      reread: async () => {
        const again = this.#read(kind, flow);
        known = again;
        current = again.current;
        return current;
      },
    };
  }
}

/** Names who writes a line, so that no two processes write the same one. */
function newWriter(): string {
  return randomUUID().slice(0, 8);
}

function isNamed(
  { flow, resourceId }: Pick<LeftBehind['flows'][number], 'flow' | 'resourceId'>,
  reference: string | undefined,
): boolean {
  return (
    reference !== undefined && (flow.startsWith(reference) || resourceId?.startsWith(reference) === true)
  );
}

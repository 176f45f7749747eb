import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Consent, ConsentEvent } from '../../domain/consent.ts';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import type { GenericOrder, OperationEvent } from '../../domain/operation.ts';
import type { Transfer, TransferEvent } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { listFolder } from '../disk/files.ts';
import { makePrivateFolder } from '../disk/json-file.ts';
import { holderOf, withLock } from '../disk/lock.ts';
import { UnsafeFile } from '../disk/permissions.ts';
import { reserveSpace } from '../disk/reserve-space.ts';
import { collectMoments, type FlowMoment, momentEvent } from '../flow/history.ts';
import { createdAt, isFlowId, newFlowId } from '../flow/ids.ts';
import { CONSENT, type FlowKind, type GenericOperation, OPERATION, TRANSFER } from '../flow/kinds.ts';
import type { StoreFolder } from '../machine/folder.ts';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  type KnownFile,
  type ReadFlow,
  readFlowFile,
} from './flow-file.ts';
import { FlowFolder } from './flow-folder.ts';
import { FlowIndex } from './flow-index.ts';
import { FlowLookup, type ReferencedTransfer } from './flow-lookup.ts';
import { FlowsUnderWay } from './flows-under-way.ts';
import { ReferenceClaims } from './reference-claims.ts';

/** A flow as its journal tells it, with the means to write its next event. */
export interface OpenFlow<Flow, Event> {
  readonly current: Flow;
  /**
   * Makes an event durable (fsync) and applies it.
   *
   * @throws Psd2Error `config` when it can't be written: then it has not happened; `overtaken` when another process
   *   has gone on with the flow
   */
  record(event: Event): Flow;
  /** Makes sure that no other process has gone on with the flow. @throws Psd2Error `overtaken` */
  assertOurs(): void;
  /** Reads the flow again, to go on from what another process has made of it. */
  reread(): Flow;
}

export type OpenTransfer = OpenFlow<Transfer, TransferEvent>;
export type OpenOperation = OpenFlow<GenericOperation, OperationEvent<GenericOrder>>;
export type OpenConsent = OpenFlow<Consent, ConsentEvent>;

/** Every flow is one transaction to the bank. */
type Begun = { transactionId: string };

/** What a flow begins with, but for the id that the journal gives it. */
type Created<Event extends { type: string }> = Omit<Extract<Event, { type: 'created' }>, 'type' | 'flow'>;

/** Is told of a journal that can't be read, in place of its flow. */
export type OnDamaged = (damage: Psd2Error, flow: string) => void;

/** How long it takes to see that the process that worked on a flow is dead, and some more. */
const CLAIM_PATIENCE_MS = 8_000;
/** More than the outcome of an execution takes, with some for the folder. */
const OUTCOME_BYTES = 8_192;

/**
 * The flows of one profile: an append-only file for each, `<flow>.ndjson`, one event a line. A flow is the
 * fold of its events. The ids begin with the time of creation, so that their order is that of the files.
 */
export class FlowJournal {
  readonly #folder: string;
  readonly #interrupted: AbortSignal | undefined;
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;
  readonly #lookup: FlowLookup;
  readonly #references: ReferenceClaims;
  /** Which flows processes work on, or left behind. */
  readonly underWay: FlowsUnderWay;
  readonly #now: () => Date;
  readonly #random: () => number;
  readonly #opened: Map<string, string>;

  /** @param opened takes the flow of each transaction that is begun or opened */
  constructor(
    folder: StoreFolder,
    profile: string,
    now: () => Date,
    random: () => number,
    opened = new Map<string, string>(),
  ) {
    this.#folder = folder.flows(profile);
    this.#interrupted = folder.interrupted;
    this.#flows = new FlowFolder(this.#folder);
    this.#index = new FlowIndex(this.#folder);
    this.#lookup = new FlowLookup(this.#flows, this.#index);
    this.#references = new ReferenceClaims(this.#folder);
    this.underWay = new FlowsUnderWay(this.#folder);
    this.#now = now;
    this.#random = random;
    this.#opened = opened;
  }

  /** Begins a transfer: its journal is on the disk then. @throws Psd2Error `config` when it can't be written */
  createTransfer(begin: Created<TransferEvent>): OpenTransfer {
    const { reference } = begin.order;
    return this.#create(TRANSFER, (flow) => ({ type: 'created', flow, ...begin }), reference);
  }

  /** As {@link createTransfer}. */
  createOperation(begin: Created<OperationEvent<GenericOrder>>): OpenOperation {
    return this.#create(OPERATION, (flow) => ({ type: 'created', flow, ...begin }));
  }

  /** As {@link createTransfer}. */
  createConsent(begin: Created<ConsentEvent>): OpenConsent {
    return this.#create(CONSENT, (flow) => ({ type: 'created', flow, ...begin }));
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openTransfer(reference: string): OpenTransfer {
    return this.#open(TRANSFER, reference);
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openOperation(reference: string): OpenOperation {
    return this.#open(OPERATION, reference);
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openConsent(reference: string): OpenConsent {
    return this.#open(CONSENT, reference);
  }

  /**
   * Newest first, each read when it is asked for.
   *
   * @param since nothing is read that was created earlier
   * @throws Psd2Error `config` for a damaged journal, unless `onDamaged` takes it
   */
  transfers(onDamaged?: OnDamaged, since?: Date): Generator<Transfer> {
    return this.#all(TRANSFER, onDamaged, since);
  }

  /** As {@link transfers}. */
  operations(onDamaged?: OnDamaged): Generator<GenericOperation> {
    return this.#all(OPERATION, onDamaged);
  }

  /** As {@link transfers}. */
  consents(onDamaged?: OnDamaged): Generator<Consent> {
    return this.#all(CONSENT, onDamaged);
  }

  /** As {@link FlowLookup.withReference}. */
  transfersWithReference(reference: string): ReferencedTransfer[] {
    return this.#lookup.withReference(reference);
  }

  /**
   * Takes a reference of the operator's for a transfer that was begun. Where several take it, the disk decides once.
   *
   * @param flow the transfer's id; its journal is on the disk
   * @returns the flow that has the reference: `flow`, or another that has not plainly failed
   * @throws Psd2Error `config`
   */
  takeReference(reference: string, flow: string): string {
    return this.#references.take(reference, flow, (holder) => {
      try {
        const found = this.#flows.read(TRANSFER, holder);
        return found === undefined || isPlainlyFailed(found.current);
      } catch (error) {
        // Its journal is damaged: it may have been paid.
        if (error instanceof Psd2Error) return false;
        throw error;
      }
    });
  }

  /**
   * What happened to a flow, in its order, as it is written.
   *
   * @param flow its local id
   * @returns null when there is no such flow
   * @throws Psd2Error `config` when its journal is damaged
   */
  history(flow: string): FlowMoment[] | null {
    if (!isFlowId(flow)) return null;
    return readFlowFile(this.#flows.pathOf(flow), momentEvent, collectMoments)?.current ?? null;
  }

  /**
   * One process of this profile at a time, for what must be looked up and written together.
   *
   * @throws Psd2Error `config` when another process is at it for too long
   */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(
      join(this.#folder, 'journal'),
      'The journal of the profile',
      work,
      10_000,
      this.#interrupted,
    );
  }

  /**
   * One process at a time works on a flow.
   *
   * @throws Psd2Error `config` when another process is at it
   */
  claimed<T>(flow: string, work: () => Promise<T>): Promise<T> {
    const claimedWork = async () => {
      this.underWay.begin(flow);
      const result = await work();
      this.underWay.end(flow);
      return result;
    };
    return withLock(this.#flows.pathOf(flow), flow, claimedWork, CLAIM_PATIENCE_MS, this.#interrupted);
  }

  /** The flows that other processes work on at this moment, and which processes. */
  async atWork(): Promise<{ flow: string; holder: string }[]> {
    const locked = listFolder(this.#folder).filter((file) => file.endsWith('.ndjson.lock'));
    const flows = locked.map((file) => basename(file, '.ndjson.lock'));
    const found = await Promise.all(
      flows.map(async (flow) => ({ flow, holder: await holderOf(this.#flows.pathOf(flow)) })),
    );
    return found.flatMap(({ flow, holder }) => (holder === undefined ? [] : [{ flow, holder }]));
  }

  #create<Flow extends Begun, Event>(
    kind: FlowKind<Flow, Event>,
    created: (flow: string) => Event,
    reference?: string | null,
  ): OpenFlow<Flow, Event> {
    makePrivateFolder(this.#folder);
    const now = this.#now();
    const flow = newFlowId(kind, now, this.#flows.newestFirst(kind)[0], this.#random);
    this.underWay.begin(flow);
    const event = created(flow);
    const at = now.toISOString();
    const by = newWriter();
    let known: KnownFile;
    try {
      if (reference !== undefined) this.#index.add({ flow, reference });
      known = createFlowFile(this.#flows.pathOf(flow), { at, by, event });
    } catch (error) {
      this.underWay.end(flow);
      throw error;
    }
    return this.#writable(kind, flow, { ...known, current: kind.apply(undefined, event, at) }, by);
  }

  #open<Flow extends Begun, Event>(kind: FlowKind<Flow, Event>, reference: string): OpenFlow<Flow, Event> {
    const isId = isFlowId(reference) && reference.startsWith(kind.prefix);
    const exact = isId ? this.#flows.read(kind, reference) : undefined;
    if (exact) return this.#writable(kind, reference, exact);

    const flow = this.#lookup.find(kind, reference);
    return this.#writable(kind, flow, this.#read(kind, flow));
  }

  #read<Flow, Event>(kind: FlowKind<Flow, Event>, flow: string): ReadFlow<Flow> {
    const read = this.#flows.read(kind, flow);
    if (!read) throw new TypeError(`The file of ${flow} is gone`);
    return read;
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
    this.#opened.set(current.transactionId, flow);
    let giveBack = () => {};
    return {
      get current() {
        return current;
      },
      record: (event) => {
        giveBack();
        const at = this.#now().toISOString();
        const next = kind.apply(current, event, at);
        const resourceId = kind.resourceIdOf(next);
        if (resourceId !== kind.resourceIdOf(current)) this.#index.add({ flow, resourceId });
        // What became of the money must find its place too.
        if (kind.isExecution(event)) giveBack = reserveSpace(this.#folder, OUTCOME_BYTES);
        known = appendToFlowFile(path, known, { at, by, event });
        current = next;
        return current;
      },
      assertOurs: () => assertNotOvertaken(path, known),
      reread: () => {
        const again = this.#read(kind, flow);
        known = again;
        current = again.current;
        return current;
      },
    };
  }

  *#all<Flow, Event>(kind: FlowKind<Flow, Event>, onDamaged?: OnDamaged, since?: Date): Generator<Flow> {
    for (const flow of this.#flows.newestFirst(kind)) {
      if (since && (createdAt(flow) ?? Number.POSITIVE_INFINITY) < since.getTime()) return;
      let read: ReadFlow<Flow> | undefined;
      try {
        read = this.#flows.read(kind, flow);
      } catch (damage) {
        if (!onDamaged || !(damage instanceof Psd2Error) || damage instanceof UnsafeFile) throw damage;
        onDamaged(damage, flow);
      }
      if (read) yield read.current;
    }
  }
}

/** Names who writes a line, so that no two processes write the same one. */
function newWriter(): string {
  return randomUUID().slice(0, 8);
}

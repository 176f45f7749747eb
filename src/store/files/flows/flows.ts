import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isOpen, isUntouched, type Progress } from '../../../domain/flow-states.ts';
import { Psd2Error } from '../../../errors.ts';
import { auditOf } from '../../audit/chain.ts';
import { listFolder, makePrivateFolder } from '../../disk/files.ts';
import { holderOf, withLock } from '../../disk/lock.ts';
import { reserveSpace } from '../../disk/reserve-space.ts';
import { collectMoments, momentEvent } from '../../flow/history.ts';
import { isFlowId, newFlowId } from '../../flow/ids.ts';
import { type FlowKind, KINDS, type KnownKind, kindOf } from '../../flow/kinds.ts';
import { type Stepping, stepsOf, withoutStep, withSteps } from '../../flow/steps.ts';
import type { Actor, Audit } from '../../ports/audit.ts';
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
import { FlowsAtRest, lineAtRest } from './at-rest.ts';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  FlowsUnderWay,
  type KnownFile,
  type ReadFlow,
  readFlowFile,
} from './file.ts';
import { listFlows } from './list.ts';
import { FlowFolder, FlowIndex, FlowLookup } from './lookup.ts';
import { FlowReferences, FlowResources, ReferenceClaims } from './references.ts';
import { FlowSteps } from './steps.ts';

/** A bit longer than it takes to see that another process is dead. */
const CLAIM_PATIENCE_MS = 8_000;
/** More time than a process needs to begin a flow. */
const BEGIN_PATIENCE_MS = 10_000;
/** More space than the outcome of an execution needs. It is appended to the journal, which needs no further name. */
const OUTCOME = { bytes: 8_192, names: 1 };

/** What the flows of a profile need from the program. */
export interface FlowsSetting {
  now: () => Date;
  /** Gives a number from 0 to 1. */
  random: () => number;
  /** The operator's Ctrl-C, which ends the wait for other processes. */
  interrupted?: AbortSignal | undefined;
  /** Refuses workers if the store was copied to another backend. The holder of a lock calls it. @throws Psd2Error `config` */
  assertHere?: (() => void) | undefined;
  /** Who works. Each event names them. */
  actor?: Actor | undefined;
  /** The audit log that says what people did. */
  audit?: Pick<Audit, 'append'> | undefined;
  /** Called with the first event of a flow, by the holder of a lock. @throws Psd2Error if none may begin with it */
  mayBegin?: ((first: unknown) => void) | undefined;
  /** Called with each flow that begins or is read, and with its `TPP-Transaction-ID`. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** For the bank, each flow is one transaction. */
type Begun = Progress &
  Stepping & { flow: string; transactionId: string; updatedAt: string; reached: boolean };

/**
 * The flows of one profile on the disk. Each flow is an append-only file, `<flow>.ndjson`, with one event per line, and is
 * the fold of its events. Ids begin with the time of creation, so file names sort in the order of creation.
 */
export class FileFlows implements Flows {
  readonly #folder: string;
  readonly #setting: FlowsSetting;
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;
  readonly #lookup: FlowLookup;
  readonly #resources: FlowResources;
  readonly #references: FlowReferences;
  readonly #underWay: FlowsUnderWay;
  readonly #atRest: FlowsAtRest;
  readonly #steps: FlowSteps;

  /** @param folder of the profile's journals */
  constructor(folder: string, setting: FlowsSetting) {
    this.#folder = folder;
    this.#setting = setting;
    this.#flows = new FlowFolder(folder);
    this.#index = new FlowIndex(folder);
    this.#lookup = new FlowLookup(this.#flows, this.#index);
    this.#resources = new FlowResources(this.#flows, this.#index);
    this.#references = new FlowReferences(this.#flows, this.#lookup, new ReferenceClaims(folder));
    this.#underWay = new FlowsUnderWay(folder);
    this.#atRest = new FlowsAtRest(folder);
    this.#steps = new FlowSteps(folder);
  }

  async begin<K extends Kind, T>(name: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T> {
    const kind: KnownKind<K> = KINDS[name];
    const open = await this.exclusively(async () => {
      const begun = await this.#create(kind, begin);
      await this.#references.take(kind, begun);
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
      const open = await this.#reopened<FlowOf<K>, EventOf<K>>(kind, flow);
      // The earlier process may have stopped before it took the reference. Another transfer may hold it now.
      if (isOpen(open.current)) await this.#references.take(kind, open);
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

  async *list<K extends Kind>(name: K, filter: Filter = {}): AsyncGenerator<FlowOf<K>> {
    yield* listFlows(this.#flows, this.#atRest, name, filter);
  }

  async history(flow: string): Promise<FlowMoment[] | null> {
    if (!isFlowId(flow)) return null;
    return readFlowFile(this.#flows.pathOf(flow), momentEvent, collectMoments)?.current ?? null;
  }

  async leftBehind(max: number, except?: string): Promise<LeftBehind> {
    const unread = this.#underWay.leftBehind();
    const flows: LeftBehind['flows'] = [];
    // Read only the flows that are returned: there may be thousands.
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
      if (flows.length === max) break;
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
    const holders = await Promise.all(
      flows.map(async (flow) => ({ flow, holder: await holderOf(this.#flows.pathOf(flow)) })),
    );
    return holders.flatMap(({ flow, holder }) => (holder === undefined ? [] : [{ flow, holder }]));
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
    const isThere = Object.values(KINDS).some((kind) => this.#flows.newestFirst(kind).length > 0);
    return isThere ? this.#folder : undefined;
  }

  /** Works on a flow, one process at a time. @throws Psd2Error `config` if another process works on it */
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

  /** @throws Psd2Error `duplicate_reference` or `config` before anything is written */
  async #create<Flow extends Begun, Event extends { type: string }, Beginning>(
    kind: FlowKind<Flow, Event, Beginning>,
    begin: Beginning,
  ): Promise<OpenFlow<Flow, Event>> {
    makePrivateFolder(this.#folder);
    const now = this.#setting.now();
    const flow = newFlowId(kind, now, this.#flows.newestFirst(kind)[0], this.#setting.random);
    const event = kind.created(flow, begin);
    this.#setting.mayBegin?.(event);
    const at = now.toISOString();
    const current = kind.apply(undefined, event, at);
    const order = kind.orderOf?.(current);
    if (order) this.#references.refuseUsed(order);
    await this.#audit(kind, current, event);
    this.#underWay.begin(flow);
    const by = newWriter();
    let journal: KnownFile;
    try {
      if (order) this.#index.add({ flow, reference: order.reference });
      journal = createFlowFile(this.#flows.pathOf(flow), { at, by, event: this.#named(event) });
    } catch (error) {
      this.#underWay.end(flow);
      throw error;
    }
    return this.#writable(kind, flow, { ...journal, current }, by);
  }

  #read<Flow, Event>(kind: FlowKind<Flow, Event>, flow: string): ReadFlow<Flow> {
    const read = this.#flows.read(kind, flow);
    if (!read) throw new TypeError(`The file of ${flow} is gone`);
    return read;
  }

  /** @returns undefined if the journal does not exist or cannot be read. Commands on that flow report why */
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

  /** Cancels a flow if nothing of it ever reached the bank. @returns whether it was cancelled */
  async #endUntouched<K extends Kind>(name: K, flow: string): Promise<boolean> {
    const kind: KnownKind<K> = KINDS[name];
    try {
      return await this.#claimed(flow, async () => {
        const open = await this.#reopened<FlowOf<K>, EventOf<K>>(kind, flow);
        if (!isUntouched(open.current)) return false;
        await open.record(kind.cancelled);
        return true;
      });
    } catch (error) {
      // Another psd2 has continued the flow, or the journal cannot be written.
      if (error instanceof Psd2Error) return false;
      throw error;
    }
  }

  /**
   * Opens a flow that this process did not begin. If its journal is older than the index, psd2 asks the bank what became of
   * the flow, and sends nothing again.
   *
   * @throws Psd2Error `config` if the journal does not show what to ask for
   */
  async #reopened<Flow extends Begun, Event extends { type: string }>(
    kind: FlowKind<Flow, Event>,
    flow: string,
  ): Promise<OpenFlow<Flow, Event>> {
    const open = this.#writable(kind, flow, this.#read(kind, flow));
    if (this.#resources.isSentUnnoticed(kind, open.current)) await open.record(kind.unanswered);
    return open;
  }

  #writable<Flow extends Begun, Event extends { type: string }>(
    kind: FlowKind<Flow, Event>,
    flow: string,
    read: ReadFlow<Flow>,
    by = newWriter(),
  ): OpenFlow<Flow, Event> {
    const path = this.#flows.pathOf(flow);
    let journal: KnownFile = read;
    let current = this.#stepping(read.current);
    this.#setting.onFlow?.(current.transactionId, flow);
    let giveBack = () => {};
    const append = (event: Event) => {
      const at = this.#setting.now().toISOString();
      const next = kind.apply(current, event, at);
      journal = appendToFlowFile(path, journal, { at, by, event: this.#named(event) });
      return next;
    };
    return {
      get current() {
        return current;
      },
      record: async (event) => {
        giveBack();
        const noted = this.#audit(kind, current, event);
        if (noted) await noted;
        this.#noteResource(kind, current, event);
        const held = this.#holdSteps(kind, current, event);
        if (held) await held;
        // There must be space for the outcome of the execution.
        if (kind.mayMoveMoney(event, current)) giveBack = reserveSpace(this.#folder, OUTCOME);
        // This process may have been stopped while the store was copied. A copy sets the mark before it reads, so either it has
        // copied this event, or the second look sees the mark.
        this.#setting.assertHere?.();
        const next = append(event);
        try {
          if (kind.isPointOfNoReturn(event, current)) this.#resources.announce(flow, kind.resourceIdOf(next));
        } catch (error) {
          // The request must not leave, and the journal should not say that it may have.
          giveBack();
          const notBegun = kind.notBegun(event);
          if (notBegun !== null) append(notBegun);
          throw error;
        }
        this.#setting.assertHere?.();
        current = next;
        this.#atRest.add([lineAtRest(kind, current, journal.size) ?? []].flat());
        return current;
      },
      assertOurs: async () => {
        this.#setting.assertHere?.();
        assertNotOvertaken(path, journal);
      },
      reread: async () => {
        const again = this.#read(kind, flow);
        journal = again;
        current = this.#stepping(again.current);
        return current;
      },
    };
  }

  /** A flow with what the bank has said for its customer's next step. */
  #stepping<Flow extends Begun>(flow: Flow): Flow {
    const held = stepsOf(flow) && this.#steps.of(flow.flow);
    return held ? withSteps(flow, held) : flow;
  }

  /** Holds before an event what the journal does not have of it, and drops it before the event with which it is over. */
  #holdSteps<Flow extends Begun, Event>(
    kind: FlowKind<Flow, Event>,
    current: Flow,
    event: Event,
  ): Promise<void> | undefined {
    const next = stepsOf(kind.apply(current, event, current.updatedAt));
    return isDeepStrictEqual(next, stepsOf(current)) ? undefined : this.#steps.hold(current.flow, next);
  }

  /** The event as the journal has it, with who causes it. */
  #named(event: object): object {
    return { ...withoutStep(event), ...this.#setting.actor };
  }

  /** Says in the audit log what somebody is about to do. A process that is killed now has said too much, never too little. */
  #audit<Flow extends { flow: string }>(
    { customerIdOf }: { customerIdOf: (flow: Flow) => string },
    current: Flow,
    event: { type: string },
  ): Promise<void> | undefined {
    const kind = kindOf(current.flow);
    const entry = kind && auditOf(kind, current.flow, customerIdOf(current), event);
    return entry && this.#setting.audit?.append(entry);
  }

  /** Makes durable what the index must know before the journal has an event. @throws Psd2Error `bank_answer`, `config` */
  #noteResource<Flow extends Begun, Event>(kind: FlowKind<Flow, Event>, current: Flow, event: Event): void {
    const next = kind.resourceIdOf(kind.apply(current, event, current.updatedAt));
    if (kind.revokesAnnouncement(event, current)) this.#resources.revoke(current.flow);
    if (next === kind.resourceIdOf(current)) return;
    if (next === null) this.#resources.drop(current.flow);
    else this.#resources.take(current.flow, next);
  }
}

/** A name for the writer of lines, so that no two processes write the same line. */
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

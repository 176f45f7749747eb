import type { Consent, ConsentEvent } from '../../domain/consent.ts';
import type { GenericOrder, Operation, OperationEvent } from '../../domain/operation.ts';
import type { Transfer, TransferEvent } from '../../domain/transfer.ts';
import type { Psd2Error } from '../../errors.ts';

export type GenericOperation = Operation<GenericOrder>;

/** The kinds of flow: what each is, and what happens to it. */
export interface Kinds {
  transfer: { flow: Transfer; event: TransferEvent };
  operation: { flow: GenericOperation; event: OperationEvent<GenericOrder> };
  consent: { flow: Consent; event: ConsentEvent };
}
export type Kind = keyof Kinds;
export type FlowOf<K extends Kind> = Kinds[K]['flow'];
export type EventOf<K extends Kind> = Kinds[K]['event'];

/** What a flow begins with, but for the id that the store gives it. */
export type Begin<K extends Kind> = Omit<Extract<EventOf<K>, { type: 'created' }>, 'type' | 'flow'>;

/** A flow that this worker works on. */
export interface OpenFlow<Flow, Event> {
  /** As this worker knows it. */
  readonly current: Flow;
  /**
   * Makes an event durable and applies it: when the promise is kept, it outlives a power cut. Of two workers that write the
   * next event of a flow, the store lets one. Before an event that announces that money is about to move, it is certain
   * that there is room for what comes of it.
   *
   * @returns the flow after it
   * @throws Psd2Error `config` when it can't be written, or that can't be told: then it counts as not happened, and what it
   *   was to announce must not begin; `overtaken` when another worker has gone on with the flow
   */
  record(event: Event): Promise<Flow>;
  /** Makes sure that no other worker has gone on with the flow. @throws Psd2Error `overtaken` */
  assertOurs(): Promise<void>;
  /** Reads the flow again, to go on from what another worker has made of it; also one that was overtaken may write then. */
  reread(): Promise<Flow>;
}

/** A flow of some kind that this worker works on. */
export type Open<K extends Kind> = OpenFlow<FlowOf<K>, EventOf<K>>;

/** Which flows are wanted. */
export interface Filter {
  /** Nothing is read that was created earlier. */
  since?: Date | undefined;
  /** Takes a flow that can't be read, in its place; without it, that is thrown. */
  onDamaged?: ((damage: Psd2Error, flow: string) => void) | undefined;
}

/**
 * The flows of one profile: each is the fold of its events, in the order in which they were made durable. Local ids are in
 * the order of creation.
 */
export interface Flows {
  /**
   * Begins a flow, and works on it. The flow and its reference are one step: when `work` begins, the flow is durable, and a
   * reference that it has is its own, as `comparableReference` compares them. A reference is free again when the flow that
   * had it has plainly failed.
   *
   * @throws Psd2Error `duplicate_reference` naming the flow that has the reference: then nothing may be sent; what `work`
   *   throws
   */
  begin<K extends Kind, T>(kind: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * Works on a flow, one worker at a time; one that shows no sign of life for some seconds is taken over from. The flow is
   * read after that. One whose money was not asked for yet takes its reference again: its worker may have been stopped
   * before it had it.
   *
   * A flow whose work throws, or whose worker dies, is left behind ({@link leftBehind}); one whose work returns is as far as
   * the operator wanted it.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`, `config` when another worker is at it, `duplicate_reference` as {@link begin}; what
   *   `work` throws
   */
  resume<K extends Kind, T>(kind: K, reference: string, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * A flow as it stands.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`; where something could not be looked at, it says so. `config` when it is damaged
   */
  find<K extends Kind>(kind: K, reference: string): Promise<FlowOf<K>>;
  /** Newest first, each read when it is asked for. @throws Psd2Error `config` for one that is damaged, unless that is taken */
  list<K extends Kind>(kind: K, filter?: Filter): AsyncIterable<FlowOf<K>>;
  /**
   * What happened to a flow, in its order, as it was written.
   *
   * @param flow its local id
   * @returns null when there is no such flow
   * @throws Psd2Error `config` when it is damaged
   */
  history(flow: string): Promise<FlowMoment[] | null>;
  /**
   * The flows that no worker works on and that have not come to their end, newest first. What nobody took up for a week is
   * not told of any more. One of which nothing ever reached the bank is ended here. Where it can't be told, it is none.
   *
   * @param most how many are read
   * @param except the flow that a command is about, as the operator named it
   */
  leftBehind(most: number, except?: string): Promise<LeftBehind>;
  /** The flows that other workers work on at this moment, and which workers. */
  atWork(): Promise<{ flow: string; holder: string }[]>;
  /**
   * No flow of the profile begins while `work` runs.
   *
   * @throws Psd2Error `config` when another worker is at it for too long
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Where the record of the flows is, for the operator; undefined where there is none. */
  recordedIn(): Promise<string | undefined>;
}

/** Something that happened to a flow. */
export interface FlowMoment {
  /** ISO 8601 with zone. */
  at: string;
  type: string;
  /** What the bank called it, where it did; or what a person said. */
  detail: string | null;
}

export interface LeftBehind {
  flows: { kind: Kind; flow: string; state: string; resourceId: string | null }[];
  /** How many there may be besides: not all of them are read. */
  more: number;
}

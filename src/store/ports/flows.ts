import type { Consent, ConsentEvent } from '../../domain/consent.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { FlowState } from '../../domain/flow-states.ts';
import type { GenericOrder, Operation, OperationEvent } from '../../domain/operation.ts';
import type { Transfer, TransferEvent } from '../../domain/transfer.ts';
import type { Psd2Error } from '../../errors.ts';

export type GenericOperation = Operation<GenericOrder>;

/** The kinds of flow, each with its state and its events. */
interface Kinds {
  transfer: { flow: Transfer; event: TransferEvent };
  operation: { flow: GenericOperation; event: OperationEvent<GenericOrder> };
  consent: { flow: Consent; event: ConsentEvent };
}
export type Kind = keyof Kinds;
/** The compiler lets code for any kind record only events that every kind has: `Kinds[K]['event']` would allow it each of them. */
type Events = { [K in Kind]: Kinds[K]['event'] };
export type FlowOf<K extends Kind> = Kinds[K]['flow'];
export type EventOf<K extends Kind> = Events[K];

/** The first event of a flow, without the id that the store assigns. */
export type Begin<K extends Kind> = Omit<Extract<EventOf<K>, { type: 'created' }>, 'type' | 'flow'>;

/** A flow that this worker works on. */
export interface OpenFlow<Flow, Event> {
  /** The flow as this worker knows it. */
  readonly current: Flow;
  /**
   * Makes an event durable and applies it. Once the promise resolves, the event survives a power cut. If two workers write
   * the next event of a flow, only one succeeds. Before an event that announces an execution, the store makes sure that it
   * can also record the outcome.
   *
   * @returns the flow after the event
   * @throws Psd2Error `config` if the event could not be written, or it is unclear whether it was. It counts as not written
   *   then, and the caller must not do what it announces. `overtaken` if another worker has continued the flow
   */
  record(event: Event): Promise<Flow>;
  /** Checks that no other worker has continued the flow. @throws Psd2Error `overtaken` */
  assertOurs(): Promise<void>;
  /** Reads the flow again, with the events of other workers. Afterwards even an overtaken worker may write. */
  reread(): Promise<Flow>;
}

/** A flow of some kind that this worker works on. */
export type Open<K extends Kind> = OpenFlow<FlowOf<K>, EventOf<K>>;

/** What the order of a transfer must have (`hasOrder`). */
export interface OrderFilter {
  /** A part of the payee's name or IBAN, in any case. */
  payee?: string | undefined;
  /** The amount, whatever zeros it ends with. */
  amount?: Decimal | undefined;
  /** The operator's own reference, compared by `comparableReference`. */
  reference?: string | undefined;
}

/** Which flows to list. */
export interface Filter {
  /** Skips flows that were created earlier. */
  since?: Date | undefined;
  /** Skips flows that were created at this time or later. */
  until?: Date | undefined;
  /** Skips flows that surely are of another customer. A backend may list others too, here and in {@link Filter.order}. */
  customer?: string | undefined;
  /** Skips transfers that surely have other orders. */
  order?: OrderFilter | undefined;
  /** Skips flows that surely are in other states. A backend may list others too. */
  states?: readonly FlowState[] | undefined;
  /** Skips flows that surely need no person (`needsAttention`). A backend may list others too. */
  attention?: boolean | undefined;
  /** Called for each flow that cannot be read. Without it, the list throws. */
  onDamaged?: ((damage: Psd2Error, flow: string) => void) | undefined;
}

/**
 * The flows of one profile. A flow is the fold of its events, in the order in which they became durable. Local ids sort in
 * the order of creation.
 */
export interface Flows {
  /**
   * Begins a flow and works on it. The store saves the flow and its reference in one step: when `work` begins, the flow is
   * durable and no other flow holds its reference (compared by `comparableReference`). A reference becomes free again when
   * its flow has definitely failed.
   *
   * @throws Psd2Error `duplicate_reference` that names the flow with the reference. psd2 must send nothing then. Also what
   *   `work` throws
   */
  begin<K extends Kind, T>(kind: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * Works on a flow, one worker at a time. It takes the flow over from a worker that does not respond for some seconds,
   * and reads the flow after that. If the flow has not sent `execute` yet, it claims its reference again, because the earlier
   * worker may have stopped before it had claimed it.
   *
   * If `work` throws or the worker dies, the flow is left behind ({@link leftBehind}). If `work` returns, the flow is as far
   * as the operator wanted.
   *
   * @param reference local id, resource id, or an unambiguous prefix of either
   * @throws Psd2Error `flow_not_found`, `config` if another worker has claimed it, `duplicate_reference` as {@link begin}.
   *   Also what `work` throws
   */
  resume<K extends Kind, T>(kind: K, reference: string, work: (open: Open<K>) => Promise<T>): Promise<T>;
  /**
   * Finds a flow and reads its current state.
   *
   * @param reference local id, resource id, an unambiguous prefix of either, or the whole reference of a transfer. Of several
   *   transfers with that reference, the one that holds it, else the newest
   * @throws Psd2Error `flow_not_found`, which says whether some flows could not be searched; `config` if the flow is damaged
   */
  find<K extends Kind>(kind: K, reference: string): Promise<FlowOf<K>>;
  /** Lists flows, newest first. Reads each one on demand. @throws Psd2Error `config` for a damaged flow, without `onDamaged` */
  list<K extends Kind>(kind: K, filter?: Filter): AsyncIterable<FlowOf<K>>;
  /**
   * The events of a flow in their order, as they were written.
   *
   * @param flow its local id
   * @returns null if the flow does not exist
   * @throws Psd2Error `config` if it is damaged
   */
  history(flow: string): Promise<FlowMoment[] | null>;
  /**
   * The unfinished flows that no worker has claimed, newest first. It leaves out flows that nobody has resumed for a week and
   * flows that cannot be read. If nothing of a flow ever reached the bank, it cancels the flow here.
   *
   * @param max maximum number of flows to read
   * @param except the flow that the command is about, as the operator named it
   */
  leftBehind(max: number, except?: string): Promise<LeftBehind>;
  /** The flows that other workers work on now, and those workers. */
  atWork(): Promise<{ flow: string; holder: string }[]>;
  /**
   * Lets no flow of the profile begin while `work` runs.
   *
   * @throws Psd2Error `config` if another worker prevents this for too long
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Where the journals are, for the operator. Undefined if there are none. */
  recordedIn(): Promise<string | undefined>;
}

/** Something that happened to a flow. */
export interface FlowMoment {
  /** ISO 8601 with zone. */
  at: string;
  type: string;
  /** The bank's word for it, or what a person said about it. */
  detail: string | null;
}

export interface LeftBehind {
  flows: { kind: Kind; flow: string; state: string; resourceId: string | null }[];
  /** How many more there may be, which were not read. */
  more: number;
}

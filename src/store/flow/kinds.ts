import type * as z from 'zod/mini';
import { applyConsentEvent, nextConsentStep } from '../../domain/consent.ts';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import { applyOperationEvent, nextOperationStep } from '../../domain/operation.ts';
import { applyTransferEvent, needsSettlement, type TransferOrder } from '../../domain/transfer.ts';
import type { Begin, EventOf, FlowOf, GenericOperation, Kind } from '../ports/flows.ts';
import { consentEvent, genericEvent, transferEvent } from './events.ts';
import { PREFIXES } from './ids.ts';

/** The flow after one more event. @throws TypeError if that event cannot be the next one */
export type Fold<Flow, Event> = (flow: Flow | undefined, event: Event, at: string) => Flow;

/** What a home must know about a kind of flow. */
export interface FlowKind<Flow, Event, Beginning = never> {
  /** The prefix of the ids. */
  prefix: string;
  /** Parses an event. */
  schema: z.ZodMiniType<Event>;
  /** The first event. */
  created(flow: string, begin: Beginning): Event;
  apply: Fold<Flow, Event>;
  resourceIdOf(flow: Flow): string | null;
  /** Whether the bank can add nothing more to the flow, for example a resource id. */
  isEnded(flow: Flow): boolean;
  /** Whether no step is left to do. */
  isAtEnd(flow: Flow): boolean;
  /** Whether the event announces that money is about to move. */
  isExecution(event: Event): boolean;
  /** Whether the event announces the request that cannot be undone: `execute`, for a consent `confirm`. */
  isLastCall(event: Event): boolean;
  /** Whether the event says that this request never left. It may be sent again then. */
  isNotBegun(event: Event): boolean;
  /** The event that says so. */
  notBegun: Event;
  /** The event after which psd2 asks the bank what became of this request, and sends nothing again. */
  unanswered: Event;
  /** The event that cancels the flow. */
  cancelled: Event;
  /** The order that has the operator's own reference. Null for a kind that has no references. */
  orderOf: ((flow: Flow) => TransferOrder) | null;
}

/** The {@link FlowKind} of the kind with this name. */
export type KnownKind<K extends Kind> = FlowKind<FlowOf<K>, EventOf<K>, Begin<K>>;

const operationKind = {
  resourceIdOf: ({ verification }: Pick<GenericOperation, 'verification'>) =>
    verification?.resourceId ?? null,
  isEnded: isPlainlyFailed,
  isExecution: ({ type }: { type: string }) => type === 'execute-sent',
  isLastCall: ({ type }: { type: string }) => type === 'execute-sent',
  isNotBegun: ({ type }: { type: string }) => type === 'execute-not-begun',
  notBegun: { type: 'execute-not-begun' },
  unanswered: { type: 'execute-unanswered' },
} as const;

export const KINDS: { [K in Kind]: KnownKind<K> } = {
  transfer: {
    ...operationKind,
    prefix: PREFIXES.transfer,
    schema: transferEvent,
    created: (flow, begin) => ({ type: 'created', flow, ...begin }),
    apply: applyTransferEvent,
    isAtEnd: (transfer) => nextOperationStep(transfer, needsSettlement(transfer.order)) === 'done',
    cancelled: { type: 'cancelled' },
    orderOf: ({ order }) => order,
  },
  operation: {
    ...operationKind,
    prefix: PREFIXES.operation,
    schema: genericEvent,
    created: (flow, begin) => ({ type: 'created', flow, ...begin }),
    apply: (operation, event, at) => applyOperationEvent('operation', operation, event, at),
    isAtEnd: (operation) => nextOperationStep(operation, false) === 'done',
    cancelled: { type: 'cancelled' },
    orderOf: null,
  },
  consent: {
    prefix: PREFIXES.consent,
    schema: consentEvent,
    created: (flow, begin) => ({ type: 'created', flow, ...begin }),
    apply: applyConsentEvent,
    resourceIdOf: ({ resourceId }) => resourceId,
    isEnded: isPlainlyFailed,
    isAtEnd: (consent) => nextConsentStep(consent) === 'done',
    isExecution: () => false,
    isLastCall: ({ type }) => type === 'confirm-sent',
    isNotBegun: ({ type }) => type === 'confirm-not-begun',
    notBegun: { type: 'confirm-not-begun' },
    unanswered: { type: 'confirm-unanswered' },
    cancelled: { type: 'cancelled' },
    orderOf: null,
  },
};

/** The kind of a flow, read from its id. Undefined if the text is not an id. */
export function kindOf(flow: string): Kind | undefined {
  const kinds = ['transfer', 'operation', 'consent'] as const;
  return kinds.find((kind) => flow.startsWith(PREFIXES[kind]));
}

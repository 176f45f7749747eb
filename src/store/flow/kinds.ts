import type * as z from 'zod/mini';
import { applyConsentEvent, nextConsentStep } from '../../domain/consent.ts';
import { consentEvent, genericEvent, transferEvent } from '../../domain/events.ts';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import { applyOperationEvent, type Commits } from '../../domain/operation.ts';
import { applyTransferEvent, needsSettlement, type TransferOrder } from '../../domain/transfer.ts';
import type { Begin, EventOf, FlowOf, GenericOperation, Kind } from '../ports/flows.ts';
import { PREFIXES } from './ids.ts';

/** The flow after one more event. @throws TypeError if that event cannot be the next one */
export type Fold<Flow, Event> = (flow: Flow | undefined, event: Event, at: string) => Flow;

/** What a backend must know about a kind of flow. */
export interface FlowKind<Flow, Event, Beginning = never> {
  /** The prefix of the ids. */
  prefix: string;
  /** Parses an event. */
  schema: z.ZodMiniType<Event>;
  /** The first event. */
  created(flow: string, begin: Beginning): Event;
  apply: Fold<Flow, Event>;
  resourceIdOf(flow: Flow): string | null;
  customerIdOf(flow: Flow): string;
  /** Whether the bank can add nothing more to the flow, for example a resource id. */
  isEnded(flow: Flow): boolean;
  /** Whether no step is left to do. */
  isAtEnd(flow: Flow): boolean;
  /** Whether the next event of a flow announces that money is about to move, or may from then on. */
  mayMoveMoney(event: Event, flow: Flow): boolean;
  /**
   * Whether the next event of a flow announces what cannot be undone: `execute`, for a consent `confirm`. If the customer
   * commits: the initiation, and what gives the customer the link.
   */
  isPointOfNoReturn(event: Event, flow: Flow): boolean;
  /**
   * Whether the next event of a flow says that this request never left, so that it may be sent again, or that its answer brings
   * nothing about yet: the bank's answer to an initiation, before the customer has the link. Or it gives up an
   * initiation, because nobody has the link.
   */
  revokesAnnouncement(event: Event, flow: Flow): boolean;
  /**
   * The event that says so after the announcement. Null if an earlier one of the flow may have had an effect: then the
   * announcement stays, and psd2 asks the bank.
   */
  notBegun(announced: Event): Event | null;
  /** The event after which psd2 asks the bank what became of the flow, and sends nothing again. */
  unanswered: Event;
  /** The event that cancels the flow. */
  cancelled: Event;
  /** The order that has the operator's own reference. Null for a kind that has no references. */
  orderOf: ((flow: Flow) => TransferOrder) | null;
}

/** The {@link FlowKind} of the kind with this name. */
export type KnownKind<K extends Kind> = FlowKind<FlowOf<K>, EventOf<K>, Begin<K>>;

/** For each way to commit: the events that announce what cannot be undone, and those that revoke it. */
const ANNOUNCEMENTS: Record<Commits, Record<'last' | 'notBegun', readonly string[]>> = {
  'on execute': { last: ['execute-sent'], notBegun: ['execute-not-begun'] },
  'by the customer': {
    last: ['verify-sent', 'approach-sent', 'sca-started', 'bulk-joined'],
    notBegun: ['verify-not-begun', 'verified', 'initiate-again', 'bulk-left'],
  },
};

const isPointOfNoReturn = ({ type }: { type: string }, { commits }: { commits: Commits }): boolean =>
  ANNOUNCEMENTS[commits].last.includes(type);

const operationKind = {
  customerIdOf: ({ order }: { order: { customerId: string } }) => order.customerId,
  resourceIdOf: ({ verification }: Pick<GenericOperation, 'verification'>) =>
    verification?.resourceId ?? null,
  isEnded: isPlainlyFailed,
  mayMoveMoney: isPointOfNoReturn,
  isPointOfNoReturn,
  revokesAnnouncement: ({ type }: { type: string }, { commits }: { commits: Commits }) =>
    ANNOUNCEMENTS[commits].notBegun.includes(type),
  notBegun: ({ type }: { type: string }) => {
    if (type === 'execute-sent') return { type: 'execute-not-begun' } as const;
    return type === 'verify-sent' ? ({ type: 'verify-not-begun' } as const) : null;
  },
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
    customerIdOf: ({ customerId }) => customerId,
    isEnded: isPlainlyFailed,
    isAtEnd: (consent) => nextConsentStep(consent) === 'done',
    mayMoveMoney: () => false,
    isPointOfNoReturn: ({ type }) => type === 'confirm-sent',
    revokesAnnouncement: ({ type }) => type === 'confirm-not-begun',
    notBegun: () => ({ type: 'confirm-not-begun' }),
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

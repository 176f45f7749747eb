import type * as z from 'zod/mini';
import { applyConsentEvent, type Consent, type ConsentEvent } from '../../domain/consent.ts';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import {
  applyOperationEvent,
  type GenericOrder,
  type Operation,
  type OperationEvent,
} from '../../domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../domain/transfer.ts';
import type { Fold } from '../files/flow-file.ts';
import { consentEvent, genericEvent, transferEvent } from './events.ts';

export type GenericOperation = Operation<GenericOrder>;

/** What the journal has to know of a kind of flow. */
export interface FlowKind<Flow, Event> {
  /** The beginning of the ids. */
  prefix: string;
  schema: z.ZodMiniType<Event>;
  apply: Fold<Flow, Event>;
  resourceIdOf(flow: Flow): string | null;
  /** Whether it will never have more of the bank's than it has. */
  isEnded(flow: Flow): boolean;
  /** Whether the event announces that money is about to move. */
  isExecution(event: Event): boolean;
}

const operationKind = {
  resourceIdOf: ({ verification }: Pick<GenericOperation, 'verification'>) =>
    verification?.resourceId ?? null,
  isEnded: isPlainlyFailed,
  isExecution: ({ type }: { type: string }) => type === 'execute-sent',
};
export const TRANSFER: FlowKind<Transfer, TransferEvent> = {
  prefix: 'tr-',
  schema: transferEvent,
  apply: applyTransferEvent,
  ...operationKind,
};
export const OPERATION: FlowKind<GenericOperation, OperationEvent<GenericOrder>> = {
  prefix: 'op-',
  schema: genericEvent,
  apply: (operation, event, at) => applyOperationEvent('operation', operation, event, at),
  ...operationKind,
};
export const CONSENT: FlowKind<Consent, ConsentEvent> = {
  prefix: 'co-',
  schema: consentEvent,
  apply: applyConsentEvent,
  resourceIdOf: ({ resourceId }) => resourceId,
  isEnded: isPlainlyFailed,
  isExecution: () => false,
};

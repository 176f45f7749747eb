import type * as z from 'zod/mini';
import type { certificateName, consentEvent, resolved } from './events.ts';

/** A person resolved a flow (command contract, "A person can end an unknown"). */
export type ResolvedEvent = z.infer<typeof resolved>;

/** The outcomes that a person can give to a flow, if the bank does not give one. */
export type ResolvedOutcome = ResolvedEvent['outcome'];

/** A certificate, as a flow names the one that it was begun with. */
export type CertificateName = z.infer<typeof certificateName>;

/** How a person resolved a flow. `at`: ISO 8601 with zone. */
export type Resolution = Omit<ResolvedEvent, 'type'> & { at: string };

/** @param at when the person resolved it, ISO 8601 with zone */
export function resolutionOf({ outcome, by, note }: ResolvedEvent, at: string): Resolution {
  return { outcome, by, at, note };
}

/** The fields of a flow of every kind. */
export interface AnyFlow<State extends string> {
  flow: string;
  /** `TPP-Transaction-ID` of every call of this flow. */
  transactionId: string;
  state: State;
  /** A request has reached the bank, or may have. */
  reached: boolean;
  /** As `Progress.refusedUnconfirmed` of the flow states: the bank refused the last call, and its status does not show the outcome. */
  refusedUnconfirmed: boolean;
  /** The outcome that a person gave, because the bank did not. */
  resolution: Resolution | null;
  createdAt: string;
  updatedAt: string;
}

type Begun = Pick<Extract<z.infer<typeof consentEvent>, { type: 'created' }>, 'flow' | 'transactionId'>;

/** These fields after the first event. @throws TypeError if the flow has already begun */
export function beginning(earlier: object | undefined, { flow, transactionId }: Begun, at: string) {
  if (earlier) throw new TypeError('A flow begins once');
  return {
    flow,
    transactionId,
    state: 'created' as const,
    reached: false,
    refusedUnconfirmed: false,
    resolution: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** A flow that has begun. @throws TypeError if it has not */
export function begun<Flow>(flow: Flow | undefined, { type }: { type: string }): Flow {
  if (!flow) throw new TypeError(`A flow cannot begin with ${type}`);
  return flow;
}

import type { ConsentState } from './consent.ts';
import type { OperationState } from './operation.ts';

/** The states of every kind of flow. */
export type FlowState = OperationState | ConsentState;

/**
 * How far a flow is:
 *
 * - `open`: nothing was sent that can't be taken back. It can be gone on with, and given up.
 * - `sent`: `execute` (of a consent `confirm`) was sent, and its outcome is not known.
 * - `done`: executed, of a consent confirmed.
 * - `refused`: it plainly did nothing and never will.
 */
export type Standing = 'open' | 'sent' | 'done' | 'refused';

const STANDINGS: Readonly<Record<FlowState, Standing>> = {
  created: 'open',
  verified: 'open',
  requested: 'open',
  authorizing: 'open',
  authorized: 'open',
  executing: 'sent',
  confirming: 'sent',
  unknown: 'sent',
  executed: 'done',
  settled: 'done',
  confirmed: 'done',
  failed: 'refused',
  rejected: 'refused',
  expired: 'refused',
  cancelled: 'refused',
};

/** How far a flow in this state is. The one place that says which states are open, ended, paid, refused. */
export function standingOf({ state }: { state: FlowState }): Standing {
  return STANDINGS[state];
}

/** Whether a flow plainly did nothing and never will, so that its reference may be used again. */
export function isPlainlyFailed(flow: { state: FlowState }): boolean {
  return standingOf(flow) === 'refused';
}

/** Whether a flow can still be given up: neither `execute` nor `confirm` was sent. */
export function isOpen(flow: { state: FlowState }): boolean {
  return standingOf(flow) === 'open';
}

/** Whether nothing of a flow has ever reached the bank, so that there is nothing to go on with. */
export function isUntouched({ state, reached }: { state: FlowState; reached: boolean }): boolean {
  return state === 'created' && !reached;
}

/** Whether nothing more can become of a flow, whatever the bank says. An instant transfer that is executed may still fail. */
export function isOver({ state }: { state: FlowState }): boolean {
  const standing = STANDINGS[state];
  return standing === 'refused' || (standing === 'done' && state !== 'executed');
}

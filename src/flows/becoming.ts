import type { StepEvent } from '../domain/operation.ts';
import type { Transfer } from '../domain/transfer.ts';

/** The event that brings a transfer into a state. Empty if it is in it already. */
export function becoming({ state }: Transfer, wanted: Transfer['state'], event: StepEvent): StepEvent[] {
  return state === wanted ? [] : [event];
}

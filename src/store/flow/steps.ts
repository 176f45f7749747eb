import * as z from 'zod/mini';
import type { EmbeddedStep } from '../../domain/embedded.ts';
import { scaStep } from '../../domain/events.ts';
import { type FlowState, isOver } from '../../domain/flow-states.ts';
import { isRecord } from '../../domain/json.ts';
import type { HeldSteps } from '../ports/copy.ts';

// What a bank has said for the step that the customer takes next (embedded SCA): methods, the chosen one, the challenge with its picture, and
// the link. Nobody can ask the bank for it again, so a store keeps it until the authorisation is over. A journal is for good, and never has it.

/** What is held of a flow, as it is stored: for its own authorisation, and for that of its cancellation. */
export const heldSteps = z.object({
  links: z.exactOptional(scaStep),
  cancellationLinks: z.exactOptional(scaStep),
});

/** A flow whose links may have a step. */
export interface Stepping {
  state: FlowState;
  links: { step?: EmbeddedStep } | null;
  cancellationLinks?: Stepping['links'];
}

/** The customer's part is over. */
const AUTHORISED: readonly FlowState[] = ['authorized', 'executed', 'ordered'];

/** What a store holds of a flow as it is now. Null: nothing. */
export function stepsOf({ state, links, cancellationLinks }: Stepping): HeldSteps | null {
  if (isOver({ state })) return null;
  const own = AUTHORISED.includes(state) ? undefined : links?.step;
  const cancelling = cancellationLinks?.step;
  if (!own && !cancelling) return null;
  return { ...(own && { links: own }), ...(cancelling && { cancellationLinks: cancelling }) };
}

/** A flow as its journal has it, with what is held. A step that the journal does not know, or no more, is left out. */
export function withSteps<Flow extends Stepping>(flow: Flow, held: HeldSteps): Flow {
  return {
    ...flow,
    links: stepped(flow.links, held.links),
    ...(flow.cancellationLinks && {
      cancellationLinks: stepped(flow.cancellationLinks, held.cancellationLinks),
    }),
  };
}

function stepped(links: Stepping['links'], step: EmbeddedStep | undefined): Stepping['links'] {
  return links?.step && links.step.next === step?.next ? { ...links, step } : links;
}

/** An event as a journal keeps it: of a step, only what it is. */
export function withoutStep(event: object): object {
  const links: unknown = Reflect.get(event, 'links');
  if (!isRecord(links) || !isRecord(links.step)) return event;
  return { ...event, links: { ...links, step: { next: links.step.next } } };
}

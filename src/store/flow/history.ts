import * as z from 'zod/mini';
import type { FlowMoment } from '../ports/flows.ts';

/** What is told of an event, whatever its kind is. */
export const momentEvent = z.object({
  type: z.string(),
  bankStatus: z.optional(z.string()),
  status: z.optional(z.string()),
  description: z.nullish(z.string()),
  outcome: z.optional(z.string()),
  by: z.optional(z.string()),
  note: z.nullish(z.string()),
});

/** The history of a flow after one more event. */
export function collectMoments(
  moments: FlowMoment[] | undefined,
  { type, ...told }: z.infer<typeof momentEvent>,
  at: string,
): FlowMoment[] {
  const said = told.outcome && (told.by ? `${told.outcome}, by ${told.by}` : told.outcome);
  const parts = [told.bankStatus ?? told.status ?? said, told.description ?? told.note];
  const detail = parts.filter(Boolean).join(': ') || null;
  return [...(moments ?? []), { at, type, detail }];
}

import * as z from 'zod/mini';
import type { FlowMoment } from '../ports/flows.ts';

/** The fields that the history of a flow shows of an event, whatever its kind. */
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
  { type, ...fields }: z.infer<typeof momentEvent>,
  at: string,
): FlowMoment[] {
  const resolved = fields.outcome && (fields.by ? `${fields.outcome}, by ${fields.by}` : fields.outcome);
  const parts = [fields.bankStatus ?? fields.status ?? resolved, fields.description ?? fields.note];
  const detail = parts.filter(Boolean).join(': ') || null;
  return [...(moments ?? []), { at, type, detail }];
}

import * as z from 'zod/mini';
import { customerIn } from '../../domain/pseudonymised.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowMoment } from '../ports/flows.ts';
import type { IsForgotten } from '../ports/personal.ts';

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

/**
 * Refuses a flow of a forgotten customer, whom only a command knows that was stopped meanwhile.
 *
 * @param event the first one of the flow
 * @throws Psd2Error `overtaken`
 */
export function refuseForgotten(profile: string, event: unknown, isForgotten: IsForgotten | undefined): void {
  const customerId = customerIn(event);
  if (customerId === undefined || !isForgotten?.(profile, customerId)) return;
  throw new Psd2Error('overtaken', `psd2 has forgotten customer ${customerId} since this command began`, {
    hint: 'psd2 has begun nothing and sent nothing.',
  });
}

import * as z from 'zod/mini';
import { oneOf, orNull, text, time } from '../shared/fields.ts';

/** The first fields of a flow of any kind. */
export const flowBegins = <Kind extends string, State extends string>(
  kind: Kind,
  states: readonly State[],
) => ({
  flow: text('local id; other commands take it, or the beginning of it'),
  kind: z.literal(kind),
  state: oneOf(states, 'state of the flow'),
  resourceId: orNull(text("the bank's id, once it has one")),
  transactionId: text('TPP-Transaction-ID of its calls'),
  customerId: text('customer for whom psd2 acts'),
});

/** The last fields of a flow of any kind. */
export const flowEnds = () => ({
  resolution: orNull(
    z
      .object({
        outcome: oneOf(['executed', 'not-executed'], 'outcome that the person recorded'),
        by: text('who recorded it: user@host'),
        at: time('when'),
        note: orNull(text("the person's own words")),
      })
      .check(z.describe('how a person ended the flow, if one did')),
  ),
  createdAt: time('when it began'),
  updatedAt: time('when its state last changed'),
});

/** The bank's status of an operation. */
export const executionFields = () => ({
  authorizationStatus: orNull(
    text("the bank's word: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value"),
  ),
  executionStatus: orNull(text("the bank's word: OK, KO, PENDING")),
  executionStatusDescription: orNull(text("why it failed, in the bank's words")),
  cro: orNull(text("the bank's reference of the executed operation")),
});

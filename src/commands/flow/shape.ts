import * as z from 'zod/mini';
import { oneOf, orNull, text, time } from '../shared/fields.ts';

/** What a flow of any kind begins with. */
export const flowBegins = <Kind extends string, State extends string>(
  kind: Kind,
  states: readonly State[],
) => ({
  flow: text('the id that psd2 gave it: other commands take it, or the beginning of it'),
  kind: z.literal(kind),
  state: oneOf(states, 'how far it is'),
  resourceId: orNull(text("the bank's id of it, once the bank has one")),
  transactionId: text('TPP-Transaction-ID of its calls'),
});

/** What a flow of any kind ends with. */
export const flowEnds = () => ({
  resolution: orNull(
    z
      .object({
        outcome: oneOf(['executed', 'not-executed'], 'what the person said'),
        by: text('who said it: user@host'),
        at: time('when'),
        note: orNull(text("the person's own words")),
      })
      .check(z.describe('how a person ended it, where the bank did not tell')),
  ),
  createdAt: time('when it was begun'),
  updatedAt: time('when its state was last written'),
});

/** What the bank says of an operation's execution. */
export const executionFields = () => ({
  authorizationStatus: orNull(
    text('as the bank says it: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value'),
  ),
  executionStatus: orNull(text('as the bank says it: OK, KO, PENDING')),
  executionStatusDescription: orNull(text('why it failed, in the words of the bank')),
  cro: orNull(text("the bank's reference of the executed operation")),
});

import type { Announced, BeforeSend } from '../bank/call/exchange.ts';
import type { OpenFlow } from '../store/ports/flows.ts';

/** The identity of an attempt: its `TPP-Request-ID` and the `Digest` of its body. */
type Intent = Parameters<BeforeSend>[0];

/**
 * Announces each attempt of a request in the journal of a flow. The announcement is durable before the request leaves
 * (command contract, "Money moves at most once").
 *
 * @param sent makes the event that announces the attempt
 * @param notBegun the event that revokes the announcement, if it is certain that the attempt had no effect
 */
export function announcing<Flow, Event>(
  open: Pick<OpenFlow<Flow, Event>, 'record' | 'assertOurs'>,
  sent: (intent: Intent) => Event,
  notBegun?: Event,
): BeforeSend {
  return async (intent): Promise<Announced> => {
    await open.record(sent(intent));
    return {
      // Another psd2 may have taken over the flow while psd2 opened the connection, or while this process was stopped.
      beforeFirstByte: () => open.assertOurs(),
      ...(notBegun && {
        notBegun: async () => {
          await open.record(notBegun);
        },
      }),
    };
  };
}

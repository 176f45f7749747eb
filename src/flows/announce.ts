import type { Announced, BeforeSend } from '../bank/call/exchange.ts';
import type { OpenFlow } from '../store/ports/flows.ts';

/** What identifies an attempt: its `TPP-Request-ID` and the `Digest` of its body. */
type Intent = Parameters<BeforeSend>[0];

/**
 * Announces each attempt of a request in the record of a flow: durable before it leaves (command contract, "Money moves at
 * most once").
 *
 * @param sent the event that announces it
 * @param notBegun the event that takes the announcement back, once it is certain that the attempt did nothing
 */
export function announcing<Flow, Event>(
  open: Pick<OpenFlow<Flow, Event>, 'record' | 'assertOurs'>,
  sent: (intent: Intent) => Event,
  notBegun?: Event,
): BeforeSend {
  return async (intent): Promise<Announced> => {
    await open.record(sent(intent));
    return {
      // Another psd2 may have gone on with the flow while the connection was made, or this process stood still.
      beforeFirstByte: () => open.assertOurs(),
      ...(notBegun && {
        notBegun: async () => {
          await open.record(notBegun);
        },
      }),
    };
  };
}

import type { Announced, BeforeSend } from '../bank/ports/call.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';

/** The identity of an attempt: its `TPP-Request-ID` and the `Digest` of its body. */
type Intent = Parameters<BeforeSend>[0];

/** The events that revoke an announcement. */
export interface Revoking<Event> {
  /** No byte of the attempt left. */
  notBegun: Event;
  /** The bank says that it refused the attempt unread. Absent if the attempt may have moved money all the same. */
  turnedAway?: Event;
}

/** The error if an announced request never left, and the journal cannot record this: it still has the announcement. */
export class NeverLeft extends Psd2Error {}

/**
 * Announces each attempt of a request in the journal of a flow. The announcement is durable before the request leaves
 * (command contract, "Money moves at most once").
 *
 * @param sent makes the event that announces the attempt
 * @param revoking the events that revoke the announcement. If they cannot be recorded, the call throws {@link NeverLeft}
 */
export function announcing<Flow, Event>(
  open: Pick<OpenFlow<Flow, Event>, 'record' | 'assertOurs'>,
  sent: (intent: Intent) => Event,
  revoking?: Revoking<Event>,
): BeforeSend {
  return async (intent): Promise<Announced> => {
    await open.record(sent(intent));
    // Another psd2 may have taken over the flow while psd2 opened the connection, or while this process was stopped.
    const beforeFirstByte = () => open.assertOurs();
    if (!revoking) return { beforeFirstByte };
    const { notBegun, turnedAway } = revoking;
    return {
      beforeFirstByte,
      notBegun: () => revoke(open, notBegun),
      ...(turnedAway !== undefined && {
        turnedAway: async () => {
          await open.record(turnedAway);
        },
      }),
    };
  };
}

async function revoke<Flow, Event>(
  open: Pick<OpenFlow<Flow, Event>, 'record'>,
  notBegun: Event,
): Promise<void> {
  try {
    await open.record(notBegun);
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    throw new NeverLeft(
      'config',
      `psd2 has sent nothing, but could not write that down: ${error.message}`,
      error.context,
    );
  }
}

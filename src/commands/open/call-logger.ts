import type { Observation } from '../../bank/call/exchange.ts';
import { CallLog } from '../../store/machine/call-log.ts';
import type { Context } from '../context.ts';

/**
 * Writes what is observed of calls into the log. It is a help, not a duty: where it can't be written, a warning
 * says so, once.
 */
export function callLogger(
  { folder, openFlows, terminal }: Context,
  profile: string,
  host: string,
): (call: Observation) => void {
  const log = new CallLog(folder.log);
  let warned = false;
  return ({ outcome, ...call }) => {
    try {
      log.append({
        at: call.at.toISOString(),
        profile,
        host,
        method: call.method,
        path: call.path,
        status: typeof outcome === 'number' ? outcome : null,
        failure: typeof outcome === 'number' ? null : outcome,
        milliseconds: call.milliseconds,
        tppRequestId: call.tppRequestId,
        transactionId: call.transactionId,
        requestId: call.requestId,
        apiTrackId: call.apiTrackId ?? null,
        flow: openFlows.get(call.transactionId) ?? null,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!warned) terminal.warn(`The log of calls in ${folder.log} cannot be written (${reason}).`);
      warned = true;
    }
  };
}

import type { Observation } from '../../bank/call/exchange.ts';
import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { CallLog } from '../../store/machine/call-log.ts';
import { baseUrlOf, dailyLimitOf } from '../../store/machine/settings.ts';
import type { GrantType } from '../../store/ports/tokens.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { ProfileContext } from '../context.ts';

/**
 * Records the calls of an application: in the log, in the count of calls with client credentials, and with `--verbose` on
 * stderr. If it cannot record a call, it warns once, and the command continues.
 */
export async function callRecorder(
  context: ProfileContext,
  grant: GrantType,
  host: string,
): Promise<(call: Observation) => Promise<void>> {
  const { globals, terminal } = context;
  const log = callLogger(context, host);
  const count = grant === 'client_credentials' ? await callCounter(context) : async () => {};
  return async (call) => {
    log(call);
    if (call.isPrivate) await count();
    if (!globals.verbose) return;
    const ids = `request ${call.tppRequestId} transaction ${call.transactionId}${call.apiTrackId ? ` track ${call.apiTrackId}` : ''}`;
    const {
      at: _at,
      isPrivate: _isPrivate,
      mayHaveLeft: _mayHaveLeft,
      irrevocable: _irrevocable,
      apiTrackId = null,
      ...fields
    } = call;
    terminal.tell(
      { event: 'call', ...fields, apiTrackId },
      cleanText(`${call.method} ${call.path} → ${call.outcome} in ${call.milliseconds} ms (${ids})`),
    );
  };
}

function callLogger(context: ProfileContext, host: string): (call: Observation) => void {
  const { folder, openFlows, terminal } = context;
  const { name: profile } = context.profile();
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
        ...(!call.mayHaveLeft && { neverLeft: true }),
        ...(call.irrevocable && { irrevocable: true }),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!warned) terminal.warn(`The log of calls in ${folder.log} cannot be written (${reason}).`);
      warned = true;
    }
  };
}

/** Counts calls with client credentials. Warns before the bank's daily limit is reached, if the operator has set it. */
async function callCounter(context: ProfileContext): Promise<() => Promise<void>> {
  const { terminal, world } = context;
  const profile = context.profile();
  const { calls: counted } = (await context.home()).open(profile.name, baseUrlOf(profile));
  const limit = dailyLimitOf(profile);
  const calls = await counted.on(bankDay(world.now()));
  if (limit !== null && calls >= limit * 0.8)
    terminal.warn(`psd2 has made ${calls} of the ${limit} calls a day with client credentials.`);
  let failed = false;
  return async () => {
    try {
      await counted.count(bankDay(world.now()));
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!failed) terminal.warn(error.message);
      failed = true;
    }
  };
}

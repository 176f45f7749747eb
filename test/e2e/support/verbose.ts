import * as z from 'zod';
import type { Ended, EndedCall } from './psd2.ts';

/** A call that `--verbose` reports. */
export interface ShownCall {
  method: string;
  /** The path without its query. */
  path: string;
  /** The last part of the path; the last two for `execution/status`. */
  step: string;
  /** The HTTP status, or why there was no answer. */
  outcome: string;
  request: string;
  transaction: string;
  /** The bank's session id. */
  track: string | undefined;
}

const CALL =
  /^(GET|POST|PUT|DELETE) (\S+) → (.*) in \d+ ms \(request (\S+) transaction ([^\s)]+)(?: track (\d+))?\)$/gm;

const toldCall = z.object({
  ...{ event: z.literal('call'), method: z.string(), path: z.string(), milliseconds: z.number() },
  ...{ outcome: z.union([z.string(), z.int()]), tppRequestId: z.string(), transactionId: z.string() },
  apiTrackId: z.string().nullable(),
});
const toldMessage = z.object({ event: z.enum(['note', 'warning']), message: z.string() });

/** The messages on stderr as a person reads them, even if they were printed for a program. */
export function saidBy({ stderr }: Pick<Ended, 'stderr'>): string {
  const lines = stderr.split('\n').map((line) => {
    if (!line.startsWith('{"event"')) return line;
    const event: unknown = JSON.parse(line);
    const { data: said } = toldMessage.safeParse(event);
    if (said) return said.message;
    const { data: call } = toldCall.safeParse(event);
    if (!call) return line;
    const track = call.apiTrackId === null ? '' : ` track ${call.apiTrackId}`;
    const ids = `request ${call.tppRequestId} transaction ${call.transactionId}${track}`;
    return `${call.method} ${call.path} → ${call.outcome} in ${call.milliseconds} ms (${ids})`;
  });
  return lines.join('\n');
}

/**
 * The calls that a command with `--verbose` made, in order.
 *
 * @throws TypeError without `--verbose`: the calls are not known then, and that there were none would prove nothing
 */
export function callsOf(ended: Pick<EndedCall, 'stderr' | 'isVerbose'>): ShownCall[] {
  if (!ended.isVerbose) throw new TypeError('The calls of a command without --verbose are not known');
  return [...saidBy(ended).matchAll(CALL)].map(
    ([, method = '', path = '', outcome = '', request = '', transaction = '', track]) => ({
      method,
      path,
      step: /(?:execution\/)?[^/]+$/.exec(path)?.[0] ?? '',
      outcome,
      request,
      transaction,
      track,
    }),
  );
}

/** The steps of a flow that a command with `--verbose` made. Throws as {@link callsOf} does. */
export function stepsOf(ended: Pick<EndedCall, 'stderr' | 'isVerbose'>): string[] {
  return callsOf(ended).map(({ step }) => step);
}

import { Psd2Error } from '../../errors.ts';
import { CallFailed } from '../transport/connection.ts';
import type { WireRequest } from '../transport/line.ts';

/** What decides whether a call may be made again. */
export interface Repetition {
  method: WireRequest['method'];
  /** The call may be repeated after a 5xx although it is not a GET (a token call). */
  repeatable?: boolean;
  /** The call is never repeated. For diagnosis, where the first error matters. */
  once?: boolean;
}

export const MAX_RETRIES = 3;
const FIRST_DELAY = 250;
/** If the bank asks for a longer delay, psd2 does not retry. The operator can run the command again later. */
export const LONGEST_RETRY_AFTER = 30_000;

/**
 * The delay before the next attempt in milliseconds, if the bank asks for none.
 *
 * @param retries how many there were
 * @param random a number from 0 to 1
 */
export function backoffOf(retries: number, random: number): number {
  return FIRST_DELAY * 2 ** retries * (0.5 + random);
}

/** Whether a call without an answer may be made again (command contract, "Retries"). */
export function mayRetryFailure(call: Repetition, error: unknown): boolean {
  if (call.once) return false;
  const failure = error instanceof Psd2Error ? error.cause : undefined;
  return failure instanceof CallFailed && failure.passing && (failure.neverSent || call.method === 'GET');
}

/** Whether a call may be made again after an answer with this status (command contract, "Retries"). */
export function mayRetryAnswer(call: Repetition, { status }: { status: number }): boolean {
  if (call.once) return false;
  if ([500, 502, 503, 504].includes(status)) return call.method === 'GET' || call.repeatable === true;
  return (status === 420 || status === 429) && call.method === 'GET';
}

/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3), or null if it is missing or invalid. */
export function retryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse takes almost anything with a number in it.
  const date = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

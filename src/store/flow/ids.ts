import type { Kind } from '../ports/flows.ts';

/** The prefix of each kind's ids. */
export const PREFIXES: Readonly<Record<Kind, string>> = { transfer: 'tr-', operation: 'op-', consent: 'co-' };

/** An id consists of its kind, the milliseconds since 1970 in base 36, and five random characters. */
const ID = /^(?:tr|op|co)-([0-9a-z]{9})[0-9a-z]{5}$/;

/** Whether a text is the complete id of a flow. */
export function isFlowId(text: string): boolean {
  return ID.test(text);
}

/**
 * The id of a new flow. Ids sort in the order of creation, even if the clock was set back.
 *
 * @param newest the id of the newest flow of this kind
 * @param random gives a number from 0 (inclusive) to 1 (exclusive)
 */
export function newFlowId(
  { prefix }: { prefix: string },
  now: Date,
  newest: string | undefined,
  random: () => number,
): string {
  const time = Math.max(now.getTime(), newest === undefined ? 0 : (createdAt(newest) ?? 0) + 1);
  const tail = Array.from({ length: 5 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `${prefix}${time.toString(36).padStart(9, '0')}${tail}`;
}

/** When a flow was created, in milliseconds since 1970, read from its id. Undefined if the text is not an id. */
export function createdAt(flow: string): number | undefined {
  const time = ID.exec(flow)?.[1];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}

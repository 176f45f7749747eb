import type { Kind } from '../ports/flows.ts';

/** What the ids of a kind begin with. */
export const PREFIXES: Readonly<Record<Kind, string>> = { transfer: 'tr-', operation: 'op-', consent: 'co-' };

/** An id is its kind, the milliseconds since 1970 to the base 36, and five random characters. */
const ID = /^(?:tr|op|co)-([0-9a-z]{9})[0-9a-z]{5}$/;

/** Whether a text is the id of a flow in full. */
export function isFlowId(text: string): boolean {
  return ID.test(text);
}

/**
 * The id of a new flow. Ids are in the order of creation, also when the clock was put back.
 *
 * @param newest the id of the flow of its kind that was created last
 * @param random a number from 0 below 1
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

/** When a flow was created by its id, in milliseconds since 1970; undefined when it is no id. */
export function createdAt(flow: string): number | undefined {
  const time = ID.exec(flow)?.[1];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}

import { Psd2Error } from '../../errors.ts';
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

/** Where psd2 looks for a flow. Each list is read only when it is needed. */
interface FlowPlaces {
  /** The prefix of the kind's ids, for example `tr-`. */
  prefix: string;
  /** The ids of all flows of the kind. */
  flows(): string[];
  /** The bank's id of each flow that has one. */
  resources(): { flow: string; resourceId: string }[];
  /** The flow that has this whole text as its reference, if there is one. */
  referenced?(): string | undefined;
}

/**
 * Finds a flow by its id, the resource id, its whole reference, or an unambiguous prefix of an id.
 *
 * @throws Psd2Error `flow_not_found`
 */
export function findFlow(reference: string, { prefix, flows, resources, referenced }: FlowPlaces): string {
  if (reference === '') {
    // The empty text is a prefix of every id. A script with an unset variable must not resume just any flow.
    throw new Psd2Error('flow_not_found', 'The id of the flow is empty', {
      hint: 'Give the id that psd2 printed, or the resource id.',
    });
  }
  const byId = flows().filter((flow) => flow.startsWith(reference));
  // For a local id, psd2 need not read the resource ids.
  const byResource = reference.startsWith(prefix)
    ? []
    : resources().filter(({ resourceId }) => resourceId.startsWith(reference));
  const exact = [
    ...byId.filter((flow) => flow === reference),
    ...byResource.filter(({ resourceId }) => resourceId === reference).map(({ flow }) => flow),
  ];
  // A whole reference counts more than the beginning of an id.
  const whole = exact.length > 0 || byId.length > 0 ? undefined : referenced?.();
  if (whole !== undefined) return whole;
  const matching = new Set(exact.length > 0 ? exact : [...byId, ...byResource.map(({ flow }) => flow)]);
  const [first, second] = matching;
  if (first !== undefined && second === undefined) return first;
  throw new Psd2Error(
    'flow_not_found',
    second === undefined
      ? `No flow of this profile matches ${JSON.stringify(reference)}`
      : `${JSON.stringify(reference)} matches ${matching.size} flows`,
    {
      hint:
        second === undefined
          ? 'Give the id that psd2 printed, or the resource id.'
          : `Give more characters of the id: ${[...matching].slice(0, 5).join(', ')}.`,
    },
  );
}

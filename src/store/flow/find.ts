import { Psd2Error } from '../../errors.ts';

/** Where a flow is looked for; each is asked only when it is needed. */
export interface FlowPlaces {
  /** What the ids of the kind begin with, for example `tr-`. */
  prefix: string;
  /** The ids of all flows of the kind. */
  flows(): string[];
  /** The bank's ids of those that have one. */
  resources(): { flow: string; resourceId: string }[];
}

/**
 * Finds a flow by its id, the resource id, or an unambiguous prefix of either.
 *
 * @throws Psd2Error `flow_not_found`
 */
export function findFlow(reference: string, { prefix, flows, resources }: FlowPlaces): string {
  if (reference === '') {
    // An empty variable of a script is a prefix of everything, and must not take up whatever flow there is.
    throw new Psd2Error('flow_not_found', 'The id of the flow is empty', {
      hint: 'Give the id that psd2 printed, or the resource id.',
    });
  }
  const byId = flows().filter((flow) => flow.startsWith(reference));
  // A local id: the resources need not be looked at.
  const byResource = reference.startsWith(prefix)
    ? []
    : resources().filter(({ resourceId }) => resourceId.startsWith(reference));
  const exact = [
    ...byId.filter((flow) => flow === reference),
    ...byResource.filter(({ resourceId }) => resourceId === reference).map(({ flow }) => flow),
  ];
  const found = new Set(exact.length > 0 ? exact : [...byId, ...byResource.map(({ flow }) => flow)]);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  throw new Psd2Error(
    'flow_not_found',
    second === undefined
      ? `No flow of this profile fits ${JSON.stringify(reference)}`
      : `${JSON.stringify(reference)} fits ${found.size} flows`,
    {
      hint:
        second === undefined
          ? 'Give the id that psd2 printed, or the resource id.'
          : `Give more of it: ${[...found].slice(0, 5).join(', ')}.`,
    },
  );
}

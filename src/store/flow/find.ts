import { Psd2Error } from '../../errors.ts';

/** Where psd2 looks for a flow. Each list is read only when it is needed. */
export interface FlowPlaces {
  /** The prefix of the kind's ids, for example `tr-`. */
  prefix: string;
  /** The ids of all flows of the kind. */
  flows(): string[];
  /** The bank's id of each flow that has one. */
  resources(): { flow: string; resourceId: string }[];
}

/**
 * Finds a flow by its id, the resource id, or an unambiguous prefix of either.
 *
 * @throws Psd2Error `flow_not_found`
 */
export function findFlow(reference: string, { prefix, flows, resources }: FlowPlaces): string {
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
  const found = new Set(exact.length > 0 ? exact : [...byId, ...byResource.map(({ flow }) => flow)]);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  throw new Psd2Error(
    'flow_not_found',
    second === undefined
      ? `No flow of this profile matches ${JSON.stringify(reference)}`
      : `${JSON.stringify(reference)} matches ${found.size} flows`,
    {
      hint:
        second === undefined
          ? 'Give the id that psd2 printed, or the resource id.'
          : `Give more characters of the id: ${[...found].slice(0, 5).join(', ')}.`,
    },
  );
}

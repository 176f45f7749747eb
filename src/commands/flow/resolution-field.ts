import type { Resolution } from '../../domain/resolution.ts';
import type { Column } from '../../terminal/output/output.ts';

/** How a person ended a flow, shown below the flow's other fields. */
export const resolutionField: Column<{ resolution: Resolution | null }> = {
  title: 'Resolved',
  value: ({ resolution }, writeTime) => {
    if (!resolution) return null;
    const { outcome, by, at, note } = resolution;
    return `${outcome}, by ${by} at ${writeTime(at)}${note === null ? '' : `: ${note}`}`;
  },
};

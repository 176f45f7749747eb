import { cleanText } from '../../terminal/clean.ts';

/** What every flow says of itself. */
export interface ShownFlow {
  kind: string;
  flow: string;
  transactionId: string;
  state: string;
  createdAt: string;
  updatedAt: string;
}

/** What of a flow the operator has to see before they say yes; null and undefined are left out. */
export type Described = [title: string, value: string | null | undefined][];

/** A flow as a question about it shows it. @param writeTime of ISO 8601, for where it is asked */
export function describeFlow(
  flow: ShownFlow,
  description: Described,
  writeTime: (time: string) => string,
): string {
  const lines: Described = [
    ...description,
    ['Begun', writeTime(flow.createdAt)],
    ['Last change', writeTime(flow.updatedAt)],
  ];
  return [`The ${flow.kind} ${flow.flow} is ${flow.state}:`]
    .concat(lines.flatMap(([title, value]) => (value ? [`  ${title.padEnd(18)} ${cleanText(value)}`] : [])))
    .join('\n');
}

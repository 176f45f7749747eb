import { cleanText } from '../../terminal/clean.ts';

/** The fields that every flow has. */
export interface ShownFlow {
  kind: string;
  flow: string;
  transactionId: string;
  state: string;
  createdAt: string;
  updatedAt: string;
}

/** What the operator must see of a flow before they confirm. Null and undefined are left out. */
export type Described = [title: string, value: string | null | undefined][];

/** Describes a flow for a question about it. @param writeTime turns ISO 8601 into the operator's local time */
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

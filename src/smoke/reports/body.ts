import type { SmokeStep } from '../result.ts';

const LONGEST = 10_000;

/** What a report says of a step that failed or warns: sentences, and the calls that a bank's support can look up. */
export function bodyOf({ error, warnings, calls }: SmokeStep): string {
  const lines = [
    ...(error ? [`${error.message} (${error.code}, exit code ${error.exitCode})`] : []),
    ...warnings.map(({ message }) => `warning: ${message}`),
    ...calls.map(({ method, route, status, milliseconds, tppRequestId, requestId }) =>
      [
        ...[method, route, status ?? 'no usable answer', `${milliseconds} ms`, `request ${tppRequestId}`],
        ...(requestId === null ? [] : [`bank request ${requestId}`]),
      ].join(' '),
    ),
    ...(error ? error.next.map((words) => words.join(' ')) : []),
  ];
  const text = lines.join('\n');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

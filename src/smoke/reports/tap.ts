import { noteOf, type SmokeRun, type SmokeStep } from '../result.ts';

/** TAP 14. What `--known` names is a TODO, and what did not run a SKIP: neither fails. */
export function writeTap(run: SmokeRun): string {
  const points = run.steps.flatMap((step, index) => pointOf(step, index + 1));
  return ['TAP version 14', `1..${run.steps.length}`, ...points, ''].join('\n');
}

function pointOf(step: SmokeStep, number: number): string[] {
  const { id, status, error, milliseconds, reason } = step;
  const isOk = status !== 'fail' && status !== 'known';
  const directive =
    status === 'skip'
      ? ` # SKIP ${line(reason ?? '')}`
      : status === 'known'
        ? ` # TODO ${line(noteOf(step))}`
        : '';
  const facts: [string, string | number | null | undefined][] = [
    ['duration_ms', milliseconds],
    ...(error
      ? ([
          ['exitCode', error.exitCode],
          ['code', error.code],
          ['message', error.message],
          ['requestId', error.requestId],
          ['tppRequestId', error.tppRequestId],
        ] as const)
      : []),
    ...(step.warnings.length > 0 ? [['warning', noteOf(step)] as const] : []),
  ].map(([name, value]) => [String(name), value ?? null]);
  return [
    `${isOk ? 'ok' : 'not ok'} ${number} - ${line(id)}${directive}`,
    '  ---',
    ...facts.map(([name, value]) => `  ${name}: ${JSON.stringify(yamlSafe(value))}`),
    '  ...',
  ];
}

/** One line, without what begins a directive. */
function line(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('#', '\\#');
}

/** JSON is YAML, but for characters that YAML does not print. */
function yamlSafe(value: string | number | null | undefined): string | number | null {
  return typeof value === 'string'
    ? value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{FFFE}\u{FFFF}]/gu, ' ')
    : (value ?? null);
}

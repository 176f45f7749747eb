import { countSteps, noteOf, type SmokeRun } from '../result.ts';

const STATES = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;
/** The exit codes after which nothing is known of the bank: a bug, wrong use, configuration, Ctrl-C. */
const UNKNOWN = [1, 2, 3, 130];

/** The exit code of a monitoring plugin: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
export function nagiosCode({ exitCode, result }: Pick<SmokeRun, 'exitCode' | 'result'>): 0 | 1 | 2 | 3 {
  if (exitCode === 0) return result === 'warn' ? 1 : 0;
  if (exitCode === 12) return 1;
  return UNKNOWN.includes(exitCode) ? 3 : 2;
}

/** One line with performance data, for Nagios and Icinga. @param slowMs the limit of a step */
export function writeNagios(run: SmokeRun, slowMs: number): string {
  const { passed, failed, skipped } = countSteps(run.steps);
  const amiss = run.steps.filter(({ status }) => status === 'fail' || status === 'warn');
  const what = amiss.map((step) => `${step.id}: ${noteOf(step)}`).join('; ');
  const text = `${STATES[nagiosCode(run)]} psd2 smoke ${run.profile}: ${passed} passed, ${failed} failed, ${skipped} skipped${what && `; ${what}`} [${run.run}]`;
  const times = run.steps
    .filter(({ status, calls }) => status !== 'skip' && calls.length > 0)
    .map(({ id, milliseconds }) => `'${id}'=${(milliseconds / 1000).toFixed(3)}s;${slowMs / 1000};;0`);
  const all = [`'time'=${(run.milliseconds / 1000).toFixed(3)}s;;;0`, ...times];
  // A bar would begin the performance data.
  return `${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('|', '/')} | ${all.join(' ')}\n`;
}

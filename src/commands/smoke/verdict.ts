import { type ErrorCode, Psd2Error } from '../../errors.ts';
import { exitCodeOf } from '../../exit-codes.ts';
import { isUndone, type SmokeRun, type SmokeStep } from '../../smoke/result.ts';
import type { Ran } from './engine.ts';
import type { Plan } from './plan.ts';

/** How a run ends: with exit code 0, or with an error. */
export interface Verdict {
  /** Undefined for exit code 0. Anything but a Psd2Error is a bug. */
  error: unknown;
  exitCode: number;
  next: string[][];
}

/** Whatever `--fail-on` can name: the code of its warnings, and of the error. */
const FAIL_ON: readonly [what: 'slow' | 'drift' | 'flaky', code: string, error: ErrorCode, says: string][] = [
  ['slow', 'slow', 'too_slow', 'were slower than --slow allows'],
  ['drift', 'drift', 'drift', 'have answers of another form'],
  ['flaky', 'flaky', 'flaky', 'passed only when they were tried again'],
];

/**
 * The exit code of a run: that of the first step that failed. A payment whose outcome is not known, or that is still open at the bank,
 * is never hidden by another step (smoke contract, "Exit code").
 */
export function verdictOf(
  {
    steps,
    milliseconds,
    run,
    wasInterrupted,
    thrown,
  }: Pick<SmokeRun, 'steps' | 'milliseconds' | 'run'> & Pick<Ran, 'wasInterrupted' | 'thrown'>,
  { failOn, maxMs }: Pick<Plan, 'failOn' | 'maxMs'>,
): Verdict {
  const failed = steps.filter(({ status }) => status === 'fail');
  const endedWith = (code: number) => failed.find(({ error }) => error?.exitCode === code);
  const unknown = endedWith(9) ?? endedWith(13);
  // What was not done counts only where nothing failed.
  const tried = failed.filter((step) => !isUndone(step));
  const first = unknown ?? tried.find(({ id }) => id !== 'clean-up') ?? tried[0] ?? failed[0];
  if (wasInterrupted && !unknown) return ended(interruption(failed));
  if (first) return ended(failureOf(thrown.get(first.id), failed, steps, run), first.error?.next);
  if (maxMs !== undefined && milliseconds > maxMs)
    return ended(
      new Psd2Error('too_slow', `The smoke test took ${milliseconds / 1000} s, longer than --max allows`),
    );
  for (const [what, code, error, says] of FAIL_ON) {
    const met = steps.filter(({ warnings }) => warnings.some((warning) => warning.code === code));
    if (failOn.has(what) && met.length > 0) return ended(new Psd2Error(error, `${stepNames(met)} ${says}`));
  }
  return ended(undefined);
}

/** What a run has made and could not end stays noted. */
function interruption(failed: readonly SmokeStep[]): Psd2Error {
  const left = failed.find(({ id }) => id === 'clean-up')?.error;
  if (!left) return new Psd2Error('interrupted', 'Interrupted. The clean-up has run');
  return new Psd2Error('interrupted', `Interrupted, and the clean-up failed: ${left.message}`, {
    hint: 'The next smoke test of the profile ends what is left.',
  });
}

function ended(error: unknown, next: string[][] = []): Verdict {
  const exitCode = error === undefined ? 0 : error instanceof Psd2Error ? exitCodeOf(error.code) : 1;
  return { error, exitCode, next };
}

/** The error of a run whose steps failed: of the kind of the first one. A bug stays what it is. */
function failureOf(
  first: unknown,
  failed: readonly SmokeStep[],
  steps: readonly SmokeStep[],
  run: string,
): unknown {
  if (!(first instanceof Psd2Error)) return first;
  const { flow, next: own = [], hint } = first;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  // The bank was not asked, so there are no calls to look at.
  if (failed.every(isUndone))
    return new Psd2Error(first.code, `${first.message}${more}`, { ...(hint !== undefined && { hint }) });
  const message = `${failed.length} of ${steps.length} steps failed: ${stepNames(failed)}`;
  return new Psd2Error(first.code, message, {
    ...(hint !== undefined && { hint }),
    next: [...own, ['log', '--run', run]],
    ...(flow !== undefined && { flow }),
  });
}

function stepNames(steps: readonly SmokeStep[]): string {
  return steps.map(({ id }) => id).join(', ');
}

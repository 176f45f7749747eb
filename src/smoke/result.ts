import type { StepId } from './steps.ts';

/** A call of a step, without the ids of customers and accounts. */
export interface SmokeCall {
  method: string;
  /** The path, with names in braces in place of ids. */
  route: string;
  /** The HTTP status. Null: there was no usable answer. */
  status: number | null;
  milliseconds: number;
  tppRequestId: string;
  requestId: string | null;
}

/** An error as psd2 writes it for programs. */
export interface SmokeError {
  code: string;
  message: string;
  exitCode: number;
  hint: string | null;
  next: string[][];
  flow?: string | null | undefined;
  httpStatus?: number | null | undefined;
  bankCode?: string | null | undefined;
  requestId?: string | null | undefined;
  tppRequestId?: string | null | undefined;
  transactionId?: string | null | undefined;
}

/** What a step, or a run, should look at, although nothing has failed. */
export interface SmokeWarning {
  /** `slow`, `drift`, ... */
  code: string;
  message: string;
}

/** How a step ended. `known`: it failed, and `--known` says that it may. */
export type StepStatus = 'pass' | 'warn' | 'fail' | 'skip' | 'known';

export interface SmokeStep {
  id: StepId;
  status: StepStatus;
  /** It has failed first, and passed when it was tried again. */
  flaky: boolean;
  milliseconds: number;
  calls: SmokeCall[];
  error: SmokeError | null;
  warnings: SmokeWarning[];
  /** What it found, in a few words. */
  detail: string | null;
  /** Why it was skipped. */
  reason: string | null;
}

/** A step that fails because nobody looked: the bank was not asked. */
export function isUndone({ error }: Pick<SmokeStep, 'error'>): boolean {
  return error?.code === 'not_read' || error?.code === 'skipped';
}

/** A step to look at, although it has not failed. A reading that was left out because today's reads are used up is one. */
export function isWarning({ status, warnings }: Pick<SmokeStep, 'status' | 'warnings'>): boolean {
  return status === 'warn' || (status === 'skip' && warnings.some(({ code }) => code === 'not_read'));
}

/** A difference in the form of the bank's answers. */
export interface DriftFinding {
  id: string;
  /** Method, route and class of status. */
  answer: string;
  /** The field. */
  path: string;
  severity: 'breaking' | 'warning' | 'info';
  message: string;
}

/** When something ends, in seconds since 1970. Null: it is not known, or there is none. */
export interface Ends {
  qwac: string | null;
  qsealc: string | null;
  bank: string | null;
  consent: string | null;
}

/** A whole run. */
export interface SmokeRun {
  run: string;
  profile: string;
  environment: string | null;
  interface: string | null;
  /** Host and port of the bank. */
  bank: string | null;
  version: string;
  /** ISO 8601. */
  startedAt: string;
  milliseconds: number;
  result: 'pass' | 'warn' | 'fail';
  exitCode: number;
  steps: SmokeStep[];
  drift: DriftFinding[];
  ends: Ends;
  /** ISO 8601. The last run of the profile that ended with exit code 0; null: none so far. */
  lastSuccessAt: string | null;
  next: string[][];
}

/** The number of steps by how they ended. */
export function countSteps(steps: readonly SmokeStep[]) {
  const of = (...statuses: StepStatus[]) => steps.filter(({ status }) => statuses.includes(status)).length;
  return {
    passed: of('pass', 'warn'),
    warned: of('warn'),
    failed: of('fail'),
    skipped: of('skip'),
    known: of('known'),
    flaky: steps.filter(({ flaky }) => flaky).length,
  };
}

/** One sentence about a run: `8 passed, 2 of them with a warning, 1 failed, 3 skipped; 33.1 s, 7 calls`. */
export function sumUp({ steps, milliseconds }: Pick<SmokeRun, 'steps' | 'milliseconds'>): string {
  const { passed, warned, failed, skipped, known: knownFailures, flaky } = countSteps(steps);
  const parts = [
    `${passed} passed${warned > 0 ? `, ${warned} of them with a warning` : ''}`,
    failed > 0 && `${failed} failed`,
    knownFailures > 0 && `${knownFailures} failed as known`,
    flaky > 0 && `${flaky} only when tried again`,
    skipped > 0 && `${skipped} skipped`,
  ];
  const calls = steps.flatMap((step) => step.calls);
  const slowest = calls.toSorted((one, other) => other.milliseconds - one.milliseconds)[0];
  const called = `${calls.length} call${calls.length === 1 ? '' : 's'}`;
  const slow = slowest && calls.length > 1 ? `, slowest ${slowest.method} ${shortRoute(slowest.route)}` : '';
  return `${parts.filter(Boolean).join(', ')}; ${(milliseconds / 1000).toFixed(1)} s, ${called}${slow}`;
}

/** The end of a route, which tells calls apart. */
function shortRoute(route: string): string {
  const parts = route.split('/');
  return parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : route;
}

/** The signs of how a step ended, where the terminal has these characters and where it has not. */
export const SIGNS = {
  unicode: { pass: '✓', warn: '!', fail: '✗', skip: '-', known: '~' },
  ascii: { pass: 'ok', warn: '!', fail: 'FAIL', skip: '-', known: '~' },
} as const satisfies Record<string, Record<StepStatus, string>>;

/** What a line says of a step besides its id and time. */
export function noteOf({ status, detail, reason, error, warnings }: SmokeStep): string {
  const warned = warnings.map(({ message }) => message);
  if (status === 'skip') return reason ?? '';
  if (error) return `${error.message} (exit ${error.exitCode})${status === 'known' ? ', known' : ''}`;
  return [...warned, detail].filter(Boolean).join('; ');
}

import type { SmokeError, SmokeRun, SmokeStep } from '../../src/smoke/result.ts';
import { STEP_IDS, type StepId } from '../../src/smoke/steps.ts';

/** A bank's text that is meant to break a report: escapes, quotes, ends of sections, commands, Arabic, a lone half of a character. */
export const HOSTILE = [
  '\u{1B}[31m\u{0}]]> "x" \'y\' <b>&amp; %0A | # SKIP \\ \r\n::error::no\n...\n---\nnot ok 1\n## x @you',
  'نص عربي \u{202E}txt \u{D800} \u{FFFE} `code` ~ [a](b)',
  'x'.repeat(10_240),
].join(' ');

export function step(id: StepId, more: Partial<SmokeStep> = {}): SmokeStep {
  return {
    ...{ id, status: 'pass', flaky: false, milliseconds: 31, calls: [], error: null, warnings: [] },
    ...{ detail: null, reason: null, ...more },
  };
}

export function failure(message: string, more: Partial<SmokeError> = {}): SmokeError {
  return { code: 'bank_refused', message, exitCode: 7, hint: null, next: [], ...more };
}

/** A run with all steps. @param changes those that are different */
export function runWith(
  changes: Partial<Record<StepId, Partial<SmokeStep>>> = {},
  more: Partial<SmokeRun> = {},
): SmokeRun {
  return {
    ...{ run: 'sm-0mwx2f0ab123', profile: 'mybank', environment: 'production', interface: 'nextgenpsd2' },
    ...{ bank: 'api.mybank.example', version: '0.2.0', startedAt: '2026-11-26T16:45:00.123Z' },
    ...{ milliseconds: 33_104, result: 'pass', exitCode: 0, drift: [], lastSuccessAt: null, next: [] },
    ends: { qwac: '2027-11-01T00:00:00.000Z', qsealc: null, bank: '2027-01-26T00:00:00.000Z', consent: null },
    steps: STEP_IDS.map((id) => step(id, changes[id])),
    ...more,
  };
}

/** A run in which a step failed with a hostile text, one did not run, one is known to fail, one warns, one is our own fault. */
export function hostileRun(text = HOSTILE): SmokeRun {
  return runWith(
    {
      settings: { status: 'fail', error: failure(text, { code: 'config', exitCode: 3 }) },
      accounts: { status: 'fail', error: failure(text, { requestId: text }), milliseconds: 4_312 },
      balance: { status: 'known', error: failure(text) },
      transactions: { status: 'skip', reason: text },
      consent: { status: 'warn', warnings: [{ code: 'slow', message: text }], detail: text },
    },
    { result: 'fail', exitCode: 7, profile: 'my"bank<&' },
  );
}

import { expect, it } from 'vitest';
import { verdictOf } from '../../../src/commands/smoke/verdict.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { exitCodeOf } from '../../../src/exit-codes.ts';
import type { SmokeStep } from '../../../src/smoke/result.ts';
import { STEP_IDS, type StepId } from '../../../src/smoke/steps.ts';
import { step } from '../../smoke/runs.ts';

type Fails = Partial<Record<StepId, ErrorCode | 'bug'>>;
type FailOn = 'slow' | 'drift' | 'flaky' | 'skip';
interface How {
  fails?: Fails;
  /** Codes of warnings. */
  warns?: Partial<Record<StepId, string[]>>;
  failOn?: FailOn[];
  maxMs?: number;
  wasInterrupted?: boolean;
}

/** How a run of 14 steps ends whose steps fail so. @returns the exit code, the error in words, and the commands to run next */
function verdict({ fails = {}, warns = {}, failOn = [], maxMs, wasInterrupted = false }: How) {
  const thrown = new Map<StepId, unknown>();
  const steps = STEP_IDS.map((id): SmokeStep => {
    const code = fails[id];
    const warnings = (warns[id] ?? []).map((each) => ({ code: each, message: each }));
    if (code === undefined) return step(id, { warnings });
    const exitCode = code === 'bug' ? 1 : exitCodeOf(code);
    const message = `The step ${id} failed`;
    const next = [['transfer', 'show', id]];
    thrown.set(
      id,
      code === 'bug'
        ? new TypeError(message)
        : new Psd2Error(code, message, { hint: `Look at ${id}.`, next, flow: `tr-${id}` }),
    );
    const error = { code, message, exitCode, hint: null, next: [['psd2', 'transfer', 'show', id]] };
    return step(id, { status: 'fail', error });
  });
  const run = { steps, milliseconds: 5_000, run: 'sm-1', wasInterrupted, thrown };
  const { error, exitCode, next } = verdictOf(run, { failOn: new Set(failOn), maxMs });
  const {
    code,
    message,
    hint,
    next: own,
    flow,
  } = error instanceof Psd2Error
    ? error
    : Object.assign(
        { code: 'none', hint: undefined, next: undefined, flow: undefined },
        { message: error instanceof Error ? error.message : '' },
      );
  return { exitCode, code, message, hint, own, flow, next };
}

it.each<[what: string, How, exitCode: number, message: string]>([
  ['nothing failed', {}, 0, ''],
  ['one failed', { fails: { balance: 'forbidden' } }, 5, '1 of 14 steps failed: balance'],
  [
    'the first of two decides',
    { fails: { balance: 'forbidden', transactions: 'bank_refused' } },
    5,
    '2 of 14 steps failed: balance, transactions',
  ],
  [
    'the same two the other way round',
    { fails: { balance: 'bank_refused', transactions: 'forbidden' } },
    7,
    '2 of 14 steps failed: balance, transactions',
  ],
  [
    'an unknown outcome is not hidden by an earlier step',
    { fails: { balance: 'forbidden', initiate: 'outcome_unknown' } },
    9,
    '2 of 14 steps failed: balance, initiate',
  ],
  [
    'neither is an open payment',
    { fails: { balance: 'forbidden', pay: 'still_open' } },
    13,
    '2 of 14 steps failed: balance, pay',
  ],
  [
    'an unknown outcome comes before an open payment',
    { fails: { pay: 'still_open', 'clean-up': 'outcome_unknown' } },
    9,
    '2 of 14 steps failed: pay, clean-up',
  ],
  ['the clean-up alone', { fails: { 'clean-up': 'forbidden' } }, 5, '1 of 14 steps failed: clean-up'],
  [
    'the clean-up after nothing done',
    { fails: { funds: 'skipped', 'clean-up': 'forbidden' } },
    5,
    '2 of 14 steps failed: funds, clean-up',
  ],
  [
    'what was tried comes before what was not done',
    { fails: { accounts: 'not_read', pay: 'forbidden' } },
    5,
    '2 of 14 steps failed: accounts, pay',
  ],
  ['one was not done', { fails: { accounts: 'not_read' } }, 12, 'The step accounts failed'],
  [
    'three were not done',
    { fails: { accounts: 'not_read', funds: 'skipped', pay: 'skipped' } },
    12,
    'The step accounts failed (and 2 more)',
  ],
  ['a bug stays one', { fails: { balance: 'bug', transactions: 'forbidden' } }, 1, 'The step balance failed'],
  ['it was interrupted', { wasInterrupted: true }, 130, 'Interrupted. The clean-up has run'],
  [
    'it was interrupted after a failure',
    { wasInterrupted: true, fails: { balance: 'forbidden' } },
    130,
    'Interrupted. The clean-up has run',
  ],
  [
    'it was interrupted, and the clean-up failed',
    { wasInterrupted: true, fails: { 'clean-up': 'forbidden' } },
    130,
    'Interrupted, and the clean-up failed: The step clean-up failed',
  ],
  [
    'it was interrupted with an unknown outcome',
    { wasInterrupted: true, fails: { pay: 'outcome_unknown' } },
    9,
    '1 of 14 steps failed: pay',
  ],
  ['it took just as long as it may', { maxMs: 5_000 }, 0, ''],
  ['it took longer', { maxMs: 4_999 }, 12, 'The smoke test took 5 s, longer than --max allows'],
  [
    'a failure counts more than the time',
    { maxMs: 1, fails: { balance: 'forbidden' } },
    5,
    '1 of 14 steps failed: balance',
  ],
  [
    'steps were slow',
    { failOn: ['slow'], warns: { balance: ['slow'], pay: ['x', 'slow'] } },
    12,
    'balance, pay were slower than --slow allows',
  ],
  [
    'steps were slow, which may be',
    { failOn: ['drift', 'flaky', 'skip'], warns: { balance: ['slow'] } },
    0,
    '',
  ],
  ['none was slow', { failOn: ['slow'], warns: { balance: ['flaky', 'drift'] } }, 0, ''],
  [
    'the form has changed',
    { failOn: ['drift'], warns: { shapes: ['drift'] } },
    12,
    'shapes have answers of another form',
  ],
  [
    'one passed when it was tried again',
    { failOn: ['flaky'], warns: { balance: ['flaky'] } },
    12,
    'balance passed only when they were tried again',
  ],
  [
    'slow comes before drift',
    { failOn: ['drift', 'slow'], warns: { shapes: ['drift'], balance: ['slow'] } },
    12,
    'balance were slower than --slow allows',
  ],
  [
    'the time comes before slow',
    { failOn: ['slow'], maxMs: 1, warns: { balance: ['slow'] } },
    12,
    'The smoke test took 5 s, longer than --max allows',
  ],
])('a run ends so if %s', (_, how, exitCode, message) => {
  expect(verdict(how)).toMatchObject({ exitCode, message });
});

it.each<[How, code: string]>([
  [{ maxMs: 1 }, 'too_slow'],
  [{ failOn: ['slow'], warns: { pay: ['slow'] } }, 'too_slow'],
  [{ failOn: ['drift'], warns: { pay: ['drift'] } }, 'drift'],
  [{ failOn: ['flaky'], warns: { pay: ['flaky'] } }, 'flaky'],
  [{ wasInterrupted: true }, 'interrupted'],
])('the error of a run with %j has the code %s', (how, code) => {
  expect(verdict(how)).toMatchObject({ code, next: [] });
});

it('the error says what the step that decides says, and leads to the calls', () => {
  const first = { hint: 'Look at pay.', flow: 'tr-pay', code: 'outcome_unknown' };
  expect(verdict({ fails: { balance: 'forbidden', pay: 'outcome_unknown' } })).toMatchObject({
    ...first,
    own: [
      ['transfer', 'show', 'pay'],
      ['log', '--run', 'sm-1'],
    ],
    next: [['psd2', 'transfer', 'show', 'pay']],
  });
  // The bank was not asked, so there are no calls to look at.
  expect(verdict({ fails: { pay: 'not_read' } })).toMatchObject({
    ...{ code: 'not_read', hint: 'Look at pay.', own: undefined, flow: undefined },
  });
  expect(verdict({ wasInterrupted: true, fails: { 'clean-up': 'forbidden' } }).hint).toBe(
    'The next smoke test of the profile ends what is left.',
  );
  expect(verdict({ wasInterrupted: true }).hint).toBeUndefined();
});

import { expect, it } from 'vitest';
import { writeFoot, writeHead, writeStep } from '../../src/smoke/lines.ts';
import {
  countSteps,
  isUndone,
  isWarning,
  noteOf,
  type SmokeCall,
  type SmokeStep,
  sumUp,
} from '../../src/smoke/result.ts';
import { failure, runWith, step } from './runs.ts';

const warning = (code: string, message = code) => ({ code, message });
const call = (milliseconds: number, route = '/v1/accounts', method = 'GET'): SmokeCall => ({
  ...{ method, route, status: 200, milliseconds, tppRequestId: 'q-1', requestId: null },
});
const error = failure('no answer', { code: 'bank_unreachable', exitCode: 11 });

it.each<[what: string, SmokeStep, note: string]>([
  ['passed', step('accounts'), ''],
  ['found something', step('accounts', { detail: '3' }), '3'],
  [
    'warns twice',
    step('accounts', {
      status: 'warn',
      detail: '3',
      warnings: [warning('slow', 'slow'), warning('x', 'old')],
    }),
    'slow; old; 3',
  ],
  ['warns alone', step('accounts', { status: 'warn', warnings: [warning('slow')] }), 'slow'],
  ['failed', step('accounts', { status: 'fail', error }), 'no answer (exit 11)'],
  ['failed as known', step('accounts', { status: 'known', error }), 'no answer (exit 11), known'],
  ['did not run', step('accounts', { status: 'skip', reason: 'after login', detail: 'x' }), 'after login'],
  ['did not run, without a reason', step('accounts', { status: 'skip' }), ''],
])('the note of a step that %s', (_, each, note) => {
  expect(noteOf(each)).toBe(note);
});

it.each<[Partial<SmokeStep>, isWarning: boolean]>([
  [{ status: 'warn' }, true],
  [{ status: 'pass', warnings: [warning('not_read')] }, false],
  [{ status: 'skip' }, false],
  [{ status: 'skip', warnings: [warning('skipped')] }, false],
  [{ status: 'skip', warnings: [warning('skipped'), warning('not_read')] }, true],
  [{ status: 'fail', error }, false],
  [{ status: 'known', error }, false],
])('a step with %j is one to look at: %s', (more, is) => {
  expect(isWarning(step('balance', more))).toBe(is);
});

it.each([
  ['not_read', true],
  ['skipped', true],
  ['bank_unreachable', false],
])('a step that failed with %s was not done: %s', (code, is) => {
  expect(isUndone({ error: failure('no', { code }) })).toBe(is);
  expect(isUndone({ error: null })).toBe(false);
});

it.each<[steps: Partial<SmokeStep>[], milliseconds: number, text: string]>([
  [[], 0, '0 passed; 0.0 s, 0 calls'],
  [[{}], 49, '1 passed; 0.0 s, 0 calls'],
  [[{ calls: [call(5)] }], 1000, '1 passed; 1.0 s, 1 call'],
  [[{}, { status: 'warn' }], 1050, '2 passed, 1 of them with a warning; 1.1 s, 0 calls'],
  [
    [{ status: 'fail', error }, { status: 'known', error }, { status: 'skip' }, { status: 'skip' }],
    33_104,
    '0 passed, 1 failed, 1 failed as known, 2 skipped; 33.1 s, 0 calls',
  ],
  [
    [{ status: 'warn', flaky: true }],
    0,
    '1 passed, 1 of them with a warning, 1 only when tried again; 0.0 s, 0 calls',
  ],
  [
    [
      { calls: [call(5, '/a'), call(9, '/v1/accounts/{account}/balances', 'POST')] },
      { calls: [call(8, '/b')] },
    ],
    0,
    '2 passed; 0.0 s, 3 calls, slowest POST …/{account}/balances',
  ],
  [[{ calls: [call(9, '/v1/accounts'), call(1)] }], 0, '1 passed; 0.0 s, 2 calls, slowest GET /v1/accounts'],
])('the sentence about %j', (steps, milliseconds, text) => {
  const whole = steps.map((more) => step('accounts', more));
  expect(sumUp({ steps: whole, milliseconds })).toBe(text);
  expect(writeFoot(runWith({}, { steps: whole, milliseconds }))).toEqual({ begin: '', texts: [text] });
});

it('counts a step once for how it ended, and again if it was tried again', () => {
  const statuses = ['pass', 'warn', 'warn', 'fail', 'skip', 'known'] as const;
  const steps = statuses.map((status) => step('accounts', { status, flaky: status === 'warn' }));
  expect(countSteps(steps)).toEqual({ passed: 3, warned: 2, failed: 1, skipped: 1, known: 1, flaky: 2 });
});

it('a run begins with the profile, what is known of it, and its id', () => {
  const of = { run: 'sm-1', profile: 'mybank', environment: 'production' };
  expect(writeHead({ ...of, interface: 'nextgenpsd2' })).toEqual({
    begin: 'mybank  production  NextGenPSD2'.padEnd(64),
    texts: ['run sm-1'],
  });
  expect(writeHead({ ...of, interface: 'cb' }).begin.trimEnd()).toBe(
    'mybank  production  step interface (cb)',
  );
  expect(writeHead({ ...of, environment: null, interface: null }).begin).toBe('mybank'.padEnd(64));
});

it.each<[SmokeStep, unicode: string, ascii: string, texts: string[]]>([
  [step('balance'), '  ✓ balance           31 ms', '  ok   balance           31 ms', []],
  [
    step('certificates', { status: 'warn', milliseconds: 0, warnings: [warning('old')] }),
    '  ! certificates           ',
    '  !    certificates           ',
    ['old'],
  ],
  [
    step('transactions', { status: 'fail', milliseconds: 1_230_002, error }),
    '  ✗ transactions 1 230 002 ms',
    '  FAIL transactions 1 230 002 ms',
    ['no answer (exit 11)'],
  ],
  [
    step('shapes', { status: 'skip', reason: 'after login' }),
    '  - shapes                 ',
    '  -    shapes                 ',
    ['after login'],
  ],
  [
    step('pay', { status: 'known', milliseconds: 999, error }),
    '  ~ pay              999 ms',
    '  ~    pay              999 ms',
    ['no answer (exit 11), known'],
  ],
])('the line of %j', (each, unicode, ascii, texts) => {
  expect(writeStep(each, false)).toEqual({ begin: unicode, texts });
  expect(writeStep(each, true, 'psd2 log')).toEqual({ begin: ascii, texts: [...texts, 'psd2 log'] });
});

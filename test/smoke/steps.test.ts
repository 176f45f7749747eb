import { expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import {
  blockedBy,
  READINGS,
  readStepId,
  readSteps,
  STEP_IDS,
  type StepId,
  singleSteps,
} from '../../src/smoke/steps.ts';
import { thrownBy } from '../support/thrown.ts';

/** The steps in their order, and those without which each cannot show anything. */
const NEEDS: Readonly<Record<StepId, readonly StepId[]>> = {
  settings: [],
  certificates: ['settings'],
  connection: ['settings', 'certificates'],
  signature: ['connection'],
  login: ['connection'],
  consent: ['connection', 'login'],
  accounts: ['connection', 'login', 'consent'],
  balance: ['connection', 'login', 'consent', 'accounts'],
  transactions: ['connection', 'login', 'consent', 'accounts'],
  funds: ['connection', 'login', 'accounts'],
  initiate: ['connection', 'login', 'accounts'],
  pay: ['connection', 'login', 'accounts'],
  shapes: ['accounts', 'balance', 'transactions'],
  'clean-up': [],
};
const needing = Object.entries(NEEDS);

it('the steps have their ids, in this order', () => {
  expect(STEP_IDS).toEqual(Object.keys(NEEDS));
  expect(READINGS).toEqual(['accounts', 'balance', 'transactions']);
});

it.each(STEP_IDS)('the failure of the step %s stops those steps that need it, and no other', (failed) => {
  const stopped = STEP_IDS.filter((step) => blockedBy(step, new Map([[failed, failed]]), false) === failed);
  expect(stopped).toEqual(needing.filter(([, needs]) => needs.includes(failed)).map(([step]) => step));
});

it.each<[StepId, [StepId, StepId][], namesPayer: boolean, StepId | undefined]>([
  ['balance', [], false, undefined],
  // What has failed first is named, also for a step that could not run because of it.
  ['balance', [['accounts', 'login']], false, 'login'],
  [
    'transactions',
    [
      ['accounts', 'accounts'],
      ['consent', 'consent'],
    ],
    false,
    'consent',
  ],
  ['transactions', [['balance', 'balance']], false, undefined],
  ['initiate', [['accounts', 'accounts']], true, undefined],
  ['pay', [['accounts', 'accounts']], true, undefined],
  ['pay', [['accounts', 'accounts']], false, 'accounts'],
  ['funds', [['accounts', 'accounts']], true, 'accounts'],
  ['balance', [['accounts', 'accounts']], true, 'accounts'],
  [
    'pay',
    [
      ['login', 'connection'],
      ['accounts', 'login'],
    ],
    true,
    'connection',
  ],
])('the step %s after %j, with an account to debit %s, is stopped by %s', (step, failed, names, by) => {
  expect(blockedBy(step, new Map(failed), names)).toBe(by);
});

it.each([
  ['accounts', 'accounts'],
  ['settings..signature', 'settings certificates connection signature'],
  [' funds , pay..shapes ', 'funds pay shapes'],
  ['pay,settings', 'pay settings'],
  ['login..login,login', 'login'],
  ['settings..clean-up', STEP_IDS.join(' ')],
])('the list %j is the steps %s', (text, steps) => {
  expect([...readSteps('--steps', text)]).toEqual(steps.split(' '));
});

const RANGE = 'Write the first step, two dots and the last one, for example settings..signature.';
const THERE_ARE = `The steps are ${STEP_IDS.join(', ')}.`;
it.each([
  ['signature..settings', '--skip "signature..settings" is not a range of steps', RANGE],
  ['pay, login..login..pay', '--skip " login..login..pay" is not a range of steps', RANGE],
  ['log', '--skip "log" is not a step', THERE_ARE],
  ['settings..', '--skip "" is not a step', THERE_ARE],
  ['', '--skip "" is not a step', THERE_ARE],
  ['pay,', '--skip "" is not a step', THERE_ARE],
])('the list %j is refused', (text, message, hint) => {
  const error = thrownBy(() => readSteps('--skip', text));
  expect(error).toBeInstanceOf(Psd2Error);
  const next = hint === THERE_ARE ? { next: [['smoke', '--list']] } : {};
  expect(error).toMatchObject({ code: 'usage', message, context: { hint, ...next } });
});

it('a step that is named by itself is told from one within a range', () => {
  expect(singleSteps('--steps', 'settings..login, accounts,pay')).toEqual(['accounts', 'pay']);
  expect(singleSteps('--steps', 'settings..login')).toEqual([]);
  expect(readStepId('--known', ' balance ')).toBe('balance');
  expect(thrownBy(() => readStepId('--known', 'x'))).toMatchObject({ message: '--known "x" is not a step' });
});

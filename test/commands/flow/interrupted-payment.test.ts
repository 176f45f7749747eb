import { expect, it } from 'vitest';
import { withWarning } from '../../../src/commands/flow/drive.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import { Psd2Error } from '../../../src/errors.ts';

const interrupted = () => new Psd2Error('interrupted', 'Interrupted');

it.each<[FlowState, string]>([
  ['verified', 'Interrupted'],
  ['authorized', 'Interrupted'],
  ['executing', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['unknown', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['executed', 'Interrupted. The standingOrder was executed: do not make it again'],
  ['rejected', 'Interrupted'],
])('after an interruption in the state %s the operator reads: %s', (state, message) => {
  expect(withWarning(interrupted(), { state, refusedUnconfirmed: false }, 'standingOrder')).toMatchObject({
    code: 'interrupted',
    message,
  });
});

it('after an interruption the operator reads that the customer can still make the payment run', () => {
  const flow = { state: 'authorizing', refusedUnconfirmed: false, mayExecuteWithoutUs: true } as const;
  expect(withWarning(interrupted(), flow, 'payment')).toMatchObject({
    message: 'Interrupted. The payment may be executed without psd2: do not make it again',
  });
});

it('so it is if the browser fails', () => {
  const error = new Psd2Error('config', 'The browser ended with code 1', { hint: 'Check PSD2_BROWSER.' });
  const flow = { state: 'authorizing', refusedUnconfirmed: false, mayExecuteWithoutUs: true } as const;
  expect(withWarning(error, flow, 'payment')).toMatchObject({
    ...{ code: 'config', hint: 'Check PSD2_BROWSER.' },
    message: 'The browser ended with code 1. The payment may be executed without psd2: do not make it again',
  });
  expect(withWarning(error, { ...flow, mayExecuteWithoutUs: false }, 'payment')).toBe(error);
});

it('any other error stays as it is', () => {
  const error = new Psd2Error('bank_unreachable', 'The bank could not be reached');
  expect(withWarning(error, { state: 'executing', refusedUnconfirmed: false }, 'payment')).toBe(error);
});

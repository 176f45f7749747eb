import { expect, it } from 'vitest';
import { withWarning } from '../../src/commands/flow/rules.ts';
import type { FlowState } from '../../src/domain/flow-states.ts';
import { Psd2Error } from '../../src/errors.ts';

const interrupted = () => new Psd2Error('interrupted', 'Interrupted');

it.each<[FlowState, string]>([
  ['verified', 'Interrupted'],
  ['authorized', 'Interrupted'],
  ['executing', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['unknown', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['executed', 'Interrupted. The standingOrder was executed: do not make it again'],
  ['rejected', 'Interrupted'],
])('of a payment that is interrupted when it is %s the operator is told: %s', (state, message) => {
  expect(withWarning(interrupted(), { state }, 'standingOrder')).toMatchObject({
    code: 'interrupted',
    message,
  });
});

it('another error than an interruption says what it said', () => {
  const error = new Psd2Error('bank_unreachable', 'The bank could not be reached');
  expect(withWarning(error, { state: 'executing' }, 'payment')).toBe(error);
});

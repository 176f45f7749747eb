import { expect, it } from 'vitest';
import { withNext, withWarning } from '../../../src/commands/flow/drive.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { lacking } from '../../support/lacking.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { payerAt } from '../payer-here.ts';

const temporary = temporaryFolder();

const flowIn = (state: FlowState) => ({ kind: 'transfer', flow: 'tr-1', state, transactionId: 't' });

it.each<FlowState>(['failed', 'rejected', 'expired', 'cancelled'])(
  'the error of a flow that ended %s names the flow, and advises no resume',
  (state) => {
    const error = new Psd2Error('not_authorised', 'The customer did not authorise the transfer');
    expect(withNext(error, flowIn(state))).toMatchObject({ flow: 'tr-1', context: lacking('next') });
  },
);

it('a fault says no way on', () => {
  const fault = new TypeError('A fault');
  expect(withNext(fault, flowIn('verified'))).toBe(fault);
});

it('an error that names another flow keeps it', () => {
  const error = new Psd2Error('duplicate_reference', 'The reference was used', { flow: 'tr-2' });
  expect(withNext(error, flowIn('cancelled'))).toMatchObject({ flow: 'tr-2' });
});

const RESUME = ['transfer', 'resume', 'tr-1'];

it.each<[string, ErrorContext, ErrorContext]>([
  ['nothing', {}, { hint: 'Continue with:', next: [[...RESUME, '--yes']] }],
  ['a hint', { hint: 'Wait.' }, { hint: 'Wait. Continue with:', next: [[...RESUME, '--yes']] }],
  [
    'another command',
    { hint: 'See it with:', next: [['transfer', 'show', 'tr-1']] },
    {
      hint: 'See it with:',
      next: [
        ['transfer', 'show', 'tr-1'],
        [...RESUME, '--yes'],
      ],
    },
  ],
  ['a command alone', { next: [['log']] }, { next: [['log'], [...RESUME, '--yes']] }],
])('an error that says %s says how to continue the flow, with what was confirmed', (_, said, whole) => {
  const error = withNext(new Psd2Error('config', 'No', said), flowIn('verified'), ['--yes']);
  expect(error instanceof Psd2Error && error.context).toStrictEqual({
    ...whole,
    ...{ flow: 'tr-1', transactionId: 't' },
  });
});

it('an error that says how to continue keeps that, with what was confirmed once', () => {
  const next = [[...RESUME, '--yes'], RESUME, ['transfer', 'resolve', 'tr-1']];
  const error = new Psd2Error('config', 'No', { hint: 'Ask:', next });
  const continued = withNext(error, flowIn('verified'), ['--yes']);
  expect(continued instanceof Psd2Error && continued.context).toStrictEqual({
    ...{ hint: 'Ask:', flow: 'tr-1' },
    next: [
      [...RESUME, '--yes'],
      [...RESUME, '--yes'],
      ['transfer', 'resolve', 'tr-1'],
    ],
  });
  const unconfirmed = withNext(error, flowIn('verified'));
  expect(unconfirmed instanceof Psd2Error && unconfirmed.context).toStrictEqual({
    ...{ hint: 'Ask:', flow: 'tr-1', next },
  });
});

it('a program that follows the events reads which flow psd2 has begun', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const events: unknown[] = [];
  const tell = (event: unknown, text: string) => void events.push([event, text]);
  await payer.run(['operation', 'run', 'standingOrder', '--account', OWN_ACCOUNT], {
    changes: ({ terminal }) => ({ terminal: { ...terminal, tell } }),
  });
  expect(events).toEqual([
    [
      { event: 'flow', flow: expect.stringMatching(/^op-/), kind: 'operation', state: 'created' },
      expect.stringMatching(/^Operation op-/),
    ],
    [
      { event: 'open', url: 'https://customers.bank.example/pay-1' },
      "Open this address in the customer's browser:\n  https://customers.bank.example/pay-1",
    ],
  ]);
});

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

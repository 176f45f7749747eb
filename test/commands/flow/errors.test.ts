import { expect, it } from 'vitest';
import { endIfUntouched, withNext } from '../../../src/commands/flow/drive.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { lacking } from '../../support/lacking.ts';

const flowIn = (state: FlowState) => ({ kind: 'transfer', flow: 'tr-1', state, transactionId: 't' });

it.each<FlowState>(['failed', 'rejected', 'expired', 'cancelled'])(
  'the error of a flow that ended %s names the flow, and advises no resume',
  (state) => {
    const error = new Psd2Error('not_authorised', 'The customer did not authorise the transfer');
    expect(withNext(error, flowIn(state))).toMatchObject({ flow: 'tr-1', context: lacking('next') });
  },
);

it('an error that names another flow keeps it', () => {
  const error = new Psd2Error('duplicate_reference', 'The reference was used', { flow: 'tr-2' });
  expect(withNext(error, flowIn('cancelled'))).toMatchObject({ flow: 'tr-2' });
});

/** A new flow, or one that has reached the bank, and the types of what is recorded of it. */
function openFlow(reached: boolean) {
  const recorded: string[] = [];
  const current = { ...flowIn('created'), reached };
  const record = async ({ type }: { type: string }) => {
    recorded.push(type);
    return current;
  };
  return { current, record, recorded, assertOurs: async () => {}, reread: async () => current };
}

it.each<ErrorCode>(['interrupted', 'overtaken', 'too_many_calls', 'config'])(
  'a flow that has not reached the bank can be resumed after the error %s',
  async (code) => {
    const open = openFlow(false);
    await endIfUntouched(open, new Psd2Error(code, 'Not now'));
    expect(open.recorded).toEqual([]);
  },
);

it('any other error ends a flow that has not reached the bank, and no other flow', async () => {
  for (const reached of [false, true]) {
    const open = openFlow(reached);
    await endIfUntouched(open, new Psd2Error('bank_unreachable', 'The bank could not be reached'));
    expect(open.recorded).toEqual(reached ? [] : ['cancelled']);
  }
});

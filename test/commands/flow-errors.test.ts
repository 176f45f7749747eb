import { expect, it } from 'vitest';
import { withNext } from '../../src/commands/flow/rules.ts';
import type { FlowState } from '../../src/domain/flow-states.ts';
import { Psd2Error } from '../../src/errors.ts';

const flowIn = (state: FlowState) => ({ kind: 'transfer', flow: 'tr-1', state, transactionId: 't' });

it.each<FlowState>(['failed', 'rejected', 'expired', 'cancelled'])(
  'the error of a flow that ended %s names the flow, and advises no resume',
  (state) => {
    const error = new Psd2Error('not_authorised', 'The customer did not authorise the transfer');
    expect(withNext(error, flowIn(state))).toMatchObject({ flow: 'tr-1', next: undefined });
  },
);

it('an error that names another flow keeps it', () => {
  const error = new Psd2Error('duplicate_reference', 'The reference was used', { flow: 'tr-2' });
  expect(withNext(error, flowIn('cancelled'))).toMatchObject({ flow: 'tr-2' });
});

import { Psd2Error } from '../../errors.ts';
import { kindOf } from './kinds.ts';

/** The error of a worker that goes on with a flow that another has taken up in the meantime. */
export function overtaken(flow: string): Psd2Error {
  return new Psd2Error('overtaken', `Another psd2 has gone on with ${flow} in the meantime`, {
    hint: 'This one does nothing more with it. See how far it is:',
    next: [[kindOf(flow) ?? 'transfer', 'show', flow]],
    flow,
  });
}

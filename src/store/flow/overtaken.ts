import { Psd2Error } from '../../errors.ts';
import { kindOf } from './kinds.ts';

/** The error for a worker that continues a flow after another worker has taken it over. */
export function overtaken(flow: string): Psd2Error {
  return new Psd2Error('overtaken', `Another psd2 has continued ${flow} in the meantime`, {
    hint: 'This one stops working on it. See its current state:',
    next: [[kindOf(flow) ?? 'transfer', 'show', flow]],
    flow,
  });
}

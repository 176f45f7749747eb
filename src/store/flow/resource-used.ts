import { Psd2Error } from '../../errors.ts';
import { kindOf } from './kinds.ts';

/**
 * The error for a bank that gave a flow the resource of another flow. Whoever executed it would execute the other flow once
 * more, and report that as its own payment.
 *
 * @param flow the flow that got the answer. Nothing of the answer is recorded, so resume asks the bank for another resource
 * @param owner the flow that has the resource, or had it
 */
export function resourceIsUsed(flow: string, resourceId: string, owner: string): Psd2Error {
  return new Psd2Error(
    'bank_answer',
    `The bank gave ${flow} the resource ${resourceId}, which belongs to ${owner}`,
    {
      hint: 'psd2 does not use it, so nothing of this flow was authorised or executed. The first command asks the bank for another resource, the second one shows the other flow:',
      next: [
        [kindOf(flow) ?? 'transfer', 'resume', flow],
        [kindOf(owner) ?? 'transfer', 'show', owner],
      ],
      flow,
    },
  );
}

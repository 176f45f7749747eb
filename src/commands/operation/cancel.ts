import type { GenericOperation } from '../../store/flow/kinds.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { describeOperation, printOperation } from './output.ts';

/** `psd2 operation cancel <flow>`: gives up an operation for which \`execute\` was not sent. */
export function operationCancel(context: Context, flow: string): Promise<void> {
  return cancelFlow<GenericOperation>(context, flow, {
    open: (journal, reference) => journal.openOperation(reference),
    describe: describeOperation,
    print: printOperation,
    sent: 'execute',
    referenceOf: () => null,
  });
}

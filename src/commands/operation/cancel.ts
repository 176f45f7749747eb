import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { describeOperation, printOperation } from './output.ts';

/** `psd2 operation cancel <flow>`: gives up an operation, unless `execute` was sent. */
export function operationCancel(context: Context, flow: string): Promise<void> {
  return cancelFlow<GenericOperation>(context, flow, {
    find: (flows, reference) => flows.find('operation', reference),
    resume: (flows, flow, work) => flows.resume('operation', flow, work),
    describe: describeOperation,
    print: printOperation,
    sent: 'execute',
    referenceOf: () => null,
  });
}

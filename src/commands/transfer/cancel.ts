import type { Transfer } from '../../domain/transfer.ts';
import type { Context } from '../context.ts';
import { cancelFlow } from '../flow/cancel.ts';
import { describeTransfer, printTransfer } from './output.ts';

/** `psd2 transfer cancel <flow>`: gives up a transfer, unless `execute` was sent. */
export function transferCancel(context: Context, flow: string): Promise<void> {
  return cancelFlow<Transfer>(context, flow, {
    find: (flows, reference) => flows.find('transfer', reference),
    resume: (flows, flow, work) => flows.resume('transfer', flow, work),
    describe: describeTransfer,
    print: printTransfer,
    sent: 'execute',
    referenceOf: ({ order }) => order.reference,
  });
}

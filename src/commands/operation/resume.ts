import { maySend } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/operation.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/rules.ts';
import { unfinishedFlow } from '../flow/unfinished.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { requireFile } from '../shared/save-document.ts';
import { driveOperation } from './drive.ts';
import type { RunOptions } from './run.ts';

/** `psd2 operation resume <flow>`: continues from the journal; never executes twice. */
export async function operationResume(
  context: Context,
  named: string | undefined,
  options: RunOptions,
): Promise<void> {
  const flow = named ?? (await unfinishedOperation(context));
  const { flows } = await context.store(flow);
  const current = await flows.find('operation', flow);
  refuseOtherCustomer(context, current);
  const furtherData = await readFurtherData(context, options.verifyData);
  const receipt = options.receipt === undefined ? undefined : requireFile(context, options.receipt);
  refuseMoneyTransfer(current);
  if (maySend(current)) refuseClientCredentials(context);
  if (!current.accepted) refuseUnconfirmable(context, 'An operation');
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume('operation', current.flow, async (open) => {
    refuseMoneyTransfer(open.current);
    if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
    await driveOperation(context, opened, open, { receipt });
  });
}

/**
 * Refuses to continue a bank transfer that an older psd2 began as an operation. psd2 only asks for the outcome of an
 * `execute` that was sent.
 *
 * @throws Psd2Error `usage`
 */
function refuseMoneyTransfer(operation: GenericOperation): void {
  const { order, flow, state } = operation;
  const step = nextOperationStep(operation, false);
  if (!isMoneyTransfer(order.operation) || step === 'ask-outcome' || step === 'done') return;
  throw new Psd2Error(
    'usage',
    `${flow} is a bank transfer that an older psd2 began, and it is ${state}. psd2 operation cannot continue it`,
    {
      hint: 'Make the payment with psd2 transfer. End this one with:',
      next: [['operation', 'resolve', flow, '--not-executed']],
      flow,
    },
  );
}

function unfinishedOperation(context: Context): Promise<string> {
  return unfinishedFlow(context, 'operation', {
    read: (flows, flow) => flows.find('operation', flow),
    describe: ({ order }) => `${order.operation} of ${order.from}`,
  });
}

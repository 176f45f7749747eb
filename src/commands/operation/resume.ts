import { maySend } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { collect, examples, type Verb } from '../declare.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { resumeFlow } from '../flow/resume.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveOperation, readReceipt } from './drive.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation resume [flow]`: continues from the journal; never executes twice. */
export const resume: Verb = {
  prints: OPERATIONS.prints,
  declare: (command, run) =>
    command
      .argument('[flow]', 'default: the only unfinished operation, or the one you choose')
      .addHelpText('after', examples('psd2 operation resume op-0mwq9zj41'))
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order; may be repeated',
        collect,
        [],
      )
      .option('--receipt <path>', "after execution, save the bank's document in this file")
      .action((flow, options) => run((context) => resumeOperation(context, flow, options))),
};

function resumeOperation(
  context: Context,
  named: string | undefined,
  options: { verifyData: string[]; receipt?: string | undefined },
): Promise<void> {
  const check = async (current: GenericOperation) => {
    const furtherData = await readFurtherData(context, options.verifyData);
    const receipt = await readReceipt(context, options.receipt);
    await context.needs('operations');
    refuseMoneyTransfer(current);
    if (maySend(current)) refuseClientCredentials(context);
    if (!current.accepted) refuseUnconfirmable(context, 'An operation');
    return { furtherData, receipt };
  };
  return resumeFlow(context, OPERATIONS, named, check, async (opened, open, { furtherData, receipt }) => {
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

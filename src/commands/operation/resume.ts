import { maySend } from '../../domain/flow-states.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { resumeFlow } from '../flow/resume.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveOperation, readReceipt } from './drive.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation resume [flow]`: continues from the journal; never executes twice. */
export const resume = verb(
  { prints: printsOne(OPERATIONS), help: examples('psd2 operation resume op-0mwq9zj41') },
  (command) =>
    command
      .argument('[flow]', 'default: the only unfinished operation, or the one you choose')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order; may be repeated',
        collect,
        [],
      )
      .option('--receipt <path>', "after execution, save the bank's document in this file"),
  (context, flow, options) => resumeOperation(context, flow, options),
);

function resumeOperation(
  context: Context,
  named: string | undefined,
  options: { verifyData: string[]; receipt?: string | undefined },
): Promise<void> {
  const check = async (current: GenericOperation) => {
    const furtherData = await readFurtherData(context, options.verifyData);
    const receipt = await readReceipt(context, options.receipt);
    if (maySend(current)) refuseClientCredentials(context);
    if (!current.accepted) refuseUnconfirmable(context, 'An operation');
    return { furtherData, receipt };
  };
  return resumeFlow(context, OPERATIONS, named, check, async (opened, open, { furtherData, receipt }) => {
    if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
    await driveOperation(context, opened, open, { receipt });
  });
}

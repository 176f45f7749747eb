import { maySend } from '../../domain/flow-states.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { driveFlow, refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { batchOfJoint } from '../flow/next-command.ts';
import { resumeFlow } from '../flow/resume.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { type PsuOptions, readPerson, refuseWithoutId, withPersonOptions } from '../shared/psu.ts';
import { readFurtherData, refuseFurtherData } from '../shared/read-data.ts';
import { driveOperation, readReceipt } from './drive.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation resume [flow]`: continues from the journal; never executes twice. */
export const resume = verb(
  { prints: printsOne(OPERATIONS), help: examples('psd2 operation resume op-0mwq9zj41') },
  (command) =>
    withCredentialOptions(withPersonOptions(command))
      .argument('[flow]', 'default: the only unfinished operation, or the one you choose')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order; may be repeated',
        collect,
        [],
      )
      .option('--receipt <path>', "after execution, save the bank's document in this file"),
  async (context, flow, { verifyData, receipt, psuPasswordFile, otpFile, scaMethod, ...person }) => {
    const taking = await givenCredentials(context, { psuPasswordFile, otpFile, scaMethod });
    return resumeOperation(taking, flow, { verifyData, receipt, person });
  },
);

interface ResumeOptions {
  verifyData: string[];
  receipt: string | undefined;
  person: PsuOptions;
}

function resumeOperation(context: Context, named: string | undefined, options: ResumeOptions): Promise<void> {
  refuseWithoutId(options.person);
  const check = async (current: GenericOperation) => {
    await refuseOtherKind(context, current);
    if (options.verifyData.length > 0) refuseFurtherData(await context.bankInterface());
    const furtherData = await readFurtherData(context, options.verifyData);
    const receipt = await readReceipt(context, options.receipt);
    if (maySend(current)) refuseClientCredentials(context);
    if (!current.accepted) refuseUnconfirmable(context, 'An operation');
    return { furtherData, receipt, who: await readPerson(context, options.person) };
  };
  return resumeFlow(
    context,
    OPERATIONS,
    named,
    check,
    async (opened, open, { furtherData, receipt, who }) => {
      if (batchOfJoint(open.current) !== null) {
        const { resumeGroup } = await import('../batch/follow-group.ts');
        return driveFlow(context, OPERATIONS, opened, open, () => resumeGroup(context, open, who));
      }
      if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
      return driveOperation(context, opened, open, { receipt });
    },
  );
}

/** @throws Psd2Error `usage` for an operation that this bank does not have, and for a bulk payment or signing basket that was not sent, or is not approved */
async function refuseOtherKind(context: Context, current: GenericOperation): Promise<void> {
  if (batchOfJoint(current) === null) return context.needs('operations');
  const { refuseGroup } = await import('../batch/follow-group.ts');
  return refuseGroup(context, current);
}

import { isOpen, maySend } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { list as listOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb, where } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { refuseInJoint } from '../flow/next-command.ts';
import { resumeFlow } from '../flow/resume.ts';
import { refusePasting } from '../open/returns.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { type PsuOptions, readPerson, refuseWithoutId, withPersonOptions } from '../shared/psu.ts';
import { readFurtherData, refuseFurtherData } from '../shared/read-data.ts';
import { driveTransfer } from './create.ts';
import { refuseAboveLimit, refuseUncheckedPayee } from './order.ts';
import { TRANSFERS } from './transfers.ts';

/** `psd2 transfer resume [flow]`: continues from the journal; never pays twice. */
export const resume = verb(
  {
    prints: printsOne(TRANSFERS),
    printsWith: { '--all': { what: 'the transfers that were continued', shape: listOf(TRANSFERS.listed) } },
    help: `
--all continues what psd2 transfer list --attention shows, the oldest first; with --customer only that customer's transfers. A
failure of one does not stop the others. The exit code is that of the first failure.
${examples('psd2 transfer resume tr-0mwq9zj41', 'psd2 transfer resume --all --sca-timeout 60')}`,
  },
  (command) =>
    withCredentialOptions(withPersonOptions(command))
      .argument('[flow]', 'default: the only unfinished transfer, or the one you choose')
      .option('--all', 'continue all unfinished transfers, one after the other')
      .option('--payee-verified', 'you have checked that the name belongs to the IBAN')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order: JSON, @file or -; may be repeated',
        collect,
        [],
      )
      .option(
        '--paste',
        where('links for SCA', 'prompt for the address in the browser after the customer has finished'),
      ),
  async (context, flow, { all = false, payeeVerified = false, paste = false, verifyData, ...others }) => {
    const { psuPasswordFile, otpFile, scaMethod, ...person } = others;
    const options = { payeeVerified, paste, verifyData, person };
    const taking = await givenCredentials(context, { psuPasswordFile, otpFile, scaMethod });
    return all ? resumeEach(taking, flow, options) : resumeTransfer(taking, flow, options);
  },
);

interface ResumeOptions {
  payeeVerified: boolean;
  paste: boolean;
  verifyData: string[];
  person: PsuOptions;
}

/** @throws Psd2Error `usage` if an option is for one transfer */
async function resumeEach(
  context: Context,
  named: string | undefined,
  options: ResumeOptions,
): Promise<void> {
  if (named !== undefined)
    throw new Psd2Error('usage', '--all and the name of a transfer cannot be used together');
  const { payeeVerified, paste, verifyData, person } = options;
  const isOfPerson = Object.values(person).some((value) => value !== undefined);
  const ofOne = payeeVerified
    ? '--payee-verified'
    : paste
      ? '--paste'
      : verifyData.length > 0
        ? '--verify-data'
        : isOfPerson && '--psu-id';
  if (ofOne)
    throw new Psd2Error('usage', `${ofOne} is for one transfer, so it cannot be used with --all`, {
      hint: 'Continue that transfer by its name.',
    });
  const { resumeAll } = await import('./resume-all.ts');
  await resumeAll(context, (own, flow) => resumeTransfer(own, flow, options));
}

function resumeTransfer(
  context: Context,
  named: string | undefined,
  { payeeVerified, paste, verifyData, person }: ResumeOptions,
): Promise<void> {
  refuseWithoutId(person);
  if (paste) refusePasting(context);
  const check = async (current: Transfer) => {
    if (verifyData.length > 0) refuseFurtherData(await context.bankInterface());
    refuseInJoint(current);
    const profile = context.profile();
    const { order } = current;
    if (maySend(current)) refuseClientCredentials(context);
    if (isOpen(current) && !current.accepted) {
      refuseUnconfirmable(context, 'A transfer');
      refuseUncheckedPayee(context, profile, { payeeVerified, instant: order.instant });
      refuseAboveLimit(profile, order);
    }
    return {
      furtherData: await readFurtherData(context, verifyData),
      who: await readPerson(context, person),
    };
  };
  return resumeFlow(context, TRANSFERS, named, check, async (opened, open, { furtherData, who }) => {
    if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
    await driveTransfer(context, opened, open, { payeeVerified, paste, person: who });
  });
}

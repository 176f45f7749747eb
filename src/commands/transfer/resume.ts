import { isOpen, maySend } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Context } from '../context.ts';
import { collect, examples, type Verb } from '../declare.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { refuseInBulk } from '../flow/next-command.ts';
import { resumeFlow } from '../flow/resume.ts';
import { refusePasting } from '../open/returns.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveTransfer } from './create.ts';
import { refuseAboveLimit, refuseUncheckedPayee } from './order.ts';
import { TRANSFERS } from './transfers.ts';

/** `psd2 transfer resume [flow]`: continues from the journal; never pays twice. */
export const resume: Verb = {
  prints: TRANSFERS.prints,
  declare: (command, run) =>
    command
      .argument('[flow]', 'default: the only unfinished transfer, or the one you choose')
      .addHelpText('after', examples('psd2 transfer resume tr-0mwq9zj41'))
      .option('--payee-verified', 'you have checked that the name belongs to the IBAN')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order: JSON, @file or -; may be repeated',
        collect,
        [],
      )
      .option('--paste', "ask you for the address that the customer's browser ended at (NextGenPSD2)")
      .action((flow, { payeeVerified = false, paste = false, verifyData }) =>
        run((context) => resumeTransfer(context, flow, { payeeVerified, paste, verifyData })),
      ),
};

function resumeTransfer(
  context: Context,
  named: string | undefined,
  { payeeVerified, paste, verifyData }: { payeeVerified: boolean; paste: boolean; verifyData: string[] },
): Promise<void> {
  if (paste) refusePasting(context);
  const check = (current: Transfer) => {
    refuseInBulk(current);
    const profile = context.profile();
    const { order } = current;
    if (maySend(current)) refuseClientCredentials(context);
    if (isOpen(current) && !current.accepted) {
      refuseUnconfirmable(context, 'A transfer');
      refuseUncheckedPayee(context, profile, { payeeVerified, instant: order.instant });
      refuseAboveLimit(profile, order);
    }
    return readFurtherData(context, verifyData);
  };
  return resumeFlow(context, TRANSFERS, named, check, async (opened, open, furtherData) => {
    if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
    await driveTransfer(context, opened, open, { payeeVerified, paste });
  });
}

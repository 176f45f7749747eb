import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { Context, GivenCredentials } from '../context.ts';
import { where } from '../declare.ts';

/** The options of commands in which a customer may authorise with credentials in psd2 (docs/embedded.md). */
export function withCredentialOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  isHidden = false,
) {
  const option = <Flags extends string>(flags: Flags, says: string) =>
    new Option(flags, where('embedded SCA', says)).hideHelp(isHidden);
  return command
    .addOption(
      option('--psu-password-file <file>', "file with a test customer's PIN, or - (PSD2_PSU_PASSWORD_FILE)"),
    )
    .addOption(option('--otp-file <file>', "file with a test customer's TAN, or - (PSD2_OTP_FILE)"))
    .addOption(option('--sca-method <method>', 'id, type or name of the method of the customer'));
}

/**
 * The context in which a command takes the credentials that its options name.
 *
 * @throws Psd2Error `usage`, `config` if the files are not right, before anything is sent
 */
export async function givenCredentials(
  context: Context,
  { psuPasswordFile, otpFile, scaMethod }: GivenCredentials,
): Promise<Context> {
  const { PSD2_PSU_PASSWORD_FILE: passwords, PSD2_OTP_FILE: codes } = context.env;
  if (!(psuPasswordFile ?? otpFile ?? scaMethod ?? (passwords || codes))) return context;
  const { checkedFiles } = await import('./credential-files.ts');
  const files = checkedFiles(context, { psuPasswordFile, otpFile });
  return context.within({ credentials: { ...files, scaMethod } });
}

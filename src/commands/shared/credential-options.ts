import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Context, GivenCredentials } from '../context.ts';
import { where } from '../declare.ts';

/** The options of commands in which a customer may authorise with credentials in psd2 (docs/embedded.md). */
export function withCredentialOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option(
      '--psu-password-file <file>',
      where('embedded SCA', "file with a test customer's PIN, or - (or PSD2_PSU_PASSWORD_FILE)"),
    )
    .option(
      '--otp-file <file>',
      where('embedded SCA', "file with a test customer's TAN, or - (or PSD2_OTP_FILE)"),
    )
    .option(
      '--sca-method <method>',
      where('embedded SCA', 'id, type or name of the method with which the customer authorises'),
    );
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

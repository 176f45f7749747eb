import { Psd2Error } from '../../errors.ts';
import type { CredentialPorts } from '../../flows/ports.ts';
import { embeddedOf } from '../../store/machine/settings.ts';
import type { Context, CustomerBank } from '../context.ts';
import type { CredentialQuestions } from './credential-questions.ts';

/**
 * Takes a customer's credentials, at a bank that wants them from psd2 (docs/embedded.md). What asks is loaded with the first question:
 * other banks need none of it.
 */
export async function credentialPortsOf(
  context: Context,
  opened: Pick<CustomerBank, 'customerId' | 'profile'>,
): Promise<CredentialPorts> {
  const { takesCredentials } = await context.bankInterface();
  let questions: Promise<CredentialQuestions> | undefined;
  const open = () => {
    questions ??= import('./credential-questions.ts').then(({ openQuestions }) =>
      openQuestions(context, opened, takesCredentials ?? { isAlone: false }),
    );
    return questions;
  };
  return {
    refusal: () => (takesCredentials ? refusalOfCredentials(context, opened) : notInBankFile()),
    password: async (question) => (await open()).password(question),
    method: async (methods, question) => (await open()).method(methods, question),
    code: async (challenge, question) => (await open()).code(challenge, question),
    beginsAgain: async (question) => (await open()).beginsAgain(question),
    note: async (what, question, result) => (await open()).note(what, question, result),
    close: async () => (await questions)?.close(),
  };
}

function notInBankFile(): Psd2Error {
  return new Psd2Error(
    'usage',
    "The bank wants the customer's PIN or TAN from psd2 (embedded SCA), and its bank file does not allow it",
    {
      hint: 'If the bank has no other way, sca.approaches of the bank file ends with "embedded", and the profile allows it. What that means: docs/embedded.md.',
    },
  );
}

/** Why the profile lets psd2 take none, or why nobody can give one. */
function refusalOfCredentials(
  context: Context,
  { profile }: Pick<CustomerBank, 'profile'>,
): Psd2Error | null {
  const { terminal, credentials } = context;
  let how: ReturnType<typeof embeddedOf>;
  try {
    how = embeddedOf(profile);
  } catch (error) {
    if (error instanceof Psd2Error) return error;
    throw error;
  }
  if (how === 'never')
    return new Psd2Error(
      'config',
      `The bank wants the customer's PIN or TAN from psd2 (embedded SCA), and the profile ${profile.name} does not allow it`,
      {
        hint: 'psd2 would pass them on and keep nothing (docs/embedded.md). If the customer types them here, allow it (PSD2_EMBEDDED without a profile):',
        next: [['profile', 'set', profile.name, '--embedded', 'ask']],
      },
    );
  if (terminal.canAsk || credentials?.psuPasswordFile !== undefined) return null;
  return new Psd2Error('usage', "The bank wants the customer's PIN, and psd2 cannot ask without a terminal", {
    hint: 'Run it at a terminal, where the customer types it. At a sandbox, a profile with --embedded files takes it from --psu-password-file, and the TAN from --otp-file.',
  });
}

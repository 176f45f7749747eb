import { Psd2Error } from '../errors.ts';

/** The commands that work with a profile. */
const COMMANDS = 'accounts|api|auth|consent|customer|log|operation|transfer';

/**
 * The commands that an error's hint names, with the `--profile` that this command was given: they are to be copied, and
 * would else work with another profile.
 *
 * @returns the error, with that hint where it has one
 */
export function repeatProfile(error: unknown, profile: string): unknown {
  if (!(error instanceof Psd2Error) || error.hint === undefined) return error;
  const named = new RegExp(`\\bpsd2 (?=(?:${COMMANDS})\\b)`, 'g');
  return error.with({ hint: error.hint.replace(named, () => `psd2 --profile ${profile} `) });
}

import { type ErrorContext, Psd2Error } from '../errors.ts';

/** The interfaces that psd2 knows, as people call them. Profiles, JSON and reports have the short names. */
const IN_WORDS: Readonly<Record<string, string>> = { cb: 'the step interface', nextgenpsd2: 'NextGenPSD2' };

/** By what a person recognises the step interface. */
export const STEP_INTERFACE_MARKS =
  'its paths begin with /private/customers/, and a payment is inserted, authorised, and then executed with a call of its own';

/** An interface in words, and its short name if the words do not say it: `the step interface (cb)`. */
export function interfaceInWords(name: string): string {
  const words = IN_WORDS[name];
  if (words === undefined) return name;
  return words.toLowerCase() === name ? words : `${words} (${name})`;
}

/** The error for what an interface does not have. @param name short name of the interface */
export function lacking(name: string, what: string, context: ErrorContext = {}): Psd2Error {
  return new Psd2Error(
    'usage',
    `The interface of this bank, ${interfaceInWords(name)}, has no ${what}`,
    context,
  );
}

/** A bank with the step interface was asked as one of NextGenPSD2. */
export function stepInterfaceAnswered(): Psd2Error {
  const name = interfaceInWords('cb');
  return new Psd2Error('bank_answer', `This bank answers as ${name} does, not as NextGenPSD2`, {
    hint: `You recognise it: ${STEP_INTERFACE_MARKS}. It needs no bank file. Take that of the profile away with:`,
    next: [['profile', 'set', '--unset', 'bank']],
  });
}

/** A bank of NextGenPSD2 was asked as one with the step interface. */
export function otherInterfaceAnswered(): Psd2Error {
  return new Psd2Error('bank_answer', `This bank answers as NextGenPSD2, not as ${interfaceInWords('cb')}`, {
    hint: 'It needs a bank file. Find its platform, and give its name to psd2 profile set --bank, with:',
    next: [['bank', 'list']],
  });
}

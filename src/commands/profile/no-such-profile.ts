import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';

/** The error for an unknown profile. It lists the profiles that exist. */
export function noSuchProfile(name: string, known: string[]): Psd2Error {
  return new Psd2Error('no_profile', `There is no profile ${JSON.stringify(name)}`, {
    ...(known.length > 0
      ? { hint: `${didYouMean(name, known)}Existing profiles: ${known.join(', ')}.` }
      : { hint: 'Add it with:', next: [['profile', 'add', name]] }),
  });
}

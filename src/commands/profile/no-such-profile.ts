import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';

/** That no profile has this name, and which there are. */
export function noSuchProfile(name: string, known: string[]): Psd2Error {
  return new Psd2Error('no_profile', `There is no profile ${JSON.stringify(name)}`, {
    ...(known.length > 0
      ? { hint: `${didYouMean(name, known)}There is: ${known.join(', ')}.` }
      : { hint: 'Add it with:', next: [['profile', 'add', name]] }),
  });
}

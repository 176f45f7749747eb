import { Psd2Error } from '../errors.ts';

/** The error of a flow that is in a state which only a resource at the bank brings, and whose journal tells of none. */
export function lackingResource(flow: string): Psd2Error {
  return new Psd2Error(
    'config',
    `The journal of ${flow} lacks the line that tells its resource at the bank`,
    {
      hint: 'It is the record of a flow: restore it from a backup.',
    },
  );
}

import { Psd2Error } from '../errors.ts';

/** The error for a flow whose state requires a resource at the bank, but whose journal has none. */
export function lackingResource(flow: string): Psd2Error {
  return new Psd2Error(
    'config',
    `The journal of ${flow} does not have the line with its resource at the bank`,
    {
      hint: 'The journal is the record of a flow. Restore it from a backup.',
    },
  );
}

import type { BankFile } from '../schema.ts';

/** The standard as it is: every value is the default. */
export const standard: BankFile = {
  interface: 'nextgenpsd2',
  name: 'NextGenPSD2 1.3',
  source: 'https://www.berlin-group.org/nextgenpsd2-downloads',
  verifiedOn: null,
};

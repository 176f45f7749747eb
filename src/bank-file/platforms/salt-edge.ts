import type { BankFile } from '../schema.ts';

/** Salt Edge PSD2 Compliance: the interface of more than a hundred smaller banks. */
export const saltEdge: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Salt Edge PSD2 Compliance',
  source: 'https://priora.saltedge.com/docs/berlingroup/other',
  headers: { date: 'always' },
  signing: { certificate: 'pem' },
  verifiedOn: null,
};

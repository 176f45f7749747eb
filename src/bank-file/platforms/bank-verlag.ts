import type { BankFile } from '../schema.ts';

/** Many private banks in Germany. */
export const bankVerlag: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Bank-Verlag',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/verlag-adapter',
  headers: { contentType: 'application/json' },
  psu: { idType: 'optional' },
  signing: { when: 'never' },
  verifiedOn: null,
};

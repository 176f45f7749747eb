import type { BankFile } from '../schema.ts';

export const consorsbank: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Consorsbank',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/consors-bank-adapter',
  psu: { id: 'optional' },
  signing: { when: 'never' },
  verifiedOn: null,
};

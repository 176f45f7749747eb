import type { BankFile } from '../schema.ts';

export const bancaTransilvania: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Banca Transilvania',
  source: 'https://apistorebt.ro/bt/sb/',
  oauth: {
    mode: 'integrated',
    clientAuth: 'post',
    scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
  },
  sca: { approaches: ['oauth'] },
  consent: { types: ['list-only', 'dedicated'] },
  verifiedOn: null,
};

import type { BankFile } from '../schema.ts';

/** A token comes before everything, from two hosts, and says who the customer is. */
export const sparda: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Sparda-Banken',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparda-bank-adapter',
  psu: { id: 'never' },
  signing: { when: 'never' },
  oauth: {
    mode: 'pre-step',
    authorizationEndpoint: 'https://idp.sparda-n.de/oauth2/authorize',
    tokenEndpoint: 'https://idp.sparda.de/oauth2/token',
    scope: { preStep: 'ais pis' },
  },
  verifiedOn: null,
};

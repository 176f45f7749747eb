import type { BankFile } from '../schema.ts';

/** The application needs a token of its own. Instant transfers end with ACCC. */
export const raiffeisenAustria: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Raiffeisen (Austria)',
  source: 'https://developer.raiffeisen.at/en/faq.html',
  oauth: {
    mode: 'client-credentials',
    tokenEndpoint: 'https://sso.raiffeisen.at/as/token.oauth2',
    scope: { preStep: 'apic-psd2' },
  },
  accounts: { balances: { available: ['forwardAvailable', 'interimAvailable'] } },
  payments: { final: ['ACCC'] },
  verifiedOn: null,
};

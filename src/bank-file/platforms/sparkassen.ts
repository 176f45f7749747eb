import type { BankFile } from '../schema.ts';

/** The savings banks in Germany. The scope has a blank after the colon. */
export const sparkassen: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Sparkassen (S-Payment)',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparkasse-adapter',
  signing: { when: 'never' },
  oauth: {
    mode: 'integrated',
    clientId: 'organization-id',
    scope: { ais: 'AIS: {consentId}', pis: 'PIS: {paymentId}' },
  },
  sca: { approaches: ['redirect', 'oauth'] },
  payments: { futureDays: 0 },
  verifiedOn: null,
};

import type { BankFile } from '../schema.ts';

/** The token endpoint is `/v1/oauth_matls/token` below the base URL: name it as oauth.tokenEndpoint. */
export const santanderConsumer: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Santander Consumer Bank',
  source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/santander-adapter',
  signing: { when: 'never' },
  oauth: {
    mode: 'integrated',
    clientAuth: 'mtls',
    scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
  },
  sca: { approaches: ['oauth', 'redirect'] },
  verifiedOn: null,
};

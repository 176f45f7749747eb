import type { BankFile } from '../schema.ts';

/** The token endpoint is `/v1/token` below the base URL, and not in the metadata: name it as oauth.tokenEndpoint. */
export const commerzbank: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Commerzbank',
  source: 'https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents',
  signing: { when: 'never' },
  oauth: { mode: 'integrated', pkce: 'S256', scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' } },
  sca: { approaches: ['oauth', 'redirect'] },
  consent: { types: ['all-accounts', 'dedicated'] },
  verifiedOn: null,
};

import type { BankFile } from '../schema.ts';

/** Its server can answer a repeated POST as it did the first time, but only where an installation has switched that on. */
export const wso2: BankFile = {
  interface: 'nextgenpsd2',
  name: 'WSO2 Open Banking, Berlin toolkit',
  source: 'https://github.com/wso2/reference-implementation-nextgenpsd2',
  headers: { date: 'signed' },
  signing: { headers: ['digest', 'x-request-id', 'date'], ifSent: ['psu-id'] },
  oauth: { mode: 'integrated', scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' } },
  sca: { approaches: ['oauth', 'redirect'] },
  payments: { repeat: 'unknown' },
  verifiedOn: null,
};

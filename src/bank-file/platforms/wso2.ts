import type { BankFile } from '../schema.ts';

/** A repeated POST with the same X-Request-ID and the same bytes gives the same answer for a day. */
export const wso2: BankFile = {
  interface: 'nextgenpsd2',
  name: 'WSO2 Open Banking, Berlin toolkit',
  source: 'https://github.com/wso2/reference-implementation-nextgenpsd2',
  headers: { date: 'signed' },
  signing: { headers: ['digest', 'x-request-id', 'date'], ifSent: ['psu-id'] },
  oauth: { mode: 'integrated', scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' } },
  sca: { approaches: ['oauth', 'redirect'] },
  payments: { repeat: 'same-answer', repeatMinutes: 1440 },
  verifiedOn: null,
};

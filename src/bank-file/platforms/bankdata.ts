import type { BankFile } from '../schema.ts';

/** Jyske Bank and other Danish banks. They name the key of the application. */
export const bankdata: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Bankdata',
  source: 'https://developers.bankdata.dk/how_it_works/security',
  headers: { static: { 'x-api-key': 'env:PSD2_BANK_BANKDATA_API_KEY' } },
  oauth: { mode: 'integrated', scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' } },
  sca: { approaches: ['oauth'] },
  verifiedOn: null,
};

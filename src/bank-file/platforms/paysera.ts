import type { BankFile } from '../schema.ts';

export const paysera: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Paysera',
  source: 'https://developers.paysera.com/en/open-banking/v1.3/',
  oauth: { mode: 'integrated' },
  sca: { approaches: ['oauth'], authorisationMinutes: 15 },
  consent: { maxDays: 180, frequencyPerDay: 4 },
  verifiedOn: null,
};

import type { BankFile } from '../schema.ts';

/** The banks of the Volksbanken and Raiffeisenbanken in Germany. They demand a signature. */
export const atruvia: BankFile = {
  interface: 'nextgenpsd2',
  name: 'Atruvia (Volksbanken Raiffeisenbanken)',
  source: 'https://github.com/Yolt-group/providers',
  signing: {
    when: 'always',
    ifSent: ['psu-id'],
    keyId: {
      form: 'sn-ca',
      serial: 'decimal',
      dn: 'issuer',
      format: 'rfc1779',
      spaces: 'strip',
      separator: ',',
    },
    algorithm: 'rsa-sha256',
  },
  consent: { types: ['dedicated'], once: false },
  accounts: { bookingStatuses: ['booked'], historyDays: 90 },
  verifiedOn: null,
};

import type { BankFile } from '../schema.ts';

/** adorsys XS2A: the server under the interfaces of many German and Austrian banks. */
export const adorsys: BankFile = {
  interface: 'nextgenpsd2',
  name: 'adorsys XS2A',
  source: 'https://github.com/adorsys/xs2a',
  headers: { date: 'signed' },
  signing: {
    ifSent: ['psu-id', 'psu-corporate-id', 'date', 'tpp-redirect-uri'],
    keyId: { serial: 'hex', case: 'lower', format: 'rfc2253', spaces: 'percent' },
    emptyBodyDigest: true,
    certificate: 'pem-line',
  },
  sca: { approaches: ['redirect', 'decoupled', 'oauth'], start: 'follow-links', pollSeconds: 3 },
  accounts: {
    delta: 'none',
    balances: { booked: ['closingBooked', 'interimBooked'] },
  },
  payments: {
    products: {
      payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers'],
      'bulk-payments': ['sepa-credit-transfers'],
      'periodic-payments': ['sepa-credit-transfers'],
    },
    allowed: [
      'purposeCode',
      'chargeBearer',
      'ultimateDebtor',
      'ultimateCreditor',
      'remittanceInformationStructured',
    ],
    // A repeated POST makes a second payment.
    repeat: 'unknown',
    executesWithoutSca: 'possible',
    cancel: 'authorised',
    bulk: { format: 'json' },
  },
  errors: { PSU_CREDENTIALS_INVALID: 'login_refused', SERVICE_BLOCKED: 'forbidden' },
  verifiedOn: '2026-11-26, its server 14.10, not a bank',
};

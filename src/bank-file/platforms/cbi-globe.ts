import type { BankFile } from '../schema.ts';

/**
 * The gateway of the Italian banks. `aspsp-code` says which bank. The application needs a token of client credentials: name
 * oauth.mode and oauth.tokenEndpoint.
 */
export const cbiGlobe: BankFile = {
  interface: 'nextgenpsd2',
  name: 'CBI Globe',
  source: 'https://github.com/Yolt-group/providers',
  headers: {
    static: { 'aspsp-code': 'env:PSD2_BANK_CBI_ASPSP_CODE' },
    perOperation: { createConsent: { 'aspsp-product-code': 'env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE' } },
    date: 'signed',
  },
  psu: { corporateId: 'optional' },
  signing: {
    headers: ['digest', 'x-request-id', 'date'],
    ifSent: ['tpp-redirect-uri', 'psu-id'],
    digest: 'SHA-512',
    certificate: 'der',
  },
  oauth: { clientAuth: 'basic', tokenHeader: 'Authorization' },
  accounts: { paging: { totalPagesHeader: 'cpaas-total-pages', pageParameter: 'offset' } },
  verifiedOn: null,
};

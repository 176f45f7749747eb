import type { BankFile } from './schema.ts';

/**
 * The platforms that come with psd2, by name: starting points for a bank file. They leave out what the operator has: the base
 * URL, ids and secrets. Nobody has seen them hold at a bank yet: `verifiedOn` is null, or says at what else they were seen to hold.
 */
export const PLATFORMS: Readonly<Record<string, BankFile>> = {
  /** The standard as it is: every value is the default. */
  standard: {
    interface: 'nextgenpsd2',
    name: 'NextGenPSD2 1.3',
    source: 'https://www.berlin-group.org/nextgenpsd2-downloads',
    verifiedOn: null,
  },
  /** adorsys XS2A: the server under the interfaces of many German and Austrian banks. */
  adorsys: {
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
  },
  /** The banks of the Volksbanken and Raiffeisenbanken in Germany. They demand a signature. */
  atruvia: {
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
  },
  'banca-transilvania': {
    interface: 'nextgenpsd2',
    name: 'Banca Transilvania',
    source: 'https://apistorebt.ro/bt/sb/',
    oauth: {
      mode: 'integrated',
      clientAuth: 'post',
      scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['list-only', 'dedicated'] },
    verifiedOn: null,
  },
  'banca-transilvania-sandbox': {
    interface: 'nextgenpsd2',
    name: 'Banca Transilvania (sandbox)',
    extends: 'banca-transilvania',
    source: 'https://apistorebt.ro/bt/sb/',
    api: { version: 'v2' },
    verifiedOn: null,
  },
  /** Many private banks in Germany. */
  'bank-verlag': {
    interface: 'nextgenpsd2',
    name: 'Bank-Verlag',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/verlag-adapter',
    headers: { contentType: 'application/json' },
    psu: { idType: 'optional' },
    signing: { when: 'never' },
    verifiedOn: null,
  },
  /** Jyske Bank and other Danish banks. They name the key of the application. */
  bankdata: {
    interface: 'nextgenpsd2',
    name: 'Bankdata',
    source: 'https://developers.bankdata.dk/how_it_works/security',
    headers: { static: { 'x-api-key': 'env:PSD2_BANK_BANKDATA_API_KEY' } },
    oauth: { mode: 'integrated', scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' } },
    sca: { approaches: ['oauth'] },
    verifiedOn: null,
  },
  /**
   * The gateway of the Italian banks. `aspsp-code` says which bank. The application needs a token of client credentials: name
   * oauth.mode and oauth.tokenEndpoint.
   */
  'cbi-globe': {
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
  },
  comdirect: {
    interface: 'nextgenpsd2',
    name: 'comdirect',
    extends: 'commerzbank',
    source: 'https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents',
    verifiedOn: null,
  },
  /** The token endpoint is `/v1/token` below the base URL, and not in the metadata: name it as oauth.tokenEndpoint. */
  commerzbank: {
    interface: 'nextgenpsd2',
    name: 'Commerzbank',
    source: 'https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents',
    signing: { when: 'never' },
    oauth: { mode: 'integrated', pkce: 'S256', scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' } },
    sca: { approaches: ['oauth', 'redirect'] },
    consent: { types: ['all-accounts', 'dedicated'] },
    verifiedOn: null,
  },
  'commerzbank-sandbox': {
    interface: 'nextgenpsd2',
    name: 'Commerzbank (sandbox)',
    extends: 'commerzbank',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/commerzbank-adapter',
    oauth: {
      metadata: 'https://psd2.api-sandbox.commerzbank.com/berlingroup/.well-known/openid-configuration',
      tokenEndpoint: 'https://psd2.api-sandbox.commerzbank.com/berlingroup/v1/token',
    },
    verifiedOn: null,
  },
  consorsbank: {
    interface: 'nextgenpsd2',
    name: 'Consorsbank',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/consors-bank-adapter',
    psu: { id: 'optional' },
    signing: { when: 'never' },
    verifiedOn: null,
  },
  /**
   * The paths have the group of services first, then country and brand. PSU-ID-Type is DE_ONLB_DB, DE_ONLB_POBA or DE_ONLB_NORIS,
   * by brand.
   */
  'deutsche-bank': {
    interface: 'nextgenpsd2',
    name: 'Deutsche Bank',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/deutsche-bank-adapter',
    api: {
      paths: {
        initiatePayment: '/pis/DE/DB/v1/{payment-service}/{payment-product}',
        getPaymentInformation: '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}',
        cancelPayment: '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}',
        getPaymentInitiationStatus: '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/status',
        startPaymentAuthorisation:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
        getPaymentInitiationAuthorisation:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
        getPaymentInitiationScaStatus:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
        updatePaymentPsuData:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
        startPaymentInitiationCancellationAuthorisation:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
        getPaymentInitiationCancellationAuthorisationInformation:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
        getPaymentCancellationScaStatus:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
        updatePaymentCancellationPsuData:
          '/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
        getAccountList: '/ais/DE/DB/v1/accounts',
        readAccountDetails: '/ais/DE/DB/v1/accounts/{account-id}',
        getBalances: '/ais/DE/DB/v1/accounts/{account-id}/balances',
        getTransactionList: '/ais/DE/DB/v1/accounts/{account-id}/transactions',
        getTransactionDetails: '/ais/DE/DB/v1/accounts/{account-id}/transactions/{transactionId}',
        getCardAccountList: '/ais/DE/DB/v1/card-accounts',
        readCardAccountDetails: '/ais/DE/DB/v1/card-accounts/{account-id}',
        getCardAccountBalances: '/ais/DE/DB/v1/card-accounts/{account-id}/balances',
        getCardAccountTransactionList: '/ais/DE/DB/v1/card-accounts/{account-id}/transactions',
        createConsent: '/ais/DE/DB/v1/consents',
        getConsentInformation: '/ais/DE/DB/v1/consents/{consentId}',
        deleteConsent: '/ais/DE/DB/v1/consents/{consentId}',
        getConsentStatus: '/ais/DE/DB/v1/consents/{consentId}/status',
        startConsentAuthorisation: '/ais/DE/DB/v1/consents/{consentId}/authorisations',
        getConsentAuthorisation: '/ais/DE/DB/v1/consents/{consentId}/authorisations',
        getConsentScaStatus: '/ais/DE/DB/v1/consents/{consentId}/authorisations/{authorisationId}',
        updateConsentsPsuData: '/ais/DE/DB/v1/consents/{consentId}/authorisations/{authorisationId}',
        checkAvailabilityOfFunds: '/piis/DE/DB/v1/funds-confirmations',
      },
    },
    headers: { date: 'always', accept: 'application/json', contentType: 'application/json' },
    psu: { idType: 'required' },
    signing: { when: 'never' },
    verifiedOn: null,
  },
  paysera: {
    interface: 'nextgenpsd2',
    name: 'Paysera',
    source: 'https://developers.paysera.com/en/open-banking/v1.3/',
    oauth: { mode: 'integrated' },
    sca: { approaches: ['oauth'], authorisationMinutes: 15 },
    consent: { maxDays: 180, frequencyPerDay: 4 },
    verifiedOn: null,
  },
  /** The application needs a token of its own. Instant transfers end with ACCC. */
  'raiffeisen-austria': {
    interface: 'nextgenpsd2',
    name: 'Raiffeisen (Austria)',
    source: 'https://developer.raiffeisen.at/en/faq.html',
    oauth: {
      mode: 'client-credentials',
      tokenEndpoint: 'https://sso.raiffeisen.at/as/token.oauth2',
      scope: { preStep: 'apic-psd2' },
    },
    accounts: { balances: { available: ['forwardAvailable', 'interimAvailable'] } },
    payments: { final: ['ACCC'] },
    verifiedOn: null,
  },
  /** Salt Edge PSD2 Compliance: the interface of more than a hundred smaller banks. */
  'salt-edge': {
    interface: 'nextgenpsd2',
    name: 'Salt Edge PSD2 Compliance',
    source: 'https://priora.saltedge.com/docs/berlingroup/other',
    headers: { date: 'always' },
    signing: { certificate: 'pem' },
    verifiedOn: null,
  },
  /** The token endpoint is `/v1/oauth_matls/token` below the base URL: name it as oauth.tokenEndpoint. */
  'santander-consumer': {
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
  },
  /** A token comes before everything, from two hosts, and says who the customer is. */
  sparda: {
    interface: 'nextgenpsd2',
    name: 'Sparda-Banken',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparda-bank-adapter',
    psu: { id: 'never' },
    signing: { when: 'never' },
    oauth: {
      mode: 'pre-step',
      authorizationEndpoint: 'https://idp.sparda-n.de/oauth2/authorize',
      tokenEndpoint: 'https://idp.sparda.de/oauth2/token',
      scope: { preStep: 'ais pis' },
    },
    verifiedOn: null,
  },
  /** The savings banks in Germany. The scope has a blank after the colon. */
  sparkassen: {
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
  },
  /** withBalance is refused. The payee's address is demanded; since November 2026 a country alone is not one. */
  unicredit: {
    interface: 'nextgenpsd2',
    name: 'UniCredit (HypoVereinsbank)',
    source: 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/unicredit-adapter',
    headers: { accept: 'application/json', contentType: 'application/json' },
    psu: { idType: 'required', ip: 'required' },
    signing: { when: 'never' },
    accounts: { withBalance: false },
    payments: { required: ['creditorAddress.townName', 'creditorAddress.country'], address: 'required' },
    verifiedOn: null,
  },
  /** Its server can answer a repeated POST as it did the first time, but only where an installation has switched that on. */
  wso2: {
    interface: 'nextgenpsd2',
    name: 'WSO2 Open Banking, Berlin toolkit',
    source: 'https://github.com/wso2/reference-implementation-nextgenpsd2',
    headers: { date: 'signed' },
    signing: { headers: ['digest', 'x-request-id', 'date'], ifSent: ['psu-id'] },
    oauth: { mode: 'integrated', scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' } },
    sca: { approaches: ['oauth', 'redirect'] },
    payments: { repeat: 'unknown' },
    verifiedOn: null,
  },
};

/** Whether a platform of this name comes with psd2. */
export function isPlatform(name: string): boolean {
  return Object.hasOwn(PLATFORMS, name);
}

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
    source:
      'https://github.com/adorsys/xs2a, run as server 14.10. The profile of each bank decides: the default one has no signature, dedicated and list-only consents, booked and pending, single payments alone, and cancels without SCA',
    headers: { date: 'signed' },
    signing: {
      ifSent: ['psu-id', 'psu-corporate-id', 'date', 'tpp-redirect-uri'],
      keyId: { serial: 'hex', case: 'lower', format: 'rfc2253-oid', spaces: 'percent' },
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
      // Its server refuses only days of the past. No source has a limit.
      futureDays: 365,
      // A repeated POST makes a second payment.
      repeat: 'unknown',
      executesWithoutSca: 'possible',
      cancel: 'authorised',
      bulk: { format: 'json' },
    },
    errors: { PSU_CREDENTIALS_INVALID: 'login_refused', SERVICE_BLOCKED: 'forbidden' },
    verifiedOn: '2026-11-26, its server 14.10, not a bank',
  },
  /**
   * The banks of the Volksbanken and Raiffeisenbanken in Germany. They demand a signature. Every public source shows embedded SCA with a
   * PSU-ID alone: psd2 may not be able to authorise there.
   */
  atruvia: {
    interface: 'nextgenpsd2',
    name: 'Atruvia (Volksbanken Raiffeisenbanken)',
    source:
      'https://github.com/roodje/bespoke-providers, monorepo-group, atruviagroup. Sources differ: the adapter of adorsys has a hexadecimal serial number, RFC 2253, %20 and SHA256withRSA, and shows embedded SCA with a PSU-ID alone',
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
    consent: { types: ['all-accounts', 'dedicated'], once: false },
    accounts: { bookingStatuses: ['booked'], historyDays: 90 },
    banks: [
      { name: 'Volksbanken and Raiffeisenbanken', bic: 'GENODE', bankCode: '???6????', country: 'DE' },
      { name: 'Volksbanken and Raiffeisenbanken', bic: 'GENODE', bankCode: '???9????', country: 'DE' },
    ],
    verifiedOn: null,
  },
  'banca-transilvania': {
    interface: 'nextgenpsd2',
    name: 'Banca Transilvania',
    source: 'https://apistorebt.ro/bt/sb/',
    api: {
      paths: {
        createConsent: '/bt-psd2-aisp-prd/v1/consents',
        getConsentInformation: '/bt-psd2-aisp-prd/v1/consents/{consentId}',
        getConsentStatus: '/bt-psd2-aisp-prd/v1/consents/{consentId}/status',
        deleteConsent: '/bt-psd2-aisp-prd/v1/consents/{consentId}',
        getAccountList: '/bt-psd2-aisp-prd/v1/accounts',
        readAccountDetails: '/bt-psd2-aisp-prd/v1/accounts/{account-id}',
        getBalances: '/bt-psd2-aisp-prd/v1/accounts/{account-id}/balances',
        getTransactionList: '/bt-psd2-aisp-prd/v1/accounts/{account-id}/transactions',
        initiatePayment: '/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}',
        getPaymentInformation: '/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}/{paymentId}',
        getPaymentInitiationStatus:
          '/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}/{paymentId}/status',
      },
    },
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      clientAuth: 'post',
      scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['list-only', 'dedicated'], maxDays: 90 },
    accounts: {
      bookingStatuses: ['booked'],
      historyDays: 89,
      balances: { booked: ['expected'], available: ['expected'] },
    },
    payments: { products: { payments: ['ron-payment', 'other-currency-payment'] } },
    banks: [{ name: 'Banca Transilvania', bic: 'BTRLRO22', bankCode: 'BTRL', country: 'RO' }],
    verifiedOn: null,
  },
  'banca-transilvania-sandbox': {
    interface: 'nextgenpsd2',
    name: 'Banca Transilvania (sandbox)',
    extends: 'banca-transilvania',
    source: 'https://apistorebt.ro/bt/sb/',
    verifiedOn: null,
  },
  /** Many private banks in Germany. */
  'bank-verlag': {
    interface: 'nextgenpsd2',
    name: 'Bank-Verlag',
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/verlag-adapter. Sources differ: its sandbox has transactions as MT940 alone, and recordings show embedded SCA',
    headers: { contentType: 'application/json' },
    psu: { idType: 'optional' },
    signing: { when: 'never' },
    banks: [
      { name: 'Sydbank, Flensburg', bic: 'SYBKDE22', bankCode: '21510600', country: 'DE' },
      { name: 'Targobank', bic: 'CMCIDEDD', bankCode: '30020900', country: 'DE' },
      { name: 'HSBC Germany', bic: 'TUBDDEDD', bankCode: '30030880', country: 'DE' },
      { name: 'HSBC Germany', bic: 'TUBDDEDD', bankCode: '30030889', country: 'DE' },
      { name: 'Degussa Bank', bic: 'DEGUDEFF', bankCode: '50010700', country: 'DE' },
      { name: 'Deutsche Bundesbank', bic: 'MARKDEF1', country: 'DE' },
      { name: 'Consors Finanz', bic: 'WKVBDEM1', bankCode: '70020300', country: 'DE' },
      { name: 'Ziraat Bank', bic: 'TCZBDEFF', bankCode: '51220700', country: 'DE' },
      { name: 'Isbank', bic: 'ISBKDEFX', country: 'DE' },
      { name: 'Europäisch-Iranische Handelsbank', bic: 'EIHBDEHH', bankCode: '20310300', country: 'DE' },
    ],
    verifiedOn: null,
  },
  /**
   * Jyske Bank and other Danish banks. They name the key of the application. Every call needs a token of the application: name
   * oauth.mode "client-credentials" and oauth.tokenEndpoint.
   */
  bankdata: {
    interface: 'nextgenpsd2',
    name: 'Bankdata',
    source:
      'https://developers.bankdata.dk/how_it_works/security. Sources differ: mutual TLS and the API key alone may be enough, without a signature',
    headers: { static: { 'x-api-key': 'env:PSD2_BANK_BANKDATA_API_KEY' } },
    sca: { approaches: ['redirect'], start: 'explicit' },
    banks: [{ name: 'Jyske Bank', bic: 'JYBADKKK', country: 'DK' }],
    verifiedOn: null,
  },
  /** The gateway of the Italian banks. `aspsp-code` says which bank. The application needs a token of client credentials. */
  'cbi-globe': {
    interface: 'nextgenpsd2',
    name: 'CBI Globe',
    source:
      'https://github.com/roodje/bespoke-providers, bespoke-cbiglobe/swagger. Sources differ: RSA with SHA-256 or with SHA-512',
    api: {
      version: '',
      paths: {
        createConsent: '/platform/enabler/psd2orchestrator/ais/3.0.0/consents',
        getConsentInformation: '/platform/enabler/psd2orchestrator/ais/3.0.0/consents/{consentId}',
        getConsentStatus: '/platform/enabler/psd2orchestrator/ais/2.3.2/consents/{consentId}/status',
        deleteConsent: '/platform/enabler/psd2orchestrator/ais/2.3.2/consents/{consentId}',
        getAccountList: '/platform/enabler/psd2orchestrator/ais/3.0.0/accounts',
        getBalances: '/platform/enabler/psd2orchestrator/ais/2.3.2/accounts/{account-id}/balances',
        getTransactionList: '/platform/enabler/psd2orchestrator/ais/2.4.0/accounts/{account-id}/transactions',
        initiatePayment: '/platform/enabler/psd2orchestrator/pis/2.3.2/{payment-service}/{payment-product}',
        getPaymentInitiationStatus:
          '/platform/enabler/psd2orchestrator/pis/2.3.2/{payment-service}/{payment-product}/{paymentId}/status',
      },
    },
    headers: {
      static: { 'aspsp-code': 'env:PSD2_BANK_CBI_ASPSP_CODE' },
      perOperation: {
        createConsent: { 'aspsp-product-code': 'env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE' },
        initiatePayment: { 'aspsp-product-code': 'env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE' },
      },
      date: 'always',
    },
    psu: { corporateId: 'optional' },
    signing: {
      headers: ['digest', 'x-request-id', 'date'],
      ifSent: ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
      algorithm: 'rsa-sha512',
      digest: 'SHA-512',
      certificate: 'der',
    },
    oauth: {
      mode: 'client-credentials',
      tokenEndpoint: 'https://cbiglobeopenbankingapigateway.nexi.it/auth/oauth/v2/token',
      clientAuth: 'basic',
      scope: { preStep: 'production' },
      tokenHeader: 'Authorization',
    },
    consent: { types: ['list-only', 'dedicated'], maxDays: 90 },
    accounts: {
      parameters: {
        bookingStatus: 'booking_status',
        dateFrom: 'date_from',
        dateTo: 'date_to',
        withBalance: 'with_balance',
      },
      paging: { totalPagesHeader: 'cpaas-total-pages', pageParameter: 'offset' },
    },
    payments: {
      // The days of an execution are reserved for future use.
      futureDays: 0,
      cancel: 'none',
      // errorManagement.errorCode: what the gateway says of headers and fields before a bank has the payment.
      refusals: ['A0003', 'A0004', 'A0008', 'A0016', 'A0020', 'A0031'].map((code) => ({ code })),
      products: {
        payments: [
          'sepa-credit-transfers',
          'instant-sepa-credit-transfers',
          'target-2-payments',
          'cross-border-credit-transfers',
        ],
      },
    },
    banks: [
      { name: 'Intesa Sanpaolo', bic: 'BCITITMM', bankCode: '03069', country: 'IT' },
      { name: 'BNL', bic: 'BNLIITRR', bankCode: '01005', country: 'IT' },
      { name: 'Banco BPM', bic: 'BAPPIT21', bankCode: '05034', country: 'IT' },
      { name: 'Monte dei Paschi di Siena', bic: 'PASCITMM', bankCode: '01030', country: 'IT' },
      { name: 'Banca Widiba', bic: 'WIDIITMM', bankCode: '03442', country: 'IT' },
      { name: 'Poste Italiane', bic: 'BPPIITRR', bankCode: '07601', country: 'IT' },
      { name: 'BCC Credito Cooperativo', bic: 'ICRAIT', country: 'IT' },
      { name: 'Nexi', country: 'IT' },
    ],
    verifiedOn: null,
  },
  comdirect: {
    interface: 'nextgenpsd2',
    name: 'comdirect',
    extends: 'commerzbank',
    source: 'https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents',
    banks: [{ name: 'comdirect', bic: 'COBADEHD', bankCode: '200411??', country: 'DE' }],
    verifiedOn: null,
  },
  /**
   * The token endpoint is `/v1/token` below the base URL, and not in the metadata: name it as oauth.tokenEndpoint. Decoupled SCA needs a
   * PSU-ID with the PSU-ID-Type `retail`.
   */
  commerzbank: {
    interface: 'nextgenpsd2',
    name: 'Commerzbank',
    extends: 'worldline',
    source: 'https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents',
    sca: { approaches: ['oauth', 'redirect', 'decoupled'] },
    banks: [
      { name: 'Commerzbank', bic: 'COBADE', bankCode: '???4????', country: 'DE' },
      { name: 'Commerzbank', bic: 'DRESDE', bankCode: '???8????', country: 'DE' },
    ],
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
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/consors-bank-adapter, and bespoke-consorsbank/swagger of https://github.com/roodje/bespoke-providers',
    psu: { id: 'never' },
    signing: { when: 'never' },
    // A body of its own has a day. No source has a limit.
    payments: { futureDays: 365 },
    banks: [{ name: 'Consorsbank', bic: 'CSDBDE71', bankCode: '76030080', country: 'DE' }],
    verifiedOn: null,
  },
  /**
   * The paths have the group of services first, then country and brand. PSU-ID-Type is DE_ONLB_DB, DE_ONLB_POBA or DE_ONLB_NORIS,
   * by brand.
   */
  'deutsche-bank': {
    interface: 'nextgenpsd2',
    name: 'Deutsche Bank',
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/deutsche-bank-adapter, and bespoke-deutsche-bank of https://github.com/roodje/bespoke-providers',
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
    psu: { id: 'required', idType: 'required' },
    signing: { when: 'never' },
    consent: { types: ['bank-offered', 'dedicated'] },
    banks: [{ name: 'Deutsche Bank', bic: 'DEUTDE', bankCode: '???7????', country: 'DE' }],
    verifiedOn: null,
  },
  paysera: {
    interface: 'nextgenpsd2',
    name: 'Paysera',
    source:
      'https://developers.paysera.com/en/open-banking/v1.3/. Its pages differ: mutual TLS with the QWAC and no signature; the products aspsp, domestic, foreign; no list-only; 15 minutes are those of a payment, a consent has a day',
    oauth: { mode: 'integrated' },
    sca: { approaches: ['oauth'], authorisationMinutes: 15 },
    consent: { maxDays: 180, frequencyPerDay: 4 },
    banks: [{ name: 'Paysera', bic: 'EVIULT2V', bankCode: '35000', country: 'LT' }],
    verifiedOn: null,
  },
  /** The application needs a token of its own. The bank gives its id at the first contact (`API-…`): name it as oauth.clientId. */
  'raiffeisen-austria': {
    interface: 'nextgenpsd2',
    name: 'Raiffeisen (Austria)',
    source:
      'https://developer.raiffeisen.at/en/faq.html, and raiffeisenatgroup of https://github.com/roodje/bespoke-providers, monorepo-group',
    signing: { when: 'never' },
    oauth: {
      mode: 'client-credentials',
      tokenEndpoint: 'https://sso-psd2.raiffeisen.at/as/token.oauth2',
      scope: { preStep: 'apic-psd2' },
    },
    consent: { types: ['dedicated', 'list-only'] },
    accounts: { balances: { available: ['forwardAvailable', 'interimAvailable'] } },
    payments: { final: ['ACCC'] },
    banks: [
      { name: 'Raiffeisen', bic: 'RZOOAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RVSAAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RLNWAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RZSTAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RZTIAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RZKTAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RLBBAT', bankCode: '3????', country: 'AT' },
      { name: 'Raiffeisen', bic: 'RVVGAT', bankCode: '3????', country: 'AT' },
    ],
    verifiedOn: null,
  },
  /** Salt Edge PSD2 Compliance: the interface of more than a hundred smaller banks. */
  'salt-edge': {
    interface: 'nextgenpsd2',
    name: 'Salt Edge PSD2 Compliance',
    source: 'https://priora.saltedge.com/docs/berlingroup/ais',
    headers: { date: 'always' },
    signing: {
      headers: ['digest', 'date', 'x-request-id'],
      ifSent: ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
      keyId: { form: 'SN={serial},DN={dn}', serial: 'decimal', format: 'one-line' },
      certificate: 'pem',
    },
    verifiedOn: null,
  },
  /**
   * The token endpoint is `/v1/oauth_matls/token` below the base URL: name it as oauth.tokenEndpoint. The bank's link to its metadata is
   * relative to the base URL: name oauth.metadata, too.
   */
  'santander-consumer': {
    interface: 'nextgenpsd2',
    name: 'Santander Consumer Bank',
    source:
      "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/santander-adapter, its account information service. Sources differ: once the customer has logged in, the token may be the customer's",
    psu: { id: 'never' },
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      applicationToken: true,
      clientAuth: 'mtls',
      scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
    },
    sca: { approaches: ['oauth', 'redirect'] },
    banks: [
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '10033300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '20133300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '25020600', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '31010833', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '36033300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '50033300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '60133300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '70133300', country: 'DE' },
      { name: 'Santander Consumer Bank', bic: 'SCFBDE33', bankCode: '86033300', country: 'DE' },
    ],
    verifiedOn: null,
  },
  /** A token comes before everything, from two hosts, and says who the customer is. Name the bank: `oauth.parameters: {"bic": "…"}`. */
  sparda: {
    interface: 'nextgenpsd2',
    name: 'Sparda-Banken',
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparda-bank-adapter, its services for OAuth and account information',
    psu: { id: 'token-sub' },
    signing: { when: 'never' },
    oauth: {
      mode: 'pre-step',
      authorizationEndpoint: 'https://idp.sparda-n.de/oauth2/authorize',
      tokenEndpoint: 'https://idp.sparda.de/oauth2/token',
      scope: { preStep: { ais: 'ais', pis: 'pis' } },
    },
    banks: [
      { name: 'Sparda-Bank West', bic: 'GENODED1SPE', bankCode: '36060591', country: 'DE' },
      { name: 'Sparda-Bank West', bic: 'GENODED1SPW', bankCode: '33060592', country: 'DE' },
      { name: 'Sparda-Bank West', bic: 'GENODED1SPK', bankCode: '37060590', country: 'DE' },
      { name: 'Sparda-Bank West', bic: 'GENODEF1S08', bankCode: '40060560', country: 'DE' },
      { name: 'Sparda-Bank Hessen', bic: 'GENODEF1S12', bankCode: '50090500', country: 'DE' },
      { name: 'Sparda-Bank Hamburg', bic: 'GENODEF1S11', bankCode: '20690500', country: 'DE' },
      { name: 'Sparda-Bank Nürnberg', bic: 'GENODEF1S06', bankCode: '76090500', country: 'DE' },
      { name: 'Sparda-Bank Ostbayern', bic: 'GENODEF1S05', bankCode: '75090500', country: 'DE' },
      { name: 'Sparda-Bank München', bic: 'GENODEF1S04', bankCode: '70090500', country: 'DE' },
      { name: 'Sparda-Bank Augsburg', bic: 'GENODEF1S03', bankCode: '72090500', country: 'DE' },
      { name: 'Sparda-Bank Baden-Württemberg', bic: 'GENODEF1S02', bankCode: '60090800', country: 'DE' },
      { name: 'Sparda-Bank Südwest', bic: 'GENODEF1S01', bankCode: '55090500', country: 'DE' },
      { name: 'Sparda-Bank Hannover', bic: 'GENODEF1S09', bankCode: '25090500', country: 'DE' },
    ],
    verifiedOn: null,
  },
  /** The savings banks in Germany. The scope has a blank after the colon, and transactions come as camt.052 alone. */
  sparkassen: {
    interface: 'nextgenpsd2',
    name: 'Sparkassen (S-Payment)',
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparkasse-adapter, and bespoke-sparkassen-and-landesbanks of https://github.com/roodje/bespoke-providers. Sources differ: dedicated consents (the first), lists with balances (the second)',
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      clientId: 'organization-id',
      scope: { ais: 'AIS: {consentId}', pis: 'PIS: {paymentId}' },
      names: { client_id: 'clientId', response_type: 'responseType' },
    },
    sca: { approaches: ['redirect', 'oauth'] },
    consent: { types: ['dedicated', 'list-with-balances'] },
    accounts: { reports: ['camt'] },
    payments: { futureDays: 0 },
    banks: [
      { name: 'Sparkassen', bic: 'WELADE', bankCode: '???5????', country: 'DE' },
      { name: 'Sparkassen', bic: 'NOLADE', bankCode: '???5????', country: 'DE' },
      { name: 'Sparkassen', bic: 'HELADE', bankCode: '???5????', country: 'DE' },
      { name: 'Sparkassen', bic: 'SOLADE', bankCode: '???5????', country: 'DE' },
      { name: 'Sparkassen', bic: 'MALADE', bankCode: '???5????', country: 'DE' },
    ],
    verifiedOn: null,
  },
  /** withBalance is refused. The payee's address is demanded; since November 2026 a country alone is not one. */
  unicredit: {
    interface: 'nextgenpsd2',
    name: 'UniCredit (HypoVereinsbank)',
    source:
      'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/unicredit-adapter. Sources differ: a country alone is taken as an address; in Italy payments have none',
    headers: { accept: 'application/json', contentType: 'application/json' },
    psu: { idType: 'required', ip: 'required' },
    signing: { when: 'never' },
    accounts: { withBalance: false },
    payments: {
      products: { 'periodic-payments': ['sepa-credit-transfers'] },
      required: ['creditorAddress.townName', 'creditorAddress.country'],
      address: 'required',
    },
    banks: [{ name: 'HypoVereinsbank', bic: 'HYVEDE', bankCode: '70020270', country: 'DE' }],
    verifiedOn: null,
  },
  /** Its server can answer a repeated POST as it did the first time, but only where an installation has switched that on. */
  wso2: {
    interface: 'nextgenpsd2',
    name: 'WSO2 Open Banking, Berlin toolkit',
    source:
      "https://github.com/wso2/reference-implementation-nextgenpsd2, and https://github.com/wso2/docs-ob-toolkit-berlin. Its pages differ: in words, payments have the customer's token once the customer has logged in; in examples, the application's",
    headers: { date: 'signed' },
    signing: {
      headers: ['digest', 'x-request-id', 'date'],
      ifSent: ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
      keyId: { format: 'rfc2253-oid' },
      emptyBody: '{}',
    },
    oauth: {
      mode: 'integrated',
      applicationToken: true,
      scope: { ais: 'ais:{consentId}', pis: 'pis:{paymentId}' },
    },
    sca: { approaches: ['oauth'] },
    // The limit of the example of an installation.
    payments: { futureDays: 10, repeat: 'unknown', cancel: { payments: 'none' } },
    verifiedOn: null,
  },
  /** Argenta in Belgium. It names the key of the application. */
  argenta: {
    interface: 'nextgenpsd2',
    name: 'Argenta (Belgium)',
    source: 'https://api.payments.argenta.be/berlingroup/v1/consents',
    headers: { static: { apiKey: 'env:PSD2_BANK_ARGENTA_API_KEY' } },
    signing: {
      headers: ['digest', 'x-request-id'],
      ifSent: [],
      keyId: { serial: 'hex', dn: 'issuer', format: 'rfc1779' },
      certificate: 'pem-line',
    },
    oauth: {
      mode: 'integrated',
      tokenEndpoint: 'https://api.payments.argenta.be/psd2/v1/berlingroup-auth/token',
      clientId: 'organization-id',
      scope: { ais: 'AIS:{consentId}' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['all-accounts', 'dedicated', 'list-only'] },
    accounts: { bookingStatuses: ['booked', 'both'] },
    banks: [
      { name: 'Argenta', bic: 'ARSPBE22', bankCode: '973', country: 'BE' },
      { name: 'Argenta', bic: 'ARSPBE22', bankCode: '978', country: 'BE' },
      { name: 'Argenta', bic: 'ARSPBE22', bankCode: '979', country: 'BE' },
      { name: 'Argenta', bic: 'ARSPBE22', bankCode: '980', country: 'BE' },
    ],
    verifiedOn: null,
  },
  /** Banca Sella and other banks in Italy. */
  fabrick: {
    interface: 'nextgenpsd2',
    name: 'Fabrick PSD2 Gateway (Banca Sella and others)',
    source:
      'https://github.com/roodje/bespoke-providers, bespoke-fabric; its stubs of the answers to consents have scaStatus at a path of its own',
    api: { paths: { getConsentScaStatus: '/v1/scaStatus/{authorisationId}' } },
    signing: { when: 'never' },
    oauth: { mode: 'none' },
    sca: { approaches: ['redirect'] },
    consent: { types: ['all-accounts'], frequencyPerDay: 4 },
    banks: [{ name: 'Banca Sella', bic: 'SELBIT2B', bankCode: '03268', country: 'IT' }],
    verifiedOn: null,
  },
  /** KBC and CBC. No call tells how a consent is. */
  kbc: {
    interface: 'nextgenpsd2',
    name: 'KBC and CBC (Belgium)',
    source: 'https://developer.kbc.be/',
    api: { version: 'v2' },
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      authorizationEndpoint: 'https://idp.kbc.com/ASK/oauth/authorize/1',
      tokenEndpoint: 'https://openapi.kbc-group.com/ASK/oauth/token/1',
      clientId: 'organization-id',
      clientAuth: 'mtls',
      scope: { ais: 'AIS:{consentId}' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['dedicated'], frequencyPerDay: 4, status: 'none' },
    accounts: { bookingStatuses: ['booked'], balances: { booked: ['closingBooked'], available: [] } },
    banks: [
      { name: 'KBC', bic: 'KREDBEBB', bankCode: '4??', country: 'BE' },
      { name: 'CBC', bic: 'CREGBEBB', bankCode: '19?', country: 'BE' },
    ],
    verifiedOn: null,
  },
  n26: {
    interface: 'nextgenpsd2',
    name: 'N26',
    source:
      'https://github.com/n26/psd2-tpp-docs/blob/main/doc/dedicated-aisp.md, and dedicated-pisp.md. Its versions differ: a newer one has a token of the application (client credentials) in the place of the login. Its collection of calls has consents for confirmations of funds at v1',
    api: { paths: { createConsentConfirmationOfFunds: '/v1/consents/confirmation-of-funds' } },
    signing: { when: 'never' },
    oauth: {
      mode: 'pre-step',
      authorizationEndpoint: 'https://xs2a.tech26.de/oauth2/authorize',
      tokenEndpoint: 'https://xs2a.tech26.de/oauth2/token?role=DEDICATED_AISP',
      clientId: 'organization-id',
      clientAuth: 'mtls',
      scope: { preStep: 'DEDICATED_AISP' },
    },
    sca: { approaches: ['decoupled'], authorisationMinutes: 5, pollSeconds: 2 },
    consent: { types: ['all-accounts', 'bank-offered', 'dedicated'], maxDays: 180, frequencyPerDay: 4 },
    accounts: {
      bookingStatuses: ['booked'],
      historyDays: 90,
      withBalance: false,
      balances: { booked: ['expected'], available: ['expected'] },
      paging: 'link',
    },
    payments: {
      products: {
        payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers'],
        'periodic-payments': ['sepa-credit-transfers'],
      },
      // The bodies have no day. Whatever the amount, the customer confirms in the bank's app.
      futureDays: 0,
      executesWithoutSca: 'never',
      frequencies: { Weekly: 'WEEK', Monthly: 'MNTH', Quarterly: 'QUTR', SemiAnnual: 'SEMI', Annual: 'YEAR' },
      final: ['ACCC'],
    },
    banks: [{ name: 'N26', bic: 'NTSBDEB1', bankCode: '10011001', country: 'DE' }],
    verifiedOn: null,
  },
  /** AIS alone: the consents and the accounts have paths of their own. */
  'raiffeisen-romania': {
    interface: 'nextgenpsd2',
    name: 'Raiffeisen Bank Romania',
    source: 'https://developer.raiffeisen.ro/aisp_flow',
    api: {
      paths: {
        createConsent: '/psd2-bgs-consent-api-1.3.2-rbro/v1/consents',
        getConsentInformation: '/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}',
        getConsentStatus: '/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}/status',
        deleteConsent: '/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}',
        getAccountList: '/psd2-accounts-api-1.3.2-rbro/v1/accounts',
        readAccountDetails: '/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}',
        getBalances: '/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}/balances',
        getTransactionList: '/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}/transactions',
      },
    },
    headers: { static: { client_id: 'env:PSD2_BANK_RBRO_CLIENT_ID' } },
    psu: { id: 'required' },
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      authorizationEndpoint: 'https://api-auth.raiffeisen.ro/psd2-rbro-oauth2-api/aisp/oauth2/authorize',
      tokenEndpoint: 'https://api-auth.raiffeisen.ro/aisp/oauth2/token',
      clientAuth: 'basic',
      pkce: 'none',
      scope: { ais: 'AISP' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['dedicated'] },
    banks: [{ name: 'Raiffeisen Bank Romania', bic: 'RZBRROBU', bankCode: 'RZBR', country: 'RO' }],
    verifiedOn: null,
  },
  /** The gateway of Spanish banks. A token comes before everything: name oauth.mode "pre-step" and the two endpoints of the bank. */
  redsys: {
    interface: 'nextgenpsd2',
    name: 'Redsys (Spain)',
    source: 'https://market.apis-i.redsys.es/psd2/xs2a/node/4577',
    psu: { ip: 'own' },
    signing: {
      when: 'always',
      headers: ['digest', 'x-request-id'],
      ifSent: ['tpp-redirect-uri'],
      keyId: { form: 'sn-ca', serial: 'decimal', dn: 'subject', format: 'rfc1779', spaces: 'strip' },
      algorithm: 'SHA-256',
      digest: 'SHA-256',
      emptyBodyDigest: true,
      certificate: 'der',
    },
    oauth: { clientId: 'organization-id', clientAuth: 'mtls', pkce: 'S256', scope: { preStep: 'AIS' } },
    sca: { approaches: ['redirect'] },
    consent: { types: ['all-accounts', 'dedicated'], frequencyPerDay: 4 },
    accounts: {
      bookingStatuses: ['booked'],
      historyDays: 89,
      balances: {
        booked: ['closingBooked', 'interimBooked', 'openingBooked'],
        available: ['interimAvailable', 'interimBooked', 'expected'],
      },
    },
    payments: {
      products: {
        payments: [
          'sepa-credit-transfers',
          'instant-sepa-credit-transfers',
          'target-2-payments',
          'cross-border-credit-transfers',
        ],
      },
    },
    banks: [
      { name: 'BBVA', bic: 'BBVAESMM', bankCode: '0182', country: 'ES' },
      { name: 'Santander', bic: 'BSCHESMM', bankCode: '0049', country: 'ES' },
      { name: 'Sabadell', bic: 'BSABESBB', bankCode: '0081', country: 'ES' },
      { name: 'CaixaBank', bic: 'CAIXESBB', bankCode: '2100', country: 'ES' },
      { name: 'Bankinter', bic: 'BKBKESMM', bankCode: '0128', country: 'ES' },
      { name: 'Ibercaja', bic: 'CAZRES2Z', bankCode: '2085', country: 'ES' },
      { name: 'Kutxabank', bic: 'BASKES2B', bankCode: '2095', country: 'ES' },
      { name: 'Laboral Kutxa', bic: 'CLPEES2M', bankCode: '3035', country: 'ES' },
      { name: 'Openbank', bic: 'OPENESMM', bankCode: '0073', country: 'ES' },
      { name: 'Unicaja', bic: 'UCJAES2M', bankCode: '2103', country: 'ES' },
      { name: 'Cajamar', bic: 'CCRIES2A', bankCode: '3058', country: 'ES' },
      { name: 'Cajasur', bic: 'CSURES2C', bankCode: '0237', country: 'ES' },
      { name: 'EVO Banco', bic: 'EVOBESMM', bankCode: '0239', country: 'ES' },
      { name: 'Caja Rural', bic: 'BCOEES', country: 'ES' },
    ],
    verifiedOn: null,
  },
  /** ASN, SNS and RegioBank. The application's id is the whole header Authorization where there is no token; no call tells how a consent is. */
  'volksbank-nl': {
    interface: 'nextgenpsd2',
    name: 'de Volksbank (ASN, SNS, RegioBank)',
    source: 'https://github.com/roodje/bespoke-providers, bespoke-volksbank/swagger/volksbank',
    api: {
      paths: {
        getAccountList: '/v1.1/accounts',
        getBalances: '/v1.1/accounts/{account-id}/balances',
        getTransactionList: '/v1.1/accounts/{account-id}/transactions',
        getPaymentInitiationStatus: '/v1.1/{payment-service}/{payment-product}/{paymentId}/status',
      },
    },
    headers: {
      perOperation: {
        createConsent: { Authorization: 'env:PSD2_BANK_VOLKSBANK_CLIENT_ID' },
        initiatePayment: { Authorization: 'env:PSD2_BANK_VOLKSBANK_CLIENT_ID' },
        getPaymentInitiationStatus: { Authorization: 'env:PSD2_BANK_VOLKSBANK_CLIENT_ID' },
      },
    },
    signing: { when: 'never' },
    oauth: { mode: 'integrated', clientAuth: 'basic', pkce: 'none', scope: { ais: 'AIS', pis: 'PIS' } },
    sca: { approaches: ['oauth'] },
    consent: { types: ['bank-offered'], status: 'none' },
    accounts: {
      bookingStatuses: ['booked'],
      balances: { booked: [], available: ['interimAvailable'] },
    },
    payments: {
      products: { payments: ['sepa-credit-transfers'] },
      // A payment may have a day. No source has a limit.
      futureDays: 365,
      cancel: 'none',
      final: ['ACSC', 'ACCC'],
    },
    banks: [
      { name: 'ASN Bank', bic: 'ASNBNL21', bankCode: 'ASNB', country: 'NL' },
      { name: 'SNS', bic: 'SNSBNL2A', bankCode: 'SNSB', country: 'NL' },
      { name: 'RegioBank', bic: 'RBRBNL21', bankCode: 'RBRB', country: 'NL' },
    ],
    verifiedOn: null,
  },
  /** Worldline's server: Crelan, Keytrade, Nagelmackers, Europabank, Bank Van Breda, Commerzbank and comdirect. */
  worldline: {
    interface: 'nextgenpsd2',
    name: 'Worldline Access to Account (berlingroup)',
    source: 'https://devportal.tpp.europabank.be/content/howto/build-authorize-url',
    signing: { when: 'never' },
    oauth: {
      mode: 'integrated',
      clientId: 'organization-id',
      clientAuth: 'mtls',
      pkce: 'S256',
      scope: { ais: 'AIS:{consentId}', pis: 'PIS:{paymentId}' },
    },
    sca: { approaches: ['oauth'] },
    consent: { types: ['all-accounts', 'dedicated'], frequencyPerDay: 4 },
    accounts: { historyDays: 90, paging: 'link' },
    banks: [
      { name: 'Crelan', bic: 'NICABEBB', bankCode: '103', country: 'BE' },
      { name: 'Crelan', bic: 'NICABEBB', bankCode: '104', country: 'BE' },
      { name: 'Crelan', bic: 'NICABEBB', bankCode: '105', country: 'BE' },
      { name: 'Crelan', bic: 'NICABEBB', bankCode: '106', country: 'BE' },
      { name: 'Crelan', bic: 'AXABBE22', bankCode: '70?', country: 'BE' },
      { name: 'Bank Van Breda', bic: 'JVBABE22', bankCode: '645', country: 'BE' },
      { name: 'Nagelmackers', bic: 'BNAGBEBB', bankCode: '634', country: 'BE' },
      { name: 'Nagelmackers', bic: 'BNAGBEBB', bankCode: '636', country: 'BE' },
      { name: 'Keytrade Bank', bic: 'KEYTBEBB', bankCode: '651', country: 'BE' },
      { name: 'Europabank', bic: 'EURBBE99', bankCode: '671', country: 'BE' },
    ],
    verifiedOn: null,
  },
};

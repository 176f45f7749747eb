import { expect, it } from 'vitest';
import { PLATFORMS } from '../../src/bank/interfaces/nextgenpsd2/description/platforms.ts';
import { valuesIn } from '../../src/bank-file/values.ts';

it('each platform says what its source says, and nothing else', () => {
  const said = Object.entries(PLATFORMS).map(
    ([name, { interface: _interface, verifiedOn: _never, ...file }]) =>
      [name, ...[...valuesIn(file)].map(([path, value]) => `  ${path}: ${JSON.stringify(value)}`)].join('\n'),
  );
  expect(said.join('\n')).toMatchInlineSnapshot(`
    "standard
      name: "NextGenPSD2 1.3"
      source: "https://www.berlin-group.org/nextgenpsd2-downloads"
    adorsys
      name: "adorsys XS2A"
      source: "https://github.com/adorsys/xs2a, run as server 14.10. The profile of each bank decides: the default one has no signature, dedicated and list-only consents, booked and pending, single payments alone, and cancels without SCA"
      headers.date: "signed"
      signing.ifSent: ["psu-id","psu-corporate-id","date","tpp-redirect-uri"]
      signing.keyId.serial: "hex"
      signing.keyId.case: "lower"
      signing.keyId.format: "rfc2253-oid"
      signing.keyId.spaces: "percent"
      signing.emptyBodyDigest: true
      signing.certificate: "pem-line"
      sca.approaches: ["redirect","decoupled","oauth"]
      sca.start: "follow-links"
      sca.pollSeconds: 3
      accounts.delta: "none"
      accounts.balances.booked: ["closingBooked","interimBooked"]
      payments.products.payments: ["sepa-credit-transfers","instant-sepa-credit-transfers"]
      payments.products.bulk-payments: ["sepa-credit-transfers"]
      payments.products.periodic-payments: ["sepa-credit-transfers"]
      payments.allowed: ["purposeCode","chargeBearer","ultimateDebtor","ultimateCreditor","remittanceInformationStructured"]
      payments.repeat: "unknown"
      payments.executesWithoutSca: "possible"
      payments.cancel: "authorised"
      payments.bulk.format: "json"
      errors.PSU_CREDENTIALS_INVALID: "login_refused"
      errors.SERVICE_BLOCKED: "forbidden"
    atruvia
      name: "Atruvia (Volksbanken Raiffeisenbanken)"
      source: "https://github.com/roodje/bespoke-providers, bespoke-atruviagroup. Sources differ: the adapter of adorsys has a hexadecimal serial number, RFC 2253, %20 and SHA256withRSA, and shows embedded SCA with a PSU-ID alone"
      signing.when: "always"
      signing.ifSent: ["psu-id"]
      signing.keyId.form: "sn-ca"
      signing.keyId.serial: "decimal"
      signing.keyId.dn: "issuer"
      signing.keyId.format: "rfc1779"
      signing.keyId.spaces: "strip"
      signing.keyId.separator: ","
      signing.algorithm: "rsa-sha256"
      consent.types: ["all-accounts","dedicated"]
      consent.once: false
      accounts.bookingStatuses: ["booked"]
      accounts.historyDays: 90
    banca-transilvania
      name: "Banca Transilvania"
      source: "https://apistorebt.ro/bt/sb/"
      api.paths.createConsent: "/bt-psd2-aisp-prd/v1/consents"
      api.paths.getConsentInformation: "/bt-psd2-aisp-prd/v1/consents/{consentId}"
      api.paths.getConsentStatus: "/bt-psd2-aisp-prd/v1/consents/{consentId}/status"
      api.paths.deleteConsent: "/bt-psd2-aisp-prd/v1/consents/{consentId}"
      api.paths.getAccountList: "/bt-psd2-aisp-prd/v1/accounts"
      api.paths.readAccountDetails: "/bt-psd2-aisp-prd/v1/accounts/{account-id}"
      api.paths.getBalances: "/bt-psd2-aisp-prd/v1/accounts/{account-id}/balances"
      api.paths.getTransactionList: "/bt-psd2-aisp-prd/v1/accounts/{account-id}/transactions"
      api.paths.initiatePayment: "/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}"
      api.paths.getPaymentInformation: "/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}/{paymentId}"
      api.paths.getPaymentInitiationStatus: "/bt-psd2-pisp-prd/v1/{payment-service}/{payment-product}/{paymentId}/status"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientAuth: "post"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth"]
      consent.types: ["list-only","dedicated"]
      consent.maxDays: 90
      accounts.bookingStatuses: ["booked"]
      accounts.historyDays: 89
      accounts.balances.booked: ["expected"]
      accounts.balances.available: ["expected"]
      payments.products.payments: ["ron-payment","other-currency-payment"]
    banca-transilvania-sandbox
      name: "Banca Transilvania (sandbox)"
      extends: "banca-transilvania"
      source: "https://apistorebt.ro/bt/sb/"
    bank-verlag
      name: "Bank-Verlag"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/verlag-adapter. Sources differ: its sandbox has transactions as MT940 alone, and recordings show embedded SCA"
      headers.contentType: "application/json"
      psu.idType: "optional"
      signing.when: "never"
    bankdata
      name: "Bankdata"
      source: "https://developers.bankdata.dk/how_it_works/security. Sources differ: mutual TLS and the API key alone may be enough, without a signature"
      headers.static.x-api-key: "env:PSD2_BANK_BANKDATA_API_KEY"
      sca.approaches: ["redirect"]
      sca.start: "explicit"
    cbi-globe
      name: "CBI Globe"
      source: "https://github.com/roodje/bespoke-providers, bespoke-cbiglobe/swagger. Sources differ: RSA with SHA-256 or with SHA-512"
      api.version: ""
      api.paths.createConsent: "/platform/enabler/psd2orchestrator/ais/3.0.0/consents"
      api.paths.getConsentInformation: "/platform/enabler/psd2orchestrator/ais/3.0.0/consents/{consentId}"
      api.paths.getConsentStatus: "/platform/enabler/psd2orchestrator/ais/2.3.2/consents/{consentId}/status"
      api.paths.deleteConsent: "/platform/enabler/psd2orchestrator/ais/2.3.2/consents/{consentId}"
      api.paths.getAccountList: "/platform/enabler/psd2orchestrator/ais/3.0.0/accounts"
      api.paths.getBalances: "/platform/enabler/psd2orchestrator/ais/2.3.2/accounts/{account-id}/balances"
      api.paths.getTransactionList: "/platform/enabler/psd2orchestrator/ais/2.4.0/accounts/{account-id}/transactions"
      api.paths.initiatePayment: "/platform/enabler/psd2orchestrator/pis/2.3.2/{payment-service}/{payment-product}"
      api.paths.getPaymentInitiationStatus: "/platform/enabler/psd2orchestrator/pis/2.3.2/{payment-service}/{payment-product}/{paymentId}/status"
      headers.static.aspsp-code: "env:PSD2_BANK_CBI_ASPSP_CODE"
      headers.perOperation.createConsent.aspsp-product-code: "env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE"
      headers.perOperation.initiatePayment.aspsp-product-code: "env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE"
      headers.date: "always"
      psu.corporateId: "optional"
      signing.headers: ["digest","x-request-id","date"]
      signing.ifSent: ["psu-id","psu-corporate-id","tpp-redirect-uri"]
      signing.algorithm: "rsa-sha512"
      signing.digest: "SHA-512"
      signing.certificate: "der"
      oauth.mode: "client-credentials"
      oauth.tokenEndpoint: "https://cbiglobeopenbankingapigateway.nexi.it/auth/oauth/v2/token"
      oauth.clientAuth: "basic"
      oauth.scope.preStep: "production"
      oauth.tokenHeader: "Authorization"
      consent.types: ["list-only","dedicated"]
      consent.maxDays: 90
      accounts.parameters.bookingStatus: "booking_status"
      accounts.parameters.dateFrom: "date_from"
      accounts.parameters.dateTo: "date_to"
      accounts.parameters.withBalance: "with_balance"
      accounts.paging.totalPagesHeader: "cpaas-total-pages"
      accounts.paging.pageParameter: "offset"
      payments.cancel: "none"
      payments.products.payments: ["sepa-credit-transfers","instant-sepa-credit-transfers","target-2-payments","cross-border-credit-transfers"]
    comdirect
      name: "comdirect"
      extends: "commerzbank"
      source: "https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents"
    commerzbank
      name: "Commerzbank"
      extends: "worldline"
      source: "https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents"
      sca.approaches: ["oauth","redirect","decoupled"]
    commerzbank-sandbox
      name: "Commerzbank (sandbox)"
      extends: "commerzbank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/commerzbank-adapter"
      oauth.metadata: "https://psd2.api-sandbox.commerzbank.com/berlingroup/.well-known/openid-configuration"
      oauth.tokenEndpoint: "https://psd2.api-sandbox.commerzbank.com/berlingroup/v1/token"
    consorsbank
      name: "Consorsbank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/consors-bank-adapter"
      psu.id: "never"
      signing.when: "never"
    deutsche-bank
      name: "Deutsche Bank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/deutsche-bank-adapter, and bespoke-deutschebank of https://github.com/roodje/bespoke-providers"
      api.paths.initiatePayment: "/pis/DE/DB/v1/{payment-service}/{payment-product}"
      api.paths.getPaymentInformation: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}"
      api.paths.cancelPayment: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}"
      api.paths.getPaymentInitiationStatus: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/status"
      api.paths.startPaymentAuthorisation: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations"
      api.paths.getPaymentInitiationAuthorisation: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations"
      api.paths.getPaymentInitiationScaStatus: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}"
      api.paths.updatePaymentPsuData: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}"
      api.paths.startPaymentInitiationCancellationAuthorisation: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations"
      api.paths.getPaymentInitiationCancellationAuthorisationInformation: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations"
      api.paths.getPaymentCancellationScaStatus: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}"
      api.paths.updatePaymentCancellationPsuData: "/pis/DE/DB/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}"
      api.paths.getAccountList: "/ais/DE/DB/v1/accounts"
      api.paths.readAccountDetails: "/ais/DE/DB/v1/accounts/{account-id}"
      api.paths.getBalances: "/ais/DE/DB/v1/accounts/{account-id}/balances"
      api.paths.getTransactionList: "/ais/DE/DB/v1/accounts/{account-id}/transactions"
      api.paths.getTransactionDetails: "/ais/DE/DB/v1/accounts/{account-id}/transactions/{transactionId}"
      api.paths.getCardAccountList: "/ais/DE/DB/v1/card-accounts"
      api.paths.readCardAccountDetails: "/ais/DE/DB/v1/card-accounts/{account-id}"
      api.paths.getCardAccountBalances: "/ais/DE/DB/v1/card-accounts/{account-id}/balances"
      api.paths.getCardAccountTransactionList: "/ais/DE/DB/v1/card-accounts/{account-id}/transactions"
      api.paths.createConsent: "/ais/DE/DB/v1/consents"
      api.paths.getConsentInformation: "/ais/DE/DB/v1/consents/{consentId}"
      api.paths.deleteConsent: "/ais/DE/DB/v1/consents/{consentId}"
      api.paths.getConsentStatus: "/ais/DE/DB/v1/consents/{consentId}/status"
      api.paths.startConsentAuthorisation: "/ais/DE/DB/v1/consents/{consentId}/authorisations"
      api.paths.getConsentAuthorisation: "/ais/DE/DB/v1/consents/{consentId}/authorisations"
      api.paths.getConsentScaStatus: "/ais/DE/DB/v1/consents/{consentId}/authorisations/{authorisationId}"
      api.paths.updateConsentsPsuData: "/ais/DE/DB/v1/consents/{consentId}/authorisations/{authorisationId}"
      api.paths.checkAvailabilityOfFunds: "/piis/DE/DB/v1/funds-confirmations"
      headers.date: "always"
      headers.accept: "application/json"
      headers.contentType: "application/json"
      psu.id: "required"
      psu.idType: "required"
      signing.when: "never"
      consent.types: ["bank-offered","dedicated"]
    paysera
      name: "Paysera"
      source: "https://developers.paysera.com/en/open-banking/v1.3/. Its pages differ: mutual TLS with the QWAC and no signature; the products aspsp, domestic, foreign; no list-only; 15 minutes are those of a payment, a consent has a day"
      oauth.mode: "integrated"
      sca.approaches: ["oauth"]
      sca.authorisationMinutes: 15
      consent.maxDays: 180
      consent.frequencyPerDay: 4
    raiffeisen-austria
      name: "Raiffeisen (Austria)"
      source: "https://developer.raiffeisen.at/en/faq.html, and RAIFFEISEN_AT of https://github.com/roodje/bespoke-providers"
      signing.when: "never"
      oauth.mode: "client-credentials"
      oauth.tokenEndpoint: "https://sso-psd2.raiffeisen.at/as/token.oauth2"
      oauth.scope.preStep: "apic-psd2"
      consent.types: ["dedicated","list-only"]
      accounts.balances.available: ["forwardAvailable","interimAvailable"]
      payments.final: ["ACCC"]
    salt-edge
      name: "Salt Edge PSD2 Compliance"
      source: "https://priora.saltedge.com/docs/berlingroup/ais"
      headers.date: "always"
      signing.headers: ["digest","date","x-request-id"]
      signing.ifSent: ["psu-id","psu-corporate-id","tpp-redirect-uri"]
      signing.keyId.form: "SN={serial},DN={dn}"
      signing.keyId.serial: "decimal"
      signing.keyId.format: "one-line"
      signing.certificate: "pem"
    santander-consumer
      name: "Santander Consumer Bank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/santander-adapter, its account information service"
      psu.id: "never"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.applicationToken: true
      oauth.clientAuth: "mtls"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth","redirect"]
    sparda
      name: "Sparda-Banken"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparda-bank-adapter, its services for OAuth and account information"
      psu.id: "token-sub"
      signing.when: "never"
      oauth.mode: "pre-step"
      oauth.authorizationEndpoint: "https://idp.sparda-n.de/oauth2/authorize"
      oauth.tokenEndpoint: "https://idp.sparda.de/oauth2/token"
      oauth.scope.preStep.ais: "ais"
      oauth.scope.preStep.pis: "pis"
    sparkassen
      name: "Sparkassen (S-Payment)"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparkasse-adapter, and bespoke-sparkassengroup of https://github.com/roodje/bespoke-providers. Sources differ: dedicated consents (the first), lists with balances (the second)"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientId: "organization-id"
      oauth.scope.ais: "AIS: {consentId}"
      oauth.scope.pis: "PIS: {paymentId}"
      oauth.names.client_id: "clientId"
      oauth.names.response_type: "responseType"
      sca.approaches: ["redirect","oauth"]
      consent.types: ["dedicated","list-with-balances"]
      accounts.reports: ["camt"]
      payments.futureDays: 0
    unicredit
      name: "UniCredit (HypoVereinsbank)"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/unicredit-adapter. Sources differ: a country alone is taken as an address; in Italy payments have none"
      headers.accept: "application/json"
      headers.contentType: "application/json"
      psu.idType: "required"
      psu.ip: "required"
      signing.when: "never"
      accounts.withBalance: false
      payments.products.periodic-payments: ["sepa-credit-transfers"]
      payments.required: ["creditorAddress.townName","creditorAddress.country"]
      payments.address: "required"
    wso2
      name: "WSO2 Open Banking, Berlin toolkit"
      source: "https://github.com/wso2/reference-implementation-nextgenpsd2, and https://github.com/wso2/docs-ob-toolkit-berlin"
      headers.date: "signed"
      signing.headers: ["digest","x-request-id","date"]
      signing.ifSent: ["psu-id","psu-corporate-id","tpp-redirect-uri"]
      signing.keyId.format: "rfc2253-oid"
      signing.emptyBody: "{}"
      oauth.mode: "integrated"
      oauth.applicationToken: true
      oauth.scope.ais: "ais:{consentId}"
      oauth.scope.pis: "pis:{paymentId}"
      sca.approaches: ["oauth"]
      payments.repeat: "unknown"
      payments.cancel.payments: "none"
    argenta
      name: "Argenta (Belgium)"
      source: "https://api.payments.argenta.be/berlingroup/v1/consents"
      headers.static.apiKey: "env:PSD2_BANK_ARGENTA_API_KEY"
      signing.headers: ["digest","x-request-id"]
      signing.ifSent: []
      signing.keyId.serial: "hex"
      signing.keyId.dn: "issuer"
      signing.keyId.format: "rfc1779"
      signing.certificate: "pem-line"
      oauth.mode: "integrated"
      oauth.tokenEndpoint: "https://api.payments.argenta.be/psd2/v1/berlingroup-auth/token"
      oauth.clientId: "organization-id"
      oauth.scope.ais: "AIS:{consentId}"
      sca.approaches: ["oauth"]
      consent.types: ["all-accounts","dedicated","list-only"]
      accounts.bookingStatuses: ["booked","both"]
    fabrick
      name: "Fabrick PSD2 Gateway (Banca Sella and others)"
      source: "https://github.com/roodje/bespoke-providers, bespoke-fabric"
      signing.when: "never"
      oauth.mode: "none"
      sca.approaches: ["redirect"]
      consent.types: ["all-accounts"]
      consent.frequencyPerDay: 4
    kbc
      name: "KBC and CBC (Belgium)"
      source: "https://developer.kbc.be/"
      api.version: "v2"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.authorizationEndpoint: "https://idp.kbc.com/ASK/oauth/authorize/1"
      oauth.tokenEndpoint: "https://openapi.kbc-group.com/ASK/oauth/token/1"
      oauth.clientId: "organization-id"
      oauth.clientAuth: "mtls"
      oauth.scope.ais: "AIS:{consentId}"
      sca.approaches: ["oauth"]
      consent.types: ["dedicated"]
      consent.frequencyPerDay: 4
      consent.status: "none"
      accounts.bookingStatuses: ["booked"]
      accounts.balances.booked: ["closingBooked"]
      accounts.balances.available: []
    n26
      name: "N26"
      source: "https://github.com/n26/psd2-tpp-docs/blob/main/doc/dedicated-aisp.md. Its versions differ: a newer one has a token of the application (client credentials) in the place of the login"
      signing.when: "never"
      oauth.mode: "pre-step"
      oauth.authorizationEndpoint: "https://xs2a.tech26.de/oauth2/authorize"
      oauth.tokenEndpoint: "https://xs2a.tech26.de/oauth2/token?role=DEDICATED_AISP"
      oauth.clientId: "organization-id"
      oauth.clientAuth: "mtls"
      oauth.scope.preStep: "DEDICATED_AISP"
      sca.approaches: ["decoupled"]
      sca.authorisationMinutes: 5
      sca.pollSeconds: 2
      consent.types: ["all-accounts","bank-offered","dedicated"]
      consent.maxDays: 180
      consent.frequencyPerDay: 4
      accounts.bookingStatuses: ["booked"]
      accounts.historyDays: 90
      accounts.withBalance: false
      accounts.balances.booked: ["expected"]
      accounts.balances.available: ["expected"]
      accounts.paging: "link"
      payments.products.payments: ["sepa-credit-transfers","instant-sepa-credit-transfers"]
      payments.products.periodic-payments: ["sepa-credit-transfers"]
      payments.final: ["ACCC"]
    raiffeisen-romania
      name: "Raiffeisen Bank Romania"
      source: "https://developer.raiffeisen.ro/aisp_flow"
      api.paths.createConsent: "/psd2-bgs-consent-api-1.3.2-rbro/v1/consents"
      api.paths.getConsentInformation: "/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}"
      api.paths.getConsentStatus: "/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}/status"
      api.paths.deleteConsent: "/psd2-bgs-consent-api-1.3.2-rbro/v1/consents/{consentId}"
      api.paths.getAccountList: "/psd2-accounts-api-1.3.2-rbro/v1/accounts"
      api.paths.readAccountDetails: "/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}"
      api.paths.getBalances: "/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}/balances"
      api.paths.getTransactionList: "/psd2-accounts-api-1.3.2-rbro/v1/accounts/{account-id}/transactions"
      headers.static.client_id: "env:PSD2_BANK_RBRO_CLIENT_ID"
      psu.id: "required"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.authorizationEndpoint: "https://api-auth.raiffeisen.ro/psd2-rbro-oauth2-api/aisp/oauth2/authorize"
      oauth.tokenEndpoint: "https://api-auth.raiffeisen.ro/aisp/oauth2/token"
      oauth.clientAuth: "basic"
      oauth.pkce: "none"
      oauth.scope.ais: "AISP"
      sca.approaches: ["oauth"]
      consent.types: ["dedicated"]
    redsys
      name: "Redsys (Spain)"
      source: "https://market.apis-i.redsys.es/psd2/xs2a/node/4577"
      psu.ip: "own"
      signing.when: "always"
      signing.headers: ["digest","x-request-id"]
      signing.ifSent: ["tpp-redirect-uri"]
      signing.keyId.form: "sn-ca"
      signing.keyId.serial: "decimal"
      signing.keyId.dn: "subject"
      signing.keyId.format: "rfc1779"
      signing.keyId.spaces: "strip"
      signing.algorithm: "SHA-256"
      signing.digest: "SHA-256"
      signing.emptyBodyDigest: true
      signing.certificate: "der"
      oauth.clientId: "organization-id"
      oauth.clientAuth: "mtls"
      oauth.pkce: "S256"
      oauth.scope.preStep: "AIS"
      sca.approaches: ["redirect"]
      consent.types: ["all-accounts","dedicated"]
      consent.frequencyPerDay: 4
      accounts.bookingStatuses: ["booked"]
      accounts.historyDays: 89
      accounts.balances.booked: ["closingBooked","interimBooked","openingBooked"]
      accounts.balances.available: ["interimAvailable","interimBooked","expected"]
      payments.products.payments: ["sepa-credit-transfers","instant-sepa-credit-transfers","target-2-payments","cross-border-credit-transfers"]
    volksbank-nl
      name: "de Volksbank (ASN, SNS, RegioBank)"
      source: "https://github.com/roodje/bespoke-providers, bespoke-volksbank/swagger/volksbank"
      api.paths.getAccountList: "/v1.1/accounts"
      api.paths.getBalances: "/v1.1/accounts/{account-id}/balances"
      api.paths.getTransactionList: "/v1.1/accounts/{account-id}/transactions"
      api.paths.getPaymentInitiationStatus: "/v1.1/{payment-service}/{payment-product}/{paymentId}/status"
      headers.perOperation.createConsent.Authorization: "env:PSD2_BANK_VOLKSBANK_CLIENT_ID"
      headers.perOperation.initiatePayment.Authorization: "env:PSD2_BANK_VOLKSBANK_CLIENT_ID"
      headers.perOperation.getPaymentInitiationStatus.Authorization: "env:PSD2_BANK_VOLKSBANK_CLIENT_ID"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientAuth: "basic"
      oauth.pkce: "none"
      oauth.scope.ais: "AIS"
      oauth.scope.pis: "PIS"
      sca.approaches: ["oauth"]
      consent.types: ["bank-offered"]
      consent.status: "none"
      accounts.bookingStatuses: ["booked"]
      accounts.balances.booked: []
      accounts.balances.available: ["interimAvailable"]
      payments.products.payments: ["sepa-credit-transfers"]
      payments.cancel: "none"
      payments.final: ["ACSC","ACCC"]
    worldline
      name: "Worldline Access to Account (berlingroup)"
      source: "https://devportal.tpp.europabank.be/content/howto/build-authorize-url"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientId: "organization-id"
      oauth.clientAuth: "mtls"
      oauth.pkce: "S256"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth"]
      consent.types: ["all-accounts","dedicated"]
      consent.frequencyPerDay: 4
      accounts.historyDays: 90
      accounts.paging: "link""
  `);
});

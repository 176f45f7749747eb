import { expect, it } from 'vitest';
import { PLATFORMS } from '../../src/bank-file/platforms.ts';
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
      source: "https://github.com/adorsys/xs2a"
      headers.date: "signed"
      signing.ifSent: ["psu-id","psu-corporate-id","date","tpp-redirect-uri"]
      signing.keyId.serial: "hex"
      signing.keyId.case: "lower"
      signing.keyId.format: "rfc2253"
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
      source: "https://github.com/Yolt-group/providers"
      signing.when: "always"
      signing.ifSent: ["psu-id"]
      signing.keyId.form: "sn-ca"
      signing.keyId.serial: "decimal"
      signing.keyId.dn: "issuer"
      signing.keyId.format: "rfc1779"
      signing.keyId.spaces: "strip"
      signing.keyId.separator: ","
      signing.algorithm: "rsa-sha256"
      consent.types: ["dedicated"]
      consent.once: false
      accounts.bookingStatuses: ["booked"]
      accounts.historyDays: 90
    banca-transilvania
      name: "Banca Transilvania"
      source: "https://apistorebt.ro/bt/sb/"
      oauth.mode: "integrated"
      oauth.clientAuth: "post"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth"]
      consent.types: ["list-only","dedicated"]
    banca-transilvania-sandbox
      name: "Banca Transilvania (sandbox)"
      extends: "banca-transilvania"
      source: "https://apistorebt.ro/bt/sb/"
      api.version: "v2"
    bank-verlag
      name: "Bank-Verlag"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/verlag-adapter"
      headers.contentType: "application/json"
      psu.idType: "optional"
      signing.when: "never"
    bankdata
      name: "Bankdata"
      source: "https://developers.bankdata.dk/how_it_works/security"
      headers.static.x-api-key: "env:PSD2_BANK_BANKDATA_API_KEY"
      oauth.mode: "integrated"
      oauth.scope.ais: "ais:{consentId}"
      oauth.scope.pis: "pis:{paymentId}"
      sca.approaches: ["oauth"]
    cbi-globe
      name: "CBI Globe"
      source: "https://github.com/Yolt-group/providers"
      headers.static.aspsp-code: "env:PSD2_BANK_CBI_ASPSP_CODE"
      headers.perOperation.createConsent.aspsp-product-code: "env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE"
      headers.date: "signed"
      psu.corporateId: "optional"
      signing.headers: ["digest","x-request-id","date"]
      signing.ifSent: ["tpp-redirect-uri","psu-id"]
      signing.digest: "SHA-512"
      signing.certificate: "der"
      oauth.clientAuth: "basic"
      oauth.tokenHeader: "Authorization"
      accounts.paging.totalPagesHeader: "cpaas-total-pages"
      accounts.paging.pageParameter: "offset"
    comdirect
      name: "comdirect"
      extends: "commerzbank"
      source: "https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents"
    commerzbank
      name: "Commerzbank"
      source: "https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.pkce: "S256"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth","redirect"]
      consent.types: ["all-accounts","dedicated"]
    commerzbank-sandbox
      name: "Commerzbank (sandbox)"
      extends: "commerzbank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/commerzbank-adapter"
      oauth.metadata: "https://psd2.api-sandbox.commerzbank.com/berlingroup/.well-known/openid-configuration"
      oauth.tokenEndpoint: "https://psd2.api-sandbox.commerzbank.com/berlingroup/v1/token"
    consorsbank
      name: "Consorsbank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/consors-bank-adapter"
      psu.id: "optional"
      signing.when: "never"
    deutsche-bank
      name: "Deutsche Bank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/deutsche-bank-adapter"
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
      psu.idType: "required"
      signing.when: "never"
    paysera
      name: "Paysera"
      source: "https://developers.paysera.com/en/open-banking/v1.3/"
      oauth.mode: "integrated"
      sca.approaches: ["oauth"]
      sca.authorisationMinutes: 15
      consent.maxDays: 180
      consent.frequencyPerDay: 4
    raiffeisen-austria
      name: "Raiffeisen (Austria)"
      source: "https://developer.raiffeisen.at/en/faq.html"
      oauth.mode: "client-credentials"
      oauth.tokenEndpoint: "https://sso.raiffeisen.at/as/token.oauth2"
      oauth.scope.preStep: "apic-psd2"
      accounts.balances.available: ["forwardAvailable","interimAvailable"]
      payments.final: ["ACCC"]
    salt-edge
      name: "Salt Edge PSD2 Compliance"
      source: "https://priora.saltedge.com/docs/berlingroup/other"
      headers.date: "always"
      signing.certificate: "pem"
    santander-consumer
      name: "Santander Consumer Bank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/santander-adapter"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientAuth: "mtls"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth","redirect"]
    sparda
      name: "Sparda-Banken"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparda-bank-adapter"
      psu.id: "never"
      signing.when: "never"
      oauth.mode: "pre-step"
      oauth.authorizationEndpoint: "https://idp.sparda-n.de/oauth2/authorize"
      oauth.tokenEndpoint: "https://idp.sparda.de/oauth2/token"
      oauth.scope.preStep: "ais pis"
    sparkassen
      name: "Sparkassen (S-Payment)"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparkasse-adapter"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.clientId: "organization-id"
      oauth.scope.ais: "AIS: {consentId}"
      oauth.scope.pis: "PIS: {paymentId}"
      sca.approaches: ["redirect","oauth"]
      payments.futureDays: 0
    unicredit
      name: "UniCredit (HypoVereinsbank)"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/unicredit-adapter"
      headers.accept: "application/json"
      headers.contentType: "application/json"
      psu.idType: "required"
      psu.ip: "required"
      signing.when: "never"
      accounts.withBalance: false
      payments.required: ["creditorAddress.townName","creditorAddress.country"]
      payments.address: "required"
    wso2
      name: "WSO2 Open Banking, Berlin toolkit"
      source: "https://github.com/wso2/reference-implementation-nextgenpsd2"
      headers.date: "signed"
      signing.headers: ["digest","x-request-id","date"]
      signing.ifSent: ["psu-id"]
      oauth.mode: "integrated"
      oauth.scope.ais: "ais:{consentId}"
      oauth.scope.pis: "pis:{paymentId}"
      sca.approaches: ["oauth","redirect"]
      payments.repeat: "unknown""
  `);
});

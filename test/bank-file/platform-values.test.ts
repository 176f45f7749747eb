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
      source: "https://github.com/roodje/bespoke-providers, monorepo-group, atruviagroup. Sources differ: the adapter of adorsys has a hexadecimal serial number, RFC 2253, %20 and SHA256withRSA, and shows embedded SCA with a PSU-ID alone"
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
      banks: [{"name":"Volksbanken and Raiffeisenbanken","bic":"GENODE","bankCode":"???6????","country":"DE"},{"name":"Volksbanken and Raiffeisenbanken","bic":"GENODE","bankCode":"???9????","country":"DE"}]
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
      banks: [{"name":"Banca Transilvania","bic":"BTRLRO22","bankCode":"BTRL","country":"RO"}]
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
      banks: [{"name":"Sydbank, Flensburg","bic":"SYBKDE22","bankCode":"21510600","country":"DE"},{"name":"Targobank","bic":"CMCIDEDD","bankCode":"30020900","country":"DE"},{"name":"HSBC Germany","bic":"TUBDDEDD","bankCode":"30030880","country":"DE"},{"name":"HSBC Germany","bic":"TUBDDEDD","bankCode":"30030889","country":"DE"},{"name":"Degussa Bank","bic":"DEGUDEFF","bankCode":"50010700","country":"DE"},{"name":"Deutsche Bundesbank","bic":"MARKDEF1","country":"DE"},{"name":"Consors Finanz","bic":"WKVBDEM1","bankCode":"70020300","country":"DE"},{"name":"Ziraat Bank","bic":"TCZBDEFF","bankCode":"51220700","country":"DE"},{"name":"Isbank","bic":"ISBKDEFX","country":"DE"},{"name":"Europäisch-Iranische Handelsbank","bic":"EIHBDEHH","bankCode":"20310300","country":"DE"}]
    bankdata
      name: "Bankdata"
      source: "https://developers.bankdata.dk/how_it_works/security. Sources differ: mutual TLS and the API key alone may be enough, without a signature"
      headers.static.x-api-key: "env:PSD2_BANK_BANKDATA_API_KEY"
      sca.approaches: ["redirect"]
      sca.start: "explicit"
      banks: [{"name":"Jyske Bank","bic":"JYBADKKK","country":"DK"}]
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
      banks: [{"name":"Intesa Sanpaolo","bic":"BCITITMM","bankCode":"03069","country":"IT"},{"name":"BNL","bic":"BNLIITRR","bankCode":"01005","country":"IT"},{"name":"Banco BPM","bic":"BAPPIT21","bankCode":"05034","country":"IT"},{"name":"Monte dei Paschi di Siena","bic":"PASCITMM","bankCode":"01030","country":"IT"},{"name":"Banca Widiba","bic":"WIDIITMM","bankCode":"03442","country":"IT"},{"name":"Poste Italiane","bic":"BPPIITRR","bankCode":"07601","country":"IT"},{"name":"BCC Credito Cooperativo","bic":"ICRAIT","country":"IT"},{"name":"Nexi","country":"IT"}]
    comdirect
      name: "comdirect"
      extends: "commerzbank"
      source: "https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents"
      banks: [{"name":"comdirect","bic":"COBADEHD","bankCode":"200411??","country":"DE"}]
    commerzbank
      name: "Commerzbank"
      extends: "worldline"
      source: "https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents"
      sca.approaches: ["oauth","redirect","decoupled"]
      banks: [{"name":"Commerzbank","bic":"COBADE","bankCode":"???4????","country":"DE"},{"name":"Commerzbank","bic":"DRESDE","bankCode":"???8????","country":"DE"}]
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
      banks: [{"name":"Consorsbank","bic":"CSDBDE71","bankCode":"76030080","country":"DE"}]
    deutsche-bank
      name: "Deutsche Bank"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/deutsche-bank-adapter, and bespoke-deutsche-bank of https://github.com/roodje/bespoke-providers"
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
      banks: [{"name":"Deutsche Bank","bic":"DEUTDE","bankCode":"???7????","country":"DE"}]
    paysera
      name: "Paysera"
      source: "https://developers.paysera.com/en/open-banking/v1.3/. Its pages differ: mutual TLS with the QWAC and no signature; the products aspsp, domestic, foreign; no list-only; 15 minutes are those of a payment, a consent has a day"
      oauth.mode: "integrated"
      sca.approaches: ["oauth"]
      sca.authorisationMinutes: 15
      consent.maxDays: 180
      consent.frequencyPerDay: 4
      banks: [{"name":"Paysera","bic":"EVIULT2V","bankCode":"35000","country":"LT"}]
    raiffeisen-austria
      name: "Raiffeisen (Austria)"
      source: "https://developer.raiffeisen.at/en/faq.html, and raiffeisenatgroup of https://github.com/roodje/bespoke-providers, monorepo-group"
      signing.when: "never"
      oauth.mode: "client-credentials"
      oauth.tokenEndpoint: "https://sso-psd2.raiffeisen.at/as/token.oauth2"
      oauth.scope.preStep: "apic-psd2"
      consent.types: ["dedicated","list-only"]
      accounts.balances.available: ["forwardAvailable","interimAvailable"]
      payments.final: ["ACCC"]
      banks: [{"name":"Raiffeisen","bic":"RZOOAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RVSAAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RLNWAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RZSTAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RZTIAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RZKTAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RLBBAT","bankCode":"3????","country":"AT"},{"name":"Raiffeisen","bic":"RVVGAT","bankCode":"3????","country":"AT"}]
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
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/santander-adapter, its account information service. Sources differ: once the customer has logged in, the token may be the customer's"
      psu.id: "never"
      signing.when: "never"
      oauth.mode: "integrated"
      oauth.applicationToken: true
      oauth.clientAuth: "mtls"
      oauth.scope.ais: "AIS:{consentId}"
      oauth.scope.pis: "PIS:{paymentId}"
      sca.approaches: ["oauth","redirect"]
      banks: [{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"10033300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"20133300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"25020600","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"31010833","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"36033300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"50033300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"60133300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"70133300","country":"DE"},{"name":"Santander Consumer Bank","bic":"SCFBDE33","bankCode":"86033300","country":"DE"}]
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
      banks: [{"name":"Sparda-Bank West","bic":"GENODED1SPE","bankCode":"36060591","country":"DE"},{"name":"Sparda-Bank West","bic":"GENODED1SPW","bankCode":"33060592","country":"DE"},{"name":"Sparda-Bank West","bic":"GENODED1SPK","bankCode":"37060590","country":"DE"},{"name":"Sparda-Bank West","bic":"GENODEF1S08","bankCode":"40060560","country":"DE"},{"name":"Sparda-Bank Hessen","bic":"GENODEF1S12","bankCode":"50090500","country":"DE"},{"name":"Sparda-Bank Hamburg","bic":"GENODEF1S11","bankCode":"20690500","country":"DE"},{"name":"Sparda-Bank Nürnberg","bic":"GENODEF1S06","bankCode":"76090500","country":"DE"},{"name":"Sparda-Bank Ostbayern","bic":"GENODEF1S05","bankCode":"75090500","country":"DE"},{"name":"Sparda-Bank München","bic":"GENODEF1S04","bankCode":"70090500","country":"DE"},{"name":"Sparda-Bank Augsburg","bic":"GENODEF1S03","bankCode":"72090500","country":"DE"},{"name":"Sparda-Bank Baden-Württemberg","bic":"GENODEF1S02","bankCode":"60090800","country":"DE"},{"name":"Sparda-Bank Südwest","bic":"GENODEF1S01","bankCode":"55090500","country":"DE"},{"name":"Sparda-Bank Hannover","bic":"GENODEF1S09","bankCode":"25090500","country":"DE"}]
    sparkassen
      name: "Sparkassen (S-Payment)"
      source: "https://github.com/adorsys/xs2a-adapter/tree/develop/adapters/sparkasse-adapter, and bespoke-sparkassen-and-landesbanks of https://github.com/roodje/bespoke-providers. Sources differ: dedicated consents (the first), lists with balances (the second)"
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
      banks: [{"name":"Sparkassen","bic":"WELADE","bankCode":"???5????","country":"DE"},{"name":"Sparkassen","bic":"NOLADE","bankCode":"???5????","country":"DE"},{"name":"Sparkassen","bic":"HELADE","bankCode":"???5????","country":"DE"},{"name":"Sparkassen","bic":"SOLADE","bankCode":"???5????","country":"DE"},{"name":"Sparkassen","bic":"MALADE","bankCode":"???5????","country":"DE"}]
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
      banks: [{"name":"HypoVereinsbank","bic":"HYVEDE","bankCode":"70020270","country":"DE"}]
    wso2
      name: "WSO2 Open Banking, Berlin toolkit"
      source: "https://github.com/wso2/reference-implementation-nextgenpsd2, and https://github.com/wso2/docs-ob-toolkit-berlin. Its pages differ: in words, payments have the customer's token once the customer has logged in; in examples, the application's"
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
      banks: [{"name":"Argenta","bic":"ARSPBE22","bankCode":"973","country":"BE"},{"name":"Argenta","bic":"ARSPBE22","bankCode":"978","country":"BE"},{"name":"Argenta","bic":"ARSPBE22","bankCode":"979","country":"BE"},{"name":"Argenta","bic":"ARSPBE22","bankCode":"980","country":"BE"}]
    fabrick
      name: "Fabrick PSD2 Gateway (Banca Sella and others)"
      source: "https://github.com/roodje/bespoke-providers, bespoke-fabric"
      signing.when: "never"
      oauth.mode: "none"
      sca.approaches: ["redirect"]
      consent.types: ["all-accounts"]
      consent.frequencyPerDay: 4
      banks: [{"name":"Banca Sella","bic":"SELBIT2B","bankCode":"03268","country":"IT"}]
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
      banks: [{"name":"KBC","bic":"KREDBEBB","bankCode":"4??","country":"BE"},{"name":"CBC","bic":"CREGBEBB","bankCode":"19?","country":"BE"}]
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
      banks: [{"name":"N26","bic":"NTSBDEB1","bankCode":"10011001","country":"DE"}]
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
      banks: [{"name":"Raiffeisen Bank Romania","bic":"RZBRROBU","bankCode":"RZBR","country":"RO"}]
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
      banks: [{"name":"BBVA","bic":"BBVAESMM","bankCode":"0182","country":"ES"},{"name":"Santander","bic":"BSCHESMM","bankCode":"0049","country":"ES"},{"name":"Sabadell","bic":"BSABESBB","bankCode":"0081","country":"ES"},{"name":"CaixaBank","bic":"CAIXESBB","bankCode":"2100","country":"ES"},{"name":"Bankinter","bic":"BKBKESMM","bankCode":"0128","country":"ES"},{"name":"Ibercaja","bic":"CAZRES2Z","bankCode":"2085","country":"ES"},{"name":"Kutxabank","bic":"BASKES2B","bankCode":"2095","country":"ES"},{"name":"Laboral Kutxa","bic":"CLPEES2M","bankCode":"3035","country":"ES"},{"name":"Openbank","bic":"OPENESMM","bankCode":"0073","country":"ES"},{"name":"Unicaja","bic":"UCJAES2M","bankCode":"2103","country":"ES"},{"name":"Cajamar","bic":"CCRIES2A","bankCode":"3058","country":"ES"},{"name":"Cajasur","bic":"CSURES2C","bankCode":"0237","country":"ES"},{"name":"EVO Banco","bic":"EVOBESMM","bankCode":"0239","country":"ES"},{"name":"Caja Rural","bic":"BCOEES","country":"ES"}]
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
      banks: [{"name":"ASN Bank","bic":"ASNBNL21","bankCode":"ASNB","country":"NL"},{"name":"SNS","bic":"SNSBNL2A","bankCode":"SNSB","country":"NL"},{"name":"RegioBank","bic":"RBRBNL21","bankCode":"RBRB","country":"NL"}]
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
      accounts.paging: "link"
      banks: [{"name":"Crelan","bic":"NICABEBB","bankCode":"103","country":"BE"},{"name":"Crelan","bic":"NICABEBB","bankCode":"104","country":"BE"},{"name":"Crelan","bic":"NICABEBB","bankCode":"105","country":"BE"},{"name":"Crelan","bic":"NICABEBB","bankCode":"106","country":"BE"},{"name":"Crelan","bic":"AXABBE22","bankCode":"70?","country":"BE"},{"name":"Bank Van Breda","bic":"JVBABE22","bankCode":"645","country":"BE"},{"name":"Nagelmackers","bic":"BNAGBEBB","bankCode":"634","country":"BE"},{"name":"Nagelmackers","bic":"BNAGBEBB","bankCode":"636","country":"BE"},{"name":"Keytrade Bank","bic":"KEYTBEBB","bankCode":"651","country":"BE"},{"name":"Europabank","bic":"EURBBE99","bankCode":"671","country":"BE"}]"
  `);
});

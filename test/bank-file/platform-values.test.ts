import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { OPERATIONS } from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { PLATFORMS } from './described.ts';

/** What decides nothing at a bank. */
const PROSE = ['interface', 'name', 'source', 'verifiedOn', 'banks'];
const tails = new Map(
  Object.entries(OPERATIONS).map(([name, { path }]) => [name, path.replace(/^\/v\d/, '')]),
);

/** A field, its value, and who says so. Of a path of the bank's own: what stands before that of the standard, at which operation. */
function written(name: string, path: string, value: unknown): [field: string, value: string, who: string] {
  const operation = path.replace(/^api\.paths\./, '');
  const tail = tails.get(operation);
  if (tail === undefined) return [path, JSON.stringify(value).replaceAll('"', ''), name];
  return [`api.paths of ${name}`, String(value).replace(tail, ''), operation];
}

/**
 * What each platform says decides what real banks get, and nothing here can ask them. So whoever changes one looks at its
 * sources again, and then renews this list with `vitest -u`: each value of each field, and the platforms that say it.
 */
it('each platform says what it said when somebody compared it with its sources', () => {
  const said: Record<string, Record<string, string>> = {};
  const prose = createHash('sha256');
  for (const [name, file] of Object.entries(PLATFORMS))
    for (const [path, stored] of valuesIn(file)) {
      const [field, value, who] = written(name, path, stored);
      if (PROSE.includes(path)) prose.update(`${name} ${path}: ${value}\n`);
      else {
        said[field] ??= {};
        said[field][value] = [said[field][value] ?? [], who].flat().join(' ');
      }
    }
  expect(said).toMatchInlineSnapshot(`
    { accounts.balances.available: { []: "kbc", [expected]: "banca-transilvania n26",
        [forwardAvailable,interimAvailable]: "raiffeisen-austria",
        [interimAvailable,interimBooked,expected]: "redsys", [interimAvailable]: "volksbank-nl" },
      accounts.balances.booked: { []: "volksbank-nl", [closingBooked,interimBooked,openingBooked]: "redsys",
        [closingBooked,interimBooked]: "adorsys", [closingBooked]: "kbc",
        [expected]: "banca-transilvania n26" },
      accounts.bookingStatuses: { [booked,both]: "argenta", [booked]: "atruvia banca-transilvania kbc n26 redsys volksbank-nl" },
      accounts.delta: { none: "adorsys" },
      accounts.historyDays: { 89: "banca-transilvania redsys", 90: "atruvia n26 worldline" },
      accounts.paging: { link: "n26 worldline" },
      accounts.paging.pageParameter: { offset: "cbi-globe" },
      accounts.paging.totalPagesHeader: { cpaas-total-pages: "cbi-globe" },
      accounts.parameters.bookingStatus: { booking_status: "cbi-globe" },
      accounts.parameters.dateFrom: { date_from: "cbi-globe" },
      accounts.parameters.dateTo: { date_to: "cbi-globe" },
      accounts.parameters.withBalance: { with_balance: "cbi-globe" },
      accounts.reports: { [camt]: "sparkassen" }, accounts.withBalance: { false: "n26 unicredit" },
      api.paths of banca-transilvania: { /bt-psd2-aisp-prd/v1: "createConsent getConsentInformation getConsentStatus deleteConsent getAccountList readAccountDetails getBalances getTransactionList",
        /bt-psd2-pisp-prd/v1: "initiatePayment getPaymentInformation getPaymentInitiationStatus" },
      api.paths of cbi-globe: { /platform/enabler/psd2orchestrator/ais/2.3.2: "getConsentStatus deleteConsent getBalances",
        /platform/enabler/psd2orchestrator/ais/2.4.0: "getTransactionList",
        /platform/enabler/psd2orchestrator/ais/3.0.0: "createConsent getConsentInformation getAccountList",
        /platform/enabler/psd2orchestrator/pis/2.3.2: "initiatePayment getPaymentInitiationStatus" },
      api.paths of deutsche-bank: { /ais/DE/DB/v1: "getAccountList readAccountDetails getBalances getTransactionList getTransactionDetails getCardAccountList readCardAccountDetails getCardAccountBalances getCardAccountTransactionList createConsent getConsentInformation deleteConsent getConsentStatus startConsentAuthorisation getConsentAuthorisation getConsentScaStatus updateConsentsPsuData",
        /piis/DE/DB/v1: "checkAvailabilityOfFunds",
        /pis/DE/DB/v1: "initiatePayment getPaymentInformation cancelPayment getPaymentInitiationStatus startPaymentAuthorisation getPaymentInitiationAuthorisation getPaymentInitiationScaStatus updatePaymentPsuData startPaymentInitiationCancellationAuthorisation getPaymentInitiationCancellationAuthorisationInformation getPaymentCancellationScaStatus updatePaymentCancellationPsuData" },
      api.paths of fabrick: { /v1/scaStatus/{authorisationId}: "getConsentScaStatus" },
      api.paths of n26: { /v1: "createConsentConfirmationOfFunds" },
      api.paths of raiffeisen-romania: { /psd2-accounts-api-1.3.2-rbro/v1: "getAccountList readAccountDetails getBalances getTransactionList",
        /psd2-bgs-consent-api-1.3.2-rbro/v1: "createConsent getConsentInformation getConsentStatus deleteConsent" },
      api.paths of volksbank-nl: { /v1.1: "getAccountList getBalances getTransactionList getPaymentInitiationStatus" },
      api.version: { : "cbi-globe", v2: "kbc" },
      consent.frequencyPerDay: { 4: "fabrick kbc n26 paysera redsys worldline" },
      consent.maxDays: { 180: "n26 paysera", 90: "banca-transilvania cbi-globe" },
      consent.once: { false: "atruvia" }, consent.status: { none: "kbc volksbank-nl" },
      consent.types: { [all-accounts,bank-offered,dedicated]: "n26", [all-accounts,dedicated,list-only]: "argenta",
        [all-accounts,dedicated]: "atruvia redsys worldline", [all-accounts]: "fabrick",
        [bank-offered,dedicated]: "deutsche-bank", [bank-offered]: "volksbank-nl",
        [dedicated,list-only]: "raiffeisen-austria", [dedicated,list-with-balances]: "sparkassen",
        [dedicated]: "kbc raiffeisen-romania", [list-only,dedicated]: "banca-transilvania cbi-globe" },
      errors.PSU_CREDENTIALS_INVALID: { login_refused: "adorsys" },
      errors.SERVICE_BLOCKED: { forbidden: "adorsys" },
      extends: { banca-transilvania: "banca-transilvania-sandbox", commerzbank: "comdirect commerzbank-sandbox",
        worldline: "commerzbank" },
      headers.accept: { application/json: "deutsche-bank unicredit" },
      headers.contentType: { application/json: "bank-verlag deutsche-bank unicredit" },
      headers.date: { always: "cbi-globe deutsche-bank salt-edge", signed: "adorsys wso2" },
      headers.perOperation.createConsent.Authorization: { env:PSD2_BANK_VOLKSBANK_CLIENT_ID: "volksbank-nl" },
      headers.perOperation.createConsent.aspsp-product-code: { env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE: "cbi-globe" },
      headers.perOperation.getPaymentInitiationStatus.Authorization: { env:PSD2_BANK_VOLKSBANK_CLIENT_ID: "volksbank-nl" },
      headers.perOperation.initiatePayment.Authorization: { env:PSD2_BANK_VOLKSBANK_CLIENT_ID: "volksbank-nl" },
      headers.perOperation.initiatePayment.aspsp-product-code: { env:PSD2_BANK_CBI_ASPSP_PRODUCT_CODE: "cbi-globe" },
      headers.static.apiKey: { env:PSD2_BANK_ARGENTA_API_KEY: "argenta" },
      headers.static.aspsp-code: { env:PSD2_BANK_CBI_ASPSP_CODE: "cbi-globe" },
      headers.static.client_id: { env:PSD2_BANK_RBRO_CLIENT_ID: "raiffeisen-romania" },
      headers.static.x-api-key: { env:PSD2_BANK_BANKDATA_API_KEY: "bankdata" },
      oauth.applicationToken: { true: "santander-consumer wso2" },
      oauth.authorizationEndpoint: { https://api-auth.raiffeisen.ro/psd2-rbro-oauth2-api/aisp/oauth2/authorize: "raiffeisen-romania",
        https://idp.kbc.com/ASK/oauth/authorize/1: "kbc",
        https://idp.sparda-n.de/oauth2/authorize: "sparda",
        https://xs2a.tech26.de/oauth2/authorize: "n26" },
      oauth.clientAuth: { basic: "cbi-globe raiffeisen-romania volksbank-nl",
        mtls: "kbc n26 redsys santander-consumer worldline", post: "banca-transilvania" },
      oauth.clientId: { organization-id: "argenta kbc n26 redsys sparkassen worldline" },
      oauth.metadata: { https://psd2.api-sandbox.commerzbank.com/berlingroup/.well-known/openid-configuration: "commerzbank-sandbox" },
      oauth.mode: { client-credentials: "cbi-globe raiffeisen-austria",
        integrated: "argenta banca-transilvania kbc paysera raiffeisen-romania santander-consumer sparkassen volksbank-nl worldline wso2",
        none: "fabrick", pre-step: "n26 sparda" },
      oauth.names.client_id: { clientId: "sparkassen" },
      oauth.names.response_type: { responseType: "sparkassen" },
      oauth.pkce: { S256: "redsys worldline", none: "raiffeisen-romania volksbank-nl" },
      oauth.scope.ais: { AIS: "volksbank-nl", AIS: {consentId}: "sparkassen",
        AIS:{consentId}: "argenta banca-transilvania kbc santander-consumer worldline",
        AISP: "raiffeisen-romania", ais:{consentId}: "wso2" },
      oauth.scope.pis: { PIS: "volksbank-nl", PIS: {paymentId}: "sparkassen",
        PIS:{paymentId}: "banca-transilvania santander-consumer worldline", pis:{paymentId}: "wso2" },
      oauth.scope.preStep: { AIS: "redsys", DEDICATED_AISP: "n26", apic-psd2: "raiffeisen-austria", production: "cbi-globe" },
      oauth.scope.preStep.ais: { ais: "sparda" }, oauth.scope.preStep.pis: { pis: "sparda" },
      oauth.tokenEndpoint: { https://api-auth.raiffeisen.ro/aisp/oauth2/token: "raiffeisen-romania",
        https://api.payments.argenta.be/psd2/v1/berlingroup-auth/token: "argenta",
        https://cbiglobeopenbankingapigateway.nexi.it/auth/oauth/v2/token: "cbi-globe",
        https://idp.sparda.de/oauth2/token: "sparda",
        https://openapi.kbc-group.com/ASK/oauth/token/1: "kbc",
        https://psd2.api-sandbox.commerzbank.com/berlingroup/v1/token: "commerzbank-sandbox",
        https://sso-psd2.raiffeisen.at/as/token.oauth2: "raiffeisen-austria",
        https://xs2a.tech26.de/oauth2/token?role=DEDICATED_AISP: "n26" },
      oauth.tokenHeader: { Authorization: "cbi-globe" }, payments.address: { required: "unicredit" },
      payments.allowed: { [purposeCode,chargeBearer,ultimateDebtor,ultimateCreditor,remittanceInformationStructured]: "adorsys" },
      payments.bulk.format: { json: "adorsys" },
      payments.cancel: { authorised: "adorsys", none: "cbi-globe volksbank-nl" },
      payments.cancel.payments: { none: "wso2" },
      payments.executesWithoutSca: { never: "n26", possible: "adorsys" },
      payments.final: { [ACCC]: "n26 raiffeisen-austria", [ACSC,ACCC]: "volksbank-nl" },
      payments.frequencies.Annual: { YEAR: "n26" }, payments.frequencies.Monthly: { MNTH: "n26" },
      payments.frequencies.Quarterly: { QUTR: "n26" }, payments.frequencies.SemiAnnual: { SEMI: "n26" },
      payments.frequencies.Weekly: { WEEK: "n26" },
      payments.futureDays: { 0: "cbi-globe n26 sparkassen", 10: "wso2", 365: "adorsys consorsbank volksbank-nl" },
      payments.products.bulk-payments: { [sepa-credit-transfers]: "adorsys" },
      payments.products.payments: { [ron-payment,other-currency-payment]: "banca-transilvania",
        [sepa-credit-transfers,instant-sepa-credit-transfers,target-2-payments,cross-border-credit-transfers]: "cbi-globe redsys",
        [sepa-credit-transfers,instant-sepa-credit-transfers]: "adorsys n26",
        [sepa-credit-transfers]: "volksbank-nl" },
      payments.products.periodic-payments: { [sepa-credit-transfers]: "adorsys n26 unicredit" },
      payments.refusals: { [{code:A0003},{code:A0004},{code:A0008},{code:A0016},{code:A0020},{code:A0031}]: "cbi-globe" },
      payments.repeat: { unknown: "adorsys wso2" },
      payments.required: { [creditorAddress.townName,creditorAddress.country]: "unicredit" },
      psu.corporateId: { optional: "cbi-globe" },
      psu.id: { never: "consorsbank santander-consumer", required: "atruvia deutsche-bank raiffeisen-romania",
        token-sub: "sparda" },
      psu.idType: { optional: "bank-verlag", required: "deutsche-bank unicredit" },
      psu.ip: { own: "redsys", required: "unicredit" }, psu.label: { VR-NetKey or alias: "atruvia" },
      sca.approaches: { [decoupled]: "n26", [embedded]: "atruvia", [oauth,redirect,decoupled]: "commerzbank",
        [oauth,redirect]: "santander-consumer",
        [oauth]: "argenta banca-transilvania kbc paysera raiffeisen-romania volksbank-nl worldline wso2",
        [redirect,decoupled,oauth]: "adorsys", [redirect,embedded]: "unicredit",
        [redirect,oauth]: "sparkassen", [redirect]: "bankdata fabrick redsys" },
      sca.authorisationMinutes: { 15: "paysera", 5: "n26" },
      sca.pollSeconds: { 2: "n26", 3: "adorsys" },
      sca.start: { explicit: "bankdata", follow-links: "adorsys" },
      signing.algorithm: { SHA-256: "redsys", rsa-sha256: "atruvia", rsa-sha512: "cbi-globe" },
      signing.certificate: { der: "cbi-globe redsys", pem: "salt-edge", pem-line: "adorsys argenta" },
      signing.digest: { SHA-256: "redsys", SHA-512: "cbi-globe" }, signing.emptyBody: { {}: "wso2" },
      signing.emptyBodyDigest: { true: "adorsys redsys" },
      signing.headers: { [digest,date,x-request-id]: "salt-edge", [digest,x-request-id,date]: "cbi-globe wso2",
        [digest,x-request-id]: "argenta redsys" },
      signing.ifSent: { []: "argenta", [psu-id,psu-corporate-id,date,tpp-redirect-uri]: "adorsys",
        [psu-id,psu-corporate-id,tpp-redirect-uri]: "cbi-globe salt-edge wso2", [psu-id]: "atruvia",
        [tpp-redirect-uri]: "redsys" },
      signing.keyId.case: { lower: "adorsys" },
      signing.keyId.dn: { issuer: "argenta atruvia", subject: "redsys" },
      signing.keyId.form: { SN={serial},DN={dn}: "salt-edge", sn-ca: "atruvia redsys" },
      signing.keyId.format: { one-line: "salt-edge", rfc1779: "argenta atruvia redsys", rfc2253-oid: "adorsys wso2" },
      signing.keyId.separator: { ,: "atruvia" },
      signing.keyId.serial: { decimal: "atruvia redsys salt-edge", hex: "adorsys argenta" },
      signing.keyId.spaces: { percent: "adorsys", strip: "atruvia redsys" },
      signing.when: { always: "atruvia redsys",
        never: "banca-transilvania bank-verlag consorsbank deutsche-bank fabrick kbc n26 raiffeisen-austria raiffeisen-romania santander-consumer sparda sparkassen unicredit volksbank-nl worldline" } }
  `);
  expect(prose.digest('hex')).toMatchInlineSnapshot(
    `"6be9b6036ebe07c18ca7706fe9550de36f00af83ebe11a6fb29969aa05dd9eb0"`,
  );
});

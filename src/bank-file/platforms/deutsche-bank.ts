import type { BankFile } from '../schema.ts';

/**
 * The paths have the group of services first, then country and brand. PSU-ID-Type is DE_ONLB_DB, DE_ONLB_POBA or DE_ONLB_NORIS,
 * by brand.
 */
export const deutscheBank: BankFile = {
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
};

/** An operation of the standard. Each says everything that psd2 knows of it: one that lacks a fact does not compile. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path template after the base URL. A bank with another `api.version` has that in the place of `v1`. */
  path: string;
  /** The service that it belongs to. What is about SCA counts as a consent. */
  kind: 'ais' | 'pis' | 'piis' | 'consent';
  /** What it reads of the accounts of a customer, which needs a consent: the list of them, or one of them. */
  reads: 'list' | 'account' | null;
  /** Whether it may say `TPP-Redirect-URI` and what psd2 prefers. */
  startsSca: boolean;
  /** Whether it may say who the customer is. */
  identifies: boolean;
  /** Whether it makes a resource that the customer authorises. The standard demands the customer's address there. */
  creates: boolean;
}

/** What operations have to do with SCA: one that makes a resource may start its SCA at once. */
const CREATES = { startsSca: true, identifies: true, creates: true };
const STARTS = { startsSca: true, identifies: true, creates: false };
const IDENTIFIES = { startsSca: false, identifies: true, creates: false };
/** The customer of a payment is known when it is cancelled. */
const CANCELS = { startsSca: true, identifies: false, creates: false };
const NO_SCA = { startsSca: false, identifies: false, creates: false };

/**
 * The operations of NextGenPSD2 1.3 by their ids, and those of the extended service "confirmation of funds consent" 2.0 (its authorisations
 * have the ids of other consents there), with the path templates of the standard. `api.paths` and `headers.perOperation` of a bank file name these ids.
 */
export const OPERATIONS = {
  initiatePayment: {
    method: 'POST',
    path: '/v1/{payment-service}/{payment-product}',
    kind: 'pis',
    reads: null,
    ...CREATES,
  },
  getPaymentInformation: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}',
    kind: 'pis',
    reads: null,
    ...NO_SCA,
  },
  cancelPayment: {
    method: 'DELETE',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}',
    kind: 'pis',
    reads: null,
    ...CANCELS,
  },
  getPaymentInitiationStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/status',
    kind: 'pis',
    reads: null,
    ...NO_SCA,
  },
  startPaymentAuthorisation: {
    method: 'POST',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...STARTS,
  },
  getPaymentInitiationAuthorisation: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getPaymentInitiationScaStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  updatePaymentPsuData: {
    method: 'PUT',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...IDENTIFIES,
  },
  startPaymentInitiationCancellationAuthorisation: {
    method: 'POST',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
    kind: 'consent',
    reads: null,
    ...STARTS,
  },
  getPaymentInitiationCancellationAuthorisationInformation: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getPaymentCancellationScaStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  updatePaymentCancellationPsuData: {
    method: 'PUT',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...IDENTIFIES,
  },
  getAccountList: { method: 'GET', path: '/v1/accounts', kind: 'ais', reads: 'list', ...NO_SCA },
  readAccountDetails: {
    method: 'GET',
    path: '/v1/accounts/{account-id}',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getBalances: {
    method: 'GET',
    path: '/v1/accounts/{account-id}/balances',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getTransactionList: {
    method: 'GET',
    path: '/v1/accounts/{account-id}/transactions',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getTransactionDetails: {
    method: 'GET',
    path: '/v1/accounts/{account-id}/transactions/{transactionId}',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getCardAccountList: { method: 'GET', path: '/v1/card-accounts', kind: 'ais', reads: 'list', ...NO_SCA },
  readCardAccountDetails: {
    method: 'GET',
    path: '/v1/card-accounts/{account-id}',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getCardAccountBalances: {
    method: 'GET',
    path: '/v1/card-accounts/{account-id}/balances',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  getCardAccountTransactionList: {
    method: 'GET',
    path: '/v1/card-accounts/{account-id}/transactions',
    kind: 'ais',
    reads: 'account',
    ...NO_SCA,
  },
  createConsent: { method: 'POST', path: '/v1/consents', kind: 'consent', reads: null, ...CREATES },
  getConsentInformation: {
    method: 'GET',
    path: '/v1/consents/{consentId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  deleteConsent: {
    method: 'DELETE',
    path: '/v1/consents/{consentId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getConsentStatus: {
    method: 'GET',
    path: '/v1/consents/{consentId}/status',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  startConsentAuthorisation: {
    method: 'POST',
    path: '/v1/consents/{consentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...STARTS,
  },
  getConsentAuthorisation: {
    method: 'GET',
    path: '/v1/consents/{consentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getConsentScaStatus: {
    method: 'GET',
    path: '/v1/consents/{consentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  updateConsentsPsuData: {
    method: 'PUT',
    path: '/v1/consents/{consentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...IDENTIFIES,
  },
  checkAvailabilityOfFunds: {
    method: 'POST',
    path: '/v1/funds-confirmations',
    kind: 'piis',
    reads: null,
    ...NO_SCA,
  },
  createConsentConfirmationOfFunds: {
    method: 'POST',
    path: '/v2/consents/confirmation-of-funds',
    kind: 'consent',
    reads: null,
    ...CREATES,
  },
  getConsentConfirmationOfFunds: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  deleteConsentConfirmationOfFunds: {
    method: 'DELETE',
    path: '/v2/consents/confirmation-of-funds/{consentId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getConsentConfirmationOfFundsStatus: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/status',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  startConsentConfirmationOfFundsAuthorisation: {
    method: 'POST',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...STARTS,
  },
  getConsentConfirmationOfFundsAuthorisation: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  getConsentConfirmationOfFundsScaStatus: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  updateConsentConfirmationOfFundsPsuData: {
    method: 'PUT',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...IDENTIFIES,
  },
  createSigningBasket: { method: 'POST', path: '/v1/signing-baskets', kind: 'pis', reads: null, ...CREATES },
  getSigningBasket: {
    method: 'GET',
    path: '/v1/signing-baskets/{basketId}',
    kind: 'pis',
    reads: null,
    ...NO_SCA,
  },
  deleteSigningBasket: {
    method: 'DELETE',
    path: '/v1/signing-baskets/{basketId}',
    kind: 'pis',
    reads: null,
    ...NO_SCA,
  },
  getSigningBasketStatus: {
    method: 'GET',
    path: '/v1/signing-baskets/{basketId}/status',
    kind: 'pis',
    reads: null,
    ...NO_SCA,
  },
  startSigningBasketAuthorisation: {
    method: 'POST',
    path: '/v1/signing-baskets/{basketId}/authorisations',
    kind: 'consent',
    reads: null,
    ...STARTS,
  },
  getSigningBasketAuthorisation: {
    method: 'GET',
    path: '/v1/signing-baskets/{basketId}/authorisations',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
  updateSigningBasketPsuData: {
    method: 'PUT',
    path: '/v1/signing-baskets/{basketId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...IDENTIFIES,
  },
  getSigningBasketScaStatus: {
    method: 'GET',
    path: '/v1/signing-baskets/{basketId}/authorisations/{authorisationId}',
    kind: 'consent',
    reads: null,
    ...NO_SCA,
  },
} as const satisfies Record<string, Operation>;

/** The id of an operation. */
export type OperationId = keyof typeof OPERATIONS;

const PARAMETER = /\{[^{}]*\}/g;

/** The parameters of a path template, with their braces, sorted. */
export function parametersOf(template: string): string[] {
  return (template.match(PARAMETER) ?? []).sort();
}

/** The operations that make or list the resources, below whose paths the others are. */
const PARENTS = Object.entries(OPERATIONS).filter(([, { creates, reads }]) => creates || reads === 'list');

/**
 * The path template of an operation at a bank, as it follows the base URL: the bank's own (`api.paths`); else below that of the operation
 * that makes or lists the resource, if the bank has an own one for that; else the standard's with the bank's version (`api.version`; if that
 * is empty, the path has none).
 */
export function pathOfOperation(
  { version, paths }: { version: string; paths: Readonly<Record<string, string>> },
  operation: OperationId,
): string {
  const ownOf = (id: string) => (Object.hasOwn(paths, id) ? paths[id] : undefined);
  const { path } = OPERATIONS[operation];
  const parent = PARENTS.find(([id, each]) => path.startsWith(`${each.path}/`) && ownOf(id) !== undefined);
  const below = parent && `${ownOf(parent[0])}${path.slice(parent[1].path.length)}`;
  return ownOf(operation) ?? below ?? path.replace(/^\/v1/, version === '' ? '' : `/${version}`);
}

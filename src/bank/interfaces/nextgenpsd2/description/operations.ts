/** An operation of the standard. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path template after the base URL. A bank with another `api.version` has that in the place of `v1`. */
  path: string;
}

/**
 * The operations of NextGenPSD2 1.3 by their ids, and those of the extended service "confirmation of funds consent" 2.0 (its authorisations
 * have the ids of other consents there), with the path templates of the standard. `api.paths` and `headers.perOperation` of a bank file name these ids.
 */
export const OPERATIONS = {
  initiatePayment: { method: 'POST', path: '/v1/{payment-service}/{payment-product}' },
  getPaymentInformation: { method: 'GET', path: '/v1/{payment-service}/{payment-product}/{paymentId}' },
  cancelPayment: { method: 'DELETE', path: '/v1/{payment-service}/{payment-product}/{paymentId}' },
  getPaymentInitiationStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/status',
  },
  startPaymentAuthorisation: {
    method: 'POST',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
  },
  getPaymentInitiationAuthorisation: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations',
  },
  getPaymentInitiationScaStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
  },
  updatePaymentPsuData: {
    method: 'PUT',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/authorisations/{authorisationId}',
  },
  startPaymentInitiationCancellationAuthorisation: {
    method: 'POST',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
  },
  getPaymentInitiationCancellationAuthorisationInformation: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations',
  },
  getPaymentCancellationScaStatus: {
    method: 'GET',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
  },
  updatePaymentCancellationPsuData: {
    method: 'PUT',
    path: '/v1/{payment-service}/{payment-product}/{paymentId}/cancellation-authorisations/{authorisationId}',
  },
  getAccountList: { method: 'GET', path: '/v1/accounts' },
  readAccountDetails: { method: 'GET', path: '/v1/accounts/{account-id}' },
  getBalances: { method: 'GET', path: '/v1/accounts/{account-id}/balances' },
  getTransactionList: { method: 'GET', path: '/v1/accounts/{account-id}/transactions' },
  getTransactionDetails: { method: 'GET', path: '/v1/accounts/{account-id}/transactions/{transactionId}' },
  getCardAccountList: { method: 'GET', path: '/v1/card-accounts' },
  readCardAccountDetails: { method: 'GET', path: '/v1/card-accounts/{account-id}' },
  getCardAccountBalances: { method: 'GET', path: '/v1/card-accounts/{account-id}/balances' },
  getCardAccountTransactionList: { method: 'GET', path: '/v1/card-accounts/{account-id}/transactions' },
  createConsent: { method: 'POST', path: '/v1/consents' },
  getConsentInformation: { method: 'GET', path: '/v1/consents/{consentId}' },
  deleteConsent: { method: 'DELETE', path: '/v1/consents/{consentId}' },
  getConsentStatus: { method: 'GET', path: '/v1/consents/{consentId}/status' },
  startConsentAuthorisation: { method: 'POST', path: '/v1/consents/{consentId}/authorisations' },
  getConsentAuthorisation: { method: 'GET', path: '/v1/consents/{consentId}/authorisations' },
  getConsentScaStatus: { method: 'GET', path: '/v1/consents/{consentId}/authorisations/{authorisationId}' },
  updateConsentsPsuData: { method: 'PUT', path: '/v1/consents/{consentId}/authorisations/{authorisationId}' },
  checkAvailabilityOfFunds: { method: 'POST', path: '/v1/funds-confirmations' },
  createConsentConfirmationOfFunds: { method: 'POST', path: '/v2/consents/confirmation-of-funds' },
  getConsentConfirmationOfFunds: { method: 'GET', path: '/v2/consents/confirmation-of-funds/{consentId}' },
  deleteConsentConfirmationOfFunds: {
    method: 'DELETE',
    path: '/v2/consents/confirmation-of-funds/{consentId}',
  },
  getConsentConfirmationOfFundsStatus: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/status',
  },
  startConsentConfirmationOfFundsAuthorisation: {
    method: 'POST',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations',
  },
  getConsentConfirmationOfFundsAuthorisation: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations',
  },
  getConsentConfirmationOfFundsScaStatus: {
    method: 'GET',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations/{authorisationId}',
  },
  updateConsentConfirmationOfFundsPsuData: {
    method: 'PUT',
    path: '/v2/consents/confirmation-of-funds/{consentId}/authorisations/{authorisationId}',
  },
  createSigningBasket: { method: 'POST', path: '/v1/signing-baskets' },
  getSigningBasket: { method: 'GET', path: '/v1/signing-baskets/{basketId}' },
  deleteSigningBasket: { method: 'DELETE', path: '/v1/signing-baskets/{basketId}' },
  getSigningBasketStatus: { method: 'GET', path: '/v1/signing-baskets/{basketId}/status' },
  startSigningBasketAuthorisation: { method: 'POST', path: '/v1/signing-baskets/{basketId}/authorisations' },
  getSigningBasketAuthorisation: { method: 'GET', path: '/v1/signing-baskets/{basketId}/authorisations' },
  updateSigningBasketPsuData: {
    method: 'PUT',
    path: '/v1/signing-baskets/{basketId}/authorisations/{authorisationId}',
  },
  getSigningBasketScaStatus: {
    method: 'GET',
    path: '/v1/signing-baskets/{basketId}/authorisations/{authorisationId}',
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
const PARENTS: readonly OperationId[] = [
  ...(['initiatePayment', 'createConsent', 'createConsentConfirmationOfFunds'] as const),
  ...(['createSigningBasket', 'getAccountList', 'getCardAccountList'] as const),
];

/**
 * The path template of an operation at a bank, as it follows the base URL: the bank's own (`api.paths`); else below that of the operation
 * that makes or lists the resource, if the bank has an own one for that; else the standard's with the bank's version (`api.version`; if that
 * is empty, the path has none).
 */
export function pathOf(
  { version, paths }: { version: string; paths: Readonly<Record<string, string>> },
  operation: OperationId,
): string {
  const ownOf = (id: OperationId) => (Object.hasOwn(paths, id) ? paths[id] : undefined);
  const { path } = OPERATIONS[operation];
  const parent = PARENTS.find((id) => path.startsWith(`${OPERATIONS[id].path}/`) && ownOf(id) !== undefined);
  const below = parent && `${ownOf(parent)}${path.slice(OPERATIONS[parent].path.length)}`;
  return ownOf(operation) ?? below ?? path.replace(/^\/v1/, version === '' ? '' : `/${version}`);
}

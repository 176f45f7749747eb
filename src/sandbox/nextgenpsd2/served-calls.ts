import type { Bank } from '../bank.ts';
import {
  createSigningBasket,
  deleteSigningBasket,
  getSigningBasket,
  getSigningBasketStatus,
} from './baskets/basket-calls.ts';
import {
  createConsent,
  createFundsConsent,
  deleteConsent,
  getConsentInformation,
  getConsentStatus,
  getFundsConsent,
} from './consents/consent-calls.ts';
import type { DoorAnswer, DoorCall } from './door-call.ts';
import type { OperationId } from './operations.ts';
import { checkAvailabilityOfFunds } from './payments/funds-call.ts';
import {
  cancelPayment,
  getPaymentInformation,
  getPaymentInitiationStatus,
  initiatePayment,
} from './payments/payment-calls.ts';
import { listAccounts, readBalances, readDetails } from './readings/account-calls.ts';
import { getTransactionDetails, listTransactions } from './readings/transaction-calls.ts';
import {
  listAuthorisations,
  readScaStatus,
  startAuthorisation,
  updateAuthorisation,
} from './sca/sca-calls.ts';

type Serve = (bank: Bank, call: DoorCall) => DoorAnswer;

/** What the second door does for each operation. */
export const servedCalls: Readonly<Record<OperationId, Serve>> = {
  createConsent,
  getConsentInformation,
  deleteConsent: deleteConsent('consent'),
  getConsentStatus: getConsentStatus('consent'),
  startConsentAuthorisation: startAuthorisation('consent'),
  getConsentAuthorisation: listAuthorisations('consent'),
  getConsentScaStatus: readScaStatus('consent'),
  updateConsentsPsuData: updateAuthorisation('consent'),
  createConsentConfirmationOfFunds: createFundsConsent,
  getConsentConfirmationOfFunds: getFundsConsent,
  deleteConsentConfirmationOfFunds: deleteConsent('funds-consent'),
  getConsentConfirmationOfFundsStatus: getConsentStatus('funds-consent'),
  startConsentConfirmationOfFundsAuthorisation: startAuthorisation('funds-consent'),
  getConsentConfirmationOfFundsAuthorisation: listAuthorisations('funds-consent'),
  getConsentConfirmationOfFundsScaStatus: readScaStatus('funds-consent'),
  updateConsentConfirmationOfFundsPsuData: updateAuthorisation('funds-consent'),
  initiatePayment,
  getPaymentInformation,
  cancelPayment,
  getPaymentInitiationStatus,
  startPaymentAuthorisation: startAuthorisation('payment'),
  getPaymentInitiationAuthorisation: listAuthorisations('payment'),
  getPaymentInitiationScaStatus: readScaStatus('payment'),
  updatePaymentPsuData: updateAuthorisation('payment'),
  startPaymentInitiationCancellationAuthorisation: startAuthorisation('cancellation'),
  getPaymentInitiationCancellationAuthorisationInformation: listAuthorisations('cancellation'),
  getPaymentCancellationScaStatus: readScaStatus('cancellation'),
  updatePaymentCancellationPsuData: updateAuthorisation('cancellation'),
  checkAvailabilityOfFunds,
  createSigningBasket,
  getSigningBasket,
  deleteSigningBasket,
  getSigningBasketStatus,
  startSigningBasketAuthorisation: startAuthorisation('basket'),
  getSigningBasketAuthorisation: listAuthorisations('basket'),
  getSigningBasketScaStatus: readScaStatus('basket'),
  updateSigningBasketPsuData: updateAuthorisation('basket'),
  getAccountList: listAccounts(false),
  readAccountDetails: readDetails(false),
  getBalances: readBalances(false),
  getTransactionList: listTransactions(false),
  getTransactionDetails,
  getCardAccountList: listAccounts(true),
  readCardAccountDetails: readDetails(true),
  getCardAccountBalances: readBalances(true),
  getCardAccountTransactionList: listTransactions(true),
};

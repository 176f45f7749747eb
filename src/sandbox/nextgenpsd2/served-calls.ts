import type { Bank } from '../bank.ts';
import {
  createConsent,
  deleteConsent,
  getConsentAuthorisation,
  getConsentInformation,
  getConsentScaStatus,
  getConsentStatus,
  startConsentAuthorisation,
  updateConsentsPsuData,
} from './consents/consent-calls.ts';
import type { DoorAnswer, DoorCall } from './door-call.ts';
import type { ServedId } from './operations.ts';
import { listAccounts, readBalances, readDetails } from './readings/account-calls.ts';
import { getTransactionDetails, listTransactions } from './readings/transaction-calls.ts';

type Serve = (bank: Bank, call: DoorCall) => DoorAnswer;

const calls: Record<ServedId, Serve> = {
  createConsent,
  getConsentInformation,
  deleteConsent,
  getConsentStatus,
  startConsentAuthorisation,
  getConsentAuthorisation,
  getConsentScaStatus,
  updateConsentsPsuData,
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

/** What the second door does for each operation that it has. */
export const servedCalls: ReadonlyMap<string, Serve> = new Map<string, Serve>(Object.entries(calls));

import {
  OPERATIONS,
  type OperationId,
  pathOfOperation as templateOf,
} from '../../bank/interfaces/nextgenpsd2/description/operations.ts';
import type { BankDescription } from '../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { pathValues } from '../server/path-values.ts';

export type { OperationId } from '../../bank/interfaces/nextgenpsd2/description/operations.ts';

/** The path of the second door, on the port of the first. */
export const DOOR_PATH = '/nextgenpsd2';

/** What the standard allows in the headers of an operation, besides those of every call. */
type Kind = 'reading' | 'resource' | 'start' | 'initiation' | 'cancel' | 'update' | 'funds';

const kindOf: Record<OperationId, Kind> = {
  initiatePayment: 'initiation',
  getPaymentInformation: 'resource',
  cancelPayment: 'cancel',
  getPaymentInitiationStatus: 'resource',
  startPaymentAuthorisation: 'start',
  getPaymentInitiationAuthorisation: 'resource',
  getPaymentInitiationScaStatus: 'resource',
  updatePaymentPsuData: 'update',
  startPaymentInitiationCancellationAuthorisation: 'start',
  getPaymentInitiationCancellationAuthorisationInformation: 'resource',
  getPaymentCancellationScaStatus: 'resource',
  updatePaymentCancellationPsuData: 'update',
  checkAvailabilityOfFunds: 'funds',
  createConsentConfirmationOfFunds: 'start',
  getConsentConfirmationOfFunds: 'resource',
  deleteConsentConfirmationOfFunds: 'resource',
  getConsentConfirmationOfFundsStatus: 'resource',
  startConsentConfirmationOfFundsAuthorisation: 'start',
  getConsentConfirmationOfFundsAuthorisation: 'resource',
  getConsentConfirmationOfFundsScaStatus: 'resource',
  updateConsentConfirmationOfFundsPsuData: 'update',
  createSigningBasket: 'initiation',
  getSigningBasket: 'resource',
  deleteSigningBasket: 'resource',
  getSigningBasketStatus: 'resource',
  startSigningBasketAuthorisation: 'start',
  getSigningBasketAuthorisation: 'resource',
  getSigningBasketScaStatus: 'resource',
  updateSigningBasketPsuData: 'update',
  createConsent: 'start',
  getConsentInformation: 'resource',
  deleteConsent: 'resource',
  getConsentStatus: 'resource',
  startConsentAuthorisation: 'start',
  getConsentAuthorisation: 'resource',
  getConsentScaStatus: 'resource',
  updateConsentsPsuData: 'update',
  getAccountList: 'reading',
  readAccountDetails: 'reading',
  getBalances: 'reading',
  getTransactionList: 'reading',
  getTransactionDetails: 'reading',
  getCardAccountList: 'reading',
  readCardAccountDetails: 'reading',
  getCardAccountBalances: 'reading',
  getCardAccountTransactionList: 'reading',
};

/** The names of all operations, for faults, help and documentation. */
export const operationIds: readonly OperationId[] = idsOf(OPERATIONS);

/** An operation that a call addresses, and the values in its path. */
export interface Addressed {
  id: OperationId;
  kind: Kind;
  parameters: ReadonlyMap<string, string>;
}

/**
 * The operation that a call addresses. A path with fewer variables wins, so `/v1/consents/{consentId}` does not read a
 * payment.
 *
 * @param path below the base URL, without the query
 * @returns undefined if the bank has no such path; `'method'` if it has the path with other methods only
 */
export function operationAt(
  { api, funds }: BankDescription,
  method: string,
  path: string,
): Addressed | 'method' | undefined {
  const matching = operationIds
    .filter((id) => funds.consent === 'auto' || !id.includes('ConsentConfirmationOfFunds'))
    .flatMap((id) => {
      const template = templateOf(api, id);
      const parameters = pathValues(template, path);
      return parameters && isPaymentPath(parameters)
        ? [{ id, parameters, variables: template.split('{').length }]
        : [];
    })
    .sort((one, other) => one.variables - other.variables);
  const fewest = matching.filter(({ variables }) => variables === matching[0]?.variables);
  const addressed = fewest.find(({ id }) => OPERATIONS[id].method === method);
  if (addressed) return { id: addressed.id, kind: kindOf[addressed.id], parameters: addressed.parameters };
  return matching.length > 0 ? 'method' : undefined;
}

const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'];

/** The first variable of a payment's path is one of three words, so it is not any path of two parts. */
function isPaymentPath(values: Map<string, string>): boolean {
  const service = values.get('payment-service');
  return service === undefined || SERVICES.includes(service);
}

/** The path of an operation below the base URL. */
export function pathOf(
  { api }: BankDescription,
  id: OperationId,
  values: Readonly<Record<string, string>> = {},
): string {
  return templateOf(api, id).replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

function idsOf(all: typeof OPERATIONS): OperationId[] {
  const ids: OperationId[] = [];
  let id: OperationId;
  for (id in all) ids.push(id);
  return ids;
}

import { Psd2Error } from '../errors.ts';
import { approachAnswer, operationStatusAnswer } from '../wire/consent.ts';
import type { Bank } from './bank.ts';
import type { BankCall } from './exchange.ts';

/** What the flows know of a call before it leaves. */
export type BeforeSend = NonNullable<BankCall['beforeSend']>;

/**
 * Starts SCA for a transaction resource (interface specification, "Consent" and "Generic operation flow").
 *
 * @param redirectUri where the customer's browser is to return to
 * @returns the address on the bank's customer site
 * @throws Psd2Error; `bank_answer` for an approach other than `REDIRECT`
 */
export async function startSca(
  bank: Bank,
  sca: { resourceId: string; redirectUri: string; transactionId: string; beforeSend: BeforeSend },
): Promise<string> {
  const { data } = await bank.call(
    {
      method: 'GET',
      path: `/private/auth/security/sca/${encodeURIComponent(sca.resourceId)}/approach`,
      redirectUri: sca.redirectUri,
      transactionId: sca.transactionId,
      beforeSend: sca.beforeSend,
    },
    approachAnswer,
  );
  if (data.chosenScaApproach === 'DECOUPLED' || !data.scaRedirectURL) {
    const what = data.chosenScaApproach === 'DECOUPLED' ? 'the approach DECOUPLED' : 'no scaRedirectURL';
    throw new Psd2Error(
      'bank_answer',
      `The bank answered with ${what} for SCA, and psd2 works with REDIRECT only`,
      {
        hint: 'Ask the bank to offer REDIRECT to this application.',
        transactionId: sca.transactionId,
      },
    );
  }
  return data.scaRedirectURL;
}

/** How far an operation is: the bank's own words. */
export interface OperationStatus {
  authorizationStatus: string;
  executionStatus: string | null;
}

/** Asks how far an operation is (interface specification, "Operation status response"). @throws Psd2Error */
export async function fetchOperationStatus(
  bank: Bank,
  resourceId: string,
  transactionId: string,
): Promise<OperationStatus> {
  const { data } = await bank.call(
    { method: 'GET', path: `/private/operations/${encodeURIComponent(resourceId)}/status`, transactionId },
    operationStatusAnswer,
  );
  return data;
}

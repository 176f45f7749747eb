import * as z from 'zod/mini';
import type { OrderTarget, Verification } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { approachAnswer, operationStatusAnswer } from '../../wire/consent.ts';
import type { Envelope } from '../../wire/envelope.ts';
import { executeAnswer, verifyAnswer } from '../../wire/money-transfer.ts';
import { readDocument } from '../call/answer.ts';
import type { Bank } from '../call/bank.ts';
import type { BeforeSend } from '../call/exchange.ts';
import { assertAbout, assertDone } from './belonging.ts';
import { productPath } from './customers.ts';
import { pathSegment } from './path-segment.ts';

/**
 * Starts SCA for a transaction resource (interface specification, "Consent" and "Generic operation flow").
 *
 * @param redirectUri the address that the customer's browser returns to
 * @returns the address on the bank's customer site
 * @throws Psd2Error; `bank_answer` for an approach other than `REDIRECT`
 */
export async function startSca(
  bank: Bank,
  sca: { resourceId: string; redirectUri: string; transactionId: string; beforeSend: BeforeSend },
): Promise<string> {
  const { data, envelope } = await bank.call(
    {
      method: 'GET',
      path: `/private/auth/security/sca/${pathSegment(sca.resourceId)}/approach`,
      redirectUri: sca.redirectUri,
      transactionId: sca.transactionId,
      beforeSend: sca.beforeSend,
    },
    approachAnswer,
  );
  assertAbout(envelope, { name: 'the SCA approach', ...sca });
  if (data.chosenScaApproach === 'DECOUPLED' || !data.scaRedirectURL) {
    const what = data.chosenScaApproach === 'DECOUPLED' ? 'the approach DECOUPLED' : 'no scaRedirectURL';
    throw new Psd2Error(
      'bank_answer',
      `The bank answered with ${what} for SCA, but psd2 supports only REDIRECT`,
      {
        hint: 'Ask the bank to offer REDIRECT to this application.',
        transactionId: sca.transactionId,
      },
    );
  }
  return data.scaRedirectURL;
}

/** The status of an operation, in the bank's own values. */
export interface OperationStatus {
  authorizationStatus: string;
  executionStatus: string | null;
}

/**
 * Asks for the status of an operation (interface specification, "Operation status response").
 *
 * @param decides whether the status decides about an `execute` or `confirm` that was sent
 * @throws Psd2Error; `bank_answer` for a status of another resource
 */
export async function fetchOperationStatus(
  bank: Bank,
  resourceId: string,
  transactionId: string,
  decides = false,
): Promise<OperationStatus> {
  const path = `/private/operations/${pathSegment(resourceId)}/status`;
  const { data, envelope } = await bank.call(
    { method: 'GET', path, transactionId, decides },
    operationStatusAnswer,
  );
  assertAbout(envelope, { name: 'the status call', resourceId, transactionId });
  return data;
}

/** A product and the name of its operation (interface specification, "Generic operation flow"). */
export interface OperationTarget extends OrderTarget {
  operation: string;
}

/** The path of an operation. The paths of its steps begin with it. */
export function operationPath({ customerId, from, operation }: OperationTarget): string {
  return `${productPath(customerId, from)}/${pathSegment(operation)}`;
}

/** The bank's general information for an operation (prepare). @throws Psd2Error */
export async function prepareOperation(
  bank: Bank,
  target: OperationTarget,
  transactionId: string,
): Promise<object> {
  const { data } = await bank.call(
    { method: 'GET', path: `${operationPath(target)}/prepare`, transactionId },
    z.record(z.string(), z.unknown()),
  );
  return data;
}

/**
 * Asks the bank to verify an operation. The bank creates the resource but executes nothing.
 *
 * @param data the JSON text for the body's `data`
 * @throws Psd2Error
 */
export async function verifyOperation(
  bank: Bank,
  target: OperationTarget,
  verify: { data: string; transactionId: string; beforeSend: BeforeSend },
): Promise<Verification> {
  const { data, transactionId, beforeSend } = verify;
  const { data: verified, envelope } = await bank.call(
    {
      method: 'POST',
      path: `${operationPath(target)}/verify`,
      body: `{"data":${data}}`,
      transactionId,
      beforeSend,
    },
    verifyAnswer,
  );
  if (!envelope.resourceId) {
    throw new Psd2Error('bank_answer', "The bank's answer to verify has no resources.resourceId", {
      transactionId,
    });
  }
  return { resourceId: envelope.resourceId, ...verified, nextStep: nextStepOf(envelope) };
}

/** Sends the data for a further step `verify<N>` that the bank's last answer named. @throws Psd2Error */
export async function verifyFurther(
  bank: Bank,
  target: OperationTarget,
  further: { resourceId: string; step: string; data: string; transactionId: string; beforeSend: BeforeSend },
): Promise<Verification> {
  const { resourceId, step, data, transactionId, beforeSend } = further;
  const path = `${operationPath(target)}/${pathSegment(resourceId)}/${pathSegment(step)}`;
  const { data: verified, envelope } = await bank.call(
    { method: 'PUT', path, body: `{"data":${data}}`, transactionId, beforeSend },
    verifyAnswer,
  );
  assertAbout(envelope, { name: step, resourceId, transactionId });
  return { resourceId, ...verified, nextStep: nextStepOf(envelope) };
}

/** The last part of the next link's path: `execute` or `verify<N>`. Without a link, `execute`. */
function nextStepOf({ next }: Envelope): string {
  const path = next?.href.trim().split(/[?#]/, 1)[0] ?? '';
  return path.split('/').findLast((part) => part !== '') ?? 'execute';
}

/**
 * Executes an operation that the customer has authorised. The body is `{}`.
 *
 * @throws Psd2Error; `bank_answer` for an answer that belongs to another request
 */
export async function executeOperation(
  bank: Bank,
  target: OperationTarget,
  execute: { resourceId: string; transactionId: string; beforeSend: BeforeSend },
): Promise<{ cro: string | null }> {
  const { resourceId, transactionId, beforeSend } = execute;
  const path = `${operationPath(target)}/${pathSegment(resourceId)}/execute`;
  const { data, envelope } = await bank.call(
    { method: 'PUT', path, body: {}, transactionId, beforeSend, irrevocable: true },
    executeAnswer,
  );
  assertDone(envelope, { name: 'execute', resourceId, transactionId });
  return data;
}

/** The printable document of an executed operation. @returns its bytes. @throws Psd2Error */
export async function fetchReceipt(
  bank: Bank,
  { customerId, from }: OrderTarget,
  resourceId: string,
  transactionId: string,
): Promise<Buffer> {
  const path = `${productPath(customerId, from)}/common/printer/${pathSegment(resourceId)}/retrieve`;
  return readDocument(await bank.exchange({ method: 'GET', path, transactionId }));
}

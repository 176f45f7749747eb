import type * as z from 'zod/mini';
import type { TransferOrder, Verification } from '../domain/transfer.ts';
import { Psd2Error } from '../errors.ts';
import type { Envelope } from '../wire/envelope.ts';
import { writeBankDate } from '../wire/fields.ts';
import {
  executeAnswer,
  executionStatusAnswer,
  prepareAnswer,
  type VerifyOrder,
  verifyAnswer,
} from '../wire/money-transfer.ts';
import type { Bank } from './bank.ts';
import { productPath } from './customers.ts';
import type { BeforeSend } from './operations.ts';

/** The dates, currencies and countries that the bank allows for transfers. */
export type TransferTerms = z.infer<typeof prepareAnswer>;

/** General information for composing a transfer (interface specification, "Bank transfer", prepare). @throws Psd2Error */
export async function prepareTransfer(
  bank: Bank,
  customerId: string,
  productId: string,
  transactionId: string,
): Promise<TransferTerms> {
  const { data } = await bank.call(
    { method: 'GET', path: `${transferPath(customerId, productId)}/prepare`, transactionId },
    prepareAnswer,
  );
  return data;
}

/** Has the bank check an order; it makes the transaction resource. No money moves. @throws Psd2Error */
export async function verifyTransfer(
  bank: Bank,
  order: TransferOrder,
  transactionId: string,
  beforeSend: BeforeSend,
): Promise<Verification> {
  const data: VerifyOrder = {
    moneyTransferAmount: { currency: order.currency, amount: order.amount },
    flagUrgency: order.urgent,
    ...(order.type !== null && { type: order.type }),
    moneyTransferExecutionDate: writeBankDate(order.executionDate),
    ibanBeneficiary: order.to,
    beneficiaryName: order.name,
    description: order.description,
  };
  const { data: verified, envelope } = await bank.call(
    {
      method: 'POST',
      path: `${transferPath(order.customerId, order.from)}/verify`,
      body: { data },
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

/** The last part of the next link's path: `execute`, or `verify<N>`. Without a link it is `execute`. */
function nextStepOf({ next }: Envelope): string {
  const path = next?.href.trim().split(/[?#]/, 1)[0] ?? '';
  return path.replace(/\/+$/, '').split('/').at(-1) || 'execute';
}

/** Executes a transfer that the customer has authorised; the body is `{}`. @throws Psd2Error */
export async function executeTransfer(
  bank: Bank,
  order: TransferOrder,
  resourceId: string,
  transactionId: string,
  beforeSend: BeforeSend,
): Promise<{ cro: string | null }> {
  const { data } = await bank.call(
    {
      method: 'PUT',
      path: `${resourcePath(order, resourceId)}/execute`,
      body: {},
      transactionId,
      beforeSend,
    },
    executeAnswer,
  );
  return data;
}

/** Asks how far an instant transfer is, after its execution. @throws Psd2Error */
export async function fetchExecutionStatus(
  bank: Bank,
  order: TransferOrder,
  resourceId: string,
  transactionId: string,
): Promise<{ executionStatus: string; executionStatusDescription: string | null }> {
  const { data } = await bank.call(
    { method: 'GET', path: `${resourcePath(order, resourceId)}/execution/status`, transactionId },
    executionStatusAnswer,
  );
  return data;
}

function transferPath(customerId: string, productId: string): string {
  return `${productPath(customerId, productId)}/moneyTransfer`;
}

function resourcePath(order: TransferOrder, resourceId: string): string {
  return `${transferPath(order.customerId, order.from)}/${encodeURIComponent(resourceId)}`;
}

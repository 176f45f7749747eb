import type * as z from 'zod/mini';
import type { OrderTarget, Verification } from '../../domain/operation.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { writeBankDate } from '../../wire/fields.ts';
import { executionStatusAnswer, prepareAnswer, type VerifyOrder } from '../../wire/money-transfer.ts';
import type { Bank } from '../call/bank.ts';
import type { BeforeSend } from '../call/exchange.ts';
import { assertAbout } from './belonging.ts';
import { type OperationTarget, operationPath, verifyOperation } from './operations.ts';
import { pathSegment } from './path-segment.ts';

/** The operation's name in the bank's interface. */
export const TRANSFER = 'moneyTransfer';

/** The dates, currencies and countries that the bank allows for transfers. */
export type TransferTerms = z.infer<typeof prepareAnswer>;

/** The bank's general information for transfers (interface specification, "Bank transfer", prepare). @throws Psd2Error */
export async function prepareTransfer(
  bank: Bank,
  target: OrderTarget,
  transactionId: string,
): Promise<TransferTerms> {
  const { data } = await bank.call(
    { method: 'GET', path: `${operationPath(targetOf(target))}/prepare`, transactionId },
    prepareAnswer,
  );
  return data;
}

/** Asks the bank to verify an order. The bank creates the resource. No money moves. @throws Psd2Error */
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
  return verifyOperation(bank, targetOf(order), { data: JSON.stringify(data), transactionId, beforeSend });
}

/**
 * Asks for the execution status of an executed instant transfer.
 *
 * @throws Psd2Error; `bank_answer` for a status of another resource
 */
export async function fetchExecutionStatus(
  bank: Bank,
  order: OrderTarget,
  resourceId: string,
  transactionId: string,
): Promise<{ executionStatus: string; executionStatusDescription: string | null }> {
  const path = `${operationPath(targetOf(order))}/${pathSegment(resourceId)}/execution/status`;
  const { data, envelope } = await bank.call(
    { method: 'GET', path, transactionId, decides: true },
    executionStatusAnswer,
  );
  assertAbout(envelope, { name: 'the execution status call', resourceId, transactionId });
  return data;
}

function targetOf({ customerId, from }: OrderTarget): OperationTarget {
  return { customerId, from, operation: TRANSFER };
}

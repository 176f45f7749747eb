import type { Bank } from '../bank/call/bank.ts';
import { executeOperation, verifyFurther } from '../bank/endpoints/operations.ts';
import { fetchExecutionStatus, TRANSFER, verifyTransfer } from '../bank/endpoints/transfers.ts';
import { needsSettlement, type Transfer } from '../domain/transfer.ts';
import type { OperationCalls } from './operation.ts';

/** The calls of a bank transfer (interface specification, "Bank transfer endpoints"), for the operation flow. */
export function transferCalls(bank: Bank, { order, transactionId }: Transfer): OperationCalls {
  const target = { ...order, operation: TRANSFER };
  return {
    name: 'transfer',
    verify: (beforeSend) => verifyTransfer(bank, order, transactionId, beforeSend),
    verifyFurther: (resourceId, step, data, beforeSend) =>
      verifyFurther(bank, target, { resourceId, step, data, transactionId, beforeSend }),
    execute: (resourceId, beforeSend) =>
      executeOperation(bank, target, { resourceId, transactionId, beforeSend }),
    executionStatus: needsSettlement(order)
      ? (resourceId) => fetchExecutionStatus(bank, order, resourceId, transactionId)
      : null,
  };
}

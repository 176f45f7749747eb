import type { Bank } from '../../bank/call/bank.ts';
import {
  executeOperation,
  fetchReceipt,
  verifyFurther,
  verifyOperation,
} from '../../bank/endpoints/operations.ts';
import type { OperationStep } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { type OperationCalls, runOperation } from '../../flows/operation.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { evidenceIn } from '../flow/evidence.ts';
import { endIfUntouched, tellFlow, withNext, withWarning } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { saveDocument } from '../shared/save-document.ts';
import { printOperation } from './output.ts';

/**
 * Continues an operation from its journal to its end, or to the step that the operator wanted, and prints the outcome.
 *
 * @param how `receipt`: the file for the bank's document after execution; `until`: steps before which psd2 stops
 * @throws what {@link runOperation} throws, with the commands to run next
 */
export async function driveOperation(
  context: Context,
  opened: CustomerBank,
  open: Open<'operation'>,
  how: { receipt?: string | undefined; until?: OperationStep[] },
): Promise<void> {
  const { bank, profile } = opened;
  const { terminal, world, globals } = context;
  tellFlow(terminal, open.current);
  try {
    await runOperation(
      open,
      genericCalls(bank, open.current),
      {
        bank,
        world,
        customer: customerPortsOf(context, profile),
        ...evidenceIn(context),
        accept: async ({ order }) =>
          globals.yes || terminal.confirm(`Send the customer to authorise the ${order.operation}?`),
      },
      how.until,
    );
  } catch (error) {
    await endIfUntouched(open, error);
    printOperation(context, open.current);
    throw withNext(
      withWarning(error, open.current, open.current.order.operation),
      open.current,
      globals.yes && !open.current.accepted ? ['--yes'] : [],
    );
  }
  printOperation(context, open.current);
  const { verification, order, transactionId, state } = open.current;
  if (how.receipt !== undefined && verification && state === 'executed') {
    try {
      const receipt = await fetchReceipt(bank, order, verification.resourceId, transactionId);
      await saveDocument(context, how.receipt, receipt);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      const hint = `The ${order.operation} is executed. Do not make it again: only its receipt is missing.`;
      throw error.with({ hint: [hint, error.hint].filter(Boolean).join(' ') });
    }
  }
}

function genericCalls(bank: Bank, { order, transactionId }: GenericOperation): OperationCalls {
  return {
    name: order.operation,
    verify: (beforeSend) => verifyOperation(bank, order, { data: order.data, transactionId, beforeSend }),
    verifyFurther: (resourceId, step, data, beforeSend) =>
      verifyFurther(bank, order, { resourceId, step, data, transactionId, beforeSend }),
    execute: (resourceId, beforeSend) =>
      executeOperation(bank, order, { resourceId, transactionId, beforeSend }),
    executionStatus: null,
  };
}

import { isRefusal } from '../../bank/call/failure.ts';
import { fetchOperationStatus } from '../../bank/endpoints/operations.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { isOutcomeOpen } from '../../domain/operation.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { transferCalls } from '../../flows/transfer.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { printTransfer } from './output.ts';

/** `psd2 transfer status <flow>`: how far the bank says it is; changes nothing. */
export async function transferStatus(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  const current = await flows.find('transfer', flow);
  const resourceId = current.verification?.resourceId ?? null;
  if (resourceId === null) return printTransfer(context, current);
  const { bank } = await context.forCustomer(current.order.customerId).bank();
  const { executionStatus } = transferCalls(bank, current);
  try {
    const status = await fetchOperationStatus(bank, resourceId, current.transactionId);
    printTransfer(context, {
      ...current,
      authorizationStatus: status.authorizationStatus,
      executionStatus: current.executionStatus ?? status.executionStatus,
      ...(executionStatus && isOutcomeOpen(current, true) && (await executionStatus(resourceId))),
    });
  } catch (error) {
    // The bank keeps a resource until its operation is finished.
    if (!isRefusal(error) || !isEnded(current)) throw error;
    context.terminal.warn(
      `The bank tells no more of it, and this is what is known: ${cleanText(error.message)}`,
    );
    printTransfer(context, current);
  }
}

/** Whether its end is known, though an instant one may still fail: only then is it no wonder that the bank tells nothing. */
function isEnded(transfer: Transfer): boolean {
  return ['done', 'refused'].includes(standingOf(transfer));
}

import { writeCommands } from '../../advice.ts';
import { isInterruption, isRefusal } from '../../bank/call/failure.ts';
import { fetchOperationStatus } from '../../bank/endpoints/operations.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { isOutcomeOpen, nextOperationStep } from '../../domain/operation.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { transferCalls } from '../../flows/transfer.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { printTransfer } from './output.ts';

/**
 * `psd2 transfer status <flow>`: the bank's status of the transfer; changes nothing.
 *
 * @param options `watch`: ask again until the transfer has ended
 */
export async function transferStatus(
  context: Context,
  flow: string,
  { watch }: { watch: boolean },
): Promise<void> {
  const { flows } = await context.store(flow);
  const current = await flows.find('transfer', flow);
  refuseOtherCustomer(context, current);
  const resourceId = current.verification?.resourceId ?? null;
  if (resourceId === null) return printTransfer(context, current);
  const acting = await forFlow(context, current);
  if (watch) return watchUntilEnd(acting, flows, current);
  const { bank } = await acting.bank();
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
    // The bank keeps a resource only until its operation has ended.
    if (!isRefusal(error) || !isEnded(current)) throw error;
    context.terminal.warn(
      `The bank has no further status. Showing the local record. ${cleanText(error.message)}`,
    );
    printTransfer(context, current);
  }
}

/**
 * Watches the transfer and prints it at its end, with the next command if psd2 has not recorded that end.
 *
 * @param context acts for the customer of the transfer
 */
async function watchUntilEnd(context: Context, flows: Flows, transfer: Transfer): Promise<void> {
  const { terminal, world } = context;
  const { flow, order } = transfer;
  const { watchTransfer } = await import('./watch.ts');
  let seen: string = transfer.state;
  const watching = watchTransfer({
    world,
    bank: async () => (await context.bank()).bank,
    read: () => flows.find('transfer', flow),
    isAtWork: async () => (await flows.atWork()).some((other) => other.flow === flow),
    seen: ({ state }) => {
      seen = state;
    },
  });
  let last: Transfer;
  try {
    last = await terminal.whileWaiting(() => `Watching the transfer ${flow}, which is ${seen}`, watching);
  } catch (error) {
    printTransfer(context, await flows.find('transfer', flow));
    throw isInterruption(error) && error instanceof Psd2Error
      ? error.with({
          hint: 'psd2 has changed nothing. Watch it again with:',
          next: [['transfer', 'status', flow, '--watch']],
        })
      : error;
  }
  printTransfer(context, last);
  if (nextOperationStep(last, needsSettlement(order)) !== 'done')
    terminal.say(
      `psd2 has not recorded this yet. Continue with: ${writeCommands([['transfer', 'resume', flow]], context.repeated)}`,
    );
}

/** Whether the end is known, so that the bank may have forgotten the resource. An instant transfer may still fail. */
function isEnded(transfer: Transfer): boolean {
  return ['done', 'refused'].includes(standingOf(transfer));
}

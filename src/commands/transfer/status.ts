import { writeCommand } from '../../advice.ts';
import type { Sca } from '../../bank/ports/customer.ts';
import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { asksForOutcome, nextOperationStep } from '../../domain/next-step.ts';
import { endsUnpaid, isPending } from '../../domain/operation.ts';
import { isNews } from '../../domain/payment-answers.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { withLogin } from '../../flows/batch/known-lines.ts';
import { isNotKnown, notKnownThere } from '../../flows/not-known.ts';
import { endOfOperation } from '../../flows/payment/end.ts';
import { askDebtor, askIfFinal, askWhileKept, unknownByBanksWord } from '../../flows/payment/outcome.ts';
import { askBank } from '../../flows/payment/status.ts';
import { isInterruption, isRefusal } from '../../flows/refusals.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { printFlow, printsOne } from '../flow/describe.ts';
import { TRANSFERS } from './transfers.ts';
import { withWords } from './words.ts';

/** `psd2 transfer status <flow>` */
export const status = verb(
  {
    prints: printsOne(TRANSFERS),
    help: `
The command shows what the bank says now. It records that only of a transfer that the bank has accepted and may still reject, or has
cancelled while the customer has its link. psd2 transfer resume records the rest.

--watch asks the bank for the customer's decision, first every 3 seconds and later every 30. It asks for the settlement of an
instant transfer until 15 seconds after execute. If the transfer is still PENDING then, the exit code is 9. While another
psd2 works on the transfer, the command follows its journal. Ctrl-C ends the command with exit code 130 and changes nothing.
${examples(
  'psd2 transfer status tr-0mwq9zj41 --json | jq -r .authorizationStatus',
  'psd2 transfer status tr-0mwq9zj41 --watch',
)}`,
  },
  (command) =>
    command.argument('<flow>').option('--watch', 'ask again until the transfer has ended or needs you'),
  (context, flow, { watch = false }) => showTransfer(context, flow, watch),
);

/** The bank's status of the transfer. Records it only where the bank may change its word: accepted, or kept. @param watch ask again until the transfer has ended */
async function showTransfer(context: Context, flow: string, watch: boolean): Promise<void> {
  const { flows } = await context.store(flow);
  const stored = await flows.find('transfer', flow);
  refuseOtherCustomer(context, stored);
  const isKept = standingOf(stored) === 'kept' && stored.verification !== null;
  const current = isAccepted(stored) || isKept ? await askAgain(context, stored) : stored;
  if (current !== stored) {
    printFlow(context, TRANSFERS, current);
    refuseUnknown(current);
    if (!isKept) endOfOperation(current, TRANSFERS.kind);
    return;
  }
  const resourceId = current.verification?.resourceId ?? null;
  if (resourceId === null) return printFlow(context, TRANSFERS, current);
  const acting = await forFlow(context, current);
  if (watch) return watchUntilEnd(acting, flows, current);
  const isStill = await showOnce(acting, flows, current, resourceId);
  // As when it was recorded, unless the bank now says something else.
  if (!isStill) return;
  refuseUnknown(current);
  if (isEndedByBank(current)) endOfOperation(current, TRANSFERS.kind);
}

/** @throws Psd2Error `outcome_unknown` if the bank's own word in the journal says that nobody knows */
function refuseUnknown(transfer: Transfer): void {
  const unknown = unknownByBanksWord(transfer, TRANSFERS.kind);
  if (unknown) throw unknown;
}

/** Whether the bank has rejected the payment, or has cancelled it without being asked to. */
function isEndedByBank({ commits, state, executionStatus, isCancellationTaken }: Transfer): boolean {
  const isCancelled = state === 'cancelled' && !isCancellationTaken;
  return commits === 'by the customer' && (executionStatus === 'KO' || isCancelled);
}

/**
 * Asks the bank once, and shows what it says.
 *
 * @param context acts for the customer of the transfer
 * @returns whether the bank says that it has not paid, or nothing that the record does not have
 */
async function showOnce(
  context: Context,
  flows: Flows,
  current: Transfer,
  resourceId: string,
): Promise<boolean> {
  const { bank } = await context.bank();
  const { executionStatus, sca = bank.sca } = bank.payments.transfer(await withLogin(flows, current));
  try {
    const { event } = current.authorises === 'by links' ? await askBank(sca, current) : { event: null };
    const shown = event ? withWords(current, event) : await withStatus(sca, current, resourceId);
    const settled = executionStatus && asksForOutcome(current, true) && (await executionStatus(resourceId));
    printFlow(context, TRANSFERS, { ...shown, ...settled });
    const isKnown = event?.type === 'execute-unanswered' && !isNews(current, event);
    if (event && !isPending(event) && !isKnown) sayUnrecorded(context, current);
    return isKnown || (event !== null && endsUnpaid(event));
  } catch (error) {
    if (isNotKnown(error) && (isAccepted(current) || !isEnded(current)))
      throw notKnownThere(current, bank, error);
    // The bank keeps a resource only until its operation has ended.
    if (!isRefusal(error) || !isEnded(current)) throw error;
    context.terminal.warn(
      `The bank has no further status. Showing the local record. ${cleanText(error.message)}`,
    );
    printFlow(context, TRANSFERS, current);
    return true;
  }
}

/**
 * Asks the bank about a transfer that it has accepted and may still reject, or has cancelled while a customer had the link, and records what is new.
 *
 * @returns the same transfer if nothing is new, or another psd2 works on it
 */
async function askAgain(context: Context, transfer: Transfer): Promise<Transfer> {
  const { bank, flows } = await (await forFlow(context, transfer)).bank();
  if ((await flows.atWork()).some(({ flow }) => flow === transfer.flow)) return transfer;
  return flows.resume('transfer', transfer.flow, async (open) => {
    const before = open.current;
    const calls = bank.payments.transfer(await withLogin(flows, before));
    await askIfFinal(open, { bank: { sca: calls.sca ?? bank.sca } });
    await askWhileKept(open, { bank: { ...bank, sca: calls.sca ?? bank.sca } });
    await askDebtor({ open, calls });
    await TRANSFERS.tidy?.(context, open.current);
    return open.current === before ? transfer : open.current;
  });
}

async function withStatus(sca: Sca, transfer: Transfer, resourceId: string): Promise<Transfer> {
  const { authorizationStatus, executionStatus } = await sca.status(resourceId, transfer.transactionId);
  return {
    ...transfer,
    authorizationStatus,
    executionStatus: transfer.executionStatus ?? executionStatus,
  };
}

/**
 * Watches the transfer and prints it at its end, with the next command if psd2 has not recorded that end.
 *
 * @param context acts for the customer of the transfer
 */
async function watchUntilEnd(context: Context, flows: Flows, transfer: Transfer): Promise<void> {
  const { terminal, world } = context;
  const { flow } = transfer;
  const { watchTransfer } = await import('./watch.ts');
  let seen: string = transfer.state;
  const watching = watchTransfer({
    world,
    bank: async () => (await context.bank()).bank,
    read: async () => withLogin(flows, await flows.find('transfer', flow)),
    isAtWork: async () => (await flows.atWork()).some((other) => other.flow === flow),
    seen: ({ state }) => {
      seen = state;
    },
  });
  let last: Transfer;
  try {
    last = await terminal.whileWaiting(() => `Watching the transfer ${flow}, which is ${seen}`, watching);
  } catch (error) {
    printFlow(context, TRANSFERS, await flows.find('transfer', flow));
    throw isInterruption(error) && error instanceof Psd2Error
      ? error.with({
          hint: 'psd2 has changed nothing. Watch it again with:',
          next: [['transfer', 'status', flow, '--watch']],
        })
      : error;
  }
  printFlow(context, TRANSFERS, last);
  sayUnrecorded(context, last);
}

/** The journal does not have what the bank says now. */
function sayUnrecorded({ terminal, repeated }: Context, transfer: Transfer): void {
  const { flow, order } = transfer;
  if (nextOperationStep(transfer, needsSettlement(order)) === 'done') return;
  const command = writeCommand(['transfer', 'resume', flow], repeated);
  terminal.say(`psd2 has not recorded this yet. Continue with: ${command}`);
}

/** Whether the end is known, so that the bank may have forgotten the resource. An instant transfer may still fail. */
function isEnded(transfer: Transfer): boolean {
  return ['done', 'refused', 'kept'].includes(standingOf(transfer));
}

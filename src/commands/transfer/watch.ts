import type { Bank } from '../../bank/ports/bank.ts';
import type { Sca } from '../../bank/ports/customer.ts';
import { asksForOutcome, nextOperationStep, type OperationStep } from '../../domain/next-step.ts';
import { isPending } from '../../domain/operation.ts';
import { decidesOutcome, whatHappened } from '../../domain/payment-answers.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { pollSettlement } from '../../flows/payment/outcome.ts';
import { askBank } from '../../flows/payment/status.ts';
import type { WorldPorts } from '../../flows/ports.ts';
import { outcomeUnknown } from '../../flows/refusals.ts';
import { withWords } from './words.ts';

/** The first and the longest pause between two questions. Each pause is half as long again as the one before. */
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = 30_000;

/** Steps that need the operator. */
const OPERATORS_TURN: OperationStep[] = ['verify', 'verify-further', 'accept', 'accept-fees', 'authorize'];

export interface WatchPorts {
  world: Pick<WorldPorts, 'now' | 'sleep'>;
  bank: () => Promise<Bank>;
  /** Reads the transfer from its journal, with the transaction of the signing basket in which the customer authorises it. */
  read: () => Promise<Transfer & { authorisedBy?: string }>;
  /** Whether another psd2 works on it now. */
  isAtWork: () => Promise<boolean>;
  /** Called after each look. */
  seen: (transfer: Transfer) => void;
}

/**
 * Watches a transfer until it has ended or needs the operator. While another psd2 works on it, this reads only the journal.
 * Otherwise it asks the bank for the customer's decision, with growing pauses, and for the settlement of an instant transfer
 * (interface specification, "Limits"). It records nothing.
 *
 * @returns the transfer with the bank's status
 * @throws Psd2Error `outcome_unknown` if an instant transfer is still PENDING 15 s after `execute`, and what the calls throw
 */
export async function watchTransfer(ports: WatchPorts): Promise<Transfer> {
  const { world } = ports;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const transfer = await ports.read();
    ports.seen(transfer);
    const settles = needsSettlement(transfer.order);
    if (nextOperationStep(transfer, settles) === 'done' || !transfer.verification) return transfer;
    if (!(await ports.isAtWork())) {
      if (OPERATORS_TURN.includes(nextOperationStep(transfer, settles))) return transfer;
      const bank = await ports.bank();
      const { resourceId } = transfer.verification;
      const { sca = bank.sca } = bank.payments.transfer(transfer);
      const isLinked = transfer.authorises === 'by links';
      const linked = isLinked && (await lookAtLinked(sca, transfer, settles));
      if (linked) return linked;
      if (settles && asksForOutcome(transfer, settles))
        return watchSettlement(ports, bank, transfer, resourceId);
      if (isLinked) {
        await world.sleep(pause);
        continue;
      }
      const status = await sca.status(resourceId, transfer.transactionId);
      const now = {
        ...transfer,
        ...status,
        executionStatus: status.executionStatus ?? transfer.executionStatus,
      };
      const isDecided = !isPending(status.authorization);
      // AUTHORIZED says nothing about an `execute` that was sent.
      const isOver = asksForOutcome(transfer, settles)
        ? whatHappened(status).type !== 'authorization'
        : isDecided;
      if (isOver) return now;
    }
    await world.sleep(pause);
  }
}

async function watchSettlement(
  { world }: WatchPorts,
  bank: Bank,
  transfer: Transfer,
  resourceId: string,
): Promise<Transfer> {
  const { executionStatus: ask } = bank.payments.transfer(transfer);
  if (!ask) throw new TypeError(`The bank has no execution status for ${transfer.flow}`);
  const { status, description, reasons } = await pollSettlement(
    world,
    (decides) => ask(resourceId, decides),
    Date.parse(transfer.updatedAt),
  );
  if (status === 'PENDING')
    throw outcomeUnknown(transfer, 'The bank still calls the status of the instant transfer PENDING');
  return {
    ...transfer,
    executionStatus: status,
    executionStatusDescription: description,
    reasons: reasons ?? [],
  };
}

/**
 * Asks a bank whose links lead the payment for its status, and for how far the authorisation is: if that has failed, and the bank
 * has not accepted the payment, it never runs.
 *
 * @returns the transfer with the bank's words; undefined if it may still change
 */
async function lookAtLinked(sca: Sca, transfer: Transfer, settles: boolean): Promise<Transfer | undefined> {
  const { event } = await askBank(sca, transfer);
  const isOver = asksForOutcome(transfer, settles) ? decidesOutcome(event, transfer) : !isPending(event);
  return isOver ? withWords(transfer, event) : undefined;
}

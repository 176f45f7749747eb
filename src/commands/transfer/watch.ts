import type { Bank } from '../../bank/call/bank.ts';
import { fetchOperationStatus } from '../../bank/endpoints/operations.ts';
import {
  isOutcomeOpen,
  isPending,
  nextOperationStep,
  type OperationStep,
  readAuthorization,
} from '../../domain/operation.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { whatHappened } from '../../flows/outcome/ask-operation.ts';
import { outcomeUnknown } from '../../flows/outcome/execute-outcome.ts';
import { pollSettlement } from '../../flows/outcome/settlement.ts';
import type { WorldPorts } from '../../flows/ports.ts';
import { transferCalls } from '../../flows/transfer.ts';

/** Between two looks: at first, and at most. Each is half as long again as the one before. */
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = 30_000;

/** Steps that nobody but the operator brings about. */
const OPERATORS_TURN: OperationStep[] = ['verify', 'verify-further', 'accept', 'authorize'];

export interface WatchPorts {
  world: Pick<WorldPorts, 'now' | 'sleep'>;
  bank: () => Promise<Bank>;
  /** The transfer as its journal tells it now. */
  read: () => Promise<Transfer>;
  /** Another psd2 works on it at this moment. */
  isAtWork: () => Promise<boolean>;
  /** Is told of each look. */
  seen: (transfer: Transfer) => void;
}

/**
 * Looks at a transfer until it has come to its end, or only the operator can go on with it. While another psd2 works on it, the
 * journal is read and the bank left alone. Else the bank is asked: how the customer has decided, with growing pauses; how an
 * instant transfer settles, by the rule for that (interface specification, "Limits"). Nothing is written down.
 *
 * @returns the transfer with what the bank says of it
 * @throws Psd2Error `outcome_unknown` for an instant transfer that the bank still calls PENDING 15 s after `execute`, and what
 *   the calls throw
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
      if (settles && isOutcomeOpen(transfer, settles))
        return await watchSettlement(ports, bank, transfer, resourceId);
      const status = await fetchOperationStatus(bank, resourceId, transfer.transactionId);
      const now = {
        ...transfer,
        ...status,
        executionStatus: status.executionStatus ?? transfer.executionStatus,
      };
      const isDecided = !isPending(readAuthorization(status.authorizationStatus));
      // That it is authorised tells nothing of an `execute` that was sent.
      const isOver = isOutcomeOpen(transfer, settles)
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
  const { executionStatus: ask } = transferCalls(bank, transfer);
  if (!ask) throw new TypeError(`The bank has no execution status for ${transfer.flow}`);
  const { status, description } = await pollSettlement(
    world,
    () => ask(resourceId),
    Date.parse(transfer.updatedAt),
  );
  if (status === 'PENDING')
    throw outcomeUnknown(transfer, 'The bank still calls the status of the instant transfer PENDING');
  return { ...transfer, executionStatus: status, executionStatusDescription: description };
}

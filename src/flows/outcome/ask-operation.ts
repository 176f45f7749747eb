import { isInterruption } from '../../bank/call/failure.ts';
import { fetchOperationStatus, type OperationStatus } from '../../bank/endpoints/operations.ts';
import {
  isExecuted,
  isPending,
  type Operation,
  type OrderTarget,
  readAuthorization,
  type StepEvent,
  type Verification,
} from '../../domain/operation.ts';
import { lackingResource } from '../lacking-resource.ts';
import type { OperationCalls } from '../operation.ts';
import type { FlowPorts } from '../ports.ts';
import { outcomeUnknown } from './execute-outcome.ts';
import { pollSettlement, type Settlement } from './settlement.ts';

// What the bank is asked of an operation: nothing here is written down, and nothing changes at the bank.

/** How the customer has decided, or what came of it; null while that is open, or when the bank does not tell. */
export async function askDecision(
  { bank }: FlowPorts,
  operation: Operation<OrderTarget>,
): Promise<StepEvent | null> {
  const { resourceId } = resourceOf(operation);
  const status = await ifAnswered(fetchOperationStatus(bank, resourceId, operation.transactionId));
  const found = status && whatHappened(status);
  return found && isPending(found) ? null : found;
}

/** Asks what became of an `execute` without an answer; null when the bank's answers don't decide it. */
export async function askOutcome(
  ports: FlowPorts,
  calls: OperationCalls,
  operation: Operation<OrderTarget>,
  executeEnded: number,
): Promise<StepEvent[] | null> {
  const { bank } = ports;
  const { transactionId } = operation;
  const { resourceId } = resourceOf(operation);
  const { executionStatus } = calls;
  if (executionStatus) {
    const polled = pollSettlement(ports.world, () => executionStatus(resourceId), executeEnded);
    const settlement = await ifAnswered(polled);
    // PENDING is no yes: the bank may say it of a transfer that it never began to execute.
    if (settlement && settlement.status !== 'PENDING') {
      return [
        { type: 'executed', cro: null },
        { type: 'settlement', ...settlement },
      ];
    }
  }
  const status = await ifAnswered(fetchOperationStatus(bank, resourceId, transactionId));
  const found = status && whatHappened(status);
  // That it is authorised, or was too late to be, decides nothing: `execute` was sent.
  return found && (found.type !== 'authorization' || found.status === 'NOT_AUTHORIZED') ? [found] : null;
}

/** What the bank's status of an operation tells: that it was executed, that it failed, or how the customer decided. */
export function whatHappened({ authorizationStatus, executionStatus }: OperationStatus): StepEvent {
  if (isExecuted(executionStatus)) return { type: 'executed', cro: null };
  if (executionStatus === 'KO') return { type: 'settlement', status: 'KO', description: null };
  return readAuthorization(authorizationStatus);
}

/** How an instant transfer that was executed settles. @throws Psd2Error `outcome_unknown` when that can't be asked for */
export async function askSettlement(
  { world }: FlowPorts,
  { executionStatus }: OperationCalls,
  operation: Operation<OrderTarget>,
  executeEnded: number,
): Promise<Settlement> {
  const { resourceId } = resourceOf(operation);
  if (!executionStatus) throw new TypeError(`The bank has no execution status for ${operation.flow}`);
  try {
    return await pollSettlement(world, () => executionStatus(resourceId), executeEnded);
  } catch (error) {
    if (isInterruption(error)) throw error;
    throw outcomeUnknown(
      operation,
      'The instant transfer is executed, and its status could not be asked for',
      error,
    );
  }
}

/** The resource may be gone when its operation is finished, or the bank still be failing: that decides nothing. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** The operation's resource at the bank. @throws Psd2Error `config` where its journal tells of none */
export function resourceOf({
  flow,
  verification,
}: Pick<Operation<OrderTarget>, 'flow' | 'verification'>): Verification {
  if (!verification) throw lackingResource(flow);
  return verification;
}

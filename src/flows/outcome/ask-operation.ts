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
import { askSettlementOnce, pollSettlement, type Settlement } from './settlement.ts';

// Questions to the bank about an operation. Nothing here changes the journal or anything at the bank.

/** The customer's decision, or the outcome. Null if it is still open or the bank does not tell. */
export async function askDecision(
  { bank }: FlowPorts,
  operation: Operation<OrderTarget>,
): Promise<StepEvent | null> {
  const { resourceId } = resourceOf(operation);
  const status = await ifAnswered(fetchOperationStatus(bank, resourceId, operation.transactionId));
  const found = status && whatHappened(status);
  return found && isPending(found) ? null : found;
}

/**
 * Asks for the outcome of an `execute` without an answer, or with a refusal. Null if the bank's answers do not decide it.
 *
 * @param polls `once`: does not wait for the settlement of an instant transfer
 */
export async function askOutcome(
  ports: FlowPorts,
  calls: OperationCalls,
  operation: Operation<OrderTarget>,
  executeEnded: number,
  polls: 'once' | 'to the end' = 'to the end',
): Promise<StepEvent[] | null> {
  const settled = await askIfSettled(ports, calls, operation, executeEnded, polls);
  if (settled) return settled;
  const { transactionId } = operation;
  const { resourceId } = resourceOf(operation);
  const status = await ifAnswered(fetchOperationStatus(ports.bank, resourceId, transactionId, true));
  const found = status && whatHappened(status);
  // AUTHORIZED or EXPIRED does not decide the outcome, because `execute` was sent.
  return found && (found.type !== 'authorization' || found.status === 'NOT_AUTHORIZED') ? [found] : null;
}

/** Asks whether an instant transfer is settled. Null if not, and for operations that have no execution status. */
export async function askIfSettled(
  { world }: FlowPorts,
  { executionStatus }: OperationCalls,
  operation: Operation<OrderTarget>,
  executeEnded: number,
  polls: 'once' | 'to the end',
): Promise<StepEvent[] | null> {
  if (!executionStatus) return null;
  const ask = () => executionStatus(resourceOf(operation).resourceId);
  const poll = polls === 'once' ? askSettlementOnce : pollSettlement;
  const settlement = await ifAnswered(poll(world, ask, executeEnded));
  // PENDING does not confirm execution: the bank may report it for a transfer that it never began to execute.
  if (!settlement || settlement.status === 'PENDING') return null;
  return [
    { type: 'executed', cro: null },
    { type: 'settlement', ...settlement },
  ];
}

/** The meaning of the bank's operation status: executed, failed, or the customer's decision. */
export function whatHappened({ authorizationStatus, executionStatus }: OperationStatus): StepEvent {
  if (isExecuted(executionStatus)) return { type: 'executed', cro: null };
  if (executionStatus === 'KO') return { type: 'settlement', status: 'KO', description: null };
  return readAuthorization(authorizationStatus);
}

/** Waits for the settlement of an executed instant transfer. @throws Psd2Error `outcome_unknown` if the bank does not answer */
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
      'The instant transfer is executed, but psd2 could not get its status',
      error,
    );
  }
}

/** The answer, or null after an error. An error decides nothing: the resource may be removed, or the bank may be failing. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** The operation's resource at the bank. @throws Psd2Error `config` if the journal has none */
export function resourceOf({
  flow,
  verification,
}: Pick<Operation<OrderTarget>, 'flow' | 'verification'>): Verification {
  if (!verification) throw lackingResource(flow);
  return verification;
}

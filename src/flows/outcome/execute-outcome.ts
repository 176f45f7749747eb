import { isBanksRefusal, isInterruption, isOvertaken } from '../../bank/call/failure.ts';
import type { Operation, OperationEvent, OrderTarget, StepEvent } from '../../domain/operation.ts';
import { type ErrorContext, Psd2Error } from '../../errors.ts';
import type { OpenFlow } from '../../store/ports/flows.ts';

/**
 * Writes down what became of an `execute` that was sent: also where this process was stopped before the answer came, and
 * another has taken the flow up since and could not tell.
 *
 * @throws Psd2Error `outcome_unknown` when it can't be written down
 */
export async function recordOutcome<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  outcome: StepEvent,
): Promise<void> {
  try {
    await open.record(outcome);
  } catch (error) {
    if (isOvertaken(error)) {
      const { state, resolution } = await open.reread();
      const isUnknown = state === 'unknown' && outcome.type !== 'execute-unanswered';
      // A person was wrong, or too early.
      const isContrary = resolution?.outcome === 'not-executed' && outcome.type === 'executed';
      if (state === 'executing' || isUnknown || isContrary) await recordOutcome(open, outcome);
      return;
    }
    const said = outcome.type === 'executed' ? 'The bank has executed it' : 'It was sent to be executed';
    throw outcomeUnknown(open.current, `${said}, and that could not be written down`, error);
  }
}

/**
 * Writes down what the bank has told after `execute`. Where another process has gone on with the operation, what that one
 * wrote is gone on from: nothing is sent any more that moves money.
 *
 * @returns whether it was written down
 */
export async function recordFound<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  ...events: StepEvent[]
): Promise<boolean> {
  try {
    for (const event of events) await open.record(event);
    return true;
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    await open.reread();
    return false;
  }
}

/** Whether what became of an `execute` could not be written down. */
export function isUnrecorded(error: unknown): boolean {
  return error instanceof Psd2Error && error.code === 'outcome_unknown';
}

/** What a failed `execute` says about the money; undefined when the operator interrupted it. */
export function outcomeOfFailedExecute(error: unknown): StepEvent | undefined {
  if (isInterruption(error)) return undefined;
  if (isBanksRefusal(error)) return { type: 'execute-refused', description: error.message };
  return { type: 'execute-unanswered' };
}

/** Whether the money has moved is not known; the way to find out. */
export function outcomeUnknown(
  { kind, flow, transactionId }: Operation<OrderTarget>,
  message: string,
  cause?: unknown,
): Psd2Error {
  return new Psd2Error('outcome_unknown', cause instanceof Error ? `${message}: ${cause.message}` : message, {
    ...findOut(kind, flow, 'The first asks the bank, and never pays again.'),
    transactionId,
    cause,
  });
}

/** The commands that find out what became of a flow, and what a person can do where the bank does not tell. */
export function findOut(
  kind: string,
  flow: string,
  what: string,
): Pick<ErrorContext, 'flow' | 'hint' | 'next'> {
  return {
    flow,
    hint: `${what} If it stays unknown, and the bank's support or the account statement tells, one of the others ends it:`,
    next: [
      [kind, 'resume', flow],
      [kind, 'resolve', flow, '--executed'],
      [kind, 'resolve', flow, '--not-executed'],
    ],
  };
}

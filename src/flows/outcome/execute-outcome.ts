import { isOvertaken } from '../../bank/call/failure.ts';
import type { Operation, OperationEvent, OrderTarget, StepEvent } from '../../domain/operation.ts';
import { type ErrorContext, Psd2Error } from '../../errors.ts';
import type { OpenFlow } from '../../store/ports/flows.ts';

/**
 * Records the outcome of an `execute`. This also works if this process was stopped before the answer arrived, and another
 * process has taken over the flow without learning the outcome.
 *
 * @throws Psd2Error `outcome_unknown` if the journal cannot be written
 */
export async function recordOutcome<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  outcome: StepEvent,
): Promise<void> {
  try {
    await open.record(outcome);
  } catch (error) {
    if (isOvertaken(error)) {
      // Another psd2 asks the bank now, and decides whether `execute` may be sent again.
      if (outcome.type === 'execute-turned-away') throw error;
      const { state, resolution } = await open.reread();
      const isUnknown = state === 'unknown' && outcome.type !== 'execute-unanswered';
      // A person resolved the flow wrongly or too early.
      const isContrary = resolution?.outcome === 'not-executed' && outcome.type === 'executed';
      if (state === 'executing' || isUnknown || isContrary) await recordOutcome(open, outcome);
      return;
    }
    const said = outcome.type === 'executed' ? 'The bank has executed it' : 'psd2 has sent execute';
    throw outcomeUnknown(open.current, `${said}, but the journal could not be written`, error);
  }
}

/**
 * Records what the bank said after `execute`. If another process has taken over the operation, this one continues from what
 * that process wrote. This is safe, because nothing that moves money is sent any more.
 *
 * @returns whether it was recorded
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

/** Whether the outcome of an `execute` could not be recorded. */
export function isUnrecorded(error: unknown): boolean {
  return error instanceof Psd2Error && error.code === 'outcome_unknown';
}

/**
 * The error for an operation that the bank refused to execute, if its status does not show what became of it. It says that
 * the reference stays taken, and how to free it.
 */
export function refusedAlone(
  { kind, flow, transactionId }: Operation<OrderTarget>,
  error: Psd2Error,
): Psd2Error {
  return error.with({
    ...findOut(
      kind,
      flow,
      'A refusal is the word of one delivery, so a reference stays taken. The first command asks the bank again, and never pays again.',
    ),
    transactionId,
  });
}

/** The error if it is not known whether the money has moved. It says how to find out. */
export function outcomeUnknown(
  { kind, flow, transactionId }: Operation<OrderTarget>,
  message: string,
  cause?: unknown,
): Psd2Error {
  return new Psd2Error('outcome_unknown', cause instanceof Error ? `${message}: ${cause.message}` : message, {
    ...findOut(kind, flow, 'The first command asks the bank, and never pays again.'),
    transactionId,
    cause,
  });
}

/** The commands that find out the outcome of a flow, and those with which a person resolves it if the bank does not tell. */
export function findOut(
  kind: string,
  flow: string,
  what: string,
): Pick<ErrorContext, 'flow' | 'hint' | 'next'> {
  return {
    flow,
    hint: `${what} If the outcome stays unknown, ask the bank's support or look at the account statement, then use one of the others:`,
    next: [
      [kind, 'resume', flow],
      [kind, 'resolve', flow, '--executed'],
      [kind, 'resolve', flow, '--not-executed'],
    ],
  };
}

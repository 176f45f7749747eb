import type { BeforeSend } from '../bank/call/exchange.ts';
import { isBanksRefusal, isInterruption, isOvertaken, isRefusal } from '../bank/call/failure.ts';
import { fetchOperationStatus, type OperationStatus } from '../bank/endpoints/operations.ts';
import {
  isExecuted,
  isPending,
  nextFurtherData,
  nextOperationStep,
  type Operation,
  type OperationEvent,
  type OperationStep,
  type OrderTarget,
  readAuthorization,
  type StepEvent,
  type Verification,
} from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/files/journal.ts';
import {
  isUnrecorded,
  outcomeOfFailedExecute,
  outcomeUnknown,
  recordFound,
  recordOutcome,
} from './execute-outcome.ts';
import { lackingResource } from './lacking-resource.ts';
import type { FlowPorts } from './ports.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from './sca.ts';
import { type ExecutionStatus, pollSettlement, type Settlement } from './settlement.ts';

export interface OperationPorts<Order extends OrderTarget> extends FlowPorts {
  /** Shows the operator what the bank verified and asks; false means the operator said no. */
  accept(operation: Operation<Order>): Promise<boolean>;
}

/** The calls that differ from operation to operation. */
export interface OperationCalls {
  /** For the messages: `transfer`, or the operation's name. */
  name: string;
  verify(beforeSend: BeforeSend): Promise<Verification>;
  /** @param step `verify<N>`. @param data JSON as the operator gave it */
  verifyFurther(
    resourceId: string,
    step: string,
    data: string,
    beforeSend: BeforeSend,
  ): Promise<Verification>;
  execute(resourceId: string, beforeSend: BeforeSend): Promise<{ cro: string | null }>;
  /** How far the execution is, where the bank tells: only of instant transfers that are executed at once. */
  executionStatus: ((resourceId: string) => Promise<ExecutionStatus>) | null;
}

/**
 * Takes an operation (a transfer is one) from where its journal says it stands to its end: verify, the
 * operator's yes, SCA, execute, and for an instant transfer its settlement (interface specification, "Generic
 * operation flow"). Every request is announced in the journal before it leaves and its outcome written after,
 * so an operation that was interrupted goes on through this same function. `execute` is sent at most once: when
 * its answer was lost, the bank is asked what happened.
 *
 * @param until steps before which it stops, once it has made one: the operator goes step by step
 * @returns the operation at its end: executed or settled
 * @throws Psd2Error for every other end; the journal knows the state then. `outcome_unknown` when the bank
 *   can't tell yet whether it was executed.
 */
export async function runOperation<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  calls: OperationCalls,
  ports: OperationPorts<Order>,
  until: OperationStep[] = [],
): Promise<Operation<Order>> {
  const { bank, customer, world } = ports;
  const { transactionId } = open.current;
  const announce =
    (
      type: Extract<StepEvent, { digest: string | null }>['type'],
      notBegun?: 'verify-not-begun' | 'execute-not-begun',
    ): BeforeSend =>
    (intent) => {
      open.record({ type, ...intent });
      return {
        // Another psd2 may have gone on with the flow while the connection was made, or this process stood still.
        beforeFirstByte: () => open.assertOurs(),
        ...(notBegun && { notBegun: () => open.record({ type: notBegun }) }),
      };
    };
  /** The customer was sent to SCA by this very run, so the status needs patience rather than another SCA. */
  let customerSent = false;
  /** The bank called it authorised in this very run. */
  let authorizedNow = false;
  let executeEnded: number | undefined;

  for (let steps = 0; ; steps += 1) {
    const operation = open.current;
    const step = nextOperationStep(operation, calls.executionStatus !== null);
    if (steps > 0 && until.includes(step)) return operation;
    switch (step) {
      case 'verify': {
        try {
          open.record({
            type: 'verified',
            ...(await calls.verify(announce('verify-sent', 'verify-not-begun'))),
          });
        } catch (error) {
          if (isBanksRefusal(error)) open.record({ type: 'verify-refused', description: error.message });
          throw error;
        }
        break;
      }

      case 'verify-further': {
        if (operation.furtherStepOpen) {
          // The bank takes a step once, and nothing tells whether it has: another resource knows of none.
          open.record({ type: 'verify-again' });
          break;
        }
        const { resourceId, nextStep } = resourceOf(operation);
        const data = nextFurtherData(operation);
        if (data === undefined) {
          throw new Psd2Error(
            'further_data_needed',
            `The bank wants further data before SCA, in a step called ${nextStep}`,
            {
              hint: 'Give it as JSON: as text, as @file, or as - for standard input. Go on with:',
              next: [[operation.kind, 'resume', operation.flow, '--verify-data', '-']],
              flow: operation.flow,
              transactionId,
            },
          );
        }
        try {
          const sent = announce('further-verify-sent');
          const verification = await calls.verifyFurther(resourceId, nextStep, data, sent);
          open.record({ type: 'further-verified', ...verification });
        } catch (error) {
          if (isBanksRefusal(error)) open.record({ type: 'verify-refused', description: error.message });
          throw error;
        }
        break;
      }

      case 'accept': {
        const accepted = await ports.accept(operation);
        open.record({ type: accepted ? 'accepted' : 'cancelled' });
        break;
      }

      case 'authorize': {
        try {
          await sendCustomerToSca(ports, subjectOf(operation, calls.name), {
            beforeSend: announce('approach-sent'),
            started: () => open.record({ type: 'sca-started' }),
            returned: () => open.record({ type: 'sca-returned' }),
          });
          customerSent = true;
        } catch (error) {
          // The customer may have decided in the meantime, on a page that an earlier run opened.
          const decision = isRefusal(error) && (await askDecision(ports, operation));
          if (!decision) throw error;
          open.record(decision);
          authorizedNow = true;
        }
        break;
      }

      case 'await-authorization': {
        const { resourceId } = resourceOf(operation);
        if (customerSent) {
          open.record(await awaitAuthorization(ports, subjectOf(operation, calls.name)));
          authorizedNow = true;
          break;
        }
        const found = whatHappened(await fetchOperationStatus(bank, resourceId, transactionId));
        open.record(isPending(found) ? { type: 'sca-again' } : found);
        authorizedNow = true;
        break;
      }

      case 'execute': {
        const { resourceId } = resourceOf(operation);
        if (!authorizedNow) {
          // Taken up again: the bank is asked first, since much may have happened to its resource.
          open.record(whatHappened(await fetchOperationStatus(bank, resourceId, transactionId)));
          authorizedNow = true;
          break;
        }
        try {
          const { cro } = await customer.whileWaiting(
            `Executing the ${calls.name}`,
            calls.execute(resourceId, announce('execute-sent', 'execute-not-begun')),
          );
          recordOutcome(open, { type: 'executed', cro });
        } catch (error) {
          // It was not even announced, since there was no token or the journal could not be written; or the
          // journal knows already that it was not begun.
          if (open.current.state !== 'executing' || isUnrecorded(error) || isOvertaken(error)) throw error;
          const outcome = outcomeOfFailedExecute(error);
          if (outcome) recordOutcome(open, outcome);
          if (outcome?.type !== 'execute-unanswered') throw error;
        }
        executeEnded = world.now().getTime();
        break;
      }

      case 'ask-outcome': {
        const outcome = await customer.whileWaiting(
          `Asking the bank what became of the ${calls.name}`,
          askOutcome(ports, calls, operation, executeEnded ?? Date.parse(operation.updatedAt)),
        );
        if (outcome) {
          recordFound(open, ...outcome);
          break;
        }
        const isNews = operation.state !== 'unknown';
        if (isNews && !recordFound(open, { type: 'execute-unanswered' })) break;
        throw outcomeUnknown(operation, `The bank does not tell yet whether the ${calls.name} was executed`);
      }

      case 'await-settlement': {
        // A transfer that is taken up again later is asked for at once.
        const ended = executeEnded ?? Date.parse(operation.updatedAt);
        const settlement = await customer.whileWaiting(
          'Waiting for the instant transfer to settle',
          awaitSettlement(ports, calls, operation, ended),
        );
        if (!recordFound(open, { type: 'settlement', ...settlement })) break;
        if (settlement.status === 'PENDING') {
          throw outcomeUnknown(
            operation,
            'The instant transfer is executed, and the bank still calls its status PENDING',
          );
        }
        break;
      }

      case 'done':
        return endOf(operation, calls.name);
    }
  }
}

/** How the customer has decided, or what came of it; null while that is open, or when the bank does not tell. */
async function askDecision(
  { bank }: FlowPorts,
  operation: Operation<OrderTarget>,
): Promise<StepEvent | null> {
  const { resourceId } = resourceOf(operation);
  const status = await ifAnswered(fetchOperationStatus(bank, resourceId, operation.transactionId));
  const found = status && whatHappened(status);
  return found && isPending(found) ? null : found;
}

/** Asks what became of an `execute` without an answer; null when the bank's answers don't decide it. */
async function askOutcome(
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

/** The resource may be gone when its operation is finished, or the bank still be failing: that decides nothing. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** How an instant transfer that was executed settles. @throws Psd2Error `outcome_unknown` when that can't be asked for */
async function awaitSettlement(
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

/** What the end of an operation means for the operator. @throws Psd2Error unless it was executed or settled */
function endOf<Order extends OrderTarget>(operation: Operation<Order>, name: string): Operation<Order> {
  const { flow, transactionId, executionStatus, executionStatusDescription } = operation;
  const why = executionStatusDescription ? `: ${executionStatusDescription}` : '';
  const hint = 'No money moved. A new one may be made.';
  switch (operation.state) {
    case 'failed':
      if (operation.resolution) {
        const { by, note } = operation.resolution;
        throw new Psd2Error(
          'payment_failed',
          `The ${name} ${flow} has ended: ${by} said that it was not executed${note ? `: ${note}` : ''}`,
          { hint, transactionId },
        );
      }
      throw executionStatus === 'KO'
        ? new Psd2Error('payment_failed', `The payment failed${why}`, { hint, transactionId })
        : new Psd2Error('bank_refused', `The bank refused the ${name} ${flow}${why}`, {
            hint,
            transactionId,
          });
    case 'rejected':
      throw new Psd2Error('not_authorised', `The customer did not authorise the ${name}`, {
        hint,
        transactionId,
      });
    case 'expired':
      throw new Psd2Error('authorisation_expired', `The time to authorise the ${name} has run out`, {
        hint,
        transactionId,
      });
    case 'cancelled': {
      const when = operation.accepted ? 'before it was executed' : 'before the customer was asked';
      throw new Psd2Error('cancelled', `The ${name} was cancelled ${when}`, {
        hint,
        transactionId,
      });
    }
    default:
      return operation;
  }
}

function resourceOf({ flow, verification }: Pick<Operation<OrderTarget>, 'flow' | 'verification'>) {
  if (!verification) throw lackingResource(flow);
  return verification;
}

function subjectOf(operation: Operation<OrderTarget>, name: string): ScaSubject {
  const { kind, flow, transactionId } = operation;
  return {
    transactionId,
    doing: `authorise the ${name}`,
    whenLate: { hint: 'Go on with:', next: [[kind, 'resume', flow]], flow },
    resourceId: resourceOf(operation).resourceId,
  };
}

import { isInterruption, isRefusal, wasNotBegun } from '../bank/failure.ts';
import { fetchOperationStatus } from '../bank/operations.ts';
import { executeTransfer, fetchExecutionStatus, verifyTransfer } from '../bank/transfers.ts';
import {
  needsSettlement,
  nextTransferStep,
  readAuthorizationStatus,
  type SettlementStatus,
  type Transfer,
  type TransferEvent,
} from '../domain/transfer.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenTransfer } from '../store/journal.ts';
import type { FlowPorts } from './ports.ts';
import { awaitAuthorization, type ScaSubject, sendCustomerToSca } from './sca.ts';

export interface TransferPorts extends FlowPorts {
  /** Shows the operator what the bank verified and asks; false means the operator said no. */
  accept(transfer: Transfer): Promise<boolean>;
}

/**
 * When an instant transfer's status is asked for, in milliseconds after `execute` ended: first after 1 s, then
 * every 3 to 5 s, last at 15 s (interface specification, "Limits").
 */
const SETTLEMENT_POLLS_MS = [1_000, 4_000, 8_000, 12_000, 15_000];

/**
 * Takes a transfer from where its journal says it stands to its end: verify, the operator's yes, SCA, execute,
 * and for an instant one its settlement. Every request is announced in the journal before it leaves and its
 * outcome written after, so a transfer that was interrupted goes on through this same function. `execute` is
 * sent at most once: when its answer was lost, the bank is asked what happened.
 *
 * @returns the transfer at its end: executed or settled
 * @throws Psd2Error for every other end; the journal knows the state then. `outcome_unknown` when the bank
 *   can't tell yet whether it was executed.
 */
export async function runTransfer(open: OpenTransfer, ports: TransferPorts): Promise<Transfer> {
  const { bank, customer, world } = ports;
  const { flow, order, transactionId } = open.current;
  const announce = (type: Extract<TransferEvent, { digest: string | null }>['type']) => (intent: Intent) => {
    open.record({ type, ...intent });
  };
  /** The customer was sent to SCA by this very run, so the status needs patience rather than another SCA. */
  let customerSent = false;
  /** The bank called it authorised in this very run. */
  let authorizedNow = false;
  let executeEnded: number | undefined;

  for (;;) {
    const transfer = open.current;
    switch (nextTransferStep(transfer)) {
      case 'verify': {
        try {
          const verification = await verifyTransfer(bank, order, transactionId, announce('verify-sent'));
          open.record({ type: 'verified', ...verification });
        } catch (error) {
          if (isRefusal(error)) open.record({ type: 'verify-refused' });
          throw error;
        }
        break;
      }

      case 'accept': {
        const { nextStep } = resourceOf(transfer);
        if (/^verify\d+$/.test(nextStep)) {
          open.record({ type: 'cancelled' });
          throw new Psd2Error(
            'bank_refused',
            `The bank wants a further step, ${nextStep}, before this transfer can be authorised`,
            {
              hint: 'This version of psd2 has no data for that step. Nothing was paid.',
              transactionId,
            },
          );
        }
        const accepted = await ports.accept(transfer);
        open.record({ type: accepted ? 'accepted' : 'cancelled' });
        break;
      }

      case 'authorize': {
        await sendCustomerToSca(ports, subjectOf(transfer), {
          beforeSend: announce('approach-sent'),
          started: () => open.record({ type: 'sca-started' }),
          returned: () => open.record({ type: 'sca-returned' }),
        });
        customerSent = true;
        break;
      }

      case 'await-authorization': {
        const { resourceId } = resourceOf(transfer);
        if (customerSent) {
          open.record({ type: 'authorization', ...(await awaitAuthorization(ports, subjectOf(transfer))) });
          authorizedNow = true;
          break;
        }
        const { authorizationStatus } = await fetchOperationStatus(bank, resourceId, transactionId);
        const status = readAuthorizationStatus(authorizationStatus);
        if (status === 'PENDING') open.record({ type: 'sca-again' });
        else open.record({ type: 'authorization', status, bankStatus: authorizationStatus });
        authorizedNow = true;
        break;
      }

      case 'execute': {
        const { resourceId } = resourceOf(transfer);
        if (!authorizedNow) {
          // Taken up again: the bank is asked first, since much may have happened to its resource.
          const { authorizationStatus, executionStatus } = await fetchOperationStatus(
            bank,
            resourceId,
            transactionId,
          );
          authorizedNow = true;
          const status = readAuthorizationStatus(authorizationStatus);
          if (isExecuted(executionStatus)) open.record({ type: 'executed', cro: null });
          else open.record({ type: 'authorization', status, bankStatus: authorizationStatus });
          break;
        }
        try {
          const { cro } = await customer.whileWaiting(
            'Executing the transfer',
            executeTransfer(bank, order, resourceId, transactionId, announce('execute-sent')),
          );
          open.record({ type: 'executed', cro });
        } catch (error) {
          // It was not even announced: there was no token, or the journal could not be written.
          if (open.current.state !== 'executing') throw error;
          const outcome = outcomeOfFailedExecute(error);
          if (outcome) open.record(outcome);
          if (outcome?.type !== 'execute-unanswered') throw error;
        }
        executeEnded = world.now().getTime();
        break;
      }

      case 'ask-outcome': {
        const outcome = await customer.whileWaiting(
          'Asking the bank what became of the transfer',
          askOutcome(ports, transfer, executeEnded ?? Date.parse(transfer.updatedAt)),
        );
        if (outcome) {
          outcome.forEach(open.record);
          break;
        }
        if (transfer.state !== 'unknown') open.record({ type: 'execute-unanswered' });
        throw outcomeUnknown(transfer, 'The bank does not tell yet whether the transfer was executed');
      }

      case 'await-settlement': {
        // A transfer that is taken up again later is asked for at once.
        const ended = executeEnded ?? Date.parse(transfer.updatedAt);
        const settlement = await customer.whileWaiting(
          'Waiting for the instant transfer to settle',
          pollSettlement(ports, transfer, ended),
        );
        open.record({ type: 'settlement', ...settlement });
        if (settlement.status === 'PENDING') {
          throw outcomeUnknown(
            transfer,
            'The instant transfer is executed, and the bank still calls its status PENDING',
          );
        }
        break;
      }

      case 'done':
        return endOf(transfer, flow);
    }
  }
}

type Intent = { requestId: string; digest: string | null };

/** What a failed `execute` says about the money; undefined when the operator interrupted it. */
function outcomeOfFailedExecute(error: unknown): TransferEvent | undefined {
  if (isInterruption(error)) return undefined;
  if (wasNotBegun(error)) return { type: 'execute-not-begun' };
  if (isRefusal(error)) return { type: 'execute-refused', description: error.message };
  return { type: 'execute-unanswered' };
}

/** Asks what became of an `execute` without an answer; null when the bank's answers don't decide it. */
async function askOutcome(
  ports: TransferPorts,
  transfer: Transfer,
  executeEnded: number,
): Promise<TransferEvent[] | null> {
  const { bank } = ports;
  const { order, transactionId } = transfer;
  const { resourceId } = resourceOf(transfer);
  if (needsSettlement(order)) {
    const settlement = await ifAnswered(pollSettlement(ports, transfer, executeEnded));
    // PENDING is no yes: the bank may say it of a transfer that it never began to execute.
    if (settlement && settlement.status !== 'PENDING') {
      return [
        { type: 'executed', cro: null },
        { type: 'settlement', ...settlement },
      ];
    }
  }
  const operation = await ifAnswered(fetchOperationStatus(bank, resourceId, transactionId));
  if (operation && isExecuted(operation.executionStatus)) return [{ type: 'executed', cro: null }];
  if (operation?.executionStatus === 'KO')
    return [{ type: 'execute-refused', description: 'The bank reports KO' }];
  if (operation && readAuthorizationStatus(operation.authorizationStatus) === 'NOT_AUTHORIZED') {
    return [{ type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: operation.authorizationStatus }];
  }
  return null;
}

/** What a bank may call an operation that was executed; of this field the specification shows `PENDING` only. */
function isExecuted(executionStatus: string | null): boolean {
  return executionStatus === 'OK' || executionStatus === 'EXECUTED';
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

async function pollSettlement(
  { bank, world }: TransferPorts,
  transfer: Transfer,
  executeEnded: number,
): Promise<{ status: SettlementStatus; description: string | null }> {
  const { resourceId } = resourceOf(transfer);
  const late = world.now().getTime() - executeEnded;
  const polls = SETTLEMENT_POLLS_MS.filter((after) => after > late);
  let description: string | null = null;
  for (const [index, after] of (polls.length > 0 ? polls : [late]).entries()) {
    const wait = executeEnded + after - world.now().getTime();
    // The answer before was so slow that the time of this one has passed.
    if (wait < 0 && index > 0) continue;
    await world.sleep(Math.max(0, wait));
    try {
      const answer = await fetchExecutionStatus(bank, transfer.order, resourceId, transfer.transactionId);
      const status = readSettlementStatus(answer.executionStatus);
      description = answer.executionStatusDescription;
      if (status !== 'PENDING') return { status, description };
    } catch (error) {
      if (isInterruption(error)) throw error;
      throw outcomeUnknown(
        transfer,
        'The instant transfer is executed, and its status could not be asked for',
        error,
      );
    }
  }
  return { status: 'PENDING', description };
}

function readSettlementStatus(bankStatus: string): SettlementStatus {
  return bankStatus === 'OK' || bankStatus === 'KO' ? bankStatus : 'PENDING';
}

function outcomeUnknown({ flow, transactionId }: Transfer, message: string, cause?: unknown): Psd2Error {
  return new Psd2Error('outcome_unknown', cause instanceof Error ? `${message}: ${cause.message}` : message, {
    hint: `Find out with: psd2 transfer resume ${flow}. It never pays again.`,
    transactionId,
    cause,
  });
}

/** What the end of a transfer means for the operator. @throws Psd2Error unless it was executed or settled */
function endOf(transfer: Transfer, flow: string): Transfer {
  const { transactionId, executionStatusDescription } = transfer;
  switch (transfer.state) {
    case 'failed':
      if (transfer.executionStatus === 'KO') {
        throw new Psd2Error(
          'payment_failed',
          `The payment failed${executionStatusDescription ? `: ${executionStatusDescription}` : ''}`,
          {
            hint: 'No money moved. A new transfer may be made.',
            transactionId,
          },
        );
      }
      throw new Psd2Error(
        'bank_refused',
        `The bank refused transfer ${flow}${executionStatusDescription ? `: ${executionStatusDescription}` : ''}`,
        {
          hint: 'No money moved. A new transfer may be made.',
          transactionId,
        },
      );
    case 'rejected':
      throw new Psd2Error('not_authorised', 'The customer did not authorise the transfer', {
        hint: 'No money moved.',
        transactionId,
      });
    case 'expired':
      throw new Psd2Error('authorisation_expired', 'The time to authorise the transfer has run out', {
        hint: 'No money moved. A new transfer may be made.',
        transactionId,
      });
    case 'cancelled':
      throw new Psd2Error('cancelled', 'The transfer was cancelled before the customer was asked', {
        hint: 'No money moved.',
        transactionId,
      });
    default:
      return transfer;
  }
}

function resourceOf({ flow, verification }: Transfer) {
  if (!verification) throw new TypeError(`Transfer ${flow} has no resource in the state it is in`);
  return verification;
}

function subjectOf(transfer: Transfer): ScaSubject {
  const { flow, transactionId } = transfer;
  return {
    transactionId,
    doing: 'authorise the transfer',
    wayOn: `Go on with: psd2 transfer resume ${flow}`,
    resourceId: resourceOf(transfer).resourceId,
  };
}

import { whyKept } from '../../domain/kept.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { type ErrorCode, endSentence, Psd2Error } from '../../errors.ts';
import type { Payment } from '../ports.ts';
import { unconfirmedRefusal } from '../refusals.ts';

/** Returns an executed or settled operation. @throws Psd2Error for any other end */
export function endOfOperation<Order extends OrderTarget>(
  operation: Operation<Order>,
  name: string,
): Operation<Order> {
  const error = errorOfEnd(operation, name);
  if (!error) return operation;
  throw isRefusedAlone(operation) ? unconfirmedRefusal(operation, error) : error;
}

/** Whether nothing but a refusal, or the end of the customer's time after one, says that no money moved. */
function isRefusedAlone({ state, refusedUnconfirmed, resolution, executionStatus }: Payment): boolean {
  const isRefused = state === 'failed' && !resolution && executionStatus !== 'KO';
  return refusedUnconfirmed && (isRefused || state === 'expired');
}

/** Null: it was executed or settled, or goes on. */
function errorOfEnd(operation: Payment, name: string): Psd2Error | null {
  const { state, flow, transactionId, resolution, executionStatus, accepted } = operation;
  const { executionStatusDescription: description } = operation;
  const why = description ? `: ${description}` : '';
  const whyReserved = whyKept(operation, name);
  const unpaid = (code: ErrorCode, message: string) =>
    new Psd2Error(code, message, { hint: 'No money moved. You can make a new one.', transactionId });
  switch (state) {
    case 'failed':
      if (resolution) return unpaid('payment_failed', `The ${name} ${flow} has ended: ${byHand(resolution)}`);
      return executionStatus === 'KO'
        ? unpaid('payment_failed', `The payment failed${why}`)
        : unpaid('bank_refused', `The bank refused the ${name} ${flow}${why}`);
    case 'rejected':
      return unpaid('not_authorised', `The customer did not authorise the ${name}${why}`);
    case 'expired':
      return unpaid('authorisation_expired', `The customer did not authorise the ${name} in time`);
    case 'ended':
      return executionStatus === 'KO'
        ? endedByBank(operation, `The bank has ended the ${name}${why}`, whyReserved)
        : null;
    case 'cancelled': {
      if (whyReserved !== null)
        return keptCancelled(operation, `The ${name} was cancelled${why}`, whyReserved);
      const when = accepted ? 'before it was executed' : 'before the customer was asked';
      return unpaid('cancelled', `The ${name} was cancelled ${when}${why}`);
    }
    default:
      return null;
  }
}

/** What a person said of it. */
function byHand({ by, note }: NonNullable<Payment['resolution']>): string {
  return `${by} said that it was not executed${note ? `: ${note}` : ''}`;
}

/** The bank has ended a standing order that may have paid before. */
function endedByBank(
  { kind, flow, transactionId }: Payment,
  message: string,
  whyReserved: string | null,
): Psd2Error {
  const hint =
    whyReserved === null
      ? {}
      : { hint: `${endSentence(whyReserved)} If the account shows none, free it with:` };
  return new Psd2Error('payment_failed', message, {
    ...hint,
    next: [[kind, 'resolve', flow, '--not-executed']],
    flow,
    transactionId,
  });
}

/** The bank has cancelled it, and a customer has a link that may work. */
function keptCancelled(
  { kind, flow, transactionId }: Payment,
  message: string,
  whyReserved: string,
): Psd2Error {
  return new Psd2Error('cancelled', message, {
    hint: `${endSentence(whyReserved)} Ask again with:`,
    next: [[kind, 'resume', flow]],
    flow,
    transactionId,
  });
}

import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { refusedAlone } from './execute-outcome.ts';

const NO_MONEY_MOVED = 'No money moved. You can make a new one.';

/** Returns an executed or settled operation. @throws Psd2Error for any other end */
export function endOfOperation<Order extends OrderTarget>(
  operation: Operation<Order>,
  name: string,
): Operation<Order> {
  const { flow, transactionId, executionStatus, executionStatusDescription } = operation;
  const why = executionStatusDescription ? `: ${executionStatusDescription}` : '';
  const hint = NO_MONEY_MOVED;
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
      if (executionStatus === 'KO')
        throw new Psd2Error('payment_failed', `The payment failed${why}`, { hint, transactionId });
      throw refusal(operation, new Psd2Error('bank_refused', `The bank refused the ${name} ${flow}${why}`));
    case 'rejected':
      throw new Psd2Error('not_authorised', `The customer did not authorise the ${name}`, {
        hint,
        transactionId,
      });
    case 'expired':
      throw refusal(
        operation,
        new Psd2Error('authorisation_expired', `The customer did not authorise the ${name} in time`),
      );
    case 'cancelled': {
      const when = operation.accepted ? 'before it was executed' : 'before the customer was asked';
      throw new Psd2Error('cancelled', `The ${name} was cancelled ${when}`, { hint, transactionId });
    }
    default:
      return operation;
  }
}

/** Adds what the operator can do, depending on whether nothing but a refusal says that no money moved. */
function refusal(operation: Operation<OrderTarget>, error: Psd2Error): Psd2Error {
  if (operation.refusalAlone) return refusedAlone(operation, error);
  return error.with({ hint: NO_MONEY_MOVED, transactionId: operation.transactionId });
}

import { hasFees, type Operation, type OrderTarget } from './operation.ts';

/** The next step of an operation, or `done` if it has ended. */
export type OperationStep =
  | 'verify'
  | 'verify-further'
  | 'accept'
  | 'accept-fees'
  | 'authorize'
  | 'await-authorization'
  | 'execute'
  | 'ask-outcome'
  | 'await-settlement'
  | 'done';

/**
 * The next step for an operation's state. A resumed operation continues with this step.
 *
 * @param settles whether the bank has an execution status for it
 */
export function nextOperationStep(operation: Operation<OrderTarget>, settles: boolean): OperationStep {
  const isCustomers = operation.commits === 'by the customer';
  switch (operation.state) {
    case 'created':
      if (operation.mayExecuteWithoutUs) return 'ask-outcome';
      // From the initiation on, the bank may have the payment: the operator confirms before.
      return isCustomers && operation.authorises === 'by links' && !operation.accepted ? 'accept' : 'verify';
    case 'verified':
      // The bank's link decides, so psd2 never skips a further step before SCA.
      if (/^verify\d+$/.test(operation.verification?.nextStep ?? '')) return 'verify-further';
      if (!operation.accepted) return 'accept';
      return isCustomers && hasFees(operation.verification) && !operation.feesAccepted
        ? 'accept-fees'
        : 'authorize';
    case 'authorizing':
      return 'await-authorization';
    case 'authorized':
      return isCustomers ? 'ask-outcome' : 'execute';
    case 'executing':
    case 'unknown':
      return 'ask-outcome';
    case 'ordered':
      return 'done';
    case 'executed':
      return settles ? 'await-settlement' : 'done';
    case 'settled':
    case 'failed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
    case 'ended':
      return 'done';
  }
}

/** Whether psd2 asks the bank for the outcome next, or would ask again if the operation were resumed. */
export function asksForOutcome(operation: Operation<OrderTarget>, settles: boolean): boolean {
  return (
    operation.refusedUnconfirmed ||
    ['ask-outcome', 'await-settlement'].includes(nextOperationStep(operation, settles))
  );
}

/** Whether money may have moved and the bank has not said so yet. A person may then resolve the operation. */
export function isOutcomeOpen(operation: Operation<OrderTarget>, settles: boolean): boolean {
  const isUnderWay = operation.mayExecuteWithoutUs && nextOperationStep(operation, settles) !== 'done';
  return isUnderWay || asksForOutcome(operation, settles);
}

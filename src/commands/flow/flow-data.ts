import type { Operation, OrderTarget } from '../../domain/operation.ts';

/** The fields that the JSON of every flow begins with, as the flow has them. */
interface Begins<Kind extends string, State extends string> {
  flow: string;
  kind: Kind;
  state: State;
  transactionId: string;
}

/**
 * The first fields in the JSON of every flow.
 *
 * @param resourceId the bank's id, if it has one
 */
export function flowData<Kind extends string, State extends string>(
  { flow, kind, state, transactionId }: Begins<Kind, State>,
  customerId: string,
  resourceId: string | null | undefined,
) {
  return { flow, kind, state, resourceId: resourceId ?? null, transactionId, customerId };
}

/** The last fields in the JSON of a transfer and of an operation: its status at the bank. */
export function executionData(operation: Operation<OrderTarget>) {
  const { authorizationStatus, executionStatus, executionStatusDescription, cro } = operation;
  const { resolution, createdAt, updatedAt } = operation;
  return {
    authorizationStatus,
    executionStatus,
    executionStatusDescription,
    cro,
    resolution,
    createdAt,
    updatedAt,
  };
}

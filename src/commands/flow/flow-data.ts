import type { Operation, OrderTarget } from '../../domain/operation.ts';

/** The first fields in the JSON of every flow. @param resourceId the bank's id, if it has one */
export function flowData<Kind extends string, State extends string>(
  { flow, kind, state, transactionId }: { flow: string; kind: Kind; state: State; transactionId: string },
  resourceId: string | null | undefined,
) {
  return { flow, kind, state, resourceId: resourceId ?? null, transactionId };
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

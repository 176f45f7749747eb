import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { executionData, flowData } from '../flow/flow-data.ts';
import { resolutionField } from '../flow/resolution-field.ts';
import { writeMoney } from '../shared/money.ts';
import { operation as operationShape } from './shape.ts';

/** A row of `psd2 operation list`. */
export const OPERATION_COLUMNS: Column<GenericOperation>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  { title: 'NAME', value: ({ order }) => order.operation },
  { title: 'PRODUCT', value: ({ order }) => order.from, whole: true },
  { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time', dispensable: 1 },
  { title: 'CUSTOMER', value: ({ order }) => order.customerId, whole: true, dispensable: 2 },
];

/** An operation in the shape of the command contract. */
export function toOperationData(operation: GenericOperation) {
  const { order, verification, state } = operation;
  return {
    ...flowData({ ...operation, kind: 'operation' }, order.customerId, verification?.resourceId),
    operation: order.operation,
    product: order.from,
    nextStep: state === 'verified' ? (verification?.nextStep ?? null) : null,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    ...executionData(operation),
  };
}

/** The maximum number of characters shown of an operation's data. */
const MOST_DATA = 1000;

/** Describes the operation for a question about it. */
export function describeOperation({
  order,
  verification,
}: GenericOperation): [title: string, value: string | null][] {
  return [
    ['Name', order.operation],
    ['Product', order.from],
    ['Total', writeMoney(verification?.totalAmount ?? null)],
    ['Data', order.data.length > MOST_DATA ? `${order.data.slice(0, MOST_DATA)} ...` : order.data],
  ];
}

/** Prints an operation, on stdout. */
export function printOperation({ output }: Context, operation: GenericOperation): void {
  output.record(
    toOperationData(operation),
    [
      { title: 'Operation', value: ({ flow }) => flow },
      { title: 'Name', value: (shown) => shown.operation },
      { title: 'State', value: ({ state }) => state, kind: 'state' },
      { title: 'Customer', value: ({ customerId }) => customerId },
      { title: 'Product', value: ({ product }) => product },
      { title: 'Next step', value: ({ nextStep }) => nextStep },
      { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
      { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
      { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
      { title: 'CRO', value: ({ cro }) => cro },
      resolutionField,
      { title: 'Resource', value: ({ resourceId }) => resourceId },
      { title: 'Transaction', value: ({ transactionId }) => transactionId },
    ],
    operationShape,
  );
}

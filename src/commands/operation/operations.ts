import { isOutcomeOpen, nextOperationStep } from '../../domain/next-step.ts';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { list, money, object, orNull, text, writeMoney } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import {
  executionData,
  executionFields,
  flowBegins,
  flowData,
  flowEnds,
  resolutionField,
} from '../flow/fields.ts';

const shape = object({
  ...flowBegins('operation', OPERATION_STATES),
  operation: text('name of the operation, for example standingOrder'),
  product: text('its account'),
  nextStep: orNull(text('the next step that the bank asks for, after verify')),
  totalAmount: orNull(money('debited amount, including the commission')),
  commissions: orNull(money("the bank's commission")),
  ...executionFields(),
  ...flowEnds(),
});

/** The maximum number of characters shown of an operation's data. */
const MAX_DATA = 1000;

/** Operations, as their verbs show them. */
export const OPERATIONS: FlowNoun<'operation'> = {
  kind: 'operation',
  one: 'an operation',
  example: 'op-0mwq9zj41',
  prints: { what: 'an operation', shape },
  print: printOperation,
  columns: () => [
    { title: 'FLOW', value: ({ flow }) => flow, whole: true },
    { title: 'STATE', value: ({ state }) => state, kind: 'state' },
    { title: 'NAME', value: ({ order }) => order.operation },
    { title: 'ACCOUNT', value: ({ order }) => order.from, whole: true },
    { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time', dispensable: 1 },
    { title: 'CUSTOMER', value: ({ order }) => order.customerId, whole: true, dispensable: 2 },
  ],
  row: toData,
  rows: list(shape),
  describe: ({ order, verification }) => [
    ['Name', order.operation],
    ['Account', order.from],
    ['Total', writeMoney(verification?.totalAmount ?? null)],
    ['Data', order.data.length > MAX_DATA ? `${order.data.slice(0, MAX_DATA)} ...` : order.data],
  ],
  inShort: ({ order }) => `${order.operation} of ${order.from}`,
  payment: ({ order }) => order.operation,
  referenceOf: () => null,
  sent: 'execute',
  done: 'executed',
  isUnknown: (flow) => isOutcomeOpen(flow, false),
  isEnded: (flow) => nextOperationStep(flow, false) === 'done',
  askBank: (bank, flow) => askOfOperation(bank, flow, () => ({ executionStatus: null })),
  help: {
    list: ['psd2 operation list', 'psd2 operation list --attention'],
    executed: "it was executed: the account or the bank's support says so",
    notExecuted: 'it was not executed and never will be',
    resolve: `For an operation in state unknown or executing. The command first asks the bank again. If the bank's answer decides, that
answer counts. Otherwise the command shows the operation, asks you to confirm, and records who decided what, when and why.
It changes nothing at the bank. First end every psd2 that still works on the operation, also one that Ctrl-Z stopped.`,
    resolveExamples: [
      'psd2 operation resolve op-0mwq9zj41 --executed --note "The bank\'s site lists the order"',
      'psd2 operation resolve op-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
    ],
  },
};

/** An operation in the shape of the command contract. */
function toData(operation: GenericOperation) {
  const { order, verification, state } = operation;
  return {
    ...flowData({ ...operation, kind: 'operation' }, order.customerId, verification?.resourceId),
    operation: order.operation,
    product: order.from ?? operation.debtor ?? '',
    nextStep: state === 'verified' ? (verification?.nextStep ?? null) : null,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    ...executionData(operation),
  };
}

/** Prints an operation, on stdout. */
function printOperation({ output }: Context, operation: GenericOperation): void {
  output.record(
    toData(operation),
    [
      { title: 'Operation', value: ({ flow }) => flow },
      { title: 'Name', value: (shown) => shown.operation },
      { title: 'State', value: ({ state }) => state, kind: 'state' },
      { title: 'Customer', value: ({ customerId }) => customerId },
      { title: 'Account', value: ({ product }) => product },
      { title: 'Next step', value: ({ nextStep }) => nextStep },
      { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
      { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
      { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
      { title: 'CRO', value: ({ cro }) => cro },
      resolutionField,
      { title: 'Resource', value: ({ resourceId }) => resourceId },
      { title: 'Transaction', value: ({ transactionId }) => transactionId },
    ],
    shape,
  );
}

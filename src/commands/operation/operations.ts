import { isOutcomeOpen, nextOperationStep } from '../../domain/next-step.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { objectOf, orNull, text, writeMoney } from '../../terminal/output/fields.ts';
import type { FlowNoun } from '../flow/describe.ts';
import { costFields, executionFields, flowEnds, operationBegins } from '../flow/fields.ts';

const form = objectOf<GenericOperation>()(() => {
  const begins = operationBegins('operation', 'Operation');
  const ends = flowEnds();
  return {
    ...begins,
    customerId: begins.customerId.as('Customer', { dispensable: 2 }),
    operation: text('name of the operation, for example standingOrder')
      .from(({ order }: GenericOperation) => order.operation)
      .as('Name'),
    product: text('its account')
      .from(({ order, debtor }: GenericOperation) => order.from ?? debtor ?? '')
      .as('Account', { whole: true }),
    nextStep: orNull(text('the next step that the bank asks for, after verify'))
      .from(({ state, verification }: GenericOperation) =>
        state === 'verified' ? (verification?.nextStep ?? null) : null,
      )
      .as('Next step'),
    ...costFields(),
    ...executionFields(),
    ...ends,
    createdAt: ends.createdAt.as('Created', { dispensable: 1 }),
  };
})
  .inRecord(
    'flow operation state customerId product nextStep totalAmount commissions authorizationStatus cro resolution resourceId transactionId',
  )
  .inList('flow state operation product createdAt customerId');

/** The maximum number of characters shown of an operation's data. */
const MAX_DATA = 1000;

/** Operations, as their verbs show them. */
export const OPERATIONS: FlowNoun<'operation'> = {
  kind: 'operation',
  one: 'an operation',
  example: 'op-0mwq9zj41',
  form,
  listed: form,
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
It changes nothing at the bank. First end every psd2 process that still works on the operation, also one suspended with Ctrl-Z.`,
    resolveExamples: [
      'psd2 operation resolve op-0mwq9zj41 --executed --note "The bank\'s site lists the order"',
      'psd2 operation resolve op-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
    ],
  },
};

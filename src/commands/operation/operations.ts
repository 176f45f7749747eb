import { standingOf } from '../../domain/flow-states.ts';
import { isOutcomeOpen, nextOperationStep } from '../../domain/next-step.ts';
import { isInterruption } from '../../flows/refusals.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { objectOf, orNull, text, writeMoney } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import {
  cancellationField,
  costFields,
  executionFields,
  flowEnds,
  messagesField,
  operationBegins,
  personsFields,
} from '../flow/fields.ts';

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
    ...personsFields(),
    cancellation: cancellationField(),
    messages: messagesField(),
    ...ends,
    createdAt: ends.createdAt.as('Created', { dispensable: 1 }),
  };
})
  .inRecord(
    'flow operation state customerId product nextStep totalAmount commissions authorizationStatus authorisedBy refusedBy waitsFor cancellation messages cro resolution resourceId transactionId',
  )
  .inList('flow state operation product createdAt customerId');

/** What becomes of a bulk payment or signing basket is written into its transfers. */
async function followJoint(context: Context, flow: GenericOperation): Promise<void> {
  if (!flow.initiation) return;
  const { followGroup } = await import('../batch/follow-group.ts');
  await followGroup(context, flow);
}

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
  inShort: ({ order, debtor }) => {
    const account = order.from ?? debtor;
    return account === null ? order.operation : `${order.operation} of ${account}`;
  },
  payment: ({ order }) => order.operation,
  referenceOf: () => null,
  sent: 'execute',
  done: 'executed',
  isUnknown: (flow) => isOutcomeOpen(flow, false) || standingOf(flow) === 'kept',
  isEnded: (flow) => nextOperationStep(flow, false) === 'done',
  // The bank has a bulk payment and a signing basket as payments of their own.
  async cancelAtBank(context, opened, open, how) {
    const { cancelHere } = await import('../open/cancel-at-bank.ts');
    const { groupKindOf: kindOf } = await import('../../flows/batch/pay-share.ts');
    const before = open.current;
    try {
      await cancelHere(context, opened, open, kindOf(before).calls(opened, before), how);
    } catch (error) {
      if (open.current !== before && !isInterruption(error)) await followJoint(context, open.current);
      throw error;
    }
  },
  afterEnd: followJoint,
  async askBank(bank, flow) {
    if (!flow.initiation) return askOfOperation(bank, flow, () => ({ executionStatus: null }));
    const { groupKindOf: kindOf } = await import('../../flows/batch/pay-share.ts');
    return askOfOperation(bank, flow, (opened) => kindOf(flow).calls({ bank: opened }, flow));
  },
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

import { isAccepted } from '../../domain/flow-states.ts';
import { isOutcomeOpen, nextOperationStep } from '../../domain/next-step.ts';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { spacedIban } from '../../domain/order/iban.ts';
import { describePayeeCheck, PAYEE_RESULTS, PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { needsSettlement, type Transfer, type TransferOrder } from '../../domain/transfer.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import { actorOf } from '../../store/machine/actor.ts';
import type { Column } from '../../terminal/output/fields.ts';
import {
  day,
  decimal,
  flag,
  list,
  money,
  object,
  oneOf,
  orNull,
  text,
  writeMoney,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import {
  authorisationsField,
  authorisedBy,
  executionData,
  executionFields,
  flowBegins,
  flowData,
  flowEnds,
  resolutionField,
} from '../flow/fields.ts';
import { isFirst, wasSaid } from '../shared/once.ts';

const shape = object({
  ...flowBegins('transfer', OPERATION_STATES),
  instant: flag('true for SCT Inst'),
  reference: orNull(text("the operator's own reference, different for each transfer")),
  from: orNull(
    text('the debited account; if the customer chooses it at the bank, as the bank names it afterwards'),
  ),
  to: text('IBAN of the payee'),
  name: text('name of the payee'),
  amount: decimal('amount that the payee gets'),
  currency: text('ISO 4217 code'),
  description: text('remittance information'),
  remittanceStructured: orNull(text('reference of the payee, in place of a text')),
  executionDate: day('day on which the bank executes it'),
  totalAmount: orNull(money('debited amount, including the commission')),
  commissions: orNull(money("the bank's commission")),
  bankName: orNull(text("the payee's bank")),
  product: orNull(text('payment product, if the bank has products')),
  endToEndId: orNull(text('endToEndIdentification, which the payee sees')),
  transactionStatus: orNull(text("the bank's word, for example RCVD, ACSC or RJCT")),
  scaStatus: orNull(text("the bank's word for the authorisation, for example finalised")),
  authorisations: authorisationsField,
  messages: list(text(), "what the bank says to the customer, for example of the payee's name"),
  payeeSource: orNull(oneOf(PAYEE_SOURCES, "who gave the payee's name and IBAN")),
  payeeCheck: orNull(
    object(
      {
        result: oneOf(PAYEE_RESULTS, 'result of the check'),
        name: orNull(text('name of the account holder, if the check gave it')),
        problem: orNull(text('why the check was not possible')),
      },
      'the verification of the payee',
    ),
  ),
  ...executionFields(),
  ...flowEnds(),
});

/** Transfers, as their verbs show them. */
export const TRANSFERS: FlowNoun<'transfer'> = {
  kind: 'transfer',
  one: 'a transfer',
  example: 'tr-0mwq9zj41',
  prints: { what: 'a transfer', shape },
  print: printTransfer,
  inOneLine: ({ isForPerson, terminal }, transfer) =>
    isForPerson && wasSaid(terminal, confirmation(transfer)) ? sayPaid(transfer) : undefined,
  columns: () => [
    { title: 'FLOW', value: ({ flow }) => flow, whole: true },
    { title: 'STATE', value: ({ state }) => state, kind: 'state' },
    { title: 'AMOUNT', value: ({ order }) => writeMoney(order), right: true },
    { title: 'TO', value: ({ order }) => order.name },
    { title: 'IBAN', value: ({ order }) => order.to, whole: true },
    { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time', dispensable: 2 },
    {
      ...{ title: 'FROM', whole: true, dispensable: 1 },
      value: ({ order, debtor }) => order.fromIban ?? order.from ?? debtor,
    },
    { title: 'REFERENCE', value: ({ order }) => order.reference, dispensable: 3 },
    { title: 'CUSTOMER', value: ({ order }) => order.customerId, whole: true, dispensable: 3 },
  ],
  row: toData,
  rows: list(shape),
  describe: ({ order, debtor }) => [
    ['From', writeDebited({ order, debtor })],
    ['Payee', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Amount', writeMoney(order)],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Reference', order.reference],
  ],
  inShort: ({ order }) => `${writeMoney(order)} to ${order.name}`,
  payment: ({ order }) => `payment of ${writeMoney(order)} to ${order.name}`,
  referenceOf: ({ order }) => order.reference,
  sent: 'execute',
  done: 'executed',
  async cancelAtBank(context, opened, open, { paste, person }) {
    const { cancelAtBank } = await import('../../flows/payment/cancel.ts');
    const { flowPortsOf } = await import('../flow/ports.ts');
    const { refusePasting, returnPortsOf } = await import('../open/returns.ts');
    if (paste) refusePasting(context);
    const returns = await returnPortsOf(context, opened, paste, open.current.transactionId, person);
    const { withLogin } = await import('../../flows/batch/known-lines.ts');
    const calls = opened.bank.payments.transfer(await withLogin(opened.flows, open.current));
    await cancelAtBank(open, calls, flowPortsOf(context, opened), returns);
  },
  async tidy(context, flow) {
    if (flow.authorises === 'by call') return;
    const { endPaymentTokens } = await import('../open/payment-tokens.ts');
    const { futureDated, standing } = flow.order;
    // What is ordered for later can still be cancelled at the bank.
    await endPaymentTokens(
      context,
      flow,
      needsSettlement(flow.order) || futureDated || standing !== undefined,
    );
  },
  async afterEnd(context, { bulk, order }) {
    if (bulk === null || !order.batch) return;
    const { endSettledGroups } = await import('../../flows/batch/end-groups.ts');
    const { operator, machine } = actorOf(context.env);
    await endSettledGroups(await context.store(), order.batch.batch, `${operator}@${machine}`);
  },
  // The bank has no status for one transfer of a bulk payment alone.
  isUnknown: (flow) =>
    flow.bulk === null
      ? isOutcomeOpen(flow, needsSettlement(flow.order))
      : flow.state === 'unknown' || flow.refusedUnconfirmed,
  isAccepted: (flow) => isAccepted(flow) && !flow.order.standing,
  isEnded: (flow) => nextOperationStep(flow, needsSettlement(flow.order)) === 'done',
  async askBank(bank, flow, flows) {
    const { withLogin } = await import('../../flows/batch/known-lines.ts');
    const named = await withLogin(flows, flow);
    return askOfOperation(bank, flow, (opened) => opened.payments.transfer(named));
  },
  help: {
    list: [
      'psd2 transfer list --since 2026-11-01 --state executed',
      "psd2 transfer list --attention --json | jq -r '.[].flow'",
    ],
    executed: "it was executed: the account statement or the bank's support says so",
    notExecuted: 'it was not executed and never will be; you can use its --reference again',
    resolve: `For a transfer in state unknown or executing, or an instant transfer that stays PENDING, if psd2 transfer resume does not
help; or one that the bank has accepted and never calls final, with --executed. The command first asks the bank again. If the bank's answer decides, that answer counts. Otherwise the command shows
the transfer, asks you to confirm, and records who decided what, when and why. It sends nothing that moves money.

First end every psd2 that still works on the transfer, also one that Ctrl-Z stopped. Then look at the account statement of
the execution day and of the days after it.`,
    resolveExamples: [
      'psd2 transfer resolve tr-0mwq9zj41 --executed --note "On the statement of 24 November"',
      'psd2 transfer resolve tr-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
    ],
  },
};

/** A transfer in the shape of the command contract. */
function toData(transfer: Transfer) {
  const { order, verification, payeeCheck, initiation } = transfer;
  return {
    ...flowData({ ...transfer, kind: 'transfer' }, order.customerId, verification?.resourceId),
    instant: order.instant,
    reference: order.reference,
    from: order.from ?? transfer.debtor,
    to: order.to,
    name: order.name,
    amount: order.amount,
    currency: order.currency,
    description: order.description,
    remittanceStructured: order.creditorReference?.reference ?? null,
    executionDate: order.executionDate,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    bankName: verification?.bankName ?? null,
    product: initiation?.product ?? null,
    endToEndId: initiation?.endToEndId || null,
    transactionStatus: transfer.transactionStatus,
    scaStatus: transfer.scaStatus,
    authorisations: [...transfer.authorisations],
    messages: verification?.messages ?? [],
    payeeSource: order.payeeSource ?? null,
    payeeCheck,
    ...executionData(transfer),
  };
}

/** Prints a transfer in the shape of the command contract. */
function printTransfer({ output }: Context, transfer: Transfer): void {
  const fields: Column<ReturnType<typeof toData>>[] = [
    { title: 'Transfer', value: ({ flow }) => flow },
    { title: 'State', value: ({ state }) => state, kind: 'state' },
    { title: 'Customer', value: ({ customerId }) => customerId },
    { title: 'From', value: () => writeDebited(transfer) },
    { title: 'To', value: ({ name }) => name },
    { title: 'IBAN', value: ({ to }) => to },
    { title: 'Amount', value: writeMoney },
    { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
    { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
    { title: 'Description', value: ({ description }) => description },
    { title: 'Payee reference', value: ({ remittanceStructured }) => remittanceStructured },
    { title: 'Execution date', value: ({ executionDate }) => executionDate },
    { title: 'Instant', value: ({ instant }) => (instant ? 'yes' : 'no') },
    { title: 'Repeated', value: () => transfer.order.standing && describeStanding(transfer.order.standing) },
    { title: 'Payment product', value: ({ product }) => product },
    { title: 'End-to-end id', value: ({ endToEndId }) => endToEndId },
    { title: 'Status', value: ({ transactionStatus }) => transactionStatus },
    { title: 'SCA', value: ({ scaStatus }) => scaStatus },
    ...authorisedBy(transfer.authorisations),
    { title: 'Bank says', value: () => transfer.verification?.messages?.join(' ') },
    { title: 'Name given by', value: ({ payeeSource }) => payeeSource && `the ${payeeSource}` },
    {
      title: 'Payee check',
      value: ({ payeeCheck }) => payeeCheck && describePayeeCheck(payeeCheck),
    },
    { title: 'Reference', value: ({ reference }) => reference },
    { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
    {
      title: 'Execution',
      value: ({ executionStatus, executionStatusDescription }) =>
        [executionStatus, executionStatusDescription].filter(Boolean).join(': '),
    },
    { title: 'CRO', value: ({ cro }) => cro },
    resolutionField,
    { title: 'Resource', value: ({ resourceId }) => resourceId },
    { title: 'Transaction', value: ({ transactionId }) => transactionId },
  ];
  // The JSON does not say how often a standing order pays.
  output.record(toData(transfer), fields, shape, transfer.order.standing ? 'titles' : undefined);
}

/** How often a standing order pays. */
export function describeStanding({ frequency, day, end }: NonNullable<TransferOrder['standing']>): string {
  const parts = [frequency, day !== null && `day ${day}`, end !== null && `until ${end}`];
  return parts.filter(Boolean).join(', ');
}

/** The debited account: its id, with its IBAN if that is known. */
export function writeDebited({ order, debtor }: Pick<Transfer, 'order' | 'debtor'>): string {
  if (order.from === null) return debtor ?? 'the account that the customer chooses at the bank';
  return order.fromIban === undefined || order.fromIban === order.from
    ? order.from
    : `${order.fromIban} (${order.from})`;
}

const confirmation = ({ flow }: Pick<Transfer, 'flow'>) => `confirmed ${flow}`;

/** Notes that the operator sees what they pay, so that the end of the payment need not repeat it. */
export function noteConfirmed(
  { terminal }: Pick<Context, 'terminal'>,
  transfer: Pick<Transfer, 'flow'>,
): void {
  isFirst(terminal, confirmation(transfer));
}

/** The outcome of an executed transfer, in one sentence. */
export function sayPaid({ order, state, cro, flow, createdAt, updatedAt }: Transfer): string {
  const { standing, futureDated } = order;
  const what = `${standing || futureDated ? 'Ordered' : 'Paid'} ${writeMoney(order)} to ${order.name}`;
  const when = futureDated ? ` ${standing ? 'from' : 'for'} ${order.executionDate}` : '';
  const often = standing ? ` (${describeStanding(standing)})` : '';
  const seconds = Math.max(1, Math.round((Date.parse(updatedAt) - Date.parse(createdAt)) / 1000));
  const facts = [
    `${state} after ${seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`,
    cro && `CRO ${cro}`,
    order.reference && `reference ${order.reference}`,
    flow,
  ];
  return `${[`${what}${when}${often}`, ...facts].filter(Boolean).join(', ')}.`;
}

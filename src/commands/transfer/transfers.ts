import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { isOutcomeOpen, nextOperationStep } from '../../domain/next-step.ts';
import { spacedIban } from '../../domain/order/iban.ts';
import { PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { isForLater, needsSettlement, type Transfer, type TransferOrder } from '../../domain/transfer.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import { actorOf } from '../../store/machine/actor.ts';
import {
  day,
  decimal,
  flag,
  objectOf,
  oneOf,
  optional,
  orNull,
  seen,
  text,
  writeMoney,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import {
  cancellationField,
  costFields,
  executionFields,
  flowEnds,
  linkUntilField,
  messagesField,
  operationBegins,
  payeeCheckField,
  personsFields,
} from '../flow/fields.ts';
import { isFirst, wasSaid } from '../shared/once.ts';

/** What the bank says, and who the payee is. */
const aboutPayee = () => ({
  messages: messagesField(),
  payeeSource: orNull(oneOf(PAYEE_SOURCES, "who gave the payee's name and IBAN"))
    .from(({ order }: Transfer) => order.payeeSource ?? null)
    .as('Name given by')
    .written((source) => source && `the ${source}`),
  payeeCheck: payeeCheckField('the verification of the payee').as('Payee check'),
});

const form = objectOf<Transfer>()(() => ({
  ...operationBegins('transfer', 'Transfer'),
  debited: seen('From', writeDebited),
  instant: flag('true for SCT Inst')
    .from(({ order }: Transfer) => order.instant)
    .as('Instant'),
  standing: seen('Repeated', ({ order }: Transfer) => order.standing && describeStanding(order.standing)),
  reference: orNull(text("the operator's own reference, different for each transfer"))
    .from(({ order }: Transfer) => order.reference)
    .as('Reference', { dispensable: 3 }),
  from: orNull(
    text('the debited account; if the customer chooses it at the bank, as the bank names it afterwards'),
  )
    .from(({ order, debtor }: Transfer) => order.from ?? debtor)
    .as('From', { whole: true, dispensable: 1 })
    .shown(({ order, debtor }: Transfer) => order.fromIban ?? order.from ?? debtor),
  to: text('IBAN of the payee')
    .from(({ order }: Transfer) => order.to)
    .as('IBAN', { whole: true, dispensable: 2 }),
  name: text('name of the payee')
    .from(({ order }: Transfer) => order.name)
    .as('To'),
  amount: decimal('amount that the payee gets')
    .from(({ order }: Transfer) => order.amount)
    .as('Amount', { right: true })
    .shown(({ order }: Transfer) => writeMoney(order)),
  currency: text('ISO 4217 code').from(({ order }: Transfer) => order.currency),
  description: text('remittance information')
    .from(({ order }: Transfer) => order.description)
    .as('Description'),
  remittanceStructured: orNull(text('reference of the payee, in place of a text'))
    .from(({ order }: Transfer) => order.creditorReference?.reference ?? null)
    .as('Payee reference'),
  executionDate: day('day on which the bank executes it')
    .from(({ order }: Transfer) => order.executionDate)
    .as('Execution date'),
  ...costFields(),
  unreadFees: optional(text('what the bank says of fees that psd2 cannot read or add'))
    .from(({ verification }: Transfer) => verification?.unreadFees)
    .as('Unread fees', { ifAny: true }),
  bankName: orNull(text("the payee's bank")).from(
    ({ verification }: Transfer) => verification?.bankName ?? null,
  ),
  product: orNull(text('payment product, if the bank has products'))
    .from(({ initiation }: Transfer) => initiation?.product ?? null)
    .as('Payment product'),
  endToEndId: orNull(text('endToEndIdentification, which the payee sees'))
    .from(({ initiation }: Transfer) => initiation?.endToEndId || null)
    .as('End-to-end id'),
  transactionStatus: orNull(text("the bank's word, for example RCVD, ACSC or RJCT")).as('Status'),
  scaStatus: orNull(text("the bank's word for the authorisation, for example finalised")).as('SCA'),
  ...personsFields(),
  cancellation: cancellationField(),
  linkUntil: linkUntilField,
  ...aboutPayee(),
  ...executionFields(),
  ...flowEnds(),
}))
  .inRecord(
    'flow state customerId debited name to amount commissions unreadFees totalAmount description remittanceStructured executionDate instant standing product endToEndId transactionStatus scaStatus authorisedBy refusedBy waitsFor cancellation linkUntil messages payeeSource payeeCheck reference authorizationStatus executionStatus cro resolution resourceId transactionId',
  )
  .inList('flow state amount name to createdAt from reference customerId');

/** Transfers, as their verbs show them. */
export const TRANSFERS: FlowNoun<'transfer'> = {
  kind: 'transfer',
  one: 'a transfer',
  example: 'tr-0mwq9zj41',
  form,
  listed: form,
  // The JSON does not say how often a standing order pays.
  inPipe: ({ order }) => (order.standing ? 'titles' : undefined),
  inOneLine: ({ isForPerson, terminal }, transfer) =>
    isForPerson && transfer.state !== 'ended' && wasConfirmed(terminal, transfer)
      ? sayPaid(transfer)
      : undefined,
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
  async cancelAtBank(context, opened, open, how) {
    const { cancelHere } = await import('../open/cancel-at-bank.ts');
    const { withLogin } = await import('../../flows/batch/known-lines.ts');
    const calls = opened.bank.payments.transfer(await withLogin(opened.flows, open.current));
    await cancelHere(context, opened, open, calls, how);
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
    standingOf(flow) === 'kept' ||
    (flow.bulk === null
      ? isOutcomeOpen(flow, needsSettlement(flow.order))
      : flow.state === 'unknown' || flow.refusedUnconfirmed),
  isAccepted: (flow) => isAccepted(flow) && !flow.order.standing,
  isEnded: (flow) => nextOperationStep(flow, needsSettlement(flow.order)) === 'done',
  async askBank(bank, flow, flows) {
    const { withLogin } = await import('../../flows/batch/known-lines.ts');
    const named = await withLogin(flows, flow);
    const ask = () => askOfOperation(bank, flow, (opened) => opened.payments.transfer(named));
    if (flow.bulk === null) return ask();
    const { askInGroup } = await import('../../flows/batch/resolve.ts');
    return askInGroup(flows, flow.bulk, flow, ask);
  },
  help: {
    list: [
      'psd2 transfer list --since 2026-11-01 --state executed',
      "psd2 transfer list --attention --json | jq -r '.[].flow'",
    ],
    executed: "it was executed: the account statement or the bank's support says so",
    notExecuted: 'it was not executed and never will be; you can use its --reference again',
    resolve: `For a transfer in state unknown or executing, or an instant transfer that stays PENDING, if psd2 transfer resume does not
help; one that the bank has accepted and never calls final, with --executed; or one that has ended and keeps its reference. The command first asks the bank again. If the bank's answer decides, that answer counts. Otherwise the command shows
the transfer, asks you to confirm, and records who decided what, when and why. It sends nothing that moves money.

First end every psd2 process that still works on the transfer, also one suspended with Ctrl-Z. Then look at the account statement of
the execution day and of the days after it.`,
    resolveExamples: [
      'psd2 transfer resolve tr-0mwq9zj41 --executed --note "On the statement of 24 November"',
      'psd2 transfer resolve tr-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
    ],
  },
};

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

function lasted(from: string, to: string): string {
  const seconds = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Whether {@link noteConfirmed} was called for the payment in this command. */
export function wasConfirmed(terminal: Context['terminal'], transfer: Pick<Transfer, 'flow'>): boolean {
  return wasSaid(terminal, confirmation(transfer));
}

/** The outcome of an executed transfer, in one sentence. The time is the bank's, without that of the people before. */
export function sayPaid(transfer: Transfer): string {
  const { order, state, cro, flow, committedAt, updatedAt } = transfer;
  const { standing, futureDated } = order;
  const what = `${standing || futureDated ? 'Ordered' : 'Paid'} ${writeMoney(order)} to ${order.name}`;
  const when = futureDated ? ` ${standing ? 'from' : 'for'} ${order.executionDate}` : '';
  const often = standing ? ` (${describeStanding(standing)})` : '';
  const facts = [
    `${isForLater(transfer) ? 'accepted' : state}${committedAt === null ? '' : ` after ${lasted(committedAt, updatedAt)}`}`,
    cro && `CRO ${cro}`,
    order.reference && `reference ${order.reference}`,
    flow,
  ];
  return `${[`${what}${when}${often}`, ...facts].filter(Boolean).join(', ')}.`;
}

import { spacedIban } from '../../domain/order/iban.ts';
import { describePayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { executionData, flowData } from '../flow/flow-data.ts';
import { resolutionField } from '../flow/resolution-field.ts';
import { writeMoney } from '../shared/money.ts';
import { transfer as transferShape } from './shape.ts';

/** A row of `psd2 transfer list`. */
export const TRANSFER_COLUMNS: Column<Transfer>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  { title: 'AMOUNT', value: ({ order }) => writeMoney(order), right: true },
  { title: 'TO', value: ({ order }) => order.name },
  { title: 'IBAN', value: ({ order }) => order.to, whole: true },
  { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time', dispensable: 2 },
  { title: 'FROM', value: ({ order }) => order.fromIban ?? order.from, whole: true, dispensable: 1 },
  { title: 'REFERENCE', value: ({ order }) => order.reference, dispensable: 3 },
  { title: 'CUSTOMER', value: ({ order }) => order.customerId, whole: true, dispensable: 3 },
];

/** Prints a transfer in the shape of the command contract. */
export function printTransfer({ output }: Context, transfer: Transfer): void {
  const fields: Column<ReturnType<typeof toTransferData>>[] = [
    { title: 'Transfer', value: ({ flow }) => flow },
    { title: 'State', value: ({ state }) => state, kind: 'state' },
    { title: 'Customer', value: ({ customerId }) => customerId },
    { title: 'From', value: () => writeDebited(transfer) },
    { title: 'To', value: ({ name }) => name },
    { title: 'IBAN', value: ({ to }) => to, whole: true },
    { title: 'Amount', value: writeMoney },
    { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
    { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
    { title: 'Description', value: ({ description }) => description },
    { title: 'Execution date', value: ({ executionDate }) => executionDate },
    { title: 'Instant', value: ({ instant }) => (instant ? 'yes' : 'no') },
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
  output.record(toTransferData(transfer), fields, transferShape);
}

/** Describes the transfer for a question about it. */
export function describeTransfer({ order }: Transfer): [title: string, value: string | null][] {
  return [
    ['From', writeDebited({ order })],
    ['Payee', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Amount', writeMoney(order)],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Reference', order.reference],
  ];
}

/** The debited account: its product id, with its IBAN if that is known. */
function writeDebited({ order }: Pick<Transfer, 'order'>): string {
  return order.fromIban === undefined ? order.from : `${order.fromIban} (${order.from})`;
}

/** The transfer in a few words: `payment of 12.50 EUR to Ada Lovelace`. */
export function describePayment({ order }: Transfer): string {
  return `payment of ${writeMoney(order)} to ${order.name}`;
}

/** The outcome of an executed transfer, in one sentence. */
export function sayPaid({ order, state, cro }: Transfer): string {
  const what = `${order.futureDated ? 'Ordered' : 'Paid'} ${writeMoney(order)} to ${order.name}`;
  const when = order.futureDated ? ` for ${order.executionDate}` : '';
  const facts = [state, cro && `CRO ${cro}`, order.reference && `reference ${order.reference}`];
  return `${[`${what}${when}`, ...facts].filter(Boolean).join(', ')}.`;
}

/** What the bank verified and the operator must confirm. */
export function showVerified({ order, verification, payeeCheck }: Transfer): string {
  const lines: [string, string | null][] = [
    ['From', writeDebited({ order })],
    ['Payee', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Name given by', order.payeeSource ? `the ${order.payeeSource}` : null],
    ['Payee check', payeeCheck && describePayeeCheck(payeeCheck)],
    ['Bank', verification?.bankName ?? null],
    ['Amount', writeMoney(order)],
    ['Commission', writeMoney(verification?.commissions ?? null)],
    ['Total', writeMoney(verification?.totalAmount ?? null)],
    ['Description', order.description || null],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Reference', order.reference],
  ];
  return ['The bank has verified this transfer:']
    .concat(lines.flatMap(([title, value]) => (value ? [`  ${title.padEnd(13)} ${cleanText(value)}`] : [])))
    .join('\n');
}

/** A transfer in the shape of the command contract. */
export function toTransferData(transfer: Transfer) {
  const { order, verification, payeeCheck } = transfer;
  return {
    ...flowData({ ...transfer, kind: 'transfer' }, order.customerId, verification?.resourceId),
    instant: order.instant,
    reference: order.reference,
    from: order.from,
    to: order.to,
    name: order.name,
    amount: order.amount,
    currency: order.currency,
    description: order.description,
    executionDate: order.executionDate,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    bankName: verification?.bankName ?? null,
    payeeSource: order.payeeSource ?? null,
    payeeCheck,
    ...executionData(transfer),
  };
}
